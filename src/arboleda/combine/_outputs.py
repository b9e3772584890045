"""What members say of rows: the one matrix that every combination reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_consistent_length

from arboleda._sparse import check_sparse
from arboleda.bagging._member_classifier import with_numbered_weights
from arboleda.combine._cache import OutputCache
from arboleda.combine._fits import Training, predictions_by_fold
from arboleda.combine._folds import Folds, folds_of
from arboleda.combine._members import (
    Named,
    answer_of,
    are_classifiers,
    choice_of,
    classes_known_to,
    kept_members,
)
from arboleda.combine._target import read_classes, read_values

__all__ = ["MemberOutputs", "learned_by", "out_of_fold", "out_of_fold_outputs", "outputs_of"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
CachePath = str | os.PathLike[str] | None


@dataclass(frozen=True, eq=False)
class MemberOutputs:
    """What members say of rows: their probabilities, or the values that they predict.

    Parameters
    ----------
    names : list of str
        Of the members.
    outputs : ndarray of shape (n_members, n_rows, n_classes) or (n_members, n_rows)
        Probabilities in the order of ``classes``; a class that a member has not seen has 0 there.
        Members without probabilities give 1 to the class that they predict. Of regressors: values.
    classes : ndarray of shape (n_classes,) or None
        Labels; None for regressors.
    rows : ndarray of shape (n_rows,)
        Numbers of the table's rows that the outputs are of, ascending. Rows that no member was
        asked for are not among them, as the first ones of time-ordered folds.
    n_table_rows : int
        Rows of the table.
    """

    names: list[str]
    outputs: Floats
    classes: Array | None
    rows: npt.NDArray[np.intp]
    n_table_rows: int

    @property
    def n_left_out(self) -> int:
        """Rows of the table that no member was asked for."""
        return self.n_table_rows - len(self.rows)

    def choices(self) -> npt.NDArray[np.intp]:
        """Number of the class that each member finds most probable, the first of equals.

        Returns
        -------
        choices : ndarray of shape (n_members, n_rows)

        Raises
        ------
        ValueError
            If the members are regressors.
        """
        if self.classes is None:
            raise ValueError("regressors choose no class")
        choices: npt.NDArray[np.intp] = self.outputs.argmax(axis=2)
        return choices

    def __repr__(self) -> str:
        """Say how many members, rows and classes there are, and how many rows were left out."""
        asked = f"{len(self.rows)} rows"
        if self.n_left_out:
            asked += f" of {self.n_table_rows}, {self.n_left_out} never predicted"
        classes = "" if self.classes is None else f", {len(self.classes)} classes"
        return f"MemberOutputs({len(self.names)} members, {asked}{classes})"


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
    """What members say of rows that they did not learn from.

    For each split of a cross-validation, a clone of each member is fitted on the split's training
    rows and asked for those of its test. A row that is in several tests has the mean of what was
    said; one that is in none is left out. Members of this library that learn from the same rows
    share their codes.

    Parameters
    ----------
    estimators : list of (str, estimator)
        All classifiers or all regressors; "drop" leaves one out. A member that is fitted already,
        in scikit-learn's ``FrozenEstimator``, is asked as it is: give rows that it has not seen.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        What the members can learn from; frames stay frames.
    y : array-like of shape (n_samples,)
        Labels of any type, or numbers.
    cv : int, splitter or iterable, default=5
        An int: so many folds in the order of the rows, stratified for classifiers, without cutting
        a group in two if there are ``groups``.
    groups : array-like of shape (n_samples,), default=None
        For the splitter.
    sample_weight : array-like of shape (n_samples,), default=None
        For the members' ``fit``.
    votes : bool, default=False
        Whether to ask classifiers that have probabilities for their predictions all the same.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.
    cache : path-like, default=None
        A folder that keeps each member's outputs, under a hash of the member's class and
        parameters, the rows, the target, the splits and the weights. It is read without running
        code, and used also where ``random_state`` is None. Empty it when you change the code of a
        member of your own.

    Returns
    -------
    outputs : MemberOutputs

    Raises
    ------
    ValueError
        If the members are of different kinds, a member's answer cannot be combined, or a split has
        rows both to learn from and to answer for.
    TypeError
        If weights are given and a member takes none.

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
    MemberOutputs(2 members, 150 rows, 3 classes)
    >>> (outputs.choices() == y).mean(axis=1).round(2)
    array([0.97, 0.95])
    """
    check_sparse(X)
    members = kept_members(estimators)
    check_consistent_length(X, y, groups, sample_weight)
    classes, target = read_classes(y) if are_classifiers(members) else (None, read_values(y))
    params: dict[str, dict[str, Any]] = {}
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, target, dtype=np.float64)
        params = {name: {"sample_weight": weight} for name, _ in members}
    training = Training(X, target, classes, params, n_jobs)
    folds = folds_of(cv, X, target, groups, classes=classes is not None)
    return out_of_fold(learned_by(members, classes), training, folds, votes=votes, cache=cache)


def learned_by(members: Sequence[Named], classes: Array | None) -> list[Named]:
    """Return members that can learn the numbers of classes: weights of classes are renamed."""
    if classes is None:
        return list(members)
    return [(name, with_numbered_weights(clone(member), classes)) for name, member in members]


def out_of_fold(
    members: Sequence[Named],
    training: Training,
    folds: Folds,
    *,
    votes: bool = False,
    cache: CachePath = None,
) -> MemberOutputs:
    """`out_of_fold_outputs` of what is checked already.

    Parameters
    ----------
    members : list of (str, estimator)
        That can learn the numbers of classes.
    training : Training
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
    store = None if cache is None else _store(cache, training, folds, votes)
    if store is not None:
        paths = [store.path_of(m, training.params.get(name, {})) for name, m in members]
        waiting = [i for i in waiting if not store.read_into(paths[i], outputs[i])]
    unanswered = dict.fromkeys(waiting, len(folds))
    asked = [members[number] for number in waiting]
    ask = partial(answer_of, votes=votes)
    for place, split, said in predictions_by_fold(asked, training, folds, ask):
        number = waiting[place]
        outputs[number, folds.places(split)] += said
        unanswered[number] -= 1
        if not unanswered[number]:
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
    """What fitted members say of rows.

    Parameters
    ----------
    fitted : list of (str, estimator)
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
    classes : array-like of shape (n_classes,), default=None
        Labels, sorted, as the members know them, in the order wanted; None for regressors.
    votes : bool, default=False
        Whether to ask classifiers that have probabilities for their predictions all the same.
    n_jobs : int, default=None
        Members that are asked at the same time, in threads.

    Returns
    -------
    outputs : MemberOutputs

    Raises
    ------
    ValueError
        If a member knows a class that is not among those given, or its answer is no number.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> from arboleda.combine import outputs_of
    >>> tree = DecisionTreeClassifier().fit([[1], [2]], ["low", "high"])
    >>> outputs_of([("tree", tree)], [[1.2]], ["high", "low", "none"]).outputs
    array([[[0., 1., 0.]]])
    """
    labels = None if classes is None else np.asarray(classes)
    return _ask(fitted, X, labels, [labels] * len(fitted), votes=votes, n_jobs=n_jobs)


def outputs_of_numbered(
    fitted: Sequence[Named], X: Any, classes: Array, *, n_jobs: int | None = None
) -> MemberOutputs:
    """`outputs_of` for members that were fitted on the numbers of the classes."""
    known = [classes_known_to(member, classes) for _, member in fitted]
    return _ask(fitted, X, classes, known, votes=False, n_jobs=n_jobs)


def choices_of_numbered(
    fitted: Sequence[Named], X: Any, classes: Array, *, n_jobs: int | None = None
) -> npt.NDArray[np.int32]:
    """Number of the class that each member predicts, of shape (n_members, n_rows).

    The members were fitted on the numbers of the classes.
    """
    check_sparse(X)
    chosen = np.empty((len(fitted), _num_samples(X)), dtype=np.int32)

    def put(number: int) -> None:
        member = fitted[number]
        chosen[number] = choice_of(member, X, classes_known_to(member[1], classes))

    _in_threads(put, len(fitted), n_jobs)
    return chosen


def _ask(
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
        outputs[number] = answer_of(fitted[number], X, known[number], votes=votes)

    _in_threads(put, len(fitted), n_jobs)
    return MemberOutputs([name for name, _ in fitted], outputs, classes, np.arange(n_rows), n_rows)


def _in_threads(put: Callable[[int], None], n_members: int, n_jobs: int | None) -> None:
    Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(put)(i) for i in range(n_members))


def _store(
    cache: str | os.PathLike[str], training: Training, folds: Folds, votes: bool
) -> OutputCache:
    return OutputCache(cache, (training.X, training.y, training.classes, folds.splits, votes))
