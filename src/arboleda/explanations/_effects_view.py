"""Cards of the effects of columns: a curve or bars, and a sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import percent
from arboleda.explanations._figures import draw_curve_along
from arboleda.explanations._words import format_output, format_value, get_mean_label
from arboleda.report._words import quote_name

__all__ = ["make_effects_view"]

_FLAT = 0.01  # of the range of all effects, below which a column is described as having no effect


def make_effects_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect a card for each column; None if there are none."""
    result = facts["effects"]
    if not result:
        return None
    widest = max(_compute_range(effect) for effect in result)
    return {
        "cards": [_make_card(facts, effect, index, widest) for index, effect in enumerate(result)],
        "several": any(len(effect["curves"]) > 1 for effect in result),
        "how": _describe_method(result[0]),
    }


def _describe_method(effect: Mapping[str, Any]) -> str:
    return (
        f"Mean prediction over {effect['n_rows']:,} training rows with the column set to each "
        "value in turn and all others unchanged (partial dependence, Friedman 2001)."
    )


def _compute_range(effect: Mapping[str, Any]) -> float:
    return float(max(max(curve["values"]) - min(curve["values"]) for curve in effect["curves"]))


def _make_card(
    facts: Mapping[str, Any], effect: Mapping[str, Any], index: int, widest: float
) -> dict[str, Any]:
    numbers = effect["shares"] is None
    several = len(effect["curves"]) > 1
    return {
        "name": effect["name"],
        "sentence": "" if several else _write_sentence(facts, effect, widest),
        "figure": _draw_curve(facts, effect, index) if numbers else None,
        "legend": _make_legend(effect) if several and numbers else [],
        "rows": [] if numbers else _make_bars(facts, effect),
        "heads": [curve["label"] for curve in effect["curves"]] if several else [],
        "axis": _make_axis(facts, effect),
    }


def _make_axis(facts: Mapping[str, Any], effect: Mapping[str, Any]) -> str:
    label = effect["curves"][0]["label"]
    of = "each class" if len(effect["curves"]) > 1 else label and quote_name(label)
    return get_mean_label(facts) + (f" of {of}" if of else "")


def _write_sentence(facts: Mapping[str, Any], effect: Mapping[str, Any], widest: float) -> str:
    values, texts = effect["curves"][0]["values"], [format_value(v) for v in effect["values"]]
    low, high = min(values), max(values)
    if high - low <= _FLAT * widest or format_output(facts, low) == format_output(facts, high):
        return "On average, it has almost no effect on its own."
    first, last = values[0], values[-1]
    end_texts = [format_output(facts, value) for value in (first, last)]
    if effect["kind"] == "numeric" and first in (low, high) and last in (low, high):
        verb = "rises" if last > first else "falls"
        return f"It {verb} from {end_texts[0]} at {texts[0]} to {end_texts[1]} at {texts[-1]}."
    at_low, at_high = texts[values.index(low)], texts[values.index(high)]
    return (
        f"Lowest at {at_low} ({format_output(facts, low)}), highest at {at_high} "
        f"({format_output(facts, high)})."
    )


def _draw_curve(facts: Mapping[str, Any], effect: Mapping[str, Any], index: int) -> Any:
    several = len(effect["curves"]) > 1
    known = [i for i, value in enumerate(effect["values"]) if value is not None]
    return draw_curve_along(
        [effect["values"][i] for i in known],
        [
            ([curve["values"][i] for i in known], colour if several else -1)
            for colour, curve in enumerate(effect["curves"])
        ],
        effect["histogram"],
        (effect["name"], get_mean_label(facts)),
        share=facts["study"]["labels"] is not None,
        name=f"effect{index}",
        title=f"Mean prediction along {effect['name']}",
    )


def _make_legend(effect: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(f"var(--c{i})", curve["label"]) for i, curve in enumerate(effect["curves"])]


def _make_bars(facts: Mapping[str, Any], effect: Mapping[str, Any]) -> list[dict[str, Any]]:
    curves: Sequence[Mapping[str, Any]] = effect["curves"]
    low, high = (0.0, 1.0)
    if facts["study"]["labels"] is None:
        low, high = min(curves[0]["values"]), max(curves[0]["values"])
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "label": format_value(value),
            "missing": value is None,
            "share": percent(share, 0),
            "at": f"{100 * (curves[0]['values'][i] / 2 - low / 2) / span:.1f}",
            "texts": [format_output(facts, curve["values"][i]) for curve in curves],
        }
        for i, (value, share) in enumerate(zip(effect["values"], effect["shares"], strict=True))
    ]
