"""Highlights at the top of the report: how certain, what drives the model, what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arboleda._numbers import duration, number_format
from arboleda.report._costs import write_cost_sentences
from arboleda.report._metrics import get_metric
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text
from arboleda.report._uncertainty import write_uncertainty_sentences

__all__ = ["Bar", "Highlight", "make_highlights"]

_BARS = 6


@dataclass(frozen=True)
class Bar:
    """A bar of a highlight: a name, its value, and its length relative to the longest bar."""

    name: str
    value: str
    share: float


@dataclass(frozen=True)
class Highlight:
    """A question that readers have, with the result of the study."""

    title: str
    sentences: Sequence[str] = ()
    bars: Sequence[Bar] = field(default_factory=tuple)
    link: str = ""


def make_highlights(report: ReportData) -> list[Highlight]:
    """Collect the highlights that the facts support."""
    return [*_describe_uncertainty(report), *_describe_drivers(report), *_describe_costs(report)]


def _describe_uncertainty(report: ReportData) -> Iterator[Highlight]:
    sentences = list(write_uncertainty_sentences(report))
    link = "comparison" if report.facts.get("comparison") else ""
    if sentences:
        yield Highlight(text("highlight.confidence.title"), sentences, link=link)


def _describe_drivers(report: ReportData) -> Iterator[Highlight]:
    result = report.facts.get("importance") or {}
    columns = [c for c in result.get("columns", ()) if c["value"] > 0][:_BARS]
    if not columns:
        return
    largest = columns[0]["value"]
    write = number_format([c["value"] for c in columns], get_metric(result["metric"]).bounded)
    bars = [Bar(c["name"], write(c["value"]), c["value"] / largest) for c in columns]
    yield Highlight(
        text("highlight.drivers.title"), [text("highlight.drivers.text")], bars, "importance"
    )


def _describe_costs(report: ReportData) -> Iterator[Highlight]:
    timing, total = report.best["timing"], report.facts["timing"]["total_s"]
    sentences = [
        text("highlight.costs.study", time=duration(total), count=len(report.facts["models"]))
    ]
    if timing["fit_s"] is not None and timing["predict_s"] is not None:
        times = {"fit": duration(timing["fit_s"]), "predict": duration(timing["predict_s"])}
        sentences.insert(0, text("highlight.costs.model", **times))
    link = "costs" if report.facts.get("costs") else ""
    yield Highlight(
        text("highlight.costs.title"), [*write_cost_sentences(report), *sentences], link=link
    )
