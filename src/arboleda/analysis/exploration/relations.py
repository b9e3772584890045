"""Relations of columns with each other and with the target, and profiles of the target."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from arboleda._utils.numbers import plain
from arboleda.analysis.exploration.explored_table import (
    CodedColumns,
    ExploredTable,
    ExploredTarget,
    code_columns,
)
from arboleda.facts.exploration import (
    ColumnPair,
    ColumnPartner,
    CorrelationMatrix,
    ProfileFacts,
    ProfileGroup,
    RelationsFacts,
    TargetRelation,
    TargetRelationsFacts,
)
from arboleda.features import mutual_information
from arboleda.reports.fact_messages import Number, write_message
from arboleda.tables.table import Column

__all__ = [
    "compute_correlations",
    "describe_profiles",
    "describe_relations",
    "describe_target_relations",
]

Floats = npt.NDArray[np.float64]

CELLS = 20_000_000  # maximum number of cells used; larger tables are sampled
BINS = 10
MATRIX = 20  # columns in the correlation matrix
PAIRS = 15
MOST_COLUMNS = 2000  # correlated pairwise, at quadratic cost
_STREAM = 1


def describe_relations(subject: ExploredTable) -> RelationsFacts | None:
    """Compute correlations among the numeric columns; None with fewer than two of them."""
    rows = _sample_rows(subject)
    coded = code_columns(subject, rows)
    places = _find_quantities(coded)
    if len(places) < 2 or len(rows) < 3:
        return None
    n_columns, places = len(places), places[:MOST_COLUMNS]
    names = [coded.names[j] for j in places]
    r = compute_correlations(coded.x[:, places])
    strength = np.nan_to_num(np.abs(r))
    np.fill_diagonal(strength, 0.0)
    shown = _sort_by_cluster(r, np.sort(np.argsort(-strength.max(axis=0), kind="stable")[:MATRIX]))
    return RelationsFacts(
        n_rows=len(rows),
        n_columns=n_columns,
        n_compared=len(names),
        partners=_find_partners(names, r, strength),
        pairs=_find_strongest(names, r, strength),
        matrix=CorrelationMatrix(
            columns=[names[j] for j in shown],
            values=[[_to_number(r[i, j]) for j in shown] for i in shown],
        ),
    )


def _sample_rows(subject: ExploredTable) -> npt.NDArray[np.int64]:
    return subject.sample(max(1000, CELLS // max(1, len(subject.features))), _STREAM)


def _find_quantities(coded: CodedColumns) -> list[int]:
    categorical = set(coded.categorical)
    return [j for j in range(len(coded.names)) if j not in categorical]


def compute_correlations(x: Floats) -> Floats:
    """Compute Pearson's correlation of all pairs of columns over the rows with both values.

    NaN if one of them is constant there.
    """
    present = ~np.isnan(x)
    mask = present.astype(np.float64)
    z = np.where(present, _standardise(x), 0.0)
    n = mask.T @ mask
    with np.errstate(invalid="ignore", divide="ignore"):
        # Sums of one column over the rows in which the other also has a value.
        sums, squares = z.T @ mask, (z**2).T @ mask
        covariance = z.T @ z / n - (sums / n) * (sums.T / n)
        variance = squares / n - (sums / n) ** 2
        variance[variance < 1e-12] = np.nan
        r: Floats = covariance / np.sqrt(variance * variance.T)
    return np.clip(r, -1.0, 1.0)


def _standardise(x: Floats) -> Floats:
    """Standardise columns to mean 0 and variance 1, for accurate sums of products."""
    size = np.max(np.abs(x), axis=0, initial=0.0, where=~np.isnan(x))
    scaled = x / np.where(size > 0, size, 1.0)
    n = np.maximum(1, (~np.isnan(x)).sum(axis=0))
    centred = scaled - np.nansum(scaled, axis=0) / n
    spread = np.sqrt(np.nansum(centred**2, axis=0) / n)
    standardised: Floats = centred / np.where(spread > 0, spread, 1.0)
    return standardised


def _sort_by_cluster(r: Floats, chosen: npt.NDArray[np.int64]) -> list[int]:
    """Order columns so that correlated ones are adjacent."""
    if len(chosen) < 3:
        return [int(j) for j in chosen]
    distance = 1.0 - np.nan_to_num(np.abs(r[np.ix_(chosen, chosen)]))
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform((distance + distance.T) / 2), "average", optimal_ordering=True)
    return [int(chosen[leaf]) for leaf in leaves_list(tree)]


def _find_partners(names: list[str], r: Floats, strength: Floats) -> list[ColumnPartner]:
    """Return the most correlated column of each column."""
    best = strength.argmax(axis=1)
    return [
        ColumnPartner(name=name, partner=names[k], correlation=float(r[j, k]))
        for j, (name, k) in enumerate(zip(names, best.tolist(), strict=True))
        if strength[j, k] > 0
    ]


def _find_strongest(names: list[str], r: Floats, strength: Floats) -> list[ColumnPair]:
    upper = np.triu(strength, 1)
    order = np.argsort(-upper, axis=None, kind="stable")[:PAIRS]
    pairs = [divmod(int(k), len(names)) for k in order if upper.flat[k] > 0]
    return [ColumnPair(columns=[names[i], names[j]], correlation=float(r[i, j])) for i, j in pairs]


def describe_target_relations(
    subject: ExploredTable, goal: ExploredTarget
) -> TargetRelationsFacts | None:
    """Compute the relation of every feature with the target; None without features.

    The correlation is Pearson's over the rows with both values; the positive of two classes counts
    as 1, the other as 0; it is not defined for several classes or categorical features. Mutual
    information is `arboleda.features.mutual_information` with ten bins; ``share`` is its ratio to
    the entropy of the target (of its ten bins, for a quantity).
    """
    rows = _sample_rows(subject)
    rows = rows[goal.known[rows]]
    if not subject.features or len(rows) < 3:
        return None
    coded = code_columns(subject, rows)
    y = goal.y[rows]
    information = _compute_information(coded, y, goal)
    entropy = _compute_entropy(y, bool(goal.labels))
    r = np.full(len(coded.names), np.nan)
    if goal.task != "multiclass":
        for j in _find_quantities(coded):
            both = ~np.isnan(coded.x[:, j])
            r[j] = compute_correlations(np.column_stack([coded.x[both, j], y[both]]))[0, 1]
    order = np.argsort(-information, kind="stable")
    return TargetRelationsFacts(
        n_rows=len(rows),
        entropy=entropy,
        columns=[
            TargetRelation(
                name=coded.names[j],
                correlation=_to_number(r[j]),
                information=float(information[j]),
                share=float(min(1.0, information[j] / entropy)) if entropy > 0 else 0.0,
            )
            for j in order
        ],
    )


def _compute_information(coded: CodedColumns, y: Floats, goal: ExploredTarget) -> Floats:
    return mutual_information(
        coded.x,
        y.astype(np.int64) if goal.labels else y,
        task="classification" if goal.labels else "regression",
        categorical_features=list(coded.categorical) or None,
        n_bins=BINS,
    )


def _compute_entropy(y: Floats, classes: bool) -> float:
    """Return the entropy of the classes, or of equally filled bins, in nats."""
    if not classes:
        return float(np.log(min(BINS, len(np.unique(y)))))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return float(-(shares * np.log(shares)).sum())


def _to_number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


SHOWN = 6
INTERVALS = 8  # of a numeric column, with about equal numbers of rows
LEVELS = 8  # of a categorical column, the most frequent
MOST_CLASSES = 8


def describe_profiles(
    subject: ExploredTable, goal: ExploredTarget, names: Sequence[str]
) -> list[ProfileFacts]:
    """Compute the profiles of the first columns named, from all rows with a target.

    A group is a level of a category, an interval of numbers, all other levels, or the rows without
    a value. With more than eight classes, there are no profiles.
    """
    if len(goal.labels) > MOST_CLASSES:
        return []
    return [
        ProfileFacts(name=name, groups=_make_groups(subject, goal, subject.table.column(name)))
        for name in names[:SHOWN]
    ]


def _make_groups(
    subject: ExploredTable, goal: ExploredTarget, column: Column
) -> list[ProfileGroup]:
    values, y = column.values[goal.known], goal.y[goal.known]
    present = ~np.isnan(values)
    if column.kind in ("string", "boolean"):
        codes, labels = _make_levels(column, values[present])
    else:
        codes, labels = _make_intervals(values[present], column.kind == "datetime")
    group = np.full(len(values), len(labels))
    group[present] = codes
    described = []
    for place, label in enumerate([*labels, None]):
        rows = group == place
        if rows.any():
            described.append(_summarize_target(goal, label, y[rows]))
    return described


def _summarize_target(goal: ExploredTarget, label: str | None, y: Floats) -> ProfileGroup:
    """Return the shares of the classes or the mean of a quantity; the other is None."""
    if goal.labels:
        counts = np.bincount(y.astype(np.int64), minlength=len(goal.labels))
        return ProfileGroup(
            label=label, n_rows=len(y), shares=(counts / len(y)).tolist(), mean=None
        )
    # Divide first: the sum of large numbers may overflow.
    mean = float((y / len(y)).sum())
    return ProfileGroup(label=label, n_rows=len(y), shares=None, mean=mean)


def _make_levels(column: Column, values: Floats) -> tuple[npt.NDArray[np.int64], list[str]]:
    distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[order] = np.arange(len(distinct))
    words = column.levels or ("false", "true")
    labels = [words[int(distinct[k])] for k in order[:LEVELS]]
    if len(distinct) > LEVELS:
        labels.append(write_message("others", count=len(distinct) - LEVELS))
    return np.minimum(rank, LEVELS)[codes], labels


def _make_intervals(values: Floats, dates: bool) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return intervals that end at values of the column, or the values if there are few."""
    write = _format_day if dates else plain
    distinct = np.unique(values)
    if len(distinct) <= INTERVALS:
        return np.searchsorted(distinct, values), [write(float(v)) for v in distinct]
    levels = np.arange(1, INTERVALS) / INTERVALS
    ends = np.unique(np.quantile(values, levels, method="inverted_cdf"))
    codes = np.searchsorted(ends, values)
    labels = []
    for code in np.unique(codes):
        inside = values[codes == code]
        low, high = write(float(inside.min())), write(float(inside.max()))
        labels.append(low if low == high else _write_range(low, high, dates))
    return np.unique(codes, return_inverse=True)[1], labels


def _write_range(low: str, high: str, dates: bool) -> str:
    if dates:
        return write_message("range", low=low, high=high)
    return write_message("range", low=Number(low), high=Number(high))


def _format_day(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))
