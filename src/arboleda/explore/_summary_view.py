"""The exploration in plain words: what the table holds, and what to look at."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.report._summary import KeyFigure, Summary
from arboleda.report._words import count_word, counted, listed, quoted

__all__ = ["caution_lines", "summary_view"]

_KINDS = {
    "numeric": "numeric",
    "categorical": "categorical",
    "boolean": "true or false",
    "datetime": "of dates",
    "text": "of free text",
}
# What many columns with the same remark are told of in one line.
_MANY = {
    "constant": "A study would leave out {n} constant columns",
    "empty": "A study would leave out {n} columns without any value",
    "identifier": "A study would leave out {n} columns that only name the rows",
    "text": "A study would leave out {n} columns of free text",
    "mostly_missing": "More than half of the values are missing in {n} columns",
    "dominant": "One value fills 99 % of the rows and more in {n} columns",
    "many_levels": "{n} categorical columns have more than 30 levels",
    "dates": "{n} columns hold dates; if the future is to be predicted, test on the latest rows",
    "one_to_one": "{n} columns tell the same as another column, value by value",
    "near_copy": "{n} columns are nearly multiples of other columns",
    "tells_target": "{n} columns tell the target almost alone; check that they are known before it",
    "reading": "{n} remarks on how columns were read",
}
_SINGLY = 3
TELLING = 0.01


def summary_view(facts: Mapping[str, Any]) -> Summary:
    """Write sentences, key figures and what deserves attention, drawn from the facts alone."""
    careful = caution_lines(facts["cautions"], "warning")
    return Summary([*_sentences(facts)], _figures(facts), [*careful, *_about_rows(facts)])


def caution_lines(cautions: Sequence[Mapping[str, Any]], level: str) -> list[str]:
    """Write the remarks of a level, those of one kind on many columns together."""
    chosen = [c for c in cautions if c["level"] == level]
    counts = Counter(c["code"] for c in chosen)
    lines: dict[str, None] = {}
    for caution in chosen:
        code = caution["code"]
        if counts[code] > _SINGLY and code in _MANY:
            names = [quoted(c["column"]) for c in chosen if c["code"] == code and c["column"]]
            told = _MANY[code].format(n=integer(counts[code]))
            lines.setdefault(f"{told}: {listed(names, 6)}." if names else f"{told}.")
        else:
            about = f"{quoted(caution['column'])}: " if caution["column"] is not None else ""
            lines.setdefault(f"{about}{caution['text']}")
    return list(lines)


def _figures(facts: Mapping[str, Any]) -> list[KeyFigure]:
    table, repeats = facts["table"], facts["duplicates"]["n_repeats"]
    n_features = sum(c["role"] == "feature" for c in facts["columns"])
    cells = table["n_rows"] * table["n_columns"]
    complete = facts["missing"]["n_complete_rows"]
    return [
        KeyFigure("Rows", integer(table["n_rows"]), f"{integer(complete)} without a gap"),
        KeyFigure("Columns", integer(table["n_columns"]), f"{integer(n_features)} to learn from"),
        KeyFigure(
            "Missing cells",
            percent(table["n_missing_cells"] / cells),
            f"in {counted(facts['missing']['n_columns'], 'column')}",
        ),
        KeyFigure(
            "Repeated rows",
            integer(repeats),
            f"{percent(repeats / table['n_rows'])} of the rows",
        ),
    ]


def _sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    kinds = Counter(c["kind"] for c in facts["columns"] if c["role"] != "target")
    parts = [f"{count_word(n)} {_KINDS[kind]}" for kind, n in kinds.most_common()]
    noun = "column" if kinds.total() == 1 else "columns"
    other = "other " if facts["target"] is not None else ""
    if parts:
        told = listed(parts, len(parts))
        text = (
            f"{count_word(kinds.total())} {other}{noun}" if len(parts) > 1 else f"{parts[0]} {noun}"
        )
        yield f"The table has {text}: {told}." if len(parts) > 1 else f"The table has {text}."
    if facts["target"] is not None:
        yield _about_target(facts["target"])
        yield from _most_telling(facts)


def _about_target(target: Mapping[str, Any]) -> str:
    name = quoted(target["name"])
    classes = target["classes"]
    if classes is None:
        return f"The target {name} is a quantity."
    ranked = sorted(classes, key=lambda c: -c["n_rows"])
    shares = [
        f"{quoted(c['label'])} {percent(c['n_rows'] / target['n_known'])}" for c in ranked[:3]
    ]
    return (
        f"The target {name} has {count_word(len(classes))} classes: {', '.join(shares)}"
        f"{' and others' if len(ranked) > 3 else ''}."
    )


def _most_telling(facts: Mapping[str, Any]) -> Iterator[str]:
    columns = (facts["target_relations"] or {"columns": []})["columns"]
    telling = [column for column in columns[:3] if column["share"] >= TELLING]
    if telling:
        told = [f"{quoted(c['name'])} ({percent(c['share'], 0)})" for c in telling]
        yield (
            f"Most is told about it by {listed(told)}, as shares of its entropy, each column on "
            "its own."
        )
    elif columns:
        yield "No column on its own tells more than a hundredth of its entropy."


def _about_rows(facts: Mapping[str, Any]) -> Iterator[str]:
    duplicates = facts["duplicates"]
    if duplicates["n_repeats"]:
        yield (
            f"{counted(duplicates['n_repeats'], 'row')} with an equal earlier row: copies on both "
            "sides of a split make scores look better than they are."
        )
    conflicts = duplicates["conflicts"]
    if conflicts is not None and conflicts["n_groups"]:
        yield (
            f"{integer(conflicts['n_rows'])} rows agree with another row in every feature but not "
            "in the target; no model can be right about all of them."
        )
    outliers = facts["outliers"]
    if outliers is not None and outliers["n_suspicious"]:
        yield (
            f"{integer(outliers['n_suspicious'])} of {integer(outliers['n_rows'])} rows looked at "
            "are outliers to a forest (score above 10); the furthest are listed below."
        )
