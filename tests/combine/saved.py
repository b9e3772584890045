"""Combinations to save, one of each kind that a model file holds."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from arboleda import (
    AdaBoostRegressor,
    BaggingRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)

_RANDOM = np.random.default_rng(0)
X = _RANDOM.normal(size=(90, 3))
VALUES = X[:, 0] * 2 + X[:, 1]
LABELS = np.array(["a", "b", "ñ"])[np.digitize(VALUES, [-1, 1])]


def tree() -> Any:
    return DecisionTreeClassifier(max_depth=3, random_state=0)


CLASSES: list[tuple[str, Any]] = [
    ("tree", tree()),
    ("gone", "drop"),
    ("forest", RandomForestClassifier(3, random_state=0)),
    ("boosted", HistGradientBoostingClassifier(max_iter=2)),
    ("line", LogisticRegression()),
]
NUMBERS: list[tuple[str, Any]] = [
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("bagged", BaggingRegressor(n_estimators=3, random_state=0)),
    ("boosted", AdaBoostRegressor(n_estimators=3, random_state=0)),
]


def _classes(kind: Any, *given: Any, **parameters: Any) -> Callable[[], Any]:
    return lambda: kind(CLASSES, *given, **parameters).fit(X, LABELS)


def _numbers(kind: Any, **parameters: Any) -> Callable[[], Any]:
    return lambda: kind(NUMBERS, **parameters).fit(X, VALUES)


def _frozen() -> Any:
    members = [("known", FrozenEstimator(tree().fit(X, LABELS))), ("tree", tree())]
    return VotingClassifier(members, rule="mean").fit(X, LABELS)


def _prefit() -> Any:
    members = [("known", tree().fit(X, LABELS)), ("other", tree().fit(X[:50], LABELS[:50]))]
    return StackingClassifier(members, cv="prefit").fit(X, LABELS)


def _nested() -> Any:
    inner = StackingClassifier([CLASSES[0], CLASSES[-1]], cv=2)
    return StackingClassifier([("stack", inner), ("tree", tree())], inner, cv=2).fit(X, LABELS)


MODELS: dict[str, Callable[[], Any]] = {
    "majority": _classes(VotingClassifier, rule="majority", reject=True, weights=[1, 9, 2, 0, 1]),
    "weighted": _classes(VotingClassifier, rule="weighted", cv=3),
    "naive Bayes": _classes(VotingClassifier, rule="naive_bayes", cv=3),
    "geometric": _classes(VotingClassifier, rule="geometric"),
    "trimmed": _numbers(VotingRegressor, rule="trimmed", trim=0.4),
    "inverse errors": _numbers(VotingRegressor, rule="weighted", cv=3),
    "frozen": _frozen,
    "stack": _classes(StackingClassifier, cv=3),
    "two classes": lambda: StackingClassifier(CLASSES, cv=3).fit(X, VALUES > 0),
    "passthrough": _classes(StackingClassifier, tree(), cv=3, passthrough=True),
    "prefit": _prefit,
    "nested": _nested,
    "simplex": _classes(StackingClassifier, cv=3, weights="simplex"),
    "values stacked": _numbers(StackingRegressor, cv=3),
    "nonnegative": _numbers(StackingRegressor, cv=3, weights="nonnegative"),
    "selected": _classes(EnsembleSelectionClassifier, cv=3, random_state=0, n_rounds=4),
    "values selected": _numbers(EnsembleSelectionRegressor, cv=3, random_state=0, n_rounds=4),
    "averaged": _classes(BayesianModelAveragingClassifier, cv=3, prior={"tree": 1, "line": 2}),
    "values averaged": _numbers(BayesianModelAveragingRegressor, cv=3),
}
