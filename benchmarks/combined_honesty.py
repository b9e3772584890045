"""Measure the optimism of the cross-validated scores of combined models.

    python benchmarks/combined_honesty.py [--seeds 10] [--out FILE]

For small tables and many splits, seven members are cross-validated and combined as in a study, then
fitted to all training rows and tested on a fifth of the rows. For every model, the script prints
the optimism of its score: the cross-validated score minus the score on the test rows. Members learn
from fewer rows in a fold than for the test, so values slightly below 0 are expected. "seen" is
the optimism of a combination if its weights had been learned from the scored rows.
"""

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.combine import MemberOutputs
from arboleda.study.combination.cross_fitting import cross_fit
from arboleda.study.combination.methods import METHODS

Floats = npt.NDArray[np.float64]
MOST_ROWS = 300
TABLES = {
    "breast_cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "extra trees": ExtraTreesClassifier(50, random_state=0, n_jobs=1),
    "boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0, n_jobs=1),
    "naive Bayes": GaussianNB(var_smoothing=1e-3),
    "linear discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(7)),
}
REGRESSORS = {
    "tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "extra trees": ExtraTreesRegressor(50, random_state=0, n_jobs=1),
    "boosting": HistGradientBoostingRegressor(max_iter=30, random_state=0, n_jobs=1),
    "ridge": make_pipeline(StandardScaler(), Ridge(10.0)),
    "lasso": make_pipeline(StandardScaler(), Lasso(1.0)),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor(15)),
    "support vectors": make_pipeline(StandardScaler(), SVR(C=100.0)),
}


def predict(model: Any, x: Floats, n_classes: int) -> Floats:
    """Predict probabilities of all classes, or values."""
    if not n_classes:
        return np.asarray(model.predict(x))
    probabilities = np.zeros((len(x), n_classes))
    probabilities[:, model.classes_] = model.predict_proba(x)
    return probabilities


def compute_scores(y: npt.NDArray[Any], predictions: Floats) -> dict[str, float]:
    """Return scores, greater is better; RMSE in standard deviations of the target."""
    if predictions.ndim == 1:
        return {"rmse": -float(np.sqrt(np.mean((y - predictions) ** 2)) / y.std())}
    return {
        "accuracy": float(np.mean(predictions.argmax(axis=1) == y)),
        "log_loss": -float(
            log_loss(y, np.clip(predictions, 1e-3, 1.0), labels=range(predictions.shape[1]))
        ),
    }


def iter_optimism(x: Floats, y: npt.NDArray[Any], seed: int, n_classes: int) -> Iterator[tuple]:
    """Yield kind, model, metric and optimism for every model."""
    members = CLASSIFIERS if n_classes else REGRESSORS
    strata = y if n_classes else None
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.2, random_state=seed, stratify=strata
    )
    kind = StratifiedKFold if n_classes else KFold
    folds = [
        (train[fit], train[score])
        for fit, score in kind(5, shuffle=True, random_state=seed).split(train, y[train])
    ]
    names = list(members)
    labels = np.arange(n_classes) if n_classes else None

    def predict_members(fit: Any, rows: Any) -> MemberOutputs:
        fitted = [clone(model).fit(x[fit], y[fit]) for model in members.values()]
        outputs = np.stack([predict(model, x[rows], n_classes) for model in fitted])
        return MemberOutputs(names, outputs, labels, rows, len(y))

    parts = [predict_members(fit, score) for fit, score in folds]
    order = np.argsort(np.concatenate([part.rows for part in parts]))
    whole = MemberOutputs(
        names,
        np.concatenate([part.outputs for part in parts], axis=1)[:, order],
        labels,
        np.sort(train),
        len(y),
    )
    test_outputs = predict_members(train, test)
    for place, name in enumerate(names):
        fold_predictions = [(part.rows, part.outputs[place]) for part in parts]
        yield from iter_gaps(
            "single", name, y, fold_predictions, (test, test_outputs.outputs[place])
        )
    for method in METHODS:
        if method.members is not None or not method.suits(len(names), len(whole.rows), n_classes):
            continue
        found = cross_fit(method.fit, parts, whole, y, seed)
        fold_predictions = [
            (part.rows, s) for part, s in zip(parts, found.predictions, strict=True)
        ]
        test_predictions = (test, found.rule(test_outputs.outputs))
        yield from iter_gaps("combined", method.name, y, fold_predictions, test_predictions)
        seen_predictions = [(part.rows, found.rule(part.outputs)) for part in parts]
        yield from iter_gaps("seen", method.name, y, seen_predictions, test_predictions)


def iter_gaps(
    kind: str, name: str, y: Any, fold_predictions: Any, test_outputs: Any
) -> Iterator[tuple]:
    """Yield the mean score of the folds minus the test score, for each metric."""
    each = [compute_scores(y[rows], predicted) for rows, predicted in fold_predictions]
    for metric, value in compute_scores(y[test_outputs[0]], test_outputs[1]).items():
        yield kind, name, metric, float(np.mean([found[metric] for found in each])) - value


def main() -> None:
    """Print the mean optimism of every model, with its standard error over tables and splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for seed in range(args.seeds):
        for name, load in TABLES.items():
            x, y = load(return_X_y=True)
            rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
            n_classes = 0 if name == "diabetes" else len(np.unique(y))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for kind, model, metric, gap in iter_optimism(x[rows], y[rows], seed, n_classes):
                    found[(metric, kind, model)].append(gap)
        print(f"split {seed}", flush=True)
        if args.out:
            args.out.write_text(json.dumps([[*key, gaps] for key, gaps in found.items()]))
    for (metric, kind, model), values in sorted(found.items()):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        print(f"{metric:10} {kind:10} {model:24} {np.mean(values):+.4f} +- {error:.4f}")


if __name__ == "__main__":
    main()
