"""Surrogates of an ensemble: the data that they are fitted to, and their fidelity by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda._utils.frames import new_frame
from arboleda._utils.number_types import is_real
from arboleda._utils.results import Result
from arboleda.explain._best_subtrees import NodeLosses, find_best_subtrees, find_enclosing_nodes
from arboleda.explain._conformal import as_target_array
from arboleda.explain._outputs import OutputReader, make_output_reader
from arboleda.explain._rows import TableRows, read_rows
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["FidelityCurve", "Surrogate", "SurrogateTask", "prepare_surrogate"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Tree = DecisionTreeClassifier | DecisionTreeRegressor

_GROWTH_FACTOR = 4  # leaves of the grown tree per leaf kept
_MIN_LEAF_ROWS = 5


@dataclass(frozen=True, eq=False, repr=False)
class FidelityCurve(Result):
    """Fidelity and errors of surrogates of each size.

    All of them are measured on held-out rows. Errors are shares of wrong labels, or root mean
    squared errors in the unit of y; NaN if y is unknown.

    Attributes
    ----------
    size : ndarray of int
        Number of leaves, or of rules including the last, "otherwise"; ascending. Sizes that fit the
        training rows no better than smaller ones are left out.
    fidelity : ndarray of float
        Share of rows with the ensemble's label, or R2 of the ensemble's values.
    error : ndarray of float
        Error of the surrogate.
    ensemble_error : ndarray of float
        Error of the ensemble, the same at every size.
    cart_error : ndarray of float
        Error of a tree with at most as many leaves that is fitted to y itself by the same search.
    """

    size: npt.NDArray[np.int64]
    fidelity: Floats
    error: Floats
    ensemble_error: Floats
    cart_error: Floats

    def _summarize(self) -> dict[str, Any]:
        return {"size": self.size.tolist(), "fidelity": self.fidelity.tolist()}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per size, with the attributes as columns, as a pandas data frame."""
        return new_frame(dict(vars(self)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot fidelity by size: see `arboleda.plot.fidelity_curve`."""
        from arboleda import plot

        return plot.fidelity_curve(Surrogate(None, self, float(self.fidelity[-1])), ax)


@dataclass(frozen=True, eq=False, repr=False)
class Surrogate(Result):
    """A small model that approximates an ensemble, with fidelity and errors by size.

    Attributes
    ----------
    model : DecisionTreeClassifier, DecisionTreeRegressor or RuleList
        The surrogate; it predicts the ensemble's labels or values.
    curve : FidelityCurve
        Fidelity and errors by size.
    fidelity : float
        Fidelity of the model, the last one of the curve.
    """

    model: Any
    curve: FidelityCurve
    fidelity: float

    def _summarize(self) -> dict[str, Any]:
        return {
            "model": type(self.model).__name__,
            "size": int(self.curve.size[-1]),
            "fidelity": self.fidelity,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the curve, one row per size, as a pandas data frame."""
        return self.curve.to_frame()

    def plot(self, ax: Any = None) -> Any:
        """Plot the model, its fidelity by size, and its error beside those of others.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            See `arboleda.plot.surrogate`.

        Returns
        -------
        ax : Axes or ndarray of Axes
        """
        from arboleda import plot

        return plot.surrogate(self, ax)


@dataclass(frozen=True, eq=False)
class SurrogateTask:
    """Rows to fit and to test surrogates on, with the ensemble's outputs.

    Attributes
    ----------
    classes : ndarray or None
        Class labels; None for values.
    X_fit, X_test : table
        Tables in their original type.
    outputs, test_outputs : ndarray
        The ensemble's labels or values.
    margin : ndarray or None
        Margin of its label in the rows to fit on; None for values.
    y, y_test : ndarray or None
        The true targets, if known.
    options : dict
        Parameters of the trees.
    """

    classes: Array | None
    X_fit: Any
    X_test: Any
    outputs: Array
    test_outputs: Array
    margin: Floats | None
    y: Array | None
    y_test: Array | None
    options: dict[str, Any]

    def grow(self, target: Array, size: int, weight: Floats | None = None) -> Tree:
        """Grow a tree best first, with more leaves than requested."""
        kind = DecisionTreeRegressor if self.classes is None else DecisionTreeClassifier
        n_leaves = max(2, _GROWTH_FACTOR * size)
        model = kind(max_leaf_nodes=n_leaves, min_samples_leaf=_MIN_LEAF_ROWS, **self.options)
        if weight is not None and not weight.any():
            weight = None
        fitted: Tree = model.fit(self.X_fit, target, sample_weight=weight)
        return fitted

    def compute_node_losses(self, tree: Tree, target: Array) -> NodeLosses:
        """Compute the losses of the fitted rows at the nodes of a tree."""
        if isinstance(tree, DecisionTreeClassifier):
            columns = (np.asarray(target)[:, np.newaxis] == tree.classes_).astype(np.float64)
        else:
            columns = np.asarray(target, dtype=np.float64)[:, np.newaxis]
        leaf = tree.apply(self.X_fit)
        return NodeLosses.compute(tree.tree_, leaf, columns, classes=self.classes is not None)

    def fidelity(self, predictions: Array) -> float:
        """Compute the agreement of predictions for the test rows with the ensemble's."""
        if self.classes is not None:
            return float(np.mean(predictions == self.test_outputs))
        return compute_r2(self.test_outputs, predictions)

    def error(self, predictions: Array) -> float:
        """Compute the error of predictions for the test rows; NaN if y is unknown."""
        if self.y_test is None:
            return float("nan")
        if self.classes is not None:
            return float(np.mean(predictions != self.y_test))
        off = predictions - self.y_test
        size = float(np.abs(off).max(initial=0.0))
        return size * float(np.sqrt(np.mean((off / size) ** 2))) if size > 0.0 else 0.0

    def curve(self, predictions: dict[int, Array]) -> FidelityCurve:
        """Evaluate predictions of surrogates by size, beside trees fitted to y."""
        sizes = sorted(predictions)
        own = {}
        if self.y is not None and self.y_test is not None:
            tree = self.grow(self.y, sizes[-1])
            found = find_best_subtrees(self.compute_node_losses(tree, self.y), sizes[-1])
            own = self.predict_by_size(tree, found)
        cart_errors = [
            self.error(own[max(k for k in own if k <= s)]) if own else np.nan for s in sizes
        ]
        return FidelityCurve(
            size=np.array(sizes, dtype=np.int64),
            fidelity=np.array([self.fidelity(predictions[size]) for size in sizes]),
            error=np.array([self.error(predictions[size]) for size in sizes]),
            ensemble_error=np.full(len(sizes), self.error(self.test_outputs)),
            cart_error=np.array(cart_errors),
        )

    def predict_by_size(self, tree: Tree, nodes: dict[int, list[int]]) -> dict[int, Array]:
        """Predict the test rows with each selection of a tree's nodes."""
        leaf = tree.apply(self.X_test)
        values = compute_node_predictions(tree)
        return {
            k: values[find_enclosing_nodes(tree.tree_, of_k)[leaf]] for k, of_k in nodes.items()
        }


def compute_node_predictions(tree: Tree) -> Array:
    """Return the prediction of each node of a tree: labels or values."""
    values = tree.tree_.value_rows
    if isinstance(tree, DecisionTreeClassifier):
        labels: Array = tree.classes_[values.argmax(axis=1)]
        return labels
    return values[:, 0]


def compute_r2(target: Floats, predictions: Floats) -> float:
    """Compute R2; for a constant target, 1 if all predictions are equal to it and 0 otherwise."""
    unit = max(float(np.abs(target).max()), float(np.abs(predictions).max())) or 1.0
    target, predictions = target / unit, predictions / unit
    unexplained = float(((target - predictions) ** 2).sum())
    total = float(((target - target.mean()) ** 2).sum())
    if np.ptp(target) == 0.0:
        return float(unexplained == 0.0)
    return 1.0 - unexplained / total


def prepare_surrogate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    X_test: Any,
    y_test: Any,
    answers: Any,
    test_size: float,
    random_state: Any,
    categorical_features: Any,
    n_jobs: int | None,
) -> SurrogateTask:
    """Check the arguments of `surrogate_tree` and `surrogate_rules`, and compute the outputs."""
    reader = make_output_reader(estimator)
    rows = read_rows(X, estimator, categorical_features)
    outputs = _read_outputs(reader, X, answers, rows.n_rows)
    target = _read_target(y, rows.n_rows, reader.classes, "y", "X")
    known = np.flatnonzero(~np.isnan(outputs).any(axis=1))
    if not known.size:
        raise ValueError("answers is NaN in all rows: give predictions of at least some rows")
    if X_test is None:
        if y_test is not None:
            raise ValueError("y_test is given without X_test: give both or neither")
        fit_rows, test_rows = _split_rows(known, test_size, random_state)
        test_table, test_outputs = rows.take(test_rows).native, outputs[test_rows]
        test_target = None if target is None else target[test_rows]
    else:
        test = read_rows(X_test, estimator, categorical_features)
        fit_rows, test_table = known, X_test
        test_outputs = _read_outputs(reader, X_test, None, test.n_rows)
        test_target = _read_target(y_test, test.n_rows, reader.classes, "y_test", "X_test")
    uses_all_rows = fit_rows.size == rows.n_rows
    classes = reader.classes
    return SurrogateTask(
        classes=classes,
        X_fit=X if uses_all_rows else rows.take(fit_rows).native,
        X_test=test_table,
        outputs=_choose_labels(outputs[fit_rows], classes),
        test_outputs=_choose_labels(test_outputs, classes),
        margin=None if classes is None else _compute_margins(outputs[fit_rows]),
        y=None if target is None else target[fit_rows],
        y_test=test_target,
        options=_make_tree_options(rows, categorical_features, n_jobs),
    )


def _make_tree_options(
    rows: TableRows, categorical_features: Any, n_jobs: int | None
) -> dict[str, Any]:
    kinds: Any = categorical_features
    if isinstance(kinds, str):  # add the columns that the estimator treated as categorical
        own = np.array(rows.categorical)
        kinds = own if own.any() else "from_dtype"
    return {"categorical_features": kinds, "n_jobs": n_jobs}


def _read_outputs(reader: OutputReader, X: Any, answers: Any, n_rows: int) -> Floats:
    """Return the ensemble's outputs, with one column for values or margins of two classes."""
    if answers is None:
        outputs = reader(X).values
    else:
        outputs = np.asarray(answers, dtype=np.float64)
        outputs = outputs[:, np.newaxis] if outputs.ndim == 1 else outputs
        n_outputs = 1 if reader.classes is None else len(reader.classes)
        widths = {n_outputs}
        if n_outputs == 2 and reader.method == "decision_function":
            widths.add(1)  # margins of two classes
        if outputs.ndim != 2 or outputs.shape[0] != n_rows or outputs.shape[1] not in widths:
            raise ValueError(
                f"answers has shape {outputs.shape}, expected one row for each of the {n_rows} "
                f"rows of X and one column for each of the {n_outputs} outputs of the estimator"
            )
        if np.isinf(outputs).any():
            raise ValueError("answers contains infinity: give finite numbers, or NaN for no value")
    if reader.classes is None and outputs.shape[1] > 1:
        raise ValueError(
            f"the estimator predicts {outputs.shape[1]} targets: give a single-target estimator"
        )
    return outputs


def _choose_labels(outputs: Floats, classes: Array | None) -> Array:
    if classes is None:
        return outputs[:, 0]
    two = outputs.shape[1] < len(classes)  # margins of two classes
    labels: Array = classes[
        (outputs[:, 0] > 0.0).astype(np.intp) if two else outputs.argmax(axis=1)
    ]
    return labels


def _compute_margins(outputs: Floats) -> Floats:
    """Compute the differences of the two largest outputs, scaled so that the largest is 1."""
    if outputs.shape[1] == 1:
        margin = np.abs(outputs[:, 0])
    else:
        two = np.partition(outputs, -2, axis=1)[:, -2:]
        margin = two[:, 1] - two[:, 0]
    largest = float(margin.max())
    scaled: Floats = margin / largest if largest > 0.0 else margin
    return scaled


def _read_target(y: Any, n_rows: int, classes: Array | None, name: str, rows: str) -> Array | None:
    if y is None:
        return None
    target = as_target_array(y, numeric=classes is None)
    if target.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {target.shape}, but {rows} has {n_rows} rows: give one target per "
            "row"
        )
    if classes is not None and set(target.tolist()).isdisjoint(classes.tolist()):
        raise ValueError(
            f"{name} contains no class that the estimator knows, but {target.tolist()[0]!r} in row "
            f"0; its classes are {classes.tolist()[:20]}: give labels like those it was fitted on"
        )
    return target


def _split_rows(rows: Array, test_size: float, random_state: Any) -> tuple[Array, Array]:
    if isinstance(test_size, bool) or not is_real(test_size) or not 0 < test_size < 1:
        raise ValueError(f"test_size must be a number between 0 and 1, got {test_size!r}")
    n_test = round(test_size * rows.size)
    if not 0 < n_test < rows.size:
        raise ValueError(
            f"test_size={test_size} of {rows.size} row(s) leaves no row to fit on or none to test "
            "on: give more rows, or X_test"
        )
    order = check_random_state(random_state).permutation(rows)
    return np.sort(order[n_test:]), np.sort(order[:n_test])
