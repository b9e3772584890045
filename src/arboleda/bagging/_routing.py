"""Metadata for members, by scikit-learn's rules."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

__all__ = ["route_params", "takes_weight"]


def route_params(owner: Any, caller: str, callee: str, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a call that go to a method of the members.

    Raises
    ------
    ValueError
        If there are any although scikit-learn's metadata routing is not enabled.
    """
    if not params:
        return {}
    if not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"{type(owner).__name__}.{caller} was given {', '.join(sorted(params))}: "
            "they go to the members only if enable_metadata_routing=True, which "
            "sklearn.set_config sets"
        )
    found: dict[str, Any] = process_routing(owner, caller, **params).estimator[callee]
    return found


def takes_weight(estimator: Any) -> bool:
    """Whether the ``fit`` of a member is to be given ``sample_weight``."""
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        return bool(routing.consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(estimator, "sample_weight"))
