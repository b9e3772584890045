"""The section on times to an event: survival curves of groups, scores over time, calibration."""

from collections.abc import Mapping
from typing import Any

from arboleda._utils.numbers import NOTHING, confidence_level, integer, number_format, plain
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.timed_plots import (
    PlottedLine,
    StepCurve,
    draw_interval_plot,
    draw_line_plot,
    draw_step_plot,
)
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import SWATCHES
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _

__all__ = ["make_survival_view"]

_format_score = number_format([], bounded=True)
# With a smaller p-value, groups or calibration differ by more than chance.
_ALPHA = 0.05

_CALIBRATED = {
    True: N_(
        "Over all probabilities, the predicted survival at the times of the rows is as spread as "
        "that of a calibrated model (D-calibration, p {p})."
    ),
    False: N_(
        "Over all probabilities, the predicted survival at the times of the rows is not as spread "
        "as that of a calibrated model (D-calibration, p {p}): read the predicted probabilities "
        "with caution."
    ),
}


def make_survival_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None unless times to an event are predicted."""
    result = report.best["test"].get("survival") if report.models else None
    if result is None:
        return None
    return {
        "name": report.get_name(report.best["key"]),
        "n_test": integer(report.facts["split"]["n_test"]),
        "n_events": integer(result["n_events"]),
        "level": confidence_level(result["level"]),
        "groups": [
            _make_groups(report, group, place) for place, group in enumerate(result["groups"])
        ],
        "scores": _draw_scores(report, result),
        "calibration": _draw_calibration(report, result),
        "calibrated": _(
            _CALIBRATED[result["d_calibration_p"] >= _ALPHA], p=_format_p(result["d_calibration_p"])
        ),
    }


def _format_p(p: float) -> str:
    """Return a p-value with the sign that relates it to p."""
    return f"= {plain(p, 2)}" if p >= 0.001 else f"< {plain(0.001)}"


def _get_time_label(report: ReportData) -> str:
    return _("Time ({column})", column=report.study["target"])


def _make_groups(report: ReportData, group: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Draw the curves of some groups, with their numbers at risk."""
    column = group["column"]
    # Values of a column are the user's; the names of thirds are words of the page.
    names = [c["label"] if column else translate(c["label"]) for c in group["curves"]]
    curves = [
        StepCurve(name, c["time"], c["survival"], c["low"], c["high"])
        for name, c in zip(names, group["curves"], strict=True)
    ]
    title = (
        _("Survival by {column}", column=column) if column else _("Survival by the predicted risk")
    )
    axes = (_get_time_label(report), _("Share of rows without the event"))
    return {
        "title": title,
        "column": column,
        "svg": draw_step_plot(curves, axes, name=f"survival-{place}", title=title),
        "legend": [(f"var(--c{k % SWATCHES})", name, "") for k, name in enumerate(names)],
        "file": "survival_by_column" if column else "survival_by_risk",
        "test": ""
        if group["p"] is None
        else _("Log-rank test of equal hazards: p {p}.", p=_format_p(group["p"])),
        "heads": [plain(time) for time in group["risk_times"]],
        "rows": [
            {
                "name": name,
                "n": integer(c["n"]),
                "n_events": integer(c["n_events"]),
                "median": NOTHING if c["median"] is None else plain(c["median"]),
                "at_risk": [integer(count) for count in c["at_risk"]],
            }
            for name, c in zip(names, group["curves"], strict=True)
        ],
    }


def _draw_scores(report: ReportData, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw the Brier score and the area under the ROC curve over time."""
    time, times = _get_time_label(report), result["times"]
    title = _("Brier score over time")
    lines = [PlottedLine(times, result["brier"])]
    if result["baseline_brier"] is not None:
        lines.append(PlottedLine(times, result["baseline_brier"], is_dashed=True))
    brier = draw_line_plot(lines, (time, _("Brier score")), name="survival-brier", title=title)
    figures = [
        {
            "kind": "brier_over_time",
            "title": title,
            "svg": brier,
            "dashed": "" if len(lines) == 1 else _("the same curve for all rows"),
        }
    ]
    if any(area is not None for area in result["auc"]):
        title = _("AUC over time")
        chance = PlottedLine([times[0], times[-1]], [0.5, 0.5], is_dashed=True)
        lines = [PlottedLine(times, result["auc"]), chance]
        svg = draw_line_plot(lines, (time, _("AUC")), name="survival-auc", title=title)
        figures.append({"kind": "auc_over_time", "title": title, "svg": svg, "dashed": _("chance")})
    return figures


def _draw_calibration(report: ReportData, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw observed against predicted survival at a few times."""
    axes = (_("Predicted survival"), _("Observed survival (Kaplan-Meier)"))
    figures = []
    for place, at in enumerate(result["calibration"], 1):
        title = _(
            "Calibration at {column} {time}",
            column=report.study["target"],
            time=plain(at["time"], 3),
        )
        svg = draw_interval_plot(
            at["groups"], axes, name=f"survival-calibration-{place}", title=title
        )
        figures.append(
            {
                "kind": f"survival_calibration_{place}",
                "title": title,
                "svg": svg,
                "dashed": _("calibrated"),
            }
        )
    return figures
