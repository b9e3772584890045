"""Metadata for members, by scikit-learn's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing

from arboleda.combine._members import Named

__all__ = ["params_of_members"]


def params_of_members(
    owner: Any, members: Sequence[Named], params: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Parameters for the ``fit`` of each member, by its name.

    With scikit-learn's metadata routing each gets what it asks for; without, weights go to all.

    Raises
    ------
    ValueError
        If there are others than ``sample_weight`` although routing is not enabled.
    """
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(owner, "fit", **params)
        return {name: dict(routed[name]["fit"]) for name, _ in members}
    others = sorted(params.keys() - {"sample_weight"})
    if others:
        raise ValueError(
            f"[{type(owner).__name__}] fit was given {', '.join(others)}: they go to the members "
            "only if enable_metadata_routing=True, which sklearn.set_config sets"
        )
    given = {name: value for name, value in params.items() if value is not None}
    return {name: given for name, _ in members}
