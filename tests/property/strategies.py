"""Random tables, targets, weights and parameters for the property tests.

Targets and weights are small multiples of powers of two: their sums are exact in any order, so that
properties of exact arithmetic can be asserted bit by bit. Columns have ties and missing values, and
some hold categories; some problems have several outputs.
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
CATEGORIES = "categories"  # of all nodes; one of the arrays that `arrays_of` returns


@dataclass(frozen=True)
class Problem:
    """One table with its target, weights and criterion."""

    X: Array
    y: Array  # (rows,) or (rows, outputs)
    weight: Array | None
    criterion: str
    categorical: tuple[int, ...] = ()  # columns

    @property
    def parameters(self) -> dict[str, Any]:
        """What belongs to the data among the parameters of an estimator."""
        return {"categorical_features": list(self.categorical) or None}

    def fit(self, **parameters: Any) -> Any:
        """Fit the tree of this criterion."""
        make = DecisionTreeClassifier if self.is_classification else DecisionTreeRegressor
        model = make(criterion=self.criterion, **self.parameters, **parameters)
        return model.fit(self.X, self.y, sample_weight=self.weight)

    def replaced(self, **changes: Any) -> Self:
        """Return the same problem with other parts."""
        return replace(self, **changes)

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.criterion in CLASS_CRITERIA

    @property
    def outputs(self) -> Array:
        """Targets, one column an output."""
        return self.y.reshape(len(self.y), -1)

    @property
    def full_weight(self) -> Array:
        """Weights as an array."""
        return np.ones(len(self.y)) if self.weight is None else self.weight


def predictions(model: Any, X: Array) -> Array:
    """Class shares or means of every row; of several outputs side by side."""
    if not hasattr(model, "predict_proba"):
        return model.predict(X)
    shares = model.predict_proba(X)
    return np.hstack(shares) if isinstance(shares, list) else shares


def trees_of(model: Any) -> list[Any]:
    """The tree of a model, or those of its ensemble."""
    return [model.tree_] if hasattr(model, "tree_") else model.ensemble_.trees


def arrays_of(model: Any, *but: str) -> dict[str, bytes]:
    """Return the bytes of the fitted arrays, tree after tree."""
    arrays = dict.fromkeys((*ARRAYS, CATEGORIES), b"")
    for tree in trees_of(model):
        for name in ARRAYS:
            arrays[name] += getattr(tree, name).tobytes()
        native = tree._native
        arrays[CATEGORIES] += native.category_start.tobytes() + native.category.tobytes()
    return {name: data for name, data in arrays.items() if name not in but}


_VALUES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6, width=32).map(lambda x: x if abs(x) > 1e-30 else 0.0),
)


@st.composite
def tables(draw: st.DrawFn, n_rows: int | None = None, missing: bool = True) -> Array:
    """Tables of float32 values with ties, and missing values if requested."""
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
def targets(draw: st.DrawFn, criterion: str, n_rows: int) -> Array:
    """Classes 0 .. 3, or eighths; for the Poisson deviance not negative."""
    if criterion in CLASS_CRITERIA:
        return draw(arrays(np.int64, n_rows, elements=st.integers(0, 3), fill=st.nothing()))
    least = 0 if criterion == "poisson" else -100
    values = arrays(np.int64, n_rows, elements=st.integers(least, 100), fill=st.nothing())
    return draw(values) / 8.0


@st.composite
def problems(
    draw: st.DrawFn,
    criteria: tuple[str, ...] = (*CLASS_CRITERIA, *REGRESSION_CRITERIA),
    weighted: bool = True,
    categories: bool = True,
    several: bool = True,
) -> Problem:
    """Whole problems; with categorical columns and several outputs unless they are declined."""
    X = draw(tables())
    categorical: tuple[int, ...] = ()
    if categories and draw(st.booleans()):
        categorical = tuple(sorted(draw(st.sets(st.integers(0, X.shape[1] - 1), min_size=1))))
        levels = st.one_of(st.integers(0, 6).map(float), st.just(np.nan))
        for j in categorical:
            X[:, j] = draw(arrays(np.float64, len(X), elements=levels, fill=st.nothing()))
    criterion = draw(st.sampled_from(criteria))
    n_outputs = draw(st.sampled_from([1, 1, 1, 2, 3])) if several else 1
    y = np.column_stack([draw(targets(criterion, len(X))) for _ in range(n_outputs)])
    weight = draw(st.one_of(st.none(), weights(len(X)))) if weighted else None
    if criterion == "poisson":
        counted = y if weight is None else y * weight[:, None]
        y = y + 0.125 * ~counted.any(axis=0)
    return Problem(X, y[:, 0] if n_outputs == 1 else y, weight, criterion, categorical)


@st.composite
def growth(draw: st.DrawFn, count_rows: bool = True, at_random: bool = True) -> dict[str, Any]:
    """Parameters of growing; without `count_rows` only those that know weights, not rows.

    Without `at_random` thresholds are not drawn, which depends on the values and places of columns.
    """
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
        choices["max_bins"] = st.integers(2, 6)
    if at_random:
        choices["splitter"] = st.just("random")
    names = draw(st.sets(st.sampled_from(sorted(choices)), max_size=3))
    parameters = {name: draw(choices[name]) for name in sorted(names)}
    return {**parameters, "random_state": draw(st.integers(0, 5))}
