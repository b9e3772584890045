"""Routing of metadata to members, by the rules of scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

__all__ = ["route_params", "takes_weight"]


def route_params(owner: Any, caller: str, callee: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call that are passed to a method of the members.

    Raises
    ------
    ValueError
        If parameters are given but metadata routing is not enabled.
    """
    if not params:
        return {}
    if not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"{type(owner).__name__}.{caller} got {', '.join(sorted(params))}, which are only "
            "passed to the members with metadata routing: call "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    routed: dict[str, Any] = process_routing(owner, caller, **params).estimator[callee]
    return routed


def takes_weight(estimator: Any) -> bool:
    """Return whether to pass ``sample_weight`` to the ``fit`` of a member."""
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        return bool(routing.consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(estimator, "sample_weight"))
