"""The comparison in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, plain
from arboleda.report._words import join_names, spell_count

__all__ = ["write_sentences"]

_ALPHA = 0.05
_MOST_PAIRS = 3


def write_sentences(facts: Mapping[str, Any]) -> list[str]:
    """Describe the differences, the better of the best models, and the ranks over tables."""
    return [*_describe_settings(facts), *_describe_pairs(facts), *_describe_tables(facts)]


def _describe_settings(facts: Mapping[str, Any]) -> Iterator[str]:
    rows = facts["differences"]
    other = {
        kind: [row["what"] for row in rows if row["kind"] == kind and not row["same"]]
        for kind in ("data", "setting", "version")
    }
    number = spell_count(len(facts["studies"]))
    if not any(other.values()):
        yield f"The {number} studies have the same data, settings and versions."
        return
    if "Data, SHA-256" in other["data"]:
        yield f"The {number} studies are of different tables."
    else:
        yield f"The {number} studies are of the same table."
    changed = [*other["setting"], *other["version"]]
    if changed:
        # Lower-case labels such as "Metric", but not names such as NumPy.
        words = [word if word[1:] != word[1:].lower() else word.lower() for word in changed]
        yield f"They differ in {join_names(words, 8)}."


def _describe_pairs(facts: Mapping[str, Any]) -> Iterator[str]:
    paired, studies = facts["paired"], facts["studies"]
    if paired["why_not"]:
        yield f"Their best models cannot be compared row by row: {paired['why_not']}."
        return
    start = f"On the {integer(paired['n_rows'])} test rows that the studies share, "
    for pair in paired["pairs"][:_MOST_PAIRS]:
        first, second = studies[pair["first"]], studies[pair["second"]]
        one = f"{first['best']['name']} of {first['name']}"
        two = f"{second['best']['name']} of {second['name']}"
        if pair["p_adjusted"] >= _ALPHA:
            yield f"{start}{one} and {two} do not differ beyond chance ({_format_numbers(pair)})."
            continue
        better, worse = (one, two) if pair["difference"] > 0 else (two, one)
        yield f"{start}{better} is better than {worse} ({_format_numbers(pair)})."


def _format_numbers(pair: Mapping[str, Any]) -> str:
    low, high = plain(pair["low"], 2), plain(pair["high"], 2)
    return (
        f"by {plain(pair['difference'], 2)}, 95\N{NO-BREAK SPACE}% interval {low} to {high}, "
        f"p = {plain(pair['p_adjusted'], 2)}"
    )


def _describe_tables(facts: Mapping[str, Any]) -> Iterator[str]:
    over = facts["over_tables"]
    if over is None:
        return
    best = over["models"][0]
    tables = spell_count(len(over["tables"]))
    if over["p"] >= _ALPHA:
        yield (
            f"Over {tables} tables the models' ranks do not differ beyond chance (Friedman's test, "
            f"p = {plain(over['p'], 2)})."
        )
        return
    beaten = [
        model["name"]
        for model in over["models"][1:]
        if model["mean_rank"] - best["mean_rank"] > over["critical_difference"]
    ]
    outcome = (
        f"better than {join_names(beaten)} by Nemenyi's test"
        if beaten
        else "but no difference to another model is significant by Nemenyi's test"
    )
    yield (
        f"Over {tables} tables {best['name']} has the best mean rank "
        f"({plain(best['mean_rank'], 3)}), {outcome}."
    )
