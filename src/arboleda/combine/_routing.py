"""Routing of metadata to members, by scikit-learn's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object

from arboleda.combine._members import Named

__all__ = ["check_routing", "params_of_members"]

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
