"""Profiles of the target on the page: a small table with bars per column."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import integer, number_format, percent
from arboleda.report._colours import choose_class_colours

__all__ = ["make_profiles_view"]


def make_profiles_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect the profiles; None if there are none."""
    target, profiles = facts["target"], facts["profiles"]
    if not profiles:
        return None
    if target["classes"] is None:
        return {"kind": "mean", "cards": _make_mean_cards(profiles), "legend": []}
    labels = [row["label"] for row in target["classes"]]
    colours = choose_class_colours(labels, target["positive_class"])
    return {
        "kind": "shares",
        "cards": [
            {
                "name": profile["name"],
                "rows": [_make_share_row(g, target, colours) for g in profile["groups"]],
            }
            for profile in profiles
        ],
        "legend": list(zip(colours, labels, strict=True)) if len(labels) > 2 else [],
    }


def _make_share_row(
    group: Mapping[str, Any], target: Mapping[str, Any], colours: Sequence[str]
) -> dict[str, Any]:
    """Return one bar for the positive class, or one bar per class."""
    shares = group["shares"]
    labels = [row["label"] for row in target["classes"]]
    positive = target["positive_class"]
    chosen = range(len(labels)) if positive is None else [labels.index(positive)]
    share_text = "" if positive is None else percent(shares[labels.index(positive)], 0)
    bars = [(colours[k], f"{100 * shares[k]:.1f}") for k in chosen if shares[k] > 0]
    return _make_row(group, share_text) | {"bars": bars, "at": None}


def _make_mean_cards(profiles: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return means as positions between the lowest and the highest of all cards."""
    means = [group["mean"] for profile in profiles for group in profile["groups"]]
    low, high = min(means), max(means)
    write = number_format(means, bounded=False)
    # Halve first: the difference of large numbers may overflow.
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "name": profile["name"],
            "rows": [
                _make_row(group, write(group["mean"]))
                | {"bars": [], "at": f"{100 * (group['mean'] / 2 - low / 2) / span:.1f}"}
                for group in profile["groups"]
            ],
        }
        for profile in profiles
    ]


def _make_row(group: Mapping[str, Any], value: str) -> dict[str, Any]:
    label = group["label"]
    return {
        "label": label,
        "missing": label is None,
        "title": f"{integer(group['n_rows'])} rows",
        "value": value,
    }
