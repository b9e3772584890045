"""Checks for problems that make the scores of a study too optimistic, such as leakage.

Every caution follows from a measurement and a fixed threshold. The thresholds were set on sound
tables, those bundled with scikit-learn and ten public ones: none of them may cause a caution for a
leak, an identifier or the order of its rows.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score, recall_score

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.reports.fact_messages import Number, write_message
from arboleda.study.plan import Plan
from arboleda.tables.describe import hash_rows
from arboleda.tables.table import Column
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["Caution", "find_cautions"]

# Minimum score (balanced accuracy or R2 on held-out rows) of a small tree on a leaking column.
LEAK = 0.99
# Maximum columns and rows that are checked for leaks.
LEAK_COLUMNS, LEAK_ROWS = 2000, 8000
# Minimum fraction of distinct integers, and minimum values, of a column that only identifies rows.
NAMES_ROWS = 0.98
NAMES_LEAST = 100
# Minimum fraction of the held-out rows that equal a training row.
TWINS = 0.01
# Minimum gain of that score by adding the position of the rows to all columns; also in multiples of
# the largest standard error of an accuracy on the held-out rows.
ORDER, ORDER_SPREAD = 0.05, 1.5
ORDER_ROWS, ORDER_COLUMNS = 4000, 200
# The scores of classes with fewer test rows are uncertain.
FEW_TESTED = 5
# Mixed with the seed, so that its other uses draw different numbers.
_PURPOSE = 13
# Names of columns that identify the case (person, customer, ...) of a row.
_CASE = re.compile(
    r"((^|[ _.\-])(patient|person|subject|customer|client|user|donor|employee|student)"
    r"([ _.\-]?(id|no|nr|number|code|key))?|(^|[ _.\-])(id|uuid|guid)|[a-z](ID|Id))$"
)


# The training rows and the held-out rows of a split.
RowSplit = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Caution:
    """A caution: its ``kind``, its ``columns``, and its ``text`` with a remedy."""

    kind: str
    columns: tuple[str, ...]
    text: str


def find_cautions(plan: Plan) -> list[Caution]:
    """Find all cautions about a table and its split, the gravest kind first.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    cautions : list of Caution
        Kinds: "leak", "twins", "order", "time", "groups", "identifier", "fold", "few_tested".
    """
    return [
        *_find_leaks(plan),
        *_find_duplicates(plan),
        *_find_order_effects(plan),
        *_find_split_groups(plan),
        *_find_identifiers(plan),
        *_find_bad_folds(plan),
        *_find_small_classes(plan),
    ]


def _draw_halves(plan: Plan, most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Draw two random halves of at most ``most`` training rows, for fitting and for scoring."""
    drawn = np.random.default_rng([plan.seed, _PURPOSE]).permutation(plan.split.train)[:most]
    return drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]


def _score_holdout(plan: Plan, model: object, x: npt.NDArray[np.float64], most: int) -> float:
    """Fit a model to one half of some training rows, and score it on the other half."""
    fit, held_out = _draw_halves(plan, most)
    y = plan.target.values
    predicted = model.fit(x[fit], y[fit]).predict(x[held_out])  # type: ignore[attr-defined]
    if not plan.target.labels:
        return float(r2_score(y[held_out], predicted)) if np.ptp(y[held_out]) > 0 else 0.0
    known = np.isin(y[held_out], y[fit])
    if not known.any():
        return 0.0
    truth = y[held_out][known]
    return float(recall_score(truth, predicted[known], labels=np.unique(truth), average="macro"))


def _can_score(plan: Plan) -> bool:
    """Return whether both halves of the training rows have enough rows and a varying target."""
    fit, held_out = _draw_halves(plan, LEAK_ROWS)
    y = plan.target.values
    return len(held_out) >= 10 and bool(np.ptp(y[fit]) > 0 and np.ptp(y[held_out]) > 0)


def _find_leaks(plan: Plan) -> Iterator[Caution]:
    """Yield cautions on columns that nearly determine the target."""
    if not _can_score(plan):
        return
    leaf = 2 if len(plan.split.train) < 200 else 5
    x = plan.features.x
    for j in range(min(x.shape[1], LEAK_COLUMNS)):
        tree = (
            DecisionTreeClassifier(
                max_leaf_nodes=max(16, 2 * len(plan.target.labels)), min_samples_leaf=leaf
            )
            if plan.target.labels
            else DecisionTreeRegressor(max_leaf_nodes=256, min_samples_leaf=leaf)
        )
        score = _score_holdout(plan, tree, x[:, [j]], LEAK_ROWS)
        if score >= LEAK:
            name = plan.features.names[j]
            code = "leak_class" if plan.target.labels else "leak_value"
            text = write_message(code, column=name, score=Number(f"{score:.3f}"))
            yield Caution("leak", (name,), text)


def _find_duplicates(plan: Plan) -> Iterator[Caution]:
    """Yield cautions on held-out rows that equal a training row, unless equal rows are likely.

    Rows are compared in all columns of the table, also those that models do not use, and in the
    target: rows with different targets are not copies. If the test rows are not a random sample of
    the table, those of the folds are counted as well.
    """
    columns = [
        column
        for column in (*plan.table.columns, *plan.table.dropped)
        if column.name not in (plan.target.name, plan.target.second)
    ]
    n_train, n_test = len(plan.split.train), len(plan.split.test)
    if _count_combinations(columns) < math.log10(100 * n_train):
        return
    targets = [plan.table.column(plan.target.name)]
    if plan.target.second is not None:
        targets.append(plan.table.column(plan.target.second))
    digests = hash_rows(columns), hash_rows([*columns, *targets])
    least = 1 if plan.test_kind == "file" else max(2, TWINS * n_test)
    yield from _describe_copies("twins", [(plan.split.train, plan.split.test)], digests, least)
    if plan.test_kind != "random":
        n_scored = sum(len(score) for _, score in plan.split.partition)
        least = max(2, TWINS * n_scored)
        yield from _describe_copies("twins_folds", plan.split.partition, digests, least)


def _describe_copies(
    code: str,
    splits: Sequence[RowSplit],
    digests: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    least: float,
) -> Iterator[Caution]:
    """Yield a caution if at least so many held-out rows are copies of training rows.

    ``digests`` are those of all columns but the target, and of all columns.
    """
    n_equal, n_same = (_count_equal_rows(splits, kind) for kind in digests)
    if n_same < least:
        return
    n_scored, n_other = sum(len(held_out) for _, held_out in splits), n_equal - n_same
    share = Number(f"{100 * n_same / n_scored:.1f}")
    if n_other:
        values: dict[str, str | int] = {"all": n_scored, "share": share, "other": n_other}
        text = write_message(f"{code}_other", count=n_same, **values)
    else:
        text = write_message(code, count=n_same, all=n_scored, share=share)
    yield Caution("twins", (), text)


def _count_equal_rows(splits: Iterable[RowSplit], digests: npt.NDArray[Any]) -> int:
    """Count the held-out rows of all splits that equal a training row of their split."""
    return sum(int(np.isin(digests[rows], digests[fit]).sum()) for fit, rows in splits)


def _count_combinations(columns: Sequence[Column]) -> float:
    """Return log10 of the number of combinations of the columns' values."""
    counts = [len(np.unique(c.values[~c.missing])) for c in columns]
    return float(np.sum(np.log10(np.maximum(counts, 1))))


def _find_order_effects(plan: Plan) -> Iterator[Caution]:
    """Yield cautions on dates that the split ignores, and on an informative order of the rows."""
    # The order of the rows of a ranking is that of its queries.
    if plan.split.ordered or plan.test_kind == "file" or plan.target.task == "ranking":
        return
    dates = [n for n, role in plan.roles.items() if role.kind == "datetime"]
    if dates:
        text = write_message("dates", column=dates[0], same=repr(dates[0]))
        yield Caution("time", tuple(dates), text)
    gain = _measure_position_gain(plan)
    chance = ORDER_SPREAD / math.sqrt(min(len(plan.split.train), ORDER_ROWS) / 2)
    if gain is not None and gain >= max(ORDER, chance):
        code = "order_class" if plan.target.labels else "order_value"
        yield Caution("order", (), write_message(code, gain=Number(f"{gain:.2f}")))


def _measure_position_gain(plan: Plan) -> float | None:
    """Return the gain of the score by the rows' position; None if it cannot be measured.

    It cannot with too many columns, with too few rows, or if the table is sorted by its target.
    """
    y = plan.target.values
    if plan.features.x.shape[1] > ORDER_COLUMNS or len(plan.split.train) < 200:
        return None
    steps = np.diff(y)
    if plan.target.labels and np.count_nonzero(steps) < 4 * len(plan.target.labels):
        return None
    if not plan.target.labels and max(np.mean(steps >= 0), np.mean(steps <= 0)) > 0.9:
        return None
    if not _can_score(plan):
        return None
    positions = np.arange(len(y), dtype=np.float64)[:, None]
    kind = HistGradientBoostingClassifier if plan.target.labels else HistGradientBoostingRegressor

    def score(x: npt.NDArray[np.float64]) -> float:
        model = kind(max_iter=40, early_stopping=False, n_jobs=1, random_state=plan.seed)
        # A negative R² is worse than the mean of the target, which has 0.
        return max(0.0, _score_holdout(plan, model, x, ORDER_ROWS))

    return score(np.hstack([plan.features.x, positions])) - score(plan.features.x)


def _is_case_name(name: str) -> bool:
    return _CASE.search(name) is not None or _CASE.search(name.lower()) is not None


def _find_split_groups(plan: Plan) -> Iterator[Caution]:
    """Yield cautions on groups, or cases with several rows, on both sides of the split."""
    groups, split = plan.split.groups, plan.split
    if groups is not None:
        n_both = len(np.intersect1d(groups[split.train], groups[split.test]))
        if n_both:
            name = plan.settings.split_groups or ""
            text = write_message("groups_both", count=n_both, column=name)
            yield Caution("groups", (name,), text)
        return
    for column in plan.table.columns:
        if column.name == plan.target.name or not _is_case_name(column.name):
            continue
        present = column.values[~column.missing]
        n_cases = len(np.unique(present))
        if 10 <= n_cases <= len(present) / 2:
            name = column.name
            text = write_message("groups", column=name, count=n_cases, same=repr(name))
            yield Caution("groups", (name,), text)


def _find_identifiers(plan: Plan) -> Iterator[Caution]:
    """Yield cautions on columns of integers that only identify rows, which models may memorize."""
    for column in plan.table.columns:
        is_written = column.parsing is not None or column.type is not None
        if plan.roles[column.name].role != "feature" or column.kind != "numeric" or is_written:
            continue
        present = column.values[plan.split.train]
        present = present[~np.isnan(present)]
        if len(present) < NAMES_LEAST or np.any(present % 1 != 0):
            continue
        n_distinct = len(np.unique(present))
        if n_distinct >= NAMES_ROWS * len(present):
            text = write_message(
                "identifier", column=column.name, count=n_distinct, rows=len(present)
            )
            yield Caution("identifier", (column.name,), text)


def _find_bad_folds(plan: Plan) -> Iterator[Caution]:
    """Yield a caution on folds that lack a class or have only one."""
    if not plan.target.labels:
        return
    y, n_classes = plan.target.y, len(plan.target.labels)
    scored = [np.bincount(y[score], minlength=n_classes) > 0 for _, score in plan.split.held_out]
    n_constant = sum(int(has_class.sum()) == 1 for has_class in scored)
    lacking = [k for k in range(n_classes) if not all(has_class[k] for has_class in scored)]
    if n_constant:
        text = write_message("fold_constant", some=n_constant, all=len(scored))
        yield Caution("fold", (plan.target.name,), text)
    elif lacking:
        n_folds = sum(not all(has_class[lacking]) for has_class in scored)
        label = plan.target.labels[lacking[0]]
        text = write_message("fold_lacking", some=n_folds, all=len(scored), label=label)
        yield Caution("fold", (plan.target.name,), text)


def _find_small_classes(plan: Plan) -> Iterator[Caution]:
    """Yield a caution on classes with few test rows."""
    if not plan.target.labels:
        return
    counts = np.bincount(plan.target.y[plan.split.test], minlength=len(plan.target.labels))
    few = np.flatnonzero(counts < FEW_TESTED)
    if few.size:
        label, n = plan.target.labels[int(few[0])], int(counts[few[0]])
        if len(few) > 1:
            text = write_message("few_tested_more", label=label, count=n, more=len(few) - 1)
        else:
            text = write_message("few_tested", label=label, count=n)
        yield Caution("few_tested", (plan.target.name,), text)
