"""The catalogue: its models are those of scikit-learn and of this library, and can be chosen."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BayesianNetworkClassifier,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DiagonalLDA,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    KernelDensityClassifier,
    MixedNaiveBayes,
    MRMRSelector,
    NearestShrunkenCentroids,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    RegularizedDiscriminantAnalysis,
)
from arboleda.catalogue import CATALOGUE, Setting, select_models
from arboleda.study import Study, StudyError, StudyResult
from arboleda.study.execution.job import run_job

Make = Callable[..., Any]
FOREST = {"n_estimators": 200, "random_state": 0}


def scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def unit_target(model: Any) -> Any:
    return scaled(TransformedTargetRegressor(model, transformer=StandardScaler()))


CLASSIFIERS: dict[str, Make] = {
    "pruned_tree": lambda **p: PrunedTreeClassifier(random_state=0, **p),
    "random_subspaces": lambda **p: RandomSubspaceClassifier(**FOREST, **p),
    "class_switching": lambda **p: ClassSwitchingClassifier(**FOREST, **p),
    "friedman_boosting": lambda **p: GradientBoostingClassifier(random_state=0, **p),
    "random_patches": lambda **p: BaggingClassifier(bootstrap=False, **FOREST, **p),
    "samme": lambda max_depth: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=max_depth), n_estimators=200, random_state=0
    ),
    "category_boosting": lambda **p: HistGradientBoostingClassifier(random_state=0, **p),
    "mrmr": lambda n_columns: scaled(
        make_pipeline(MRMRSelector(n_columns), LogisticRegression(max_iter=1000))
    ),
    "forward_selected": lambda: scaled(
        make_pipeline(
            SequentialFeatureSelector(
                LogisticRegression(max_iter=1000), cv=3, tol=0.002, scoring="neg_log_loss"
            ),
            LogisticRegression(max_iter=1000),
        )
    ),
    "ridge": lambda **p: scaled(
        CalibratedClassifierCV(RidgeClassifier(**p), method="sigmoid", cv=3, ensemble=False)
    ),
    "mixed_naive_bayes": MixedNaiveBayes,
    "bayesian_network": BayesianNetworkClassifier,
    "rda": lambda **p: scaled(RegularizedDiscriminantAnalysis(random_state=0, **p)),
    "shrunken_centroids": lambda **p: scaled(NearestShrunkenCentroids(random_state=0, **p)),
    "diagonal_lda": lambda **p: scaled(DiagonalLDA(**p)),
    "kernel_density": lambda **p: scaled(KernelDensityClassifier(**p)),
    "qda": lambda **p: scaled(QuadraticDiscriminantAnalysis(**p)),
}
REGRESSORS: dict[str, Make] = {
    "pruned_tree": lambda **p: PrunedTreeRegressor(random_state=0, **p),
    "random_subspaces": lambda **p: RandomSubspaceRegressor(**FOREST, **p),
    "friedman_boosting": lambda **p: GradientBoostingRegressor(random_state=0, **p),
    "logarithmic_boosting": lambda **p: HistGradientBoostingRegressor(random_state=0, **p),
    "adaboost_r": lambda **p: AdaBoostRegressor(
        DecisionTreeRegressor(**p), n_estimators=100, algorithm="R", random_state=0
    ),
    "principal_components": lambda **p: scaled(make_pipeline(PCA(**p), LinearRegression())),
    "backward_selected": lambda n_columns: scaled(
        make_pipeline(
            RFE(LinearRegression(), n_features_to_select=n_columns, step=0.1), LinearRegression()
        )
    ),
    "linear": lambda **p: scaled(LinearRegression(**p)),
    "lasso": lambda **p: unit_target(Lasso(max_iter=5000, **p)),
    "elastic_net": lambda **p: unit_target(ElasticNet(max_iter=5000, **p)),
    "kernel_ridge": lambda **p: unit_target(KernelRidge(kernel="rbf", **p)),
}


@pytest.fixture(scope="module")
def iris(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    out = tmp_path_factory.mktemp("iris")
    return Study(
        "iris",
        target="target",
        metric="accuracy",
        output_dir=out,
        models=list(CLASSIFIERS),
        n_jobs=1,
    ).run()


@pytest.fixture(scope="module")
def diabetes(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    out = tmp_path_factory.mktemp("diabetes")
    return Study(
        "diabetes", target="target", output_dir=out, models=list(REGRESSORS), n_jobs=1
    ).run()


def chosen(result: StudyResult, key: str) -> tuple[dict[str, Any], list[float]]:
    """The parameters of the best candidate and its fold scores."""
    model = next(m for m in result.facts["models"] if m["key"] == key)
    assert model["status"] == "ok", model["error"]
    return model["candidates"][model["best"]]["params"], model["cv"]["fold_scores"]


@pytest.mark.parametrize("key", CLASSIFIERS)
def test_classifiers_match_scikit_learn(iris: StudyResult, key: str) -> None:
    x, y = load_iris(return_X_y=True)
    params, scores = chosen(iris, key)
    train = np.sort(train_test_split(np.arange(150), test_size=0.2, stratify=y, random_state=0)[0])
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train])
    model = CLASSIFIERS[key](**params)
    expected = [
        model.fit(x[train[fit]], y[train[fit]]).score(x[train[score]], y[train[score]])
        for fit, score in folds
    ]
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize("key", REGRESSORS)
def test_regressors_match_scikit_learn(diabetes: StudyResult, key: str) -> None:
    x, y = load_diabetes(return_X_y=True)
    params, scores = chosen(diabetes, key)
    train = np.sort(train_test_split(np.arange(len(y)), test_size=0.2, random_state=0)[0])
    model = REGRESSORS[key](**params)
    expected = []
    for fit, score in KFold(5, shuffle=True, random_state=0).split(train):
        predicted = model.fit(x[train[fit]], y[train[fit]]).predict(x[train[score]])
        expected.append(sk.root_mean_squared_error(y[train[score]], predicted))
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize(
    ("key", "make"),
    [
        ("mixed_naive_bayes", MixedNaiveBayes),
        (
            "bayesian_network",
            partial(BayesianNetworkClassifier, categorical_features=["city", "member"]),
        ),
    ],
)
def test_column_types_are_passed_to_the_model(
    tmp_path: Path, mixed: pd.DataFrame, key: str, make: Make
) -> None:
    result = Study(mixed, target="rich", output_dir=tmp_path, models=key, metric="accuracy").run()
    params, scores = chosen(result, key)
    since = mixed["since"].dt
    table = mixed[["age", "city", "wealth", "member"]].assign(
        city=mixed["city"].fillna("(missing)").astype("category"),
        days=(mixed["since"] - pd.Timestamp(0)).dt.days.astype(float),
        **{p: getattr(since, p).astype(float) for p in ("year", "month", "day", "day_of_week")},
        hour=0.0,
    )
    y = (mixed["rich"] == "yes").to_numpy()
    train = np.sort(train_test_split(np.arange(160), test_size=0.2, stratify=y, random_state=0)[0])
    model = make(**params)
    expected = [
        model.fit(table.iloc[train[fit]], y[train[fit]]).score(
            table.iloc[train[score]], y[train[score]]
        )
        for fit, score in StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train])
    ]
    assert scores == pytest.approx(expected)


def test_kernel_ridge_is_approximate_on_many_rows() -> None:
    model = next(m for m in CATALOGUE if m.key == "kernel_ridge")
    few, many = (Setting(n_rows=n, n_classes=0, seed=3) for n in (5_000, 5_001))
    assert model.note(few) is None
    assert "too many for an exact kernel" in str(model.note(many))
    x, y = load_diabetes(return_X_y=True)
    ridge = make_pipeline(Nystroem(n_components=300, random_state=3), Ridge(alpha=0.1))
    by_hand = TransformedTargetRegressor(ridge, transformer=StandardScaler()).fit(x, y)
    found = model.make(many, {"alpha": 0.1}).fit(x, y)
    assert found.predict(x) == pytest.approx(by_hand.predict(x))


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_models_are_chosen_by_name(task: str) -> None:
    everything, core = select_models(task, ["all"]), select_models(task)
    assert [m for m in everything if m.core] == core == select_models(task, ["core"])
    keys = [m.key for m in everything]
    assert len(set(keys)) == len(keys)
    assert [m.key for m in select_models(task, ["svm", "cart"])] == ["cart", "svm"]
    assert select_models(task, ["core", "pruned_tree", "svm"]) == [
        m for m in everything if m.core or m.key == "pruned_tree"
    ]


def test_every_estimator_of_the_textbook_has_an_entry() -> None:
    both = {"cart", "pruned_tree", "bagging", "random_subspaces", "random_forest", "extra_trees"}
    both |= {"adaboost", "gradient_boosting", "friedman_boosting", "neighbours", "svm", "network"}
    both |= {"ridge", "reduced_error_tree", "random_patches", "dart", "goss", "mrmr", "jmi"}
    both |= {"category_boosting", "ordered_boosting", "stochastic_boosting", "additive_boosting"}
    both |= {"pairwise_boosting", "random_threshold_boosting", "linear_leaf_boosting"}
    both |= {"forward_selected", "backward_selected", "automatic_boosting"}
    both |= {"forest_selected", "principal_components", "bayesian_averaging", "dynamic_selection"}
    classes = {"most_frequent", "logistic", "naive_bayes", "lda", "qda", "class_switching"}
    classes |= {"mixed_naive_bayes", "rda", "shrunken_centroids", "diagonal_lda"}
    classes |= {"kernel_density", "bayesian_network"}
    classes |= {"adaboost_m1", "adaboost_m2", "adaboost_mr", "samme", "real_adaboost"}
    classes |= {"gentle_adaboost", "logitboost"}
    two = {"discrete_adaboost", "schapire_boosting", "exponential_boosting"}
    numbers = {"mean", "linear", "lasso", "elastic_net", "kernel_ridge", "adaboost_r"}
    numbers |= {"robust_boosting", "logarithmic_boosting"}
    assert {m.key for m in select_models("binary", ["all"])} == both | classes | two
    assert {m.key for m in select_models("multiclass", ["all"])} == both | classes
    assert {m.key for m in select_models("regression", ["all"])} == both | numbers


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ("cart,lasso", "There is no model 'lasso' for classification; choose core, all, or some"),
        (["Core"], "There is no model 'Core' for classification.* most_frequent, cart, "),
        (" , ", "No model is named for classification"),
    ],
)
def test_unknown_models_are_refused(tmp_path: Path, models: Any, sentence: str) -> None:
    with pytest.raises(StudyError, match=sentence):
        Study("iris", target="target", output_dir=tmp_path / "new", models=models).run()
    assert not (tmp_path / "new").exists()


def test_a_study_resumes_with_more_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def record(job: Any, shared: Any) -> dict[str, Any]:
        done.append(job.model)
        return run_job(job, shared)

    monkeypatch.setattr("arboleda.study.execution.pool.run_job", record)
    first = Study("iris", target="target", output_dir=tmp_path, models="naive_bayes").run()
    assert set(done) == {"naive_bayes"}
    assert first.facts["study"]["models"] == ["naive_bayes"]
    assert "--models naive_bayes" in first.report.read_text()
    done.clear()
    second = Study("iris", target="target", output_dir=tmp_path, models="naive_bayes, lda").run()
    assert set(done) == {"lda"}
    alone = {m["key"] for m in second.facts["models"] if not m["ensemble"]}
    assert alone == {"naive_bayes", "lda"}
    assert "--models naive_bayes,lda" in second.report.read_text()
