"""Named members of a combination: checked, and asked for what they say of rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator

__all__ = [
    "Named",
    "answer_of",
    "are_classifiers",
    "choice_of",
    "classes_known_to",
    "kept_members",
    "places_of",
]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Named = tuple[str, Any]


def kept_members(estimators: Any, parameters: Collection[str] = ()) -> list[Named]:
    """Check named estimators and return those that are not dropped.

    Parameters
    ----------
    estimators : list of (str, estimator)
        An estimator may be "drop".
    parameters : collection of str
        Names that are taken: those of the ensemble's own parameters.

    Raises
    ------
    ValueError
        If it is no such list, a name stands twice, is taken or holds "__", or all are dropped.
    """
    named = list(estimators)
    if not named or not all(_is_named(item) for item in named):
        raise ValueError(
            "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, "
            f"estimator) tuples, for example [('tree', DecisionTreeClassifier())]; got {named!r}"
        )
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise ValueError(
            f"Names provided are not unique: {names!r}. Give each member a name of its own"
        )
    taken = sorted(set(names).intersection(parameters))
    if taken:
        raise ValueError(
            f"Estimator names conflict with constructor arguments: {taken!r}. set_params could not "
            "tell them apart; give these members other names"
        )
    divided = [name for name in names if "__" in name]
    if divided:
        raise ValueError(
            f"Estimator names must not contain __: got {divided!r}. set_params splits names there"
        )
    kept = [(name, member) for name, member in named if not _is_dropped(member)]
    if not kept:
        raise ValueError("All estimators are dropped. At least one is required to be an estimator.")
    return kept


def are_classifiers(members: Sequence[Named]) -> bool:
    """Whether members predict classes; else they predict numbers.

    Raises
    ------
    ValueError
        If some do and others do not, or one does neither.
    """
    first = members[0]
    for name, member in members:
        if not is_classifier(member) and not is_regressor(member):
            raise ValueError(
                f"the member {name!r}, of type {type(member).__name__}, is neither a classifier "
                "nor a regressor"
            )
        if is_classifier(member) != is_classifier(first[1]):
            raise ValueError(
                f"the members {first[0]!r} and {name!r} are a classifier and a regressor: what "
                "they say cannot be combined"
            )
    return bool(is_classifier(first[1]))


def classes_known_to(member: Any, classes: Array) -> Array:
    """Labels as a member knows them that was fitted on the numbers of classes.

    A member that was fitted before, in a ``FrozenEstimator``, knows the labels themselves.
    """
    return classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))


def answer_of(member: Named, X: Any, classes: Array | None, *, votes: bool) -> Floats:
    """What a fitted member says of rows.

    Parameters
    ----------
    member : (str, estimator)
    X : array-like of shape (n_samples, n_features)
    classes : ndarray or None
        Labels as the member knows them; None: it predicts numbers.
    votes : bool
        Whether to ask for its predictions even if it has probabilities.

    Returns
    -------
    said : ndarray of shape (n_samples, n_classes) or (n_samples,)
        Probabilities, or 1 for the class predicted and 0 for the others; a class that the member
        does not know has 0.

    Raises
    ------
    ValueError
        If it knows other classes, or says something that is no number.
    """
    name, estimator = member
    if classes is None:
        said = np.asarray(estimator.predict(X), dtype=np.float64)
        _check(name, said, (len(said),))
        return said
    if votes or not hasattr(estimator, "predict_proba"):
        chosen = choice_of(member, X, classes)
        shares = np.zeros((len(chosen), len(classes)))
        shares[np.arange(len(chosen)), chosen] = 1.0
        return shares
    said = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    known = np.asarray(getattr(estimator, "classes_", classes))
    _check(name, said, (len(said), len(known)))
    if np.array_equal(known, classes):
        return said
    shares = np.zeros((len(said), len(classes)))
    shares[:, places_of(name, known, classes)] = said
    return shares


def choice_of(member: Named, X: Any, classes: Array) -> npt.NDArray[np.intp]:
    """Numbers of the classes that a fitted member predicts for rows.

    Raises
    ------
    ValueError
        If it predicts another class.
    """
    name, estimator = member
    return places_of(name, np.asarray(estimator.predict(X)), classes)


def places_of(name: str, labels: Array, classes: Array) -> npt.NDArray[np.intp]:
    """Numbers of the classes that labels stand for.

    Raises
    ------
    ValueError
        If a label is none of the classes.
    """
    places = np.searchsorted(classes, labels)
    found = places < len(classes)
    found[found] = classes[places[found]] == labels[found]
    if not found.all():
        unknown = labels[~found].tolist()[0]
        raise ValueError(
            f"the member {name!r} predicts {unknown!r}, which is none of the classes "
            f"{classes.tolist()}: a member that was fitted before must know the labels as they are "
            "in y"
        )
    return places


def _is_named(item: Any) -> bool:
    return isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str)


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


def _check(name: str, said: Floats, shape: tuple[int, ...]) -> None:
    if said.shape != shape:
        raise ValueError(
            f"the member {name!r} answers with an array of shape {said.shape} where {shape} is "
            "expected: members of one target are needed"
        )
    if not np.isfinite(said).all():
        row = int(np.argwhere(~np.isfinite(said))[0][0])
        raise ValueError(
            f"the member {name!r} answers {said[row].tolist()} for row {row}, which cannot be "
            "combined: give it rows that it can judge, or leave it out"
        )
