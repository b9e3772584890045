"""How sure the ranking is: the honest estimate of the winner, and who is as good."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import fixed, integer
from arboleda.report._about import About
from arboleda.report._cells import Cell
from arboleda.report._texts import counted, text, told
from arboleda.report._words import count_word, listed

__all__ = ["comparison_view", "sure_sentences"]


def sure_sentences(about: About) -> Iterator[str]:
    """Say what choosing did to the winner's score, and which models are as good."""
    selection, comparison = about.facts.get("selection"), about.facts.get("comparison")
    if selection is not None and selection["n_candidates"] > 1:
        yield _of_the_choice(about, selection)
    if comparison is not None:
        yield _of_the_others(about, comparison)


def _of_the_choice(about: About, selection: Mapping[str, Any]) -> str:
    honest, count = selection["honest"], integer(selection["n_candidates"])
    name = about.name(selection["chosen"])
    if honest is None:
        return text("sure.untold", name=name, count=count)
    numbers = {
        "score": about.write(honest["mean"]),
        "low": about.write(honest["low"]),
        "high": about.write(honest["high"]),
        "level": f"{100 * honest['level']:g}\N{NO-BREAK SPACE}%",
    }
    kind = "luck" if selection["optimism"] > 0 else "no_luck"
    return text(f"sure.{kind}", name=name, count=count, **numbers)


def _of_the_others(about: About, comparison: Mapping[str, Any]) -> str:
    winner = about.name(comparison["against"])
    equals = [about.name(key) for key in comparison["as_good"][1:]]
    worse = sum(row["as_good"] is False for row in comparison["rows"])
    if not equals and worse == len(comparison["rows"]):
        return text("sure.alone", winner=winner)
    if not equals:
        return text("sure.cannot_tell", winner=winner)
    rest = counted("sure.worse", worse, count=count_word(worse)) if worse else ""
    names = listed(equals)
    return counted("sure.equal", len(equals), names=names, winner=winner, rest=rest)


def comparison_view(about: About) -> dict[str, Any] | None:
    """Collect the section on the comparison; None where there is nothing to compare."""
    found = about.facts.get("comparison")
    if found is None:
        return None
    return {
        "winner": about.name(found["against"]),
        "sentences": list(sure_sentences(about)),
        "rows": [_row(about, row) for row in found["rows"]],
        "notes": [told(found[key]) for key in ("folds_note", "test_note") if found[key]],
        "level": f"{100 * found['level']:g}",
        "label": about.label,
        "filtered": len(found["rows"]) > 12,
    }


def _row(about: About, row: Mapping[str, Any]) -> dict[str, Any]:
    verdict = {True: "equal", False: "worse", None: "untold"}[row["as_good"]]
    p_value = row["p_adjusted"]
    return {
        "name": about.name(row["key"]),
        "folds": _difference(about, row["folds"]),
        "test": _difference(about, row["test"]),
        "p": Cell("–" if p_value is None else _p_text(p_value), p_value),
        "verdict": text(f"sure.verdict.{verdict}"),
        "kind": verdict,
    }


def _difference(about: About, part: Mapping[str, Any] | None) -> dict[str, Any]:
    if part is None:
        return {"cell": Cell("–", None), "range": ""}
    ends = {"low": about.write(part["low"]), "high": about.write(part["high"])}
    value = part["difference"]
    return {"cell": Cell(about.write(value), value), "range": text("interval.range", **ends)}


def _p_text(value: float) -> str:
    """Three decimals; a smaller one is told as such."""
    return f"<{fixed(0.001, 3)}" if value < 0.0005 else fixed(value, 3)
