"""How far probabilities can be trusted, as figures, rows and sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import NOTHING, number_format, plain
from arboleda.report._figures import reliability_plot

__all__ = ["calibration_view", "reliability_axes", "reliability_figure"]

_AS_IT_IS = "none"
_METHODS = {
    _AS_IT_IS: "As it is",
    "sigmoid": "Sigmoid (Platt)",
    "isotonic": "Isotonic regression",
    "temperature": "Temperature",
}
_SHOWN = (("log_loss", "Log-loss"), ("brier", "Brier score"))
_error = number_format([], bounded=True)


def reliability_figure(
    test: Mapping[str, Any], positive: str | None, prefix: str
) -> list[dict[str, Any]]:
    """Draw the reliability diagram of a model's test rows, if it gives probabilities."""
    found = test["calibration"]
    if found is None:
        return []
    title = "Reliability diagram"
    svg = reliability_plot(
        [(found["bins"], -1)], reliability_axes(positive), name=f"{prefix}-reliability", title=title
    )
    largest = f"{_error(found['error'])}; chance alone up to {_error(found['largest_by_chance'])}"
    return [
        {
            "title": title,
            "area": "ECE",
            "svg": svg,
            "legend": [("var(--accent)", positive or "predicted class", largest)],
            "worst": False,
            "dashed": "calibrated",
        }
    ]


def calibration_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect the section on the best model's calibration; None if nothing was tried."""
    found = facts["calibration"]
    if found is None:
        return None
    names = {model["key"]: model["name"] for model in facts["models"]}
    name = names.get(found["model"], found["model"])
    variants = found["variants"]
    return {
        "name": name,
        "error": found["error"],
        "verdict": _verdict(found) if variants else "",
        "heads": [label for _, label in _SHOWN],
        "rows": _rows(found),
        "figure": _figure(found, facts["study"]["positive_class"]) if variants else None,
    }


def reliability_axes(positive: str | None) -> tuple[str, str]:
    """Name the axes of a reliability diagram of the positive class, or of the predicted one."""
    if positive is None:
        return "Mean probability of the predicted class", "Share of rows where it is right"
    return "Mean probability of the positive class", "Share of rows that are of it"


def _method(key: str) -> str:
    return _METHODS.get(key, key)


def _rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    write = {
        key: number_format([v["cv"]["metrics"][key]["mean"] for v in found["variants"]], True)
        for key, _ in _SHOWN
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
                    for key, _ in _SHOWN
                ],
                "cv_error": _error(cv["error"]),
                "test": [write[key](test["metrics"].get(key)) for key, _ in _SHOWN],
                "test_error": NOTHING if about is None else _error(about["error"]),
            }
        )
    return rows


def _verdict(found: Mapping[str, Any]) -> str:
    """Say what was chosen and what it is worth on rows that had no say in it."""
    by_method = {variant["method"]: variant for variant in found["variants"]}
    chosen, own = by_method[found["chosen"]], by_method.get(_AS_IT_IS)
    if found["chosen"] == _AS_IT_IS:
        return (
            "No method made the log-loss of held-out rows smaller by more than one standard error"
            " over the folds: the probabilities are best taken as they are."
        )
    method = _method(found["chosen"])
    method = method[:1].lower() + method[1:]
    if own is None:
        return (
            "The model gives no probabilities by itself. Of those made from its scores, the ones by"
            f" {method} have the smallest log-loss on held-out rows."
        )
    before, after = (v["cv"]["metrics"]["log_loss"]["mean"] for v in (own, chosen))
    text = (
        f"Calibration by {method} helps: it takes the log-loss of held-out rows from"
        f" {plain(before)} to {plain(after)}"
    )
    tested = [(v["test"] or {"metrics": {}})["metrics"].get("log_loss") for v in (own, chosen)]
    if None in tested:
        return f"{text}."
    join = ", and" if tested[1] <= tested[0] else "; not so"
    return f"{text}{join} that of the test rows from {plain(tested[0])} to {plain(tested[1])}."


def _figure(found: Mapping[str, Any], positive: str | None) -> dict[str, Any]:
    """Draw the held-out reliability of the model as it is and of what was chosen, or came next."""
    shown = _compared(found)
    title = "Reliability of held-out rows"
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
