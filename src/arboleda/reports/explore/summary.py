"""The summary of an exploration: the contents of the table, and cautions."""

from collections import Counter
from collections.abc import Iterator, Sequence

from arboleda._utils.numbers import integer, percent
from arboleda.facts.exploration import ExplorationFacts, ExploredTargetFacts, ProblemFacts
from arboleda.reports.fact_messages import translate
from arboleda.reports.rendering import KeyFigure, Summary
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import join_names, quote_name, spell_count

__all__ = ["make_summary_view", "write_caution_lines"]

_KINDS = {
    "numeric": N_("numeric"),
    "categorical": N_("categorical"),
    "boolean": N_("Boolean"),
    "datetime": N_("date"),
    "text": N_("text"),
    "list": N_("list"),
}
# Combined remarks, for cautions shared by many columns.
_MANY = {
    "constant": N_("A study would exclude {n} constant columns"),
    "empty": N_("A study would exclude {n} columns without any value"),
    "identifier": N_("A study would exclude {n} identifier columns"),
    "mostly_missing": N_("More than half of the values are missing in {n} columns"),
    "dominant": N_("One value fills at least 99 % of the rows in {n} columns"),
    "many_levels": N_("{n} categorical columns have more than 30 levels"),
    "dates": N_("{n} columns hold dates; to predict the future, test on the latest rows"),
    "one_to_one": N_("{n} columns are equivalent to another column, value by value"),
    "near_copy": N_("{n} columns are nearly multiples of other columns"),
    "tells_target": N_(
        "{n} columns almost determine the target; check that they are known before it"
    ),
    "reading": N_("{n} remarks on how columns were read"),
}
_SINGLY = 3
LEAST_SHARE = 0.01


def make_summary_view(facts: ExplorationFacts) -> Summary:
    """Write the sentences, key figures and cautions of an exploration."""
    careful = write_caution_lines(facts.cautions, "warning")
    return Summary(
        [*_write_sentences(facts)], _make_figures(facts), [*careful, *_describe_rows(facts)]
    )


def write_caution_lines(cautions: Sequence[ProblemFacts], level: str) -> list[str]:
    """Write the cautions of a level; many cautions of one kind share a line."""
    chosen = [c for c in cautions if c.level == level]
    counts = Counter(c.code for c in chosen)
    lines: dict[str, None] = {}
    for caution in chosen:
        code = caution.code
        if counts[code] > _SINGLY and code in _MANY:
            names = [quote_name(c.column) for c in chosen if c.code == code and c.column]
            described = _(_MANY[code], n=integer(counts[code]))
            lines.setdefault(f"{described}: {join_names(names, 6)}." if names else f"{described}.")
        else:
            about = f"{quote_name(caution.column)}: " if caution.column is not None else ""
            lines.setdefault(f"{about}{translate(caution.text)}")
    return list(lines)


def _make_figures(facts: ExplorationFacts) -> list[KeyFigure]:
    table, repeats = facts.table, facts.duplicates.n_repeats
    n_features = sum(c.role == "feature" for c in facts.columns)
    cells = table.n_rows * table.n_columns
    complete = facts.missing.n_complete_rows
    return [
        KeyFigure(
            _("Rows"),
            integer(table.n_rows),
            _("{count} complete", count=integer(complete)),
        ),
        KeyFigure(
            _("Columns"),
            integer(table.n_columns),
            ngettext("{count} feature", "{count} features", n_features, count=integer(n_features)),
        ),
        KeyFigure(
            _("Missing cells"),
            percent(table.n_missing_cells / cells),
            _(
                "in {columns}",
                columns=ngettext(
                    "{count} column",
                    "{count} columns",
                    facts.missing.n_columns,
                    count=integer(facts.missing.n_columns),
                ),
            ),
        ),
        KeyFigure(
            _("Repeated rows"),
            integer(repeats),
            _("{share} of the rows", share=percent(repeats / table.n_rows)),
        ),
    ]


def _write_sentences(facts: ExplorationFacts) -> Iterator[str]:
    yield from _describe_kinds(facts)
    if facts.target is not None:
        yield _describe_target(facts.target)
        yield from _describe_informative(facts)


def _describe_kinds(facts: ExplorationFacts) -> Iterator[str]:
    """Count the columns other than the target, by kind."""
    kinds = Counter(c.kind for c in facts.columns if c.role != "target")
    total = spell_count(kinds.total())
    if len(kinds) == 1:
        (kind,) = kinds
        yield ngettext(
            "The table has {count} {kind} column.",
            "The table has {count} {kind} columns.",
            kinds.total(),
            count=total,
            kind=_(_KINDS[kind]),
        )
    elif kinds:
        parts = [f"{spell_count(n)} {_(_KINDS[kind])}" for kind, n in kinds.most_common()]
        listed = join_names(parts, len(parts))
        if facts.target is None:
            yield _("The table has {count} columns: {kinds}.", count=total, kinds=listed)
        else:
            yield _("The table has {count} other columns: {kinds}.", count=total, kinds=listed)


def _describe_target(target: ExploredTargetFacts) -> str:
    name = quote_name(target.name)
    classes = target.classes
    if classes is None:
        return _("The target {name} is a quantity.", name=name)
    ranked = sorted(classes, key=lambda c: -c.n_rows)
    shares = [f"{quote_name(c.label)} {percent(c.n_rows / target.n_known)}" for c in ranked[:3]]
    values = {"name": name, "count": spell_count(len(classes)), "shares": ", ".join(shares)}
    if len(ranked) > 3:
        return _("The target {name} has {count} classes: {shares} and others.", **values)
    return _("The target {name} has {count} classes: {shares}.", **values)


def _describe_informative(facts: ExplorationFacts) -> Iterator[str]:
    columns = facts.target_relations.columns if facts.target_relations is not None else []
    informative = [column for column in columns[:3] if column.share >= LEAST_SHARE]
    if informative:
        described = [f"{quote_name(c.name)} ({percent(c.share, 0)})" for c in informative]
        yield _(
            "The most informative columns are {described}; the percentages are shares "
            "of its entropy, for each column alone.",
            described=join_names(described),
        )
    elif columns:
        yield _("No single column explains more than 1 % of its entropy.")


def _describe_rows(facts: ExplorationFacts) -> Iterator[str]:
    duplicates = facts.duplicates
    if duplicates.n_repeats:
        yield ngettext(
            "{count} row with an equal earlier row: copies on both sides of a split "
            "inflate scores.",
            "{count} rows with an equal earlier row: copies on both sides of a split "
            "inflate scores.",
            duplicates.n_repeats,
            count=integer(duplicates.n_repeats),
        )
    conflicts = duplicates.conflicts
    if conflicts is not None and conflicts.n_groups:
        yield _(
            "{n_rows} rows have the same features as another row but a different "
            "target; no model can predict all of them correctly.",
            n_rows=integer(conflicts.n_rows),
        )
    outliers = facts.outliers
    if outliers is not None and outliers.n_suspicious:
        yield _(
            "{n_suspicious} of {n_rows} sampled rows are outliers by the proximity of "
            "a forest (score above 10); the most extreme are listed below.",
            n_suspicious=integer(outliers.n_suspicious),
            n_rows=integer(outliers.n_rows),
        )
