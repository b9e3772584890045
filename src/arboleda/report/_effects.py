"""What the settings of a model changed: read off the candidates that were tried."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arboleda.report._about import About
from arboleda.report._cells import Cell, setting_text
from arboleda.report._chart_lines import effect_plot
from arboleda.report._texts import text, told
from arboleda.report._words import within

__all__ = ["effects_view"]

_DRAWN = 4


class _Effect(NamedTuple):
    """A setting with the scores of its values, the best first; what the choice of it is worth."""

    rank: int
    model: str
    setting: str
    values: Sequence[tuple[Any, Sequence[float]]]
    worth: float


def effects_view(about: About) -> dict[str, Any] | None:
    """Collect the section; None where no model had a choice."""
    found = [
        _Effect(rank, told(model["name"]), setting, values, _worth(values))
        for rank, model in enumerate(about.models, 1)
        for setting, values in _settings(model, about.up).items()
    ]
    if not found:
        return None
    # Of the best model that had a choice, the settings that matter most.
    first = sorted((e for e in found if e.rank == found[0].rank), key=lambda e: -e.worth)
    return {
        "name": found[0].model,
        "figures": [_figure(about, effect, place) for place, effect in enumerate(first[:_DRAWN])],
        "rows": [_row(about, effect) for effect in found],
        "label": within(about.label),
        "filtered": len(found) >= 12,
    }


def _settings(
    model: Mapping[str, Any], up: bool
) -> dict[str, Sequence[tuple[Any, Sequence[float]]]]:
    """For each setting that varied: its values in order, each with the scores it was seen at."""
    scored = [
        c for c in model["candidates"] if c["mean"] is not None and c.get("status", "ok") == "ok"
    ]
    names = dict.fromkeys(key for candidate in scored for key in candidate["params"])
    found: dict[str, Sequence[tuple[Any, Sequence[float]]]] = {}
    for name in names:
        seen: dict[Any, list[float]] = {}
        for candidate in scored:
            seen.setdefault(candidate["params"].get(name), []).append(candidate["mean"])
        if len(seen) > 1:
            ordered = sorted(seen, key=_place)
            found[name] = [(value, sorted(seen[value], reverse=up)) for value in ordered]
    return found


def _place(value: Any) -> tuple[int, float, str]:
    """Numbers by size, then truth values and texts, and "none" last."""
    if value is None:
        return (2, 0.0, "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (0, float(value), "")
    return (1, 0.0, str(value))


def _worth(values: Sequence[tuple[Any, Sequence[float]]]) -> float:
    best = [scores[0] for _, scores in values]
    return max(best) - min(best)


def _row(about: About, effect: _Effect) -> dict[str, Any]:
    best = [scores[0] for _, scores in effect.values]
    at = best.index(max(best) if about.up else min(best))
    return {
        "model": effect.model,
        "anchor": f"model-{effect.rank}",
        "setting": effect.setting,
        "values": ", ".join(setting_text(value) for value, _ in effect.values),
        "best": setting_text(effect.values[at][0]),
        "worth": Cell(about.write(effect.worth), effect.worth),
    }


def _figure(about: About, effect: _Effect, place: int) -> dict[str, Any]:
    title = text("figure.effect", setting=effect.setting, name=effect.model)
    values = [(setting_text(value), scores) for value, scores in effect.values]
    svg = effect_plot(values, (effect.setting, about.label), name=f"effect-{place}", title=title)
    return {"title": effect.setting, "svg": svg, "spoken": title}
