"""The page of a comparison of studies, rendered from its facts, and its sentences."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arboleda._utils.numbers import duration, integer, plain
from arboleda.facts.comparison import (
    SCHEMA_VERSION,
    ComparedModel,
    ComparedPair,
    ComparedStudy,
    ComparisonOfStudies,
    DifferenceFacts,
    OverTablesFacts,
    PairedFacts,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.rendering import DATA_PAGES, render_page, use_facts
from arboleda.reports.tables import Cell
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import join_names, spell_count

__all__ = ["render_comparison", "write_sentences"]

# With fewer tables, the approximations of the tests are rough (Demsar 2006, section 3.2.2).
_MANY_TABLES = 10
_KINDS = {"data": N_("Data"), "setting": N_("Settings"), "version": N_("Versions")}


# Names of the properties in which studies may differ; others are settings by their own names.
_PROPERTIES = frozenset(
    {
        N_("Data, SHA-256"),
        N_("Test data, SHA-256"),
        N_("Rows"),
        N_("Columns"),
        N_("Training and test rows"),
        N_("Table"),
        N_("Target"),
        N_("Task"),
        N_("Metric"),
        N_("Seed"),
        N_("Test size"),
        N_("Platform"),
        N_("Cores"),
        N_("Models"),
        N_("Search"),
        N_("Groups"),
        N_("Time"),
    }
)


def _name_property(english: str) -> str:
    """Return the name of a property of studies in the language of the page."""
    return _(english) if english in _PROPERTIES else english


def render_comparison(facts: Mapping[str, Any], language: str = "en") -> str:
    """Render the facts of a comparison as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        As in ``comparison.schema.json``; its strings may contain arbitrary text.
    language : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.
    """
    with use_facts(facts, SCHEMA_VERSION, "compare the studies again", language):
        view = _make_view(ComparisonOfStudies.model_validate(facts))
        return render_page("comparison.html.j2", view, DATA_PAGES)


def _make_view(facts: ComparisonOfStudies) -> dict[str, Any]:
    studies = facts.studies
    command = ["arboleda", "compare", *(study.folder for study in studies)]
    return {
        "studies": [_make_study_row(study) for study in studies],
        "sentences": write_sentences(facts),
        "leaderboard": [_make_model_row(row) for row in facts.leaderboard],
        "differences": _make_difference_rows(facts.differences),
        "paired": _make_pairs(facts),
        "over_tables": _make_ranks(facts.over_tables),
        "command": shlex.join(command),
        "version": facts.arboleda_version,
    }


def _make_study_row(study: ComparedStudy) -> dict[str, Any]:
    best = study.best
    names: dict[str, Any] = {"best": {**dict(best), "name": translate(best.name)}}
    names["metric_label"] = translate(study.metric_label)
    interval = (
        _("{low} to {high}", low=plain(best.low), high=plain(best.high))
        if best.low is not None
        else ""
    )
    return {
        **dict(study),
        **names,
        "cv": Cell(plain(best.cv), best.cv),
        "honest": Cell(plain(best.honest), best.honest),
        "test": Cell(plain(best.test), best.test),
        "interval": interval,
        "models": Cell(integer(study.n_models), study.n_models),
        "time": Cell(duration(study.timing.total_s), study.timing.total_s),
        "day": study.timing.started[:10],
    }


def _make_model_row(row: ComparedModel) -> dict[str, Any]:
    cells: list[Cell] = []
    for cell in row.cells:
        values = (None, None, None) if cell is None else (cell.rank, cell.cv, cell.test)
        cells += [Cell(plain(value), value) for value in values]
    return {"name": translate(row.name), "cells": cells}


def _make_difference_rows(rows: Sequence[DifferenceFacts]) -> list[dict[str, Any]]:
    return [
        {**dict(row), "kind": _(kind), "what": _name_property(row.what)}
        for row, kind in ((row, _KINDS[row.kind]) for row in rows)
    ]


def _make_pairs(facts: ComparisonOfStudies) -> dict[str, Any]:
    paired, studies = facts.paired, facts.studies
    if paired.why_not:
        return {"why_not": translate(paired.why_not), "rows": []}
    rows = [
        {
            "first": _make_study_row(studies[pair.first]),
            "second": _make_study_row(studies[pair.second]),
            "difference": Cell(plain(pair.difference, 3), pair.difference),
            "interval": _("{low} to {high}", low=plain(pair.low, 3), high=plain(pair.high, 3)),
            "p": Cell(plain(pair.p_adjusted, 2), pair.p_adjusted),
        }
        for pair in paired.pairs
    ]
    return {
        "why_not": None,
        "rows": rows,
        "metric": translate(paired.metric_label),
        "groups": paired.groups,
        "n_rows": integer(paired.n_rows),
        "level": f"{100 * paired.level:g}",
        "count": len(paired.pairs),
    }


def _make_ranks(over: OverTablesFacts | None) -> dict[str, Any] | None:
    if over is None:
        return None
    names = {model.key: translate(model.name) for model in over.models}
    return {
        "tables": over.tables,
        "rows": [
            {
                "name": translate(model.name),
                "mean": Cell(plain(model.mean_rank, 3), model.mean_rank),
                "ranks": [Cell(plain(rank), rank) for rank in model.ranks],
            }
            for model in over.models
        ],
        "p": plain(over.p, 2),
        "difference": plain(over.critical_difference, 3),
        "few": len(over.tables) < _MANY_TABLES,
        "groups": [", ".join(names[key] for key in group) for group in over.groups],
    }


_ALPHA = 0.05
_MOST_PAIRS = 3


def write_sentences(facts: ComparisonOfStudies) -> list[str]:
    """Describe the differences, the better of the best models, and the ranks over tables."""
    return [*_describe_settings(facts), *_describe_pairs(facts), *_describe_tables(facts)]


def _describe_settings(facts: ComparisonOfStudies) -> Iterator[str]:
    rows = facts.differences
    other = {
        kind: [row.what for row in rows if row.kind == kind and not row.same]
        for kind in ("data", "setting", "version")
    }
    number = spell_count(len(facts.studies))
    if not any(other.values()):
        yield _("The {number} studies have the same data, settings and versions.", number=number)
        return
    if "Data, SHA-256" in other["data"]:
        yield _("The {number} studies are of different tables.", number=number)
    else:
        yield _("The {number} studies are of the same table.", number=number)
    changed = [*other["setting"], *other["version"]]
    if changed:
        # Lower-case labels such as "Metric", but not names such as NumPy.
        labels = [_name_property(what) for what in changed]
        words = [word if word[1:] != word[1:].lower() else word.lower() for word in labels]
        yield _("They differ in {words}.", words=join_names(words, 8))


def _describe_pairs(facts: ComparisonOfStudies) -> Iterator[str]:
    paired, studies = facts.paired, facts.studies
    if paired.why_not:
        yield _(
            "Their best models cannot be compared row by row: {why_not}.",
            why_not=translate(paired.why_not),
        )
        return
    start = _("On the {n_rows} test rows that the studies share, ", n_rows=integer(paired.n_rows))
    for pair in paired.pairs[:_MOST_PAIRS]:
        first, second = studies[pair.first], studies[pair.second]
        one, two = (
            _("{model} of {study}", model=translate(study.best.name), study=study.name)
            for study in (first, second)
        )
        if pair.low <= 0 <= pair.high:
            yield _(
                "{start}{one} and {two} do not differ beyond chance ({numbers}).",
                start=start,
                one=one,
                two=two,
                numbers=_format_numbers(paired, pair),
            )
            continue
        better, worse = (one, two) if pair.difference > 0 else (two, one)
        yield _(
            "{start}{better} is better than {worse} ({numbers}).",
            start=start,
            better=better,
            worse=worse,
            numbers=_format_numbers(paired, pair),
        )


def _format_numbers(paired: PairedFacts, pair: ComparedPair) -> str:
    numbers = {
        "difference": plain(pair.difference, 2),
        "level": f"{100 * paired.level:g}",
        "low": plain(pair.low, 2),
        "high": plain(pair.high, 2),
        "p": plain(pair.p_adjusted, 2),
    }
    if len(paired.pairs) == 1:
        return _("by {difference}, {level} % interval {low} to {high}, p = {p}", **numbers)
    return _("by {difference}, simultaneous {level} % interval {low} to {high}, p = {p}", **numbers)


def _describe_tables(facts: ComparisonOfStudies) -> Iterator[str]:
    over = facts.over_tables
    if over is None:
        return
    best = over.models[0]
    tables = spell_count(len(over.tables))
    if over.p >= _ALPHA:
        yield _(
            "Over {tables} tables the models' ranks do not differ beyond chance "
            "(Friedman's test, p = {p}).",
            tables=tables,
            p=plain(over.p, 2),
        )
        return
    beaten = [
        translate(model.name)
        for model in over.models[1:]
        if model.mean_rank - best.mean_rank > over.critical_difference
    ]
    outcome = (
        _("better than {beaten} by Nemenyi's test", beaten=join_names(beaten))
        if beaten
        else _("but no difference to another model is significant by Nemenyi's test")
    )
    yield _(
        "Over {tables} tables {name} has the best mean rank ({mean_rank}), {outcome}.",
        tables=tables,
        name=translate(best.name),
        mean_rank=plain(best.mean_rank, 3),
        outcome=outcome,
    )
