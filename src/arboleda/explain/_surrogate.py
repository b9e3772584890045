"""What an ensemble says, as something to imitate, and how well imitations of each size do."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda._frames import new_frame
from arboleda.explain._best_subtrees import Judgement, best_subtrees, node_of_leaf
from arboleda.explain._conformal import column_of
from arboleda.explain._outputs import OutputReader, output_reader
from arboleda.explain._rows import Rows, read_rows
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FidelityCurve", "Imitation", "Surrogate", "prepare_imitation"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Tree = DecisionTreeClassifier | DecisionTreeRegressor

_GROWN = 4  # times as many leaves are grown as are kept
_FEWEST_ROWS = 5  # of a leaf


@dataclass(frozen=True, eq=False)
class FidelityCurve:
    """How well surrogates of each size imitate an ensemble, and how wrong all of them are.

    All of it is measured on rows that the surrogates did not learn from. Errors are shares of wrong
    labels, or root mean squared errors in the unit of y; NaN where no y is known.

    Attributes
    ----------
    size : ndarray of int
        Leaves, or rules with the last, "otherwise"; ascending. Sizes that imitate the rows learned
        from no better than smaller ones are left out.
    fidelity : ndarray of float
        Share of rows with the ensemble's label; R2 of the ensemble's values.
    error : ndarray of float
        Of the surrogate.
    ensemble_error : ndarray of float
        Of the ensemble, the same at every size.
    cart_error : ndarray of float
        Of a tree of at most as many leaves that learns y itself, found by the same search.
    """

    size: npt.NDArray[np.int64]
    fidelity: Floats
    error: Floats
    ensemble_error: Floats
    cart_error: Floats

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each size, with the attributes for columns, as a pandas frame."""
        return new_frame(dict(vars(self)))


@dataclass(frozen=True, eq=False)
class Surrogate:
    """A small model that imitates an ensemble, and what its size costs.

    Attributes
    ----------
    model : DecisionTreeClassifier, DecisionTreeRegressor or RuleList
        The surrogate; it predicts the ensemble's labels or values.
    curve : FidelityCurve
        Fidelity and errors by size.
    fidelity : float
        Of the model, the last of the curve.
    """

    model: Any
    curve: FidelityCurve
    fidelity: float

    def to_frame(self) -> pd.DataFrame:
        """Return the curve, one row for each size, as a pandas frame."""
        return self.curve.to_frame()

    def plot(self, ax: Any = None) -> Any:
        """Draw the model, its fidelity by size, and its error beside those of others.

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
class Imitation:
    """Rows to learn from and others to judge by, with what the ensemble says of them.

    Attributes
    ----------
    classes : ndarray or None
        Labels; None for values.
    learn, judge : table
        In the container given.
    said, said_judge : ndarray
        The ensemble's labels, or values.
    margin : ndarray or None
        By how much its label leads, in the rows to learn from; None for values.
    y, y_judge : ndarray or None
        The truth, if it is known.
    options : dict
        Parameters of the trees.
    """

    classes: Array | None
    learn: Any
    judge: Any
    said: Array
    said_judge: Array
    margin: Floats | None
    y: Array | None
    y_judge: Array | None
    options: dict[str, Any]

    def grow(self, target: Array, size: int, weight: Floats | None = None) -> Tree:
        """Grow a tree of more leaves than are wanted, best first."""
        kind = DecisionTreeRegressor if self.classes is None else DecisionTreeClassifier
        n_leaves = max(2, _GROWN * size)
        model = kind(max_leaf_nodes=n_leaves, min_samples_leaf=_FEWEST_ROWS, **self.options)
        if weight is not None and not weight.any():
            weight = None
        fitted: Tree = model.fit(self.learn, target, sample_weight=weight)
        return fitted

    def judgement(self, tree: Tree, target: Array) -> Judgement:
        """Let the rows learned from judge a tree."""
        if isinstance(tree, DecisionTreeClassifier):
            columns = (np.asarray(target)[:, np.newaxis] == tree.classes_).astype(np.float64)
        else:
            columns = np.asarray(target, dtype=np.float64)[:, np.newaxis]
        leaf = tree.apply(self.learn)
        return Judgement.of(tree.tree_, leaf, columns, classes=self.classes is not None)

    def fidelity(self, answers: Array) -> float:
        """Return how well answers for the judging rows imitate the ensemble's."""
        if self.classes is not None:
            return float(np.mean(answers == self.said_judge))
        return r2_of(self.said_judge, answers)

    def error(self, answers: Array) -> float:
        """Return how wrong answers for the judging rows are; NaN where y is not known."""
        if self.y_judge is None:
            return float("nan")
        if self.classes is not None:
            return float(np.mean(answers != self.y_judge))
        off = answers - self.y_judge
        size = float(np.abs(off).max(initial=0.0))
        return size * float(np.sqrt(np.mean((off / size) ** 2))) if size > 0.0 else 0.0

    def curve(self, answers: dict[int, Array]) -> FidelityCurve:
        """Judge answers of surrogates by their sizes, beside trees that learn y."""
        sizes = sorted(answers)
        own = {}
        if self.y is not None and self.y_judge is not None:
            tree = self.grow(self.y, sizes[-1])
            found = best_subtrees(self.judgement(tree, self.y), sizes[-1])
            own = self.answers_of(tree, found)
        beside = [self.error(own[max(k for k in own if k <= s)]) if own else np.nan for s in sizes]
        return FidelityCurve(
            size=np.array(sizes, dtype=np.int64),
            fidelity=np.array([self.fidelity(answers[size]) for size in sizes]),
            error=np.array([self.error(answers[size]) for size in sizes]),
            ensemble_error=np.full(len(sizes), self.error(self.said_judge)),
            cart_error=np.array(beside),
        )

    def answers_of(self, tree: Tree, nodes: dict[int, list[int]]) -> dict[int, Array]:
        """Return what each choice of a tree's nodes says of the judging rows."""
        leaf = tree.apply(self.judge)
        said = says_of(tree)
        return {k: said[node_of_leaf(tree.tree_, of_k)[leaf]] for k, of_k in nodes.items()}


def says_of(tree: Tree) -> Array:
    """Return what each node of a tree says: labels or values."""
    values = tree.tree_.value_rows
    if isinstance(tree, DecisionTreeClassifier):
        labels: Array = tree.classes_[values.argmax(axis=1)]
        return labels
    return values[:, 0]


def r2_of(truth: Floats, answers: Floats) -> float:
    """Return R2; where the truth is constant, 1 if all answers are it and 0 if not."""
    unit = max(float(np.abs(truth).max()), float(np.abs(answers).max())) or 1.0
    truth, answers = truth / unit, answers / unit
    unexplained = float(((truth - answers) ** 2).sum())
    total = float(((truth - truth.mean()) ** 2).sum())
    if np.ptp(truth) == 0.0:
        return float(unexplained == 0.0)
    return 1.0 - unexplained / total


def prepare_imitation(
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
) -> Imitation:
    """Check what `surrogate_tree` and `surrogate_rules` are given, and ask the ensemble."""
    reader = output_reader(estimator)
    rows = read_rows(X, estimator, categorical_features)
    said = _said(reader, X, answers, rows.n_rows)
    truth = _target(y, rows.n_rows, reader.classes, "y", "X")
    known = np.flatnonzero(~np.isnan(said).any(axis=1))
    if not known.size:
        raise ValueError("answers are NaN in all rows: give some that the ensemble can answer")
    if X_test is None:
        if y_test is not None:
            raise ValueError("y_test belongs to X_test: give both or neither")
        learn, judge = _divided(known, test_size, random_state)
        judge_table, said_judge = rows.take(judge).native, said[judge]
        truth_judge = None if truth is None else truth[judge]
    else:
        test = read_rows(X_test, estimator, categorical_features)
        learn, judge_table = known, X_test
        said_judge = _said(reader, X_test, None, test.n_rows)
        truth_judge = _target(y_test, test.n_rows, reader.classes, "y_test", "X_test")
    everything = learn.size == rows.n_rows
    classes = reader.classes
    return Imitation(
        classes=classes,
        learn=X if everything else rows.take(learn).native,
        judge=judge_table,
        said=_labels(said[learn], classes),
        said_judge=_labels(said_judge, classes),
        margin=None if classes is None else _margins(said[learn]),
        y=None if truth is None else truth[learn],
        y_judge=truth_judge,
        options=_tree_options(rows, categorical_features, n_jobs),
    )


def _tree_options(rows: Rows, categorical_features: Any, n_jobs: int | None) -> dict[str, Any]:
    kinds: Any = categorical_features
    if isinstance(kinds, str):  # what the estimator took for categories, beside the types
        own = np.array(rows.categorical)
        kinds = own if own.any() else "from_dtype"
    return {"categorical_features": kinds, "n_jobs": n_jobs}


def _said(reader: OutputReader, X: Any, answers: Any, n_rows: int) -> Floats:
    """Return the ensemble's answers, one column for values or margins of two classes."""
    if answers is None:
        said = reader(X).values
    else:
        said = np.asarray(answers, dtype=np.float64)
        said = said[:, np.newaxis] if said.ndim == 1 else said
        n_answers = 1 if reader.classes is None else len(reader.classes)
        widths = {n_answers}
        if n_answers == 2 and reader.method == "decision_function":
            widths.add(1)  # margins of two classes
        if said.ndim != 2 or said.shape[0] != n_rows or said.shape[1] not in widths:
            raise ValueError(
                f"answers have the shape {said.shape}: give one row for each of the {n_rows} rows "
                f"of X, and one number for each of {n_answers} answers of the estimator"
            )
        if np.isinf(said).any():
            raise ValueError("answers hold an infinite value: give numbers, or NaN for none")
    if reader.classes is None and said.shape[1] > 1:
        raise ValueError(
            f"the estimator predicts {said.shape[1]} targets: imitate one fitted on one of them"
        )
    return said


def _labels(said: Floats, classes: Array | None) -> Array:
    if classes is None:
        return said[:, 0]
    two = said.shape[1] < len(classes)  # margins of two classes
    labels: Array = classes[(said[:, 0] > 0.0).astype(np.intp) if two else said.argmax(axis=1)]
    return labels


def _margins(said: Floats) -> Floats:
    """By how much the first answer leads the second, in a unit that makes the largest 1."""
    if said.shape[1] == 1:
        margin = np.abs(said[:, 0])
    else:
        two = np.partition(said, -2, axis=1)[:, -2:]
        margin = two[:, 1] - two[:, 0]
    largest = float(margin.max())
    scaled: Floats = margin / largest if largest > 0.0 else margin
    return scaled


def _target(y: Any, n_rows: int, classes: Array | None, name: str, rows: str) -> Array | None:
    if y is None:
        return None
    target = column_of(y, numeric=classes is None)
    if target.shape != (n_rows,):
        raise ValueError(
            f"{name} has the shape {target.shape}, but {rows} has {n_rows} rows: give one target "
            "for each"
        )
    if classes is not None and set(target.tolist()).isdisjoint(classes.tolist()):
        raise ValueError(
            f"{name} holds no class that the estimator knows, but {target.tolist()[0]!r} in row 0; "
            f"its classes are {classes.tolist()[:20]}: give labels as it was fitted on"
        )
    return target


def _divided(rows: Array, test_size: float, random_state: Any) -> tuple[Array, Array]:
    if isinstance(test_size, bool) or not isinstance(test_size, Real) or not 0 < test_size < 1:
        raise ValueError(f"test_size={test_size!r} must be a share between 0 and 1")
    n_judge = round(test_size * rows.size)
    if not 0 < n_judge < rows.size:
        raise ValueError(
            f"test_size={test_size} of {rows.size} row(s) leaves none to learn from, or none to "
            "judge by: give more rows, or X_test"
        )
    order = check_random_state(random_state).permutation(rows)
    return np.sort(order[n_judge:]), np.sort(order[:n_judge])
