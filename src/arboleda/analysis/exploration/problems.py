"""Problems of a table: cautions, missing values, duplicate and conflicting rows."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from arboleda.analysis.exploration.explored_table import ExploredTable, ExploredTarget
from arboleda.facts.exploration import (
    ConflictsFacts,
    DuplicatesFacts,
    EqualRows,
    MissingFacts,
    MissingPattern,
    ProblemFacts,
    RelationsFacts,
    TargetRelationsFacts,
    UnequalTargets,
)
from arboleda.reports.fact_messages import Number, write_message
from arboleda.tables.describe import hash_rows
from arboleda.tables.features import ONE_HOT_LEVELS
from arboleda.tables.table import Column

__all__ = ["describe_duplicates", "describe_missing", "find_cautions"]

MOSTLY_MISSING = 0.5
DOMINANT = 0.99
RARE_CLASS = 0.1
FEW_ROWS_OF_CLASS = 10
MOST_LEVELS_COMPARED = 1000
NEAR_COPY = 0.999
TARGET_LEAK = 0.95


def find_cautions(
    subject: ExploredTable,
    relations: RelationsFacts | None,
    with_target: TargetRelationsFacts | None,
) -> list[ProblemFacts]:
    """Find problems of single columns and of the target, in the order of the columns.

    Each caution has a ``level``, a ``code`` for its kind, the ``column`` or None, and a ``text``.
    """
    result = [_make_caution(n.level, "reading", n.column, n.text) for n in subject.table.notes]
    for column in subject.table.columns:
        result.extend(_check_column(subject, column))
    same = list(_find_equivalent_columns(subject))
    result.extend(same)
    if relations is not None:
        result.extend(_find_near_copies(relations, {c.column for c in same}))
    if with_target is not None:
        result[:0] = _find_target_leaks(with_target)
    if subject.goal is not None:
        result.extend(_check_target(subject.goal))
    return result


def _make_caution(level: str, code: str, column: str | None, text: str) -> ProblemFacts:
    return ProblemFacts.model_validate(
        {"level": level, "code": code, "column": column, "text": text}
    )


def _check_column(subject: ExploredTable, column: Column) -> Iterator[ProblemFacts]:
    role = subject.roles[column.name]
    n_rows = subject.table.n_rows
    if role.role == "left_out":
        code = (role.reason or "").partition(":")[0].split(" ")[0]
        codes = {"all": "empty"}
        text = write_message("would_leave_out", reason=role.reason or "")
        yield _make_caution("warning", codes.get(code, code), column.name, text)
        return
    n_missing = int(column.missing.sum())
    # Missing target values are reported with the classes.
    if role.role != "target" and n_missing > MOSTLY_MISSING * n_rows:
        text = write_message("missing_of", count=n_missing, all=n_rows)
        yield _make_caution("warning", "mostly_missing", column.name, text)
    distinct, counts = np.unique(column.values[~column.missing], return_counts=True)
    if len(distinct) > 1 and counts.max() >= DOMINANT * counts.sum():
        text = write_message("dominant", count=int(counts.max()), all=int(counts.sum()))
        yield _make_caution("info", "dominant", column.name, text)
    if subject.is_categorical(column) and role.role == "feature" and len(distinct) > ONE_HOT_LEVELS:
        rare = int((counts == 1).sum())
        text = write_message("many_levels", count=len(distinct), rare=rare)
        yield _make_caution("info", "many_levels", column.name, text)
    if role.kind == "datetime":
        days = [datetime.fromtimestamp(float(v), UTC).date().isoformat() for v in distinct[[0, -1]]]
        text = write_message("date_range", first=days[0], last=days[1])
        yield _make_caution("warning", "dates", column.name, text)


def _find_equivalent_columns(subject: ExploredTable) -> Iterator[ProblemFacts]:
    """Find columns whose values correspond one to one to those of another column."""
    seen: dict[bytes, str] = {}
    for column in subject.features:
        distinct, first, codes = np.unique(column.values, return_index=True, return_inverse=True)
        if not 2 < len(distinct) <= MOST_LEVELS_COMPARED or len(distinct) == len(codes):
            continue
        # Numbered by first appearance, columns in correspondence have equal codes.
        rank = np.empty(len(distinct), dtype=np.int32)
        rank[np.argsort(first)] = np.arange(len(distinct), dtype=np.int32)
        digest = hashlib.blake2b(rank[codes].tobytes(), digest_size=16).digest()
        other = seen.setdefault(digest, column.name)
        if other != column.name:
            text = write_message("one_to_one", column=other)
            yield _make_caution("warning", "one_to_one", column.name, text)


def _find_near_copies(
    relations: RelationsFacts, reported: set[str | None]
) -> Iterator[ProblemFacts]:
    for pair in relations.pairs:
        one, other = pair.columns
        if abs(pair.correlation) >= NEAR_COPY and not {one, other} & reported:
            number = Number(f"{pair.correlation:.5f}")
            text = write_message("near_copy", column=one, correlation=number)
            yield _make_caution("warning", "near_copy", other, text)


def _find_target_leaks(with_target: TargetRelationsFacts) -> list[ProblemFacts]:
    result = []
    for column in with_target.columns:
        if max(column.share, abs(column.correlation or 0.0)) < TARGET_LEAK:
            continue
        text = (
            "Almost determines the target: check that it was not derived from the target and "
            "is known before it."
        )
        result.append(_make_caution("warning", "tells_target", column.name, text))
    return result


def _check_target(goal: ExploredTarget) -> Iterator[ProblemFacts]:
    n_unknown = int((~goal.known).sum())
    if n_unknown:
        text = write_message("target_missing", count=n_unknown)
        yield _make_caution("warning", "target_missing", goal.name, text)
    if not goal.labels:
        return
    counts = np.bincount(goal.y[goal.known].astype(np.int64), minlength=len(goal.labels))
    few = [k for k in np.argsort(counts, kind="stable") if counts[k] < FEW_ROWS_OF_CLASS]
    if few:
        label, count = goal.labels[few[0]], int(counts[few[0]])
        if len(few) > 1:
            text = write_message("too_few_more", label=label, count=count, more=len(few) - 1)
        else:
            text = write_message("too_few", label=label, count=count)
        yield _make_caution("warning", "rare_class", goal.name, text)
        return
    share = counts.min() / counts.sum()
    if share < RARE_CLASS and len(goal.labels) <= 1 / RARE_CLASS:
        label = goal.labels[int(counts.argmin())]
        text = write_message("rare_share", label=label, share=Number(f"{100 * share:.1f}"))
        yield _make_caution("info", "rare_class", goal.name, text)


PATTERNS = 12
COLUMNS = 24


def describe_missing(subject: ExploredTable) -> MissingFacts:
    """Count complete rows and the most frequent patterns of missing columns.

    A pattern is the set of columns that are missing in a row.
    """
    columns = [c for c in subject.table.columns if c.missing.any()]
    n_rows = subject.table.n_rows
    if not columns:
        return MissingFacts(n_complete_rows=n_rows, n_columns=0, n_patterns=0, patterns=[])
    packed = np.packbits(np.column_stack([c.missing for c in columns]), axis=1)
    # View each row of bits as one value: rows of one pattern are equal.
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    order = np.lexsort([first, -counts])
    complete = 0
    patterns: list[MissingPattern] = []
    for place in order:
        names = [c.name for c in columns if c.missing[first[place]]]
        if not names:
            complete = int(counts[place])
        elif len(patterns) < PATTERNS:
            n_rows_alike = int(counts[place])
            patterns.append(
                MissingPattern(columns=names[:COLUMNS], n_columns=len(names), n_rows=n_rows_alike)
            )
    return MissingFacts(
        n_complete_rows=complete,
        n_columns=len(columns),
        n_patterns=len(counts) - (complete > 0),
        patterns=patterns,
    )


EXAMPLES = 8
ROWS = 6


def describe_duplicates(subject: ExploredTable) -> DuplicatesFacts:
    """Find groups of equal rows, and groups with equal features but different targets."""
    groups = _find_groups(hash_rows(subject.table.columns))
    return DuplicatesFacts(
        n_repeats=sum(len(rows) - 1 for rows in groups),
        n_groups=len(groups),
        groups=[EqualRows(n_rows=len(rows), rows=_number_rows(rows)) for rows in groups[:EXAMPLES]],
        conflicts=None if subject.goal is None else _find_conflicts(subject, subject.goal),
    )


def _find_groups(digests: npt.NDArray[np.bytes_]) -> list[npt.NDArray[np.int64]]:
    """Return the row numbers of groups of several rows, the largest first, then the earliest."""
    _, group, counts = np.unique(digests, return_inverse=True, return_counts=True)
    rows = np.argsort(group, kind="stable")
    parts = np.split(rows, np.cumsum(counts)[:-1])
    return sorted((p for p in parts if len(p) > 1), key=lambda p: (-len(p), int(p[0])))


def _find_conflicts(subject: ExploredTable, goal: ExploredTarget) -> ConflictsFacts | None:
    """Find groups of equal features and different targets, ignoring identifier columns."""
    features = subject.features
    if not features:
        return None
    known = np.flatnonzero(goal.known)
    groups = [known[rows] for rows in _find_groups(hash_rows(features)[known])]
    differing = [rows for rows in groups if len(np.unique(goal.y[rows])) > 1]
    return ConflictsFacts(
        n_groups=len(differing),
        n_rows=sum(map(len, differing)),
        groups=[
            UnequalTargets(
                n_rows=len(rows),
                rows=_number_rows(rows),
                targets=_get_targets(goal, rows[:ROWS]),
            )
            for rows in differing[:EXAMPLES]
        ],
    )


def _number_rows(rows: npt.NDArray[np.int64]) -> list[int]:
    """Return the first row numbers of a group, counted from 1."""
    return [int(row) + 1 for row in rows[:ROWS]]


def _get_targets(
    goal: ExploredTarget, rows: Sequence[int] | npt.NDArray[np.int64]
) -> list[str | float]:
    values = goal.y[rows].tolist()
    return [goal.labels[int(v)] for v in values] if goal.labels else values
