"""Random tables, targets, weights and parameters for the property tests.

Targets and weights are small multiples of powers of two: their sums are exact in any order, so that
properties of exact arithmetic can be asserted bit by bit. Columns have ties and missing values.
"""

import os
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

Array = npt.NDArray[Any]

# The same examples in every run; ARBOLEDA_EXAMPLES=5000 looks further, at other ones each time.
_EXAMPLES = os.environ.get("ARBOLEDA_EXAMPLES")
checked = settings(
    max_examples=int(_EXAMPLES or 40),
    derandomize=_EXAMPLES is None,
    database=None,
    deadline=None,
)

CLASS_CRITERIA = ("gini", "entropy", "misclassification")
REGRESSION_CRITERIA = ("squared_error", "absolute_error", "poisson")
ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "value",
)


@dataclass(frozen=True)
class Problem:
    """One table with its target, weights and criterion."""

    X: Array
    y: Array
    weight: Array | None
    criterion: str

    def fit(self, **parameters: Any) -> Any:
        """Fit the tree of this criterion."""
        make = DecisionTreeClassifier if self.is_classification else DecisionTreeRegressor
        model = make(criterion=self.criterion, **parameters)
        return model.fit(self.X, self.y, sample_weight=self.weight)

    def replaced(self, **changes: Any) -> Self:
        """Return the same problem with other parts."""
        return replace(self, **changes)

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.criterion in CLASS_CRITERIA

    @property
    def full_weight(self) -> Array:
        """Weights as an array."""
        return np.ones(len(self.y)) if self.weight is None else self.weight


def predictions(model: Any, X: Array) -> Array:
    """Class shares or means of every row."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def arrays_of(model: Any, *but: str) -> dict[str, bytes]:
    """Return the bytes of the fitted arrays."""
    return {name: getattr(model.tree_, name).tobytes() for name in ARRAYS if name not in but}


_VALUES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6, width=32).map(lambda x: x if abs(x) > 1e-30 else 0.0),
)


@st.composite
def tables(draw: st.DrawFn, n_rows: int | None = None, missing: bool = True) -> Array:
    """Tables of float32 values with ties, and missing values if asked for."""
    rows = draw(st.integers(2, 40)) if n_rows is None else n_rows
    shape = (rows, draw(st.integers(1, 4)))
    elements = _VALUES
    if missing and draw(st.booleans()):
        elements = st.one_of(_VALUES, st.just(np.nan))
    return draw(arrays(np.float64, shape, elements=elements, fill=st.nothing()))


@st.composite
def weights(draw: st.DrawFn, n_rows: int) -> Array:
    """Weights in quarters, some 0, at least one positive."""
    weight = draw(arrays(np.int64, n_rows, elements=st.integers(0, 5), fill=st.nothing())) / 4.0
    weight[draw(st.integers(0, n_rows - 1))] = 1.0
    return weight


@st.composite
def problems(
    draw: st.DrawFn,
    criteria: tuple[str, ...] = (*CLASS_CRITERIA, *REGRESSION_CRITERIA),
    weighted: bool = True,
) -> Problem:
    """Whole problems."""
    X = draw(tables())
    criterion = draw(st.sampled_from(criteria))
    if criterion in REGRESSION_CRITERIA:
        least = 0 if criterion == "poisson" else -100
        targets = arrays(np.int64, len(X), elements=st.integers(least, 100), fill=st.nothing())
        y = draw(targets) / 8.0
    else:
        y = draw(arrays(np.int64, len(X), elements=st.integers(0, 3), fill=st.nothing()))
    weight = draw(st.one_of(st.none(), weights(len(X)))) if weighted else None
    if criterion == "poisson" and not (y if weight is None else y * weight).any():
        y = y + 0.125
    return Problem(X, y, weight, criterion)


@st.composite
def growth(draw: st.DrawFn, count_rows: bool = True) -> dict[str, Any]:
    """Parameters of growing; without `count_rows` only those that know weights, not rows."""
    choices: dict[str, st.SearchStrategy[Any]] = {
        "max_depth": st.integers(1, 5),
        "max_leaf_nodes": st.integers(2, 9),
        "min_weight_fraction_leaf": st.sampled_from([0.05, 0.125, 0.3, 0.5]),
        "min_impurity_decrease": st.sampled_from([0.001, 0.02, 0.3]),
        "max_features": st.sampled_from([1, 2, "sqrt"]),
    }
    if count_rows:
        choices["min_samples_leaf"] = st.one_of(st.integers(1, 6), st.sampled_from([0.1, 0.3]))
        choices["min_samples_split"] = st.one_of(st.integers(2, 12), st.sampled_from([0.2, 1.0]))
    names = draw(st.sets(st.sampled_from(sorted(choices)), max_size=3))
    parameters = {name: draw(choices[name]) for name in sorted(names)}
    return {**parameters, "random_state": draw(st.integers(0, 5))}
