"""Outputs of members: the matrix that every combination uses."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_consistent_length

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.numbers import clip
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse
from arboleda._utils.text import plot_escaped
from arboleda.bagging import with_numbered_weights
from arboleda.combine._cache import OutputCache
from arboleda.combine._fits import Folds, MemberTraining, folds_of, predictions_by_fold
from arboleda.combine._members import (
    Named,
    are_classifiers,
    check_members,
    get_known_classes,
    predict_choices,
    predict_member,
)
from arboleda.combine._target import read_classes, read_values

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "MemberOutputs",
    "compute_out_of_fold",
    "out_of_fold_outputs",
    "outputs_of",
    "with_encoded_class_weights",
]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
CachePath = str | os.PathLike[str] | None

_MOST_PRINTED_MEMBERS = 12  # the numbers of more would overlap in the plot


@dataclass(frozen=True, eq=False, repr=False)
class MemberOutputs(Result):
    """Outputs of members for rows: probabilities, or values of regressors.

    Parameters
    ----------
    names : list of str
        Names of the members.
    outputs : ndarray of shape (n_members, n_rows, n_classes) or (n_members, n_rows)
        Probabilities in the order of ``classes``, 0 for a class that a member has not seen. A
        member without probabilities has 1 for the class that it predicts. For regressors, values.
    classes : ndarray of shape (n_classes,) or None
        Labels; None for regressors.
    rows : ndarray of shape (n_rows,)
        Indices of the predicted rows in the table, ascending. Rows that are in no test set are not
        included, such as the first rows of time-ordered folds.
    n_table_rows : int
        Number of rows of the table.
    """

    names: list[str]
    outputs: Floats
    classes: Array | None
    rows: npt.NDArray[np.intp]
    n_table_rows: int

    @property
    def n_left_out(self) -> int:
        """Number of rows of the table that are not predicted."""
        return self.n_table_rows - len(self.rows)

    def choices(self) -> npt.NDArray[np.intp]:
        """Return the number of the most probable class by each member; ties go to the first.

        Returns
        -------
        choices : ndarray of shape (n_members, n_rows)

        Raises
        ------
        ValueError
            If the members are regressors.
        """
        if self.classes is None:
            raise ValueError("the members are regressors, which do not choose a class")
        choices: npt.NDArray[np.intp] = self.outputs.argmax(axis=2)
        return choices

    def _summarize(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"members": self.names, "n_rows": len(self.rows)}
        if self.n_left_out:
            facts["n_never_predicted"] = self.n_left_out
        return facts if self.classes is None else {**facts, "classes": self.classes.tolist()}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per predicted row.

        Returns
        -------
        frame : pandas.DataFrame
            The index holds ``rows``; each member has a column with the classes that it predicts, or
            its values.
        """
        found = self.outputs if self.classes is None else self.classes[self.choices()]
        return new_frame(dict(zip(self.names, found, strict=True)), index=self.rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot a heat map of pairs of members: shares of equal classes, or correlations of values.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        if self.classes is None:
            with np.errstate(invalid="ignore"):  # a constant member has no correlation
                pairs, title = np.atleast_2d(np.corrcoef(self.outputs)), "correlation"
        else:
            choices = self.choices()
            pairs = (choices[:, np.newaxis] == choices).mean(axis=2)
            title = "share of rows with the same class"
        names = [plot_escaped(clip(str(name), 24)) for name in self.names]
        ax.imshow(pairs, cmap="Blues", vmin=0, vmax=1)
        if len(names) <= _MOST_PRINTED_MEMBERS:
            for (i, j), value in np.ndenumerate(pairs):
                colour = "white" if value > 0.5 else "black"
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour)
        ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(len(names)), names)
        ax.set_title(title)
        return ax


def out_of_fold_outputs(
    estimators: Sequence[Named],
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    votes: bool = False,
    n_jobs: int | None = None,
    cache: CachePath = None,
) -> MemberOutputs:
    """Compute out-of-fold predictions of members.

    For each split of a cross-validation, a clone of each member is fitted on the training rows and
    predicts the test rows. The predictions of a row that is in several test sets are averaged; a
    row that is in no test set is left out. Members of this library that are fitted on the same rows
    share the binned data.

    Parameters
    ----------
    estimators : list of (str, estimator)
        All classifiers or all regressors; "drop" leaves one out. A prefitted member, in
        scikit-learn's ``FrozenEstimator``, is not fitted again; pass rows that it has not seen.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        In a form that the members accept; frames stay frames.
    y : array-like of shape (n_samples,)
        Labels of any type, or numbers.
    cv : int, splitter or iterable, default=5
        An int is a number of folds in the order of the rows, stratified for classifiers; groups are
        not split.
    groups : array-like of shape (n_samples,), default=None
        Passed to the splitter.
    sample_weight : array-like of shape (n_samples,), default=None
        Passed to ``fit`` of the members.
    votes : bool, default=False
        Whether to use predicted classes even of classifiers that have probabilities.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.
    cache : path-like, default=None
        A folder that stores each member's outputs, keyed by a hash of the member's class and
        parameters, the rows, the target, the splits and the weights. Reading it runs no code. It is
        also used if ``random_state`` is None. Empty it when you change the code of a custom member.

    Returns
    -------
    outputs : MemberOutputs

    Raises
    ------
    ValueError
        If the members are of different kinds, a member's predictions cannot be combined, or a split
        has rows that are both training and test rows.
    TypeError
        If there are weights and a member does not support them.

    References
    ----------
    Wolpert, D. H. (1992), "Stacked generalization", Neural Networks 5.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> from arboleda.combine import out_of_fold_outputs
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("tree", DecisionTreeClassifier(random_state=0)), ("bayes", GaussianNB())]
    >>> outputs = out_of_fold_outputs(members, X, y)
    >>> outputs
    MemberOutputs(members=['tree', 'bayes'], n_rows=150, classes=[0, 1, 2])
    >>> (outputs.choices() == y).mean(axis=1).round(2)
    array([0.97, 0.95])
    """
    check_sparse(X)
    members = check_members(estimators)
    check_consistent_length(X, y, groups, sample_weight)
    classes, target = read_classes(y) if are_classifiers(members) else (None, read_values(y))
    params: dict[str, dict[str, Any]] = {}
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, target, dtype=np.float64)
        params = {name: {"sample_weight": weight} for name, _ in members}
    training = MemberTraining(X, target, classes, params, n_jobs)
    folds = folds_of(cv, X, target, groups, classes=classes is not None)
    return compute_out_of_fold(
        with_encoded_class_weights(members, classes), training, folds, votes=votes, cache=cache
    )


def with_encoded_class_weights(members: Sequence[Named], classes: Array | None) -> list[Named]:
    """Return members that can be fitted on class numbers, with their class weights re-keyed."""
    if classes is None:
        return list(members)
    return [(name, with_numbered_weights(clone(member), classes)) for name, member in members]


def compute_out_of_fold(
    members: Sequence[Named],
    training: MemberTraining,
    folds: Folds,
    *,
    votes: bool = False,
    cache: CachePath = None,
) -> MemberOutputs:
    """Compute out-of-fold predictions from checked inputs; see `out_of_fold_outputs`.

    Parameters
    ----------
    members : list of (str, estimator)
        Members that can be fitted on class numbers.
    training : MemberTraining
    folds : Folds
    votes : bool
    cache : path-like or None
    """
    training = replace(training, X=indexable(training.X)[0])
    shape: tuple[int, ...] = (len(folds.rows),)
    if training.classes is not None:
        shape = (*shape, len(training.classes))
    outputs = np.zeros((len(members), *shape))
    waiting = list(range(len(members)))
    store = None if cache is None else _make_cache(cache, training, folds, votes)
    if store is not None:
        paths = [store.path_of(m, training.params.get(name, {})) for name, m in members]
        waiting = [i for i in waiting if not store.read_into(paths[i], outputs[i])]
    n_missing = dict.fromkeys(waiting, len(folds))
    uncached = [members[number] for number in waiting]
    predict = partial(predict_member, votes=votes)
    for place, split, predicted in predictions_by_fold(uncached, training, folds, predict):
        number = waiting[place]
        outputs[number, folds.places(split)] += predicted
        n_missing[number] -= 1
        if not n_missing[number]:
            if (folds.times > 1).any():
                outputs[number] /= folds.times.reshape(-1, *(1,) * (len(shape) - 1))
            if store is not None:
                store.write(paths[number], outputs[number])
    names = [name for name, _ in members]
    return MemberOutputs(names, outputs, training.classes, folds.rows, folds.n_rows)


def outputs_of(
    fitted: Sequence[Named],
    X: Any,
    classes: Any = None,
    *,
    votes: bool = False,
    n_jobs: int | None = None,
) -> MemberOutputs:
    """Compute the outputs of fitted members for rows.

    Parameters
    ----------
    fitted : list of (str, estimator)
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
    classes : array-like of shape (n_classes,), default=None
        Sorted labels that the members were fitted on; None for regressors.
    votes : bool, default=False
        Whether to use predicted classes even of classifiers that have probabilities.
    n_jobs : int, default=None
        Number of members that predict in parallel, in threads.

    Returns
    -------
    outputs : MemberOutputs

    Raises
    ------
    ValueError
        If a member has a class that is not in ``classes``, or predicts NaN or infinity.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> from arboleda.combine import outputs_of
    >>> tree = DecisionTreeClassifier().fit([[1], [2]], ["low", "high"])
    >>> outputs_of([("tree", tree)], [[1.2]], ["high", "low", "none"]).outputs
    array([[[0., 1., 0.]]])
    """
    labels = None if classes is None else np.asarray(classes)
    return _compute_outputs(fitted, X, labels, [labels] * len(fitted), votes=votes, n_jobs=n_jobs)


def compute_encoded_outputs(
    fitted: Sequence[Named], X: Any, classes: Array, *, n_jobs: int | None = None
) -> MemberOutputs:
    """Compute the outputs of members that were fitted on class numbers; see `outputs_of`."""
    known = [get_known_classes(member, classes) for _, member in fitted]
    return _compute_outputs(fitted, X, classes, known, votes=False, n_jobs=n_jobs)


def compute_encoded_choices(
    fitted: Sequence[Named], X: Any, classes: Array, *, n_jobs: int | None = None
) -> npt.NDArray[np.int32]:
    """Predict class numbers by members that were fitted on class numbers.

    Returns an array of shape (n_members, n_rows).
    """
    check_sparse(X)
    chosen = np.empty((len(fitted), _num_samples(X)), dtype=np.int32)

    def put(number: int) -> None:
        member = fitted[number]
        chosen[number] = predict_choices(member, X, get_known_classes(member[1], classes))

    _in_threads(put, len(fitted), n_jobs)
    return chosen


def _compute_outputs(
    fitted: Sequence[Named],
    X: Any,
    classes: Array | None,
    known: Sequence[Array | None],
    *,
    votes: bool,
    n_jobs: int | None,
) -> MemberOutputs:
    check_sparse(X)
    n_rows = _num_samples(X)
    shape = (n_rows,) if classes is None else (n_rows, len(classes))
    outputs = np.empty((len(fitted), *shape))

    def put(number: int) -> None:
        outputs[number] = predict_member(fitted[number], X, known[number], votes=votes)

    _in_threads(put, len(fitted), n_jobs)
    return MemberOutputs([name for name, _ in fitted], outputs, classes, np.arange(n_rows), n_rows)


def _in_threads(put: Callable[[int], None], n_members: int, n_jobs: int | None) -> None:
    Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(put)(i) for i in range(n_members))


def _make_cache(
    cache: str | os.PathLike[str], training: MemberTraining, folds: Folds, votes: bool
) -> OutputCache:
    return OutputCache(cache, (training.X, training.y, training.classes, folds.splits, votes))
