"""The summary of an exploration: the contents of the table, and cautions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.reports.rendering import KeyFigure, Summary
from arboleda.reports.wording import format_count, join_names, quote_name, spell_count

__all__ = ["make_summary_view", "write_caution_lines"]

_KINDS = {
    "numeric": "numeric",
    "categorical": "categorical",
    "boolean": "Boolean",
    "datetime": "date",
    "text": "free-text",
}
# Combined remarks, for cautions shared by many columns.
_MANY = {
    "constant": "A study would exclude {n} constant columns",
    "empty": "A study would exclude {n} columns without any value",
    "identifier": "A study would exclude {n} identifier columns",
    "text": "A study would exclude {n} columns of free text",
    "mostly_missing": "More than half of the values are missing in {n} columns",
    "dominant": "One value fills at least 99 % of the rows in {n} columns",
    "many_levels": "{n} categorical columns have more than 30 levels",
    "dates": "{n} columns hold dates; to predict the future, test on the latest rows",
    "one_to_one": "{n} columns are equivalent to another column, value by value",
    "near_copy": "{n} columns are nearly multiples of other columns",
    "tells_target": "{n} columns almost determine the target; check that they are known before it",
    "reading": "{n} remarks on how columns were read",
}
_SINGLY = 3
LEAST_SHARE = 0.01


def make_summary_view(facts: Mapping[str, Any]) -> Summary:
    """Write the sentences, key figures and cautions of an exploration."""
    careful = write_caution_lines(facts["cautions"], "warning")
    return Summary(
        [*_write_sentences(facts)], _make_figures(facts), [*careful, *_describe_rows(facts)]
    )


def write_caution_lines(cautions: Sequence[Mapping[str, Any]], level: str) -> list[str]:
    """Write the cautions of a level; many cautions of one kind share a line."""
    chosen = [c for c in cautions if c["level"] == level]
    counts = Counter(c["code"] for c in chosen)
    lines: dict[str, None] = {}
    for caution in chosen:
        code = caution["code"]
        if counts[code] > _SINGLY and code in _MANY:
            names = [quote_name(c["column"]) for c in chosen if c["code"] == code and c["column"]]
            described = _MANY[code].format(n=integer(counts[code]))
            lines.setdefault(f"{described}: {join_names(names, 6)}." if names else f"{described}.")
        else:
            about = f"{quote_name(caution['column'])}: " if caution["column"] is not None else ""
            lines.setdefault(f"{about}{caution['text']}")
    return list(lines)


def _make_figures(facts: Mapping[str, Any]) -> list[KeyFigure]:
    table, repeats = facts["table"], facts["duplicates"]["n_repeats"]
    n_features = sum(c["role"] == "feature" for c in facts["columns"])
    cells = table["n_rows"] * table["n_columns"]
    complete = facts["missing"]["n_complete_rows"]
    return [
        KeyFigure("Rows", integer(table["n_rows"]), f"{integer(complete)} complete"),
        KeyFigure("Columns", integer(table["n_columns"]), f"{integer(n_features)} features"),
        KeyFigure(
            "Missing cells",
            percent(table["n_missing_cells"] / cells),
            f"in {format_count(facts['missing']['n_columns'], 'column')}",
        ),
        KeyFigure(
            "Repeated rows",
            integer(repeats),
            f"{percent(repeats / table['n_rows'])} of the rows",
        ),
    ]


def _write_sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    kinds = Counter(c["kind"] for c in facts["columns"] if c["role"] != "target")
    parts = [f"{spell_count(n)} {_KINDS[kind]}" for kind, n in kinds.most_common()]
    noun = "column" if kinds.total() == 1 else "columns"
    other = "other " if facts["target"] is not None else ""
    if parts:
        described = join_names(parts, len(parts))
        text = (
            f"{spell_count(kinds.total())} {other}{noun}"
            if len(parts) > 1
            else f"{parts[0]} {noun}"
        )
        yield f"The table has {text}: {described}." if len(parts) > 1 else f"The table has {text}."
    if facts["target"] is not None:
        yield _describe_target(facts["target"])
        yield from _describe_informative(facts)


def _describe_target(target: Mapping[str, Any]) -> str:
    name = quote_name(target["name"])
    classes = target["classes"]
    if classes is None:
        return f"The target {name} is a quantity."
    ranked = sorted(classes, key=lambda c: -c["n_rows"])
    shares = [
        f"{quote_name(c['label'])} {percent(c['n_rows'] / target['n_known'])}" for c in ranked[:3]
    ]
    return (
        f"The target {name} has {spell_count(len(classes))} classes: {', '.join(shares)}"
        f"{' and others' if len(ranked) > 3 else ''}."
    )


def _describe_informative(facts: Mapping[str, Any]) -> Iterator[str]:
    columns = (facts["target_relations"] or {"columns": []})["columns"]
    informative = [column for column in columns[:3] if column["share"] >= LEAST_SHARE]
    if informative:
        described = [f"{quote_name(c['name'])} ({percent(c['share'], 0)})" for c in informative]
        yield (
            f"The most informative columns are {join_names(described)}; the percentages are shares "
            "of its entropy, for each column alone."
        )
    elif columns:
        yield "No single column explains more than 1 % of its entropy."


def _describe_rows(facts: Mapping[str, Any]) -> Iterator[str]:
    duplicates = facts["duplicates"]
    if duplicates["n_repeats"]:
        yield (
            f"{format_count(duplicates['n_repeats'], 'row')} with an equal earlier row: copies on "
            "both sides of a split inflate scores."
        )
    conflicts = duplicates["conflicts"]
    if conflicts is not None and conflicts["n_groups"]:
        yield (
            f"{integer(conflicts['n_rows'])} rows have the same features as another row but a "
            "different target; no model can predict all of them correctly."
        )
    outliers = facts["outliers"]
    if outliers is not None and outliers["n_suspicious"]:
        yield (
            f"{integer(outliers['n_suspicious'])} of {integer(outliers['n_rows'])} sampled rows "
            "are outliers by the proximity of a forest (score above 10); the most extreme are "
            "listed below."
        )
