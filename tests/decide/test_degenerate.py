"""Degenerate tables: a documented decision, or an error that names what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from arboleda import CostSensitiveClassifier, DecisionTreeClassifier, RejectOptionClassifier

_TREE = DecisionTreeClassifier(max_depth=3)
_MODELS = {
    "posterior": CostSensitiveClassifier(_TREE),
    "threshold": CostSensitiveClassifier(_TREE, method="threshold", cv=2),
    "calibrated": CostSensitiveClassifier(_TREE, calibration="sigmoid", cv=2),
    "reject": RejectOptionClassifier(_TREE, threshold=0.6),
    "coverage": RejectOptionClassifier(_TREE, target_coverage=0.6, cv=2),
}
_draw = np.random.default_rng(0)
_X, _Y = _draw.normal(size=(30, 3)), np.arange(30) % 2
_HELD_OUT = ("threshold", "calibrated", "coverage")

# Table -> X, y, and what is refused: by all, or by those that need rows held out.
_TABLES: dict[str, tuple[Any, Any, str | None, str | None]] = {
    "no row": (_X[:0], _Y[:0], r"0 sample\(s\)", None),
    "one row": (_X[:1], _Y[:1], None, "n_splits=2|one class, 0: calibration"),
    "two rows": (_X[:2], _Y[:2], None, "members in each class|less than 2 examples"),
    "no column": (_X[:, :0], _Y, r"0 feature\(s\)", None),
    "one column": (_X[:, :1], _Y, None, None),
    "constant columns": (_X * 0, _Y, None, None),
    "a column of NaN": (np.where([False, True, False], np.nan, _X), _Y, None, None),
    "all NaN": (_X * np.nan, _Y, None, None),
    "infinity": (np.where(_X > 1, np.inf, _X), _Y, "column 0, row . is inf", None),
    "huge": (np.sign(_X) * 1e308, _Y, None, None),
    "denormal": (_X * 1e-310, _Y, None, None),
    "a label that is NaN": (_X, np.where(_Y == 1, np.nan, 0.0), "row 1 is nan; drop", None),
    "a label that is infinite": (_X, np.where(_Y == 1, np.inf, 0.0), "row 1 is inf", None),
    "a class for every four rows": (
        np.repeat(np.arange(20.0), 4)[:, np.newaxis],
        np.repeat(np.arange(20), 4),
        None,
        None,
    ),
}


# A calibrator for each of many classes is scikit-learn's work, and slow.
_MAX_CELLS = [
    (table, model)
    for table in _TABLES
    for model in _MODELS
    if (table, model) != ("a class for every four rows", "calibrated")
]


@pytest.mark.parametrize(("table", "model"), _MAX_CELLS)
def test_predictions_are_classes_or_errors_give_the_reason(table: str, model: str) -> None:
    X, y, refused, refused_held_out = _TABLES[table]
    decider = clone(_MODELS[model])
    message = refused or (refused_held_out if model in _HELD_OUT else None)
    if message:
        with pytest.raises(ValueError, match=message):
            decider.fit(X, y)
        return
    predicted = decider.fit(X, y).predict(X)
    assert set(predicted) <= {*y.tolist(), getattr(decider, "reject_label_", y[0])}
    assert np.isfinite(decider.predict_proba(X)).all()


def test_one_class_is_always_predicted() -> None:
    for name, model in _MODELS.items():
        decider = clone(model)
        if name == "calibrated":
            with pytest.raises(ValueError, match="y holds one class, 'a': calibration needs rows"):
                decider.fit(_X, ["a"] * 30)
        else:
            assert set(decider.fit(_X, ["a"] * 30).predict(_X)) == {"a"}


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_a_class_that_a_fold_lacks_gets_probability_zero() -> None:
    y = np.where(np.arange(30) == 3, "rare", np.where(_Y == 1, "odd", "even"))
    for name in ("threshold", "coverage"):
        decider = clone(_MODELS[name]).fit(_X, y)
        assert decider.classes_.tolist() == ["even", "odd", "rare"]
        assert np.isfinite(decider.predict_proba(_X)).all()


@pytest.mark.parametrize("model", _MODELS)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-1.0, "sample_weight is -1.0 in row 3: weights must be finite and non-negative"),
        (np.nan, "sample_weight is nan in row 3"),
        (np.inf, "sample_weight is inf in row 3"),
        (0.0, "sample_weight is zero for every row"),
        (1e-300, None),
    ],
)
def test_invalid_weights_are_refused(weight: float, message: str | None, model: str) -> None:
    weights = np.full(30, weight) if 0 <= weight < 1 else np.ones(30)
    weights[3] = weight
    decider = clone(_MODELS[model])
    if message is None:
        assert set(decider.fit(_X, _Y, sample_weight=weights).predict(_X)) <= {-1, 0, 1}
        return
    with pytest.raises(ValueError, match=message):
        decider.fit(_X, _Y, sample_weight=weights)


@pytest.mark.parametrize("scale", [1e-320, 1e306])
def test_tiny_and_huge_costs_give_the_same_decisions(scale: float) -> None:
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    for method in ("posterior", "threshold"):
        plain = CostSensitiveClassifier(_TREE, cost_matrix=costs, method=method, cv=2)
        predicted = plain.fit(_X, _Y).predict(_X)
        scaled = clone(plain).set_params(cost_matrix=costs * scale).fit(_X, _Y)
        np.testing.assert_array_equal(scaled.predict(_X), predicted)
        assert np.isfinite(scaled.mean_cost(_X, _Y))
