"""Metadata for members, by scikit-learn's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object

from arboleda.combine._members import Named

__all__ = ["check_fit_params", "params_of_members"]

# What a combination itself has a use for, whether its members ask for it or not.
_OWN = {"groups", "sample_weight"}


def check_fit_params(owner: Any, params: dict[str, Any]) -> None:
    """Refuse parameters of ``fit`` that only scikit-learn's metadata routing can pass on.

    Raises
    ------
    ValueError
        If there are others than ``sample_weight`` and ``groups`` although routing is not enabled.
    """
    others = sorted(
        name for name, value in params.items() if value is not None and name not in _OWN
    )
    if others and not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"[{type(owner).__name__}] passing {', '.join(others)} to the members is only "
            "supported if enable_metadata_routing=True, which sklearn.set_config sets"
        )


def params_of_members(
    owner: Any, members: Sequence[Named], params: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Parameters for the ``fit`` of each member, by its name.

    With scikit-learn's metadata routing each gets what it asks for; without, weights go to all.

    Parameters
    ----------
    owner : estimator
        Whose ``get_metadata_routing`` knows the members.
    members : list of (str, estimator)
    params : dict
        What ``fit`` was given beside X and y; None stands for nothing.

    Raises
    ------
    ValueError
        If there are others than ``sample_weight`` and ``groups`` although routing is not enabled,
        or a member does not say whether it wants what it could take.
    TypeError
        If no member asks for one of the others.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if get_config()["enable_metadata_routing"]:
        others = {name: value for name, value in given.items() if name not in _OWN}
        router = get_routing_for_object(owner)
        router.validate_metadata(params=others, method="fit")
        routed = router.route_params(params=given, caller="fit")
        return {name: dict(routed[name]["fit"]) for name, _ in members}
    check_fit_params(owner, params)
    given.pop("groups", None)
    return {name: given for name, _ in members}
