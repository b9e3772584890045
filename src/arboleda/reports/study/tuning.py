"""The sections on the search: what was tried, effects of settings, the learning curve."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arboleda._utils.numbers import duration, integer
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.score_plots import draw_effect_plot, draw_learning_plot
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import Cell, format_setting
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import lower_label

__all__ = ["make_effects_view", "make_learning_view", "make_tried_view"]


def make_tried_view(report: ReportData) -> dict[str, Any]:
    """Collect the section."""
    models = report.facts["models"]
    fits = sum(_count_fits(model) for model in models)
    candidates = sum(len(model["candidates"]) for model in models)
    return {
        "intro": _(
            "{models}, {candidates} and {fits} took {time}.",
            models=ngettext(
                "{count} model", "{count} models", len(models), count=integer(len(models))
            ),
            candidates=ngettext(
                "{count} candidate", "{count} candidates", candidates, count=integer(candidates)
            ),
            fits=ngettext(
                "{count} fit on folds", "{count} fits on folds", fits, count=integer(fits)
            ),
            time=duration(report.facts["timing"]["total_s"]),
        ),
        "rows": [_make_tried_row(report, model) for model in models],
        "left_out": [_describe_left_out(each) for each in report.facts["search"]["left_out"]],
    }


def _describe_left_out(each: Mapping[str, Any]) -> str:
    values = {"name": translate(each["name"]), "count": integer(each["candidates"])}
    if each["whole"]:
        return _("{name}: none of its {count} candidates was evaluated.", **values)
    return _("{name}: {count} of its candidates were not evaluated.", **values)


def _make_tried_row(report: ReportData, model: Mapping[str, Any]) -> dict[str, Any]:
    seconds = model["timing"]["search_s"]
    return {
        "name": translate(model["name"]),
        "candidates": Cell(integer(len(model["candidates"])), len(model["candidates"])),
        "fits": Cell(integer(_count_fits(model)), _count_fits(model)),
        "time": Cell(duration(seconds), seconds),
        "outcome": report.get_state(model),
        "error": model["error"],
    }


def _count_fits(model: Mapping[str, Any]) -> int:
    return sum(len(candidate["fold_scores"]) for candidate in model["candidates"])


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
        "rows": [_make_effect_row(report, effect) for effect in result],
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


def _make_effect_row(report: ReportData, effect: _Effect) -> dict[str, Any]:
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
    title = _("Effect of {setting}: {name}", setting=effect.setting, name=effect.model)
    values = [(format_setting(value), scores) for value, scores in effect.values]
    given = [value for value, _ in effect.values]
    are_numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in given)
    svg = draw_effect_plot(
        values,
        (effect.setting, report.label),
        numbers=given if are_numbers else None,
        name=f"effect-{place}",
        title=title,
    )
    return {"title": effect.setting, "svg": svg, "spoken": title}


def make_learning_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the facts have neither a curve nor a reason."""
    result = report.facts.get("learning_curve")
    if result is None:
        return None
    name = report.get_name(result["model"])
    if result["skipped"]:
        return {"skipped": report.describe_skipped(result)}
    points = [(p["n_rows"], p["fold_scores"]) for p in result["points"]]
    title = _("Learning curve: {name}", name=name)
    labels = (_("Training rows"), report.label)
    return {
        "name": name,
        "skipped": None,
        "svg": draw_learning_plot(points, labels, name="learning", title=title),
        "title": title,
        "verdict": _describe_gain(report, result),
        "rows": [
            {
                "n": integer(p["n_rows"]),
                "score": report.format_spread(p),
            }
            for p in result["points"]
        ],
        "label": report.label,
    }


_TRENDS = {
    "better": N_(
        "From {before} to {last} rows, the score improved by {gain} ({interval}): more rows "
        "would probably help."
    ),
    "worse": N_(
        "From {before} to {last} rows, the score became worse by {gain} ({interval}): more rows "
        "of the same kind would probably not help."
    ),
    "none": N_(
        "From {before} to {last} rows, the score improved by {gain} ({interval}). The interval "
        "holds zero: these folds do not show whether more rows would help."
    ),
}


def _describe_gain(report: ReportData, result: Mapping[str, Any]) -> str:
    """Describe the gain of the last step by its interval."""
    gain = result["gain"]
    if gain is None:
        return ""
    side = "better" if gain["low"] > 0 else "worse" if gain["high"] < 0 else "none"
    before, last = result["points"][-2:]
    size = -gain["difference"] if side == "worse" else gain["difference"]
    low, high = (-gain["high"], -gain["low"]) if side == "worse" else (gain["low"], gain["high"])
    return _(
        _TRENDS[side],
        before=integer(before["n_rows"]),
        last=integer(last["n_rows"]),
        gain=report.format_score(size),
        interval=report.format_interval({**gain, "low": low, "high": high}),
    )
