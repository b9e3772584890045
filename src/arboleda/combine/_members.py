"""Named members of a combination: checks, predictions and the routing of metadata."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import get_routing_for_object

__all__ = [
    "Named",
    "are_classifiers",
    "check_members",
    "check_routing",
    "get_known_classes",
    "params_of_members",
    "places_of",
    "predict_choices",
    "predict_member",
]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Named = tuple[str, Any]


def check_members(estimators: Any, parameters: Collection[str] = ()) -> list[Named]:
    """Check named estimators, and return those that are not dropped.

    Parameters
    ----------
    estimators : list of (str, estimator)
        An estimator may be "drop".
    parameters : collection of str
        Reserved names: those of the ensemble's own parameters.

    Raises
    ------
    ValueError
        If it is not such a list, a name is repeated, reserved or contains "__", or all are dropped.
    """
    named = list(estimators)
    if not named or not all(_is_named(item) for item in named):
        raise ValueError(
            "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, "
            f"estimator) tuples, for example [('tree', DecisionTreeClassifier())]; got {named!r}"
        )
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise ValueError(f"Names provided are not unique: {names!r}. Give each member its own name")
    taken = sorted(set(names).intersection(parameters))
    if taken:
        raise ValueError(
            f"Estimator names conflict with constructor arguments: {taken!r}. set_params cannot "
            "distinguish them; rename these members"
        )
    divided = [name for name in names if "__" in name]
    if divided:
        raise ValueError(
            f"Estimator names must not contain __: got {divided!r}. set_params splits names at __"
        )
    kept = [(name, member) for name, member in named if not _is_dropped(member)]
    if not kept:
        raise ValueError("All estimators are dropped. At least one is required to be an estimator.")
    return kept


def are_classifiers(members: Sequence[Named]) -> bool:
    """Return whether the members are classifiers; if not, they are regressors.

    Raises
    ------
    ValueError
        If both kinds are mixed, or a member is of neither kind.
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
                f"the members {first[0]!r} and {name!r} are a classifier and a regressor, whose "
                "predictions cannot be combined: use members of one kind"
            )
    return bool(is_classifier(first[1]))


def get_known_classes(member: Any, classes: Array) -> Array:
    """Return the classes of a member that was fitted by a combination: class numbers.

    A prefitted member, in a ``FrozenEstimator``, has the original labels.
    """
    return classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))


def predict_member(member: Named, X: Any, classes: Array | None, *, votes: bool) -> Floats:
    """Predict rows by a fitted member.

    Parameters
    ----------
    member : (str, estimator)
    X : array-like of shape (n_samples, n_features)
    classes : ndarray or None
        Labels that the member was fitted on; None: it is a regressor.
    votes : bool
        Whether to use predicted classes even if the member has probabilities.

    Returns
    -------
    predicted : ndarray of shape (n_samples, n_classes) or (n_samples,)
        Probabilities, or 1 for the predicted class and 0 for the others; 0 for a class that the
        member does not have. For a regressor, values.

    Raises
    ------
    ValueError
        If the member has other classes, or predicts NaN or infinity.
    """
    name, estimator = member
    if classes is None:
        predicted = np.asarray(estimator.predict(X), dtype=np.float64)
        _check(name, predicted, (len(predicted),))
        return predicted
    if votes or not hasattr(estimator, "predict_proba"):
        chosen = predict_choices(member, X, classes)
        shares = np.zeros((len(chosen), len(classes)))
        shares[np.arange(len(chosen)), chosen] = 1.0
        return shares
    predicted = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    known = np.asarray(getattr(estimator, "classes_", classes))
    _check(name, predicted, (len(predicted), len(known)))
    if np.array_equal(known, classes):
        return predicted
    shares = np.zeros((len(predicted), len(classes)))
    shares[:, places_of(name, known, classes)] = predicted
    return shares


def predict_choices(member: Named, X: Any, classes: Array) -> npt.NDArray[np.intp]:
    """Predict class numbers by a fitted member.

    Raises
    ------
    ValueError
        If the member predicts an unknown class.
    """
    name, estimator = member
    return places_of(name, np.asarray(estimator.predict(X)), classes)


def places_of(name: str, labels: Array, classes: Array) -> npt.NDArray[np.intp]:
    """Return the class numbers of labels.

    Raises
    ------
    ValueError
        If a label is none of the classes.
    """
    places = np.searchsorted(classes, labels)
    is_known = places < len(classes)
    is_known[is_known] = classes[places[is_known]] == labels[is_known]
    if not is_known.all():
        unknown = labels[~is_known].tolist()[0]
        raise ValueError(
            f"the member {name!r} predicts {unknown!r}, which is none of the classes "
            f"{classes.tolist()}: a prefitted member must be fitted on the labels of y"
        )
    return places


def _is_named(item: Any) -> bool:
    return isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str)


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


def _check(name: str, predicted: Floats, shape: tuple[int, ...]) -> None:
    if predicted.shape != shape:
        raise ValueError(
            f"the member {name!r} predicts an array of shape {predicted.shape}, expected {shape}: "
            "use members with a single target"
        )
    if not np.isfinite(predicted).all():
        row = int(np.argwhere(~np.isfinite(predicted))[0][0])
        raise ValueError(
            f"the member {name!r} predicts {predicted[row].tolist()} for row {row}, which cannot "
            "be combined: use rows that it can predict, or drop the member"
        )


# Metadata that the combination itself uses, whether its members request it or not.
_OWN = {"groups", "sample_weight"}


def check_routing(owner: Any, params: dict[str, Any]) -> None:
    """Refuse metadata for members if scikit-learn's metadata routing is not enabled.

    Parameters
    ----------
    owner : estimator
        Named in the error message.
    params : dict
        Parameters of ``fit`` other than X and y; None values are ignored.

    Raises
    ------
    ValueError
        If there are parameters other than ``sample_weight`` and ``groups``, and routing is not
        enabled.
    """
    others = _select_member_params(params)
    if others and not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"[{type(owner).__name__}] passing {', '.join(sorted(others))} to the members is only "
            "supported if enable_metadata_routing=True; call "
            "sklearn.set_config(enable_metadata_routing=True)"
        )


def params_of_members(
    owner: Any, members: Sequence[Named], params: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the parameters of ``fit`` of each member, by its name.

    With scikit-learn's metadata routing, each member gets the metadata that it requests; without
    it, all members get the weights.

    Parameters
    ----------
    owner : estimator
        Its ``get_metadata_routing`` includes the members.
    members : list of (str, estimator)
    params : dict
        Parameters of ``fit`` other than X and y; None values are ignored.

    Raises
    ------
    ValueError
        If there are parameters other than ``sample_weight`` and ``groups``, and routing is not
        enabled, or if a member has not set a request for metadata that it accepts.
    TypeError
        If no member requests one of the other parameters.
    """
    present = {name: value for name, value in params.items() if value is not None}
    check_routing(owner, params)
    if get_config()["enable_metadata_routing"]:
        router = get_routing_for_object(owner)
        router.validate_metadata(params=_select_member_params(params), method="fit")
        routed = router.route_params(params=present, caller="fit")
        return {name: dict(routed[name]["fit"]) for name, _ in members}
    present.pop("groups", None)
    return {name: present for name, _ in members}


def _select_member_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that only members can use."""
    return {k: value for k, value in params.items() if value is not None and k not in _OWN}
