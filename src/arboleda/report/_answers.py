"""Short answers at the top of the report: what drives the model, how sure, what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arboleda._numbers import duration, number_format
from arboleda.report._about import About
from arboleda.report._costs import cost_sentences
from arboleda.report._metrics import metric
from arboleda.report._sure import sure_sentences
from arboleda.report._texts import text

__all__ = ["Answer", "Bar", "answers"]

_BARS = 6


@dataclass(frozen=True)
class Bar:
    """A row of an answer that is drawn: a name, its number, and its share of the longest."""

    name: str
    value: str
    share: float


@dataclass(frozen=True)
class Answer:
    """A question that a reader comes with, and what the study says to it."""

    title: str
    sentences: Sequence[str] = ()
    bars: Sequence[Bar] = field(default_factory=tuple)
    link: str = ""


def answers(about: About) -> list[Answer]:
    """Answer what the facts can answer."""
    return [*_sure(about), *_drivers(about), *_costs(about)]


def _sure(about: About) -> Iterator[Answer]:
    said = list(sure_sentences(about))
    link = "comparison" if about.facts.get("comparison") else ""
    if said:
        yield Answer(text("answer.sure.title"), said, link=link)


def _drivers(about: About) -> Iterator[Answer]:
    found = about.facts.get("importance") or {}
    columns = [c for c in found.get("columns", ()) if c["value"] > 0][:_BARS]
    if not columns:
        return
    largest = columns[0]["value"]
    write = number_format([c["value"] for c in columns], metric(found["metric"]).bounded)
    bars = [Bar(c["name"], write(c["value"]), c["value"] / largest) for c in columns]
    yield Answer(text("answer.drivers.title"), [text("answer.drivers.text")], bars, "importance")


def _costs(about: About) -> Iterator[Answer]:
    timing, total = about.best["timing"], about.facts["timing"]["total_s"]
    said = [text("answer.costs.study", time=duration(total), count=len(about.facts["models"]))]
    if timing["fit_s"] is not None and timing["predict_s"] is not None:
        times = {"fit": duration(timing["fit_s"]), "predict": duration(timing["predict_s"])}
        said.insert(0, text("answer.costs.model", **times))
    link = "costs" if about.facts.get("costs") else ""
    yield Answer(text("answer.costs.title"), [*cost_sentences(about), *said], link=link)
