"""The highlights of a study: how certain the result is, what drives the model, what it costs."""

from collections.abc import Iterator

from arboleda._utils.numbers import duration, number_format
from arboleda.reports.rendering import Bar, Highlight
from arboleda.reports.study.leaderboard import write_uncertainty_sentences
from arboleda.reports.study.quality import write_cost_sentences
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import get_metric

__all__ = ["make_highlights"]

_BARS = 6


def make_highlights(report: ReportData) -> list[Highlight]:
    """Collect the highlights that the facts support."""
    return [*_describe_uncertainty(report), *_describe_drivers(report), *_describe_costs(report)]


def _describe_uncertainty(report: ReportData) -> Iterator[Highlight]:
    sentences = list(write_uncertainty_sentences(report))[-1:]
    link = "comparison" if report.facts.get("comparison") else ""
    if sentences:
        yield Highlight(_("How certain is the result?"), sentences, link=link)


def _describe_drivers(report: ReportData) -> Iterator[Highlight]:
    result = report.facts.get("importance") or {}
    columns = [c for c in result.get("columns", ()) if c["value"] > 0][:_BARS]
    if not columns:
        return
    largest = columns[0]["value"]
    write = number_format([c["value"] for c in columns], get_metric(result["metric"]).bounded)
    bars = [Bar(c["name"], write(c["value"]), c["value"] / largest) for c in columns]
    yield Highlight(
        _("What drives the model?"),
        [_("The most important columns: the loss in score when their values are shuffled.")],
        bars,
        "importance",
    )


def _describe_costs(report: ReportData) -> Iterator[Highlight]:
    timing, total = report.best["timing"], report.facts["timing"]["total_s"]
    sentences = [
        _(
            "The whole study of {count} models took {time}.",
            time=duration(total),
            count=len(report.facts["models"]),
        )
    ]
    if timing["fit_s"] is not None and timing["predict_s"] is not None:
        times = {"fit": duration(timing["fit_s"]), "predict": duration(timing["predict_s"])}
        sentences.insert(
            0, _("Fitting it takes {fit}; predicting the test rows takes {predict}.", **times)
        )
    link = "costs" if report.facts.get("costs") else ""
    yield Highlight(_("What does it cost?"), [*write_cost_sentences(report), *sentences], link=link)
