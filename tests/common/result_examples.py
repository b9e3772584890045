"""One example of each class of results, made from small tables."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_iris

from arboleda import (
    AdaBoostClassifier,
    BayesianNetworkClassifier,
    BoostingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    NearestShrunkenCentroids,
    PrunedTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RegularizedDiscriminantAnalysis,
    Study,
    SurvivalTree,
    bootstrap_error,
    combine,
    decide,
    diagnose,
    explain,
    metrics,
    study,
)
from arboleda.boosting import PredictedDistribution
from arboleda.datasets import Dataset

HOSTILE = '<b onload="x">\x1b[31m&'  # a column's name that must not reach a page as it is


@cache
def load_classes() -> tuple[pd.DataFrame, np.ndarray]:
    """Return iris with a hostile column name, and the names of its classes."""
    data = load_iris(as_frame=True)
    X = data.data.rename(columns={"petal width (cm)": HOSTILE})
    return X, np.array(["<i>setosa", "versicolor", "virginica"])[data.target]


@cache
def load_numbers() -> tuple[pd.DataFrame, np.ndarray]:
    """Return the first columns of the diabetes table and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X[["bmi", "bp", "s5"]].rename(columns={"s5": HOSTILE}), y.to_numpy()


def make_distribution() -> PredictedDistribution:
    """Return normal distributions of three rows."""
    return PredictedDistribution("normal", loc=[0.0, 1.0, 2.0], scale=[1.0, 1.0, 2.0])


@cache
def fit_forest() -> RandomForestClassifier:
    return RandomForestClassifier(30, oob_score=True, random_state=0).fit(*load_classes())


@cache
def fit_regressor() -> RandomForestRegressor:
    return RandomForestRegressor(20, random_state=0).fit(*load_numbers())


@cache
def compute_probabilities() -> np.ndarray:
    return fit_forest().oob_decision_function_


def compare() -> Any:
    models = {"tree": DecisionTreeClassifier(max_depth=1), HOSTILE: DecisionTreeClassifier()}
    return diagnose.compare(list(models.items()), *load_classes(), cv=3)


def compute_bias_variance() -> Any:
    X, y = load_numbers()
    models = [("tree", DecisionTreeRegressor(max_depth=2)), (HOSTILE, DecisionTreeRegressor())]
    return diagnose.bias_variance(models, X, y, X[:20], y[:20], n_sets=4, random_state=0)


def compute_error_curve() -> Any:
    return diagnose.learning_curve(
        DecisionTreeClassifier(), *load_classes(), train_sizes=[30, 60], cv=3
    )


def compute_correlation() -> Any:
    X, y = load_numbers()
    forest = RandomForestRegressor(5, random_state=0)
    return diagnose.forest_correlation(forest, X, y, X[:20], max_features=[1, 2], n_sets=3)


def compute_margins() -> Any:
    X, y = load_classes()
    model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    return diagnose.margin_distribution(model, X, y, rounds=[1, 5])


def compute_shape_functions() -> Any:
    model = GradientBoostingClassifier(n_estimators=5, max_depth=1, random_state=0)
    return model.fit(*load_classes()).shape_functions()


@cache
def make_prediction_interval() -> Any:
    X, y = load_numbers()
    return explain.prediction_interval(fit_regressor(), calibration=(X[300:], y[300:]))


@cache
def make_prediction_set() -> Any:
    X, y = load_classes()
    return explain.prediction_set(fit_forest(), calibration=(X[::2], y[::2]))


@cache
def make_lime() -> Any:
    return explain.lime(fit_forest(), load_classes()[0], n_samples=200, random_state=0)


def find_surrogate(rules: bool = False) -> Any:
    X, y = load_classes()
    find = explain.surrogate_rules if rules else explain.surrogate_tree
    return find(fit_forest(), X, y, random_state=0)


def compute_shap_values() -> Any:
    return explain.shap_values(fit_forest(), load_classes()[0][:20])


def compute_regions() -> Any:
    X, y = load_classes()
    return explain.decision_regions(fit_forest(), X, y, columns=[HOSTILE, 0], n_points=10)


def make_dataset() -> Any:
    X, y = load_classes()
    frame = X.assign(kind=y)
    return Dataset("iris", frame, "kind", "multiclass", "https://example.org")


def compute_curves() -> Any:
    return metrics.roc_curves(load_classes()[1], compute_probabilities())


def compute_precision_curves() -> Any:
    return metrics.precision_recall_curves(load_classes()[1], compute_probabilities())


def compute_diversity() -> Any:
    X, y = load_classes()
    return diagnose.diversity([tree.predict(X) for tree in fit_members()], y)


def out_of_fold() -> Any:
    models = [("tree", DecisionTreeClassifier(max_depth=1)), (HOSTILE, DecisionTreeClassifier())]
    return combine.out_of_fold_outputs(models, *load_classes(), cv=3)


def select() -> Any:
    outputs = out_of_fold()
    codes = np.repeat([0, 1, 2], 50)
    scorer = combine.make_ensemble_scorer(
        "neg_log_loss", outputs.outputs, codes, np.ones(150), outputs.classes
    )
    return combine.select_greedily(scorer, [0, 1], None, 4)


def fit_members() -> list[Any]:
    X, y = load_classes()
    return [DecisionTreeClassifier(max_leaf_nodes=n).fit(X[n::3], y[n::3]) for n in (2, 3, 4)]


def make_times() -> pd.DataFrame:
    """Return twenty times, of which every third is censored."""
    return pd.DataFrame({"event": np.arange(20) % 3 > 0, "time": np.arange(1.0, 21.0)})


def make_survival_interval() -> explain.SurvivalInterval:
    table = np.arange(20.0).reshape(-1, 1)
    times = make_times()
    tree = SurvivalTree().fit(table, times)
    ends = np.where(times["event"], 30.0, times["time"])
    return explain.survival_interval(tree, calibration=(table, times), censoring=ends, coverage=0.5)


def find_rules() -> Any:
    return fit_members()[0].rules()


@cache
def run_studies() -> list[Any]:
    """Return two small studies of a table with hostile names."""
    folder = Path(mkdtemp())
    atexit.register(rmtree, folder, ignore_errors=True)
    frame = make_dataset().frame
    models = {"first": "lda,cart", "second": "cart"}
    return [
        Study(frame, target="kind", models=names, output_dir=folder / key).run()
        for key, names in models.items()
    ]


@cache
def explain_study(row: int | None = None) -> Any:
    return run_studies()[0].explain(row)


EXAMPLES: dict[str, Callable[[], Any]] = {
    "AccuracyCoverageCurve": lambda: decide.accuracy_coverage_curve(
        load_classes()[1], compute_probabilities()
    ),
    "BiasVariance": compute_bias_variance,
    "BoostingReport": lambda: BoostingRegressor(random_state=0).fit(*load_numbers()).report_,
    "BootstrapError": lambda: bootstrap_error(
        DecisionTreeClassifier(), *load_classes(), n_splits=20, random_state=0
    ),
    "CalibrationError": lambda: metrics.calibration_error(
        load_classes()[1], compute_probabilities(), random_state=0
    ),
    "ClassificationTable": lambda: metrics.classification_table(
        load_classes()[1], fit_members()[0].predict(load_classes()[0]), compute_probabilities()
    ),
    "ComparedStudies": lambda: study.compare([one.folder for one in run_studies()]),
    "Comparison": compare,
    "CoverageCurve": lambda: make_prediction_set().coverage_curve(*load_classes()),
    "DataSetComparison": lambda: diagnose.compare_over_data_sets(
        [[0.1, 0.2, 0.3], [0.2, 0.3, 0.3], [0.3, 0.4, 0.2], [0.4, 0.5, 0.6]],
        names=["tree", HOSTILE, "mean"],
    ),
    "Dataset": make_dataset,
    "DCalibration": lambda: metrics.d_calibration(make_times(), np.linspace(0.05, 0.95, 20)),
    "DecisionRegions": compute_regions,
    "Dependence": lambda: explain.partial_dependence(fit_forest(), load_classes()[0], HOSTILE),
    "DirectedGraph": lambda: BayesianNetworkClassifier().fit(*load_classes()).graph_,
    "Diversity": compute_diversity,
    "ErrorCurve": compute_error_curve,
    "Explanation": explain_study,
    "Exploration": lambda: study.explore(make_dataset().frame, "kind"),
    "FidelityCurve": lambda: find_surrogate().curve,
    "ForestCorrelation": compute_correlation,
    "Importance": lambda: explain.importance(fit_forest()),
    "Intervals": lambda: make_prediction_interval().predict(load_numbers()[0]),
    "JuryCurves": lambda: diagnose.jury_curves([0.6, 0.7], sizes=[1, 3, 5]),
    "Lime": make_lime,
    "LimeExplanation": lambda: make_lime().explain(load_classes()[0].iloc[[0]], n_repeats=2),
    "ListedRule": lambda: find_surrogate(rules=True).model.rules[0],
    "MarginDistribution": compute_margins,
    "MemberOutputs": out_of_fold,
    "OobCurve": lambda: fit_forest().oob_curve(),
    "PermutationImportance": lambda: fit_forest().oob_permutation_importance(*load_classes()),
    "PrecisionRecallCurve": lambda: compute_precision_curves().curves[0],
    "PrecisionRecallCurves": compute_precision_curves,
    "PredictionInterval": make_prediction_interval,
    "PredictionSet": make_prediction_set,
    "PruningCurve": lambda: PrunedTreeClassifier().fit(*load_classes()).pruning_curve_,
    "PredictedDistribution": make_distribution,
    "DistributionTable": lambda: metrics.distribution_table(
        [0.0, 1.0, 3.0], make_distribution(), coverages=(0.5, 0.8)
    ),
    "RankingTable": lambda: metrics.ranking_table(
        [0, 2, 1, 1, 0], [0.1, 0.9, 0.5, 0.2, 0.7], qid=[1, 1, 1, 2, 2]
    ),
    "RegressionTable": lambda: metrics.regression_table(
        load_numbers()[1], fit_regressor().predict(load_numbers()[0])
    ),
    "RegularizationPlane": lambda: (
        RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv", random_state=0)
        .fit(*load_classes())
        .plane_
    ),
    "ReliabilityTable": lambda: metrics.reliability_table(
        load_classes()[1], compute_probabilities()
    ),
    "RocCurve": lambda: compute_curves().curves[0],
    "RocCurves": compute_curves,
    "Rule": lambda: find_rules()[0],
    "SurvivalBounds": lambda: make_survival_interval().predict([[3.0], [12.0]]),
    "SurvivalInterval": make_survival_interval,
    "SurvivalTable": lambda: metrics.survival_table(
        make_times(),
        make_times(),
        -np.arange(20.0),
        np.tile([0.9, 0.5, 0.2], (20, 1)),
        [3.0, 8.0, 15.0],
    ),
    "RuleList": lambda: find_surrogate(rules=True).model,
    "Rules": find_rules,
    "Selection": select,
    "Sets": lambda: make_prediction_set().predict(load_classes()[0]),
    "ShapValues": compute_shap_values,
    "ShapeFunction": lambda: compute_shape_functions()[0],
    "ShapeFunctions": compute_shape_functions,
    "ShrinkagePath": lambda: NearestShrunkenCentroids().fit(*load_classes()).path_,
    "StudyResult": lambda: run_studies()[0],
    "Surrogate": find_surrogate,
}
