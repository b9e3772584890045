"""Effects of settings on the score, read from the candidates that were tried."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arboleda.report._cells import Cell, format_setting
from arboleda.report._chart_lines import draw_effect_plot
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate
from arboleda.report._words import lower_label

__all__ = ["make_effects_view"]

_DRAWN = 4


class _Effect(NamedTuple):
    """A setting with the scores of its values (best first) and the effect of choosing it."""

    rank: int
    model: str
    setting: str
    values: Sequence[tuple[Any, Sequence[float]]]
    worth: float


def make_effects_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if no setting of any model was varied."""
    result = [
        _Effect(rank, translate(model["name"]), setting, values, _compute_effect(values))
        for rank, model in enumerate(report.models, 1)
        for setting, values in _collect_settings(model, report.greater_is_better).items()
    ]
    if not result:
        return None
    # The most important settings of the best model with varied settings.
    first = sorted((e for e in result if e.rank == result[0].rank), key=lambda e: -e.worth)
    return {
        "name": result[0].model,
        "figures": [
            _draw_figure(report, effect, place) for place, effect in enumerate(first[:_DRAWN])
        ],
        "rows": [_make_row(report, effect) for effect in result],
        "label": lower_label(report.label),
        "filtered": len(result) >= 12,
    }


def _collect_settings(
    model: Mapping[str, Any], up: bool
) -> dict[str, Sequence[tuple[Any, Sequence[float]]]]:
    """Return the values of each varied setting, in order, with their scores, best first."""
    scored = [
        c for c in model["candidates"] if c["mean"] is not None and c.get("status", "ok") == "ok"
    ]
    names = dict.fromkeys(key for candidate in scored for key in candidate["params"])
    result: dict[str, Sequence[tuple[Any, Sequence[float]]]] = {}
    for name in names:
        seen: dict[Any, list[float]] = {}
        for candidate in scored:
            seen.setdefault(candidate["params"].get(name), []).append(candidate["mean"])
        if len(seen) > 1:
            ordered = sorted(seen, key=_sort_key)
            result[name] = [(value, sorted(seen[value], reverse=up)) for value in ordered]
    return result


def _sort_key(value: Any) -> tuple[int, float, str]:
    """Return a sort key: numbers by size, then Booleans and strings, then None."""
    if value is None:
        return (2, 0.0, "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (0, float(value), "")
    return (1, 0.0, str(value))


def _compute_effect(values: Sequence[tuple[Any, Sequence[float]]]) -> float:
    best = [scores[0] for _, scores in values]
    return max(best) - min(best)


def _make_row(report: ReportData, effect: _Effect) -> dict[str, Any]:
    best = [scores[0] for _, scores in effect.values]
    at = best.index(max(best) if report.greater_is_better else min(best))
    return {
        "model": effect.model,
        "anchor": f"model-{effect.rank}",
        "setting": effect.setting,
        "values": ", ".join(format_setting(value) for value, _ in effect.values),
        "best": format_setting(effect.values[at][0]),
        "worth": Cell(report.format_score(effect.worth), effect.worth),
    }


def _draw_figure(report: ReportData, effect: _Effect, place: int) -> dict[str, Any]:
    title = text("figure.effect", setting=effect.setting, name=effect.model)
    values = [(format_setting(value), scores) for value, scores in effect.values]
    svg = draw_effect_plot(
        values, (effect.setting, report.label), name=f"effect-{place}", title=title
    )
    return {"title": effect.setting, "svg": svg, "spoken": title}
