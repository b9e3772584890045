"""How far probabilities can be trusted, as figures, rows and sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import NOTHING, number_format, plain
from arboleda.report._about import About
from arboleda.report._figures import reliability_plot
from arboleda.report._metrics import metric
from arboleda.report._texts import text, told
from arboleda.report._words import within

__all__ = ["calibration_view", "reliability_axes", "reliability_figure"]

_AS_IT_IS = "none"
_METHODS = (_AS_IT_IS, "sigmoid", "isotonic", "temperature")
_SHOWN = ("log_loss", "brier")
_error = number_format([], bounded=True)


def reliability_figure(
    test: Mapping[str, Any], positive: str | None, prefix: str
) -> list[dict[str, Any]]:
    """Draw the reliability diagram of a model's test rows, if it gives probabilities."""
    found = test["calibration"]
    if found is None:
        return []
    title = text("figure.reliability")
    svg = reliability_plot(
        [(found["bins"], -1)], reliability_axes(positive), name=f"{prefix}-reliability", title=title
    )
    largest = text(
        "calibration.by_chance",
        error=_error(found["error"]),
        chance=_error(found["largest_by_chance"]),
    )
    return [
        {
            "kind": "reliability",
            "title": title,
            "area": text("calibration.ece"),
            "svg": svg,
            "legend": [("var(--accent)", _whose(positive), largest)],
            "worst": False,
            "dashed": text("calibration.ideal"),
        }
    ]


def calibration_view(about: About) -> dict[str, Any] | None:
    """Collect the section on the best model's calibration; None if nothing was tried."""
    found = about.facts["calibration"]
    if found is None:
        return None
    name, variants = about.name(found["model"]), found["variants"]
    return {
        "name": name,
        "error": found["error"] and told(found["error"]),
        "verdict": _verdict(found) if variants else "",
        "heads": [metric(key).label for key in _SHOWN],
        "rows": _rows(found),
        "figure": _figure(found, about.study["positive_class"]) if variants else None,
    }


def reliability_axes(positive: str | None) -> tuple[str, str]:
    """Name the axes of a reliability diagram of the positive class, or of the predicted one."""
    kind = "class" if positive is None else "positive"
    return text(f"calibration.said.{kind}"), text(f"calibration.happened.{kind}")


def _whose(positive: str | None) -> str:
    if positive is None:
        return text("calibration.predicted")
    return text("figure.class", label=positive)


def _method(key: str) -> str:
    return text(f"calibration.method.{key}") if key in _METHODS else key


def _rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    write = {
        key: number_format([v["cv"]["metrics"][key]["mean"] for v in found["variants"]], True)
        for key in _SHOWN
    }
    rows = []
    for variant in found["variants"]:
        cv, test = variant["cv"], variant["test"] or {"metrics": {}, "calibration": None}
        about = test["calibration"]
        rows.append(
            {
                "label": _method(variant["method"]),
                "chosen": variant["method"] == found["chosen"],
                "cv": [
                    (write[key](cv["metrics"][key]["mean"]), write[key](cv["metrics"][key]["sd"]))
                    for key in _SHOWN
                ],
                "cv_error": _error(cv["error"]),
                "test": [write[key](test["metrics"].get(key)) for key in _SHOWN],
                "test_error": NOTHING if about is None else _error(about["error"]),
            }
        )
    return rows


def _verdict(found: Mapping[str, Any]) -> str:
    """Say what was chosen and what it is worth on rows that had no say in it."""
    by_method = {variant["method"]: variant for variant in found["variants"]}
    chosen, own = by_method[found["chosen"]], by_method.get(_AS_IT_IS)
    if found["chosen"] == _AS_IT_IS:
        return text("calibration.as_it_is")
    method = within(_method(found["chosen"]))
    if own is None:
        return text("calibration.none_of_its_own", method=method)
    before, after = (plain(v["cv"]["metrics"]["log_loss"]["mean"]) for v in (own, chosen))
    helps = {"method": method, "before": before, "after": after}
    tested = [(v["test"] or {"metrics": {}})["metrics"].get("log_loss") for v in (own, chosen)]
    if None in tested:
        return text("calibration.helps", **helps)
    side = "too" if tested[1] <= tested[0] else "not"
    return text(
        f"calibration.helps_{side}", **helps, test=plain(tested[0]), test_after=plain(tested[1])
    )


def _figure(found: Mapping[str, Any], positive: str | None) -> dict[str, Any]:
    """Draw the held-out reliability of the model as it is and of what was chosen, or came next."""
    shown = _compared(found)
    title = text("figure.held_out")
    colours = [None, -1] if len(shown) == 2 else [-1]
    curves = [(v["cv"]["bins"], colour) for v, colour in zip(shown, colours, strict=True)]
    svg = reliability_plot(curves, reliability_axes(positive), name="calibration", title=title)
    inks = ["var(--muted)", "var(--accent)"][-len(shown) :]
    legend = [
        (ink, _method(v["method"]), _error(v["cv"]["error"]))
        for ink, v in zip(inks, shown, strict=True)
    ]
    return {"title": title, "svg": svg, "legend": legend}


def _compared(found: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    own = [v for v in found["variants"] if v["method"] == _AS_IT_IS]
    rest = [v for v in found["variants"] if v["method"] != _AS_IT_IS]
    if found["chosen"] == _AS_IT_IS:
        best = sorted(rest, key=lambda v: v["cv"]["metrics"]["log_loss"]["mean"])[:1]
    else:
        best = [v for v in rest if v["method"] == found["chosen"]]
    return [*own, *best]
