r"""Which made columns are worth it: a cheap look at rows whose targets are known.

A short boosting is fitted on halves of some rows, and says of the others what it can; what is left
of the target is what new columns are for. A candidate is cut into bins of like many rows, and

    gain = share of the rest's variance that lies between bins, less that of the best of its numbers

A candidate is kept if chance would hardly give as much (an F test, corrected for all candidates by
Bonferroni's method), if no column that is there already has nearly its order, and if few of its
kind are before it. At the end a longer boosting is fitted with and without all that was kept:
unless it says more of the rows that it did not see, nothing is.

References
----------
T. Zhang et al. (2023), "OpenFE: automated feature generation with expert-level performance", ICML:
candidates are judged by what a boosted model has not explained.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.model_selection import KFold

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.study.data.feature_crosses.feature_cross import ARITHMETIC, FeatureCross
from arboleda.study.data.feature_crosses.generated_columns import Groups, groups_of, make

__all__ = ["MIN_SEARCH_ROWS", "MOST_MADE", "choose_crosses", "outputs_of"]

# Of fewer rows nothing can be told; more than so many are not looked at.
MIN_SEARCH_ROWS, MAX_SEARCH_ROWS = 200, 6_000
# Columns that are kept, and of them those of the same columns.
MOST_MADE, MOST_OF_SAME = 12, 2
# The most useful columns, of which candidates are made.
NUMBERS, GROUPED_NUMBERS, CATEGORIES = 8, 5, 4
# A share for each class makes too many columns where there are more classes.
MOST_CLASSES = 10
# Trees of a first, short boosting, and of the one that judges what was chosen.
SHORT, LONG = 25, 100
MOST_TREES, FEWEST_ROUNDS = 400, 8
BINS, ROWS_PER_BIN = 24, 40
LEVEL = 0.01
# Ranks that agree so well cut the rows alike.
ALIKE = 0.98
# How many standard errors of the mean over rows the loss must fall by.
SURELY = 1.0

Floats = npt.NDArray[np.float64]
Bins = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Candidate:
    idea: FeatureCross
    values: Floats
    gain: float


def choose_crosses(
    x: Floats, y: npt.NDArray[Any], categorical: Sequence[int], n_classes: int, seed: int
) -> list[FeatureCross]:
    """The columns that are worth making, the most useful ones first.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_columns)
        NaN where a number is missing, as infinite ones are taken to be; codes in the columns
        ``categorical``.
    y : ndarray of shape (n_rows,)
        Numbers of classes, or values.
    categorical : sequence of int
    n_classes : int
        0: values are predicted.
    seed : int
    """
    if len(x) < MIN_SEARCH_ROWS or bool(np.all(y == y[0])):
        return []
    if len(x) > MAX_SEARCH_ROWS:
        rows = np.sort(np.random.default_rng([seed, len(x)]).choice(len(x), MAX_SEARCH_ROWS, False))
        x, y = x[rows], y[rows]
    x = np.where(np.isinf(x), np.nan, x)
    outputs = outputs_of(y, n_classes)
    look = partial(_judged, y=y, outputs=outputs, categorical=categorical, n_classes=n_classes)
    _, rest, weights = look(x, rounds=SHORT, seed=seed)
    useful = [int(j) for j in np.argsort(-weights, kind="stable") if _varies(x[:, j])]
    numbers = [j for j in useful if j not in categorical and weights[j] > 0][:NUMBERS]
    groups = [j for j in useful if j in categorical][:CATEGORIES]
    candidates = _candidates(x, outputs, rest, numbers, groups, seed)
    chosen = _unlike(candidates, [x[:, j] for j in numbers])
    if not chosen:
        return []
    wide = np.column_stack([x, *(c.values for c in chosen)])
    before, after = (look(table, rounds=LONG, seed=seed)[0] for table in (x, wide))
    better = before - after
    is_significant = better.mean() > SURELY * better.std() / np.sqrt(len(better))
    return [c.idea for c in chosen] if is_significant else []


def outputs_of(y: npt.NDArray[Any], n_classes: int) -> Floats:
    """What is averaged of the target: its values, the second of two classes, or each class."""
    if n_classes == 0:
        return np.asarray(y, dtype=np.float64)[:, None]
    shown = [1] if n_classes == 2 else range(n_classes)
    return np.asarray(y[:, None] == np.asarray(shown), dtype=np.float64)


def _judged(
    x: Floats,
    *,
    y: npt.NDArray[Any],
    outputs: Floats,
    categorical: Sequence[int],
    n_classes: int,
    rounds: int,
    seed: int,
) -> tuple[Floats, Floats, Floats]:
    """The loss of each row, what is left of its target, and how much each column is used."""
    said = np.zeros_like(outputs)
    weights = np.zeros(x.shape[1])
    options = {
        "max_iter": max(FEWEST_ROUNDS, min(rounds, MOST_TREES // outputs.shape[1])),
        "max_leaf_nodes": 15,
        "early_stopping": False,
        "categorical_features": list(categorical) or None,
        "random_state": seed,
        "n_jobs": 1,
    }
    for learn, judge in KFold(2, shuffle=True, random_state=seed).split(x):
        if n_classes == 0:
            model: Any = HistGradientBoostingRegressor(**options).fit(x[learn], y[learn])
            said[judge, 0] = model.predict(x[judge])
        else:
            if bool(np.all(y[learn] == y[learn][0])):
                said[judge] = outputs[learn][0]
                continue
            model = HistGradientBoostingClassifier(**options).fit(x[learn], y[learn])
            full = np.zeros((len(judge), n_classes))
            full[:, model.classes_] = model.predict_proba(x[judge])
            said[judge] = full[:, [1]] if n_classes == 2 else full
        weights += model.feature_importances_
    if n_classes == 0:
        rest = outputs - said
        return (rest**2)[:, 0], _without_tails(rest), weights
    likely = np.where(outputs == 1.0, said, 1.0 - said) if n_classes == 2 else said
    own = likely[:, 0] if n_classes == 2 else (likely * outputs).sum(axis=1)
    return -np.log(np.clip(own, np.finfo(np.float64).eps, 1.0)), outputs - said, weights


def _without_tails(rest: Floats) -> Floats:
    """A few rows that are far off would tell of themselves alone."""
    return np.clip(rest, *np.quantile(rest, [0.01, 0.99]))


def _varies(column: Floats) -> bool:
    known = column[~np.isnan(column)]
    return len(known) > 0 and bool(np.any(known != known[0]))


def _candidates(
    x: Floats, outputs: Floats, rest: Floats, numbers: list[int], groups: list[int], seed: int
) -> list[_Candidate]:
    """All that chance hardly explains, those that gain most first."""
    ideas = _propose_crosses(numbers, groups, outputs.shape[1])
    known: dict[tuple[int, ...], Groups] = {}
    own = {j: _between(x[:, j], rest)[0] for j in numbers}
    found = []
    for idea in ideas:
        if idea.groups and idea.groups not in known:
            known[idea.groups] = groups_of(x, idea.groups)
        _, values = make(idea, x, outputs, seed, known.get(idea.groups))
        share, p_value = _between(values, rest)
        gain = share - max((own[j] for j in idea.numbers), default=0.0)
        if gain > 0 and p_value * len(ideas) < LEVEL:
            found.append(_Candidate(idea, values, gain))
    return sorted(found, key=lambda candidate: -candidate.gain)


def _propose_crosses(numbers: list[int], groups: list[int], n_outputs: int) -> list[FeatureCross]:
    # In the table's order, so that what is made has one name in all folds.
    pairs = list(combinations(sorted(numbers), 2))
    ideas = [FeatureCross(kind, pair) for pair in pairs for kind in ARITHMETIC]
    ideas += [FeatureCross("ratio", (b, a)) for a, b in pairs]
    for j in groups:
        ideas.append(FeatureCross("count", (), (j,)))
        ideas += [
            FeatureCross(kind, (number,), (j,))
            for number in numbers[:GROUPED_NUMBERS]
            for kind in ("mean", "sd", "distance")
        ]
    if n_outputs <= MOST_CLASSES:
        together = [(j,) for j in groups] + list(combinations(sorted(groups), 2))
        ideas += [
            FeatureCross("target", (), some, k) for some in together for k in range(n_outputs)
        ]
    return ideas


def _between(values: Floats, rest: Floats) -> tuple[float, float]:
    """Share of the rest's variance between bins of the values, and the chance of as much."""
    bins = _bins(values)
    n, n_bins = len(bins), int(bins.max()) + 1
    if n_bins < 2:
        return 0.0, 1.0
    counts = np.bincount(bins)
    centred = rest - rest.mean(axis=0)
    sums = np.column_stack([np.bincount(bins, column) for column in centred.T])
    total = float((centred**2).sum())
    if total == 0.0:
        return 0.0, 1.0
    share = float((sums**2 / counts[:, None]).sum()) / total
    # Shares of classes sum to one, so that one output of several is not free.
    n_free = max(1, rest.shape[1] - 1)
    above, below = (n_bins - 1) * n_free, (n - n_bins) * n_free
    with np.errstate(divide="ignore"):
        f = np.divide(share / above, max(0.0, 1.0 - share) / below)
    return share, float(stats.f.sf(f, above, below))


def _bins(values: Floats) -> Bins:
    """Bins of like many rows, equal values together; missing values are one of their own."""
    known = ~np.isnan(values)
    n_bins = int(np.clip(len(values) // ROWS_PER_BIN, 4, BINS))
    cuts = (
        np.unique(np.quantile(values[known], np.linspace(0, 1, n_bins + 1)[1:-1]))
        if (known.any())
        else np.empty(0)
    )
    bins = np.where(known, np.searchsorted(cuts, values), len(cuts) + 1)
    return np.unique(bins, return_inverse=True)[1].ravel()


def _unlike(candidates: Sequence[_Candidate], columns: Sequence[Floats]) -> list[_Candidate]:
    """Candidates in their order, without those that repeat what is there."""
    chosen: list[_Candidate] = []
    seen = [_ranks(column) for column in columns]
    times: Counter[tuple[int, ...]] = Counter()
    for candidate in candidates:
        same = tuple(sorted(candidate.idea.sources))
        ranks = _ranks(candidate.values)
        if times[same] >= MOST_OF_SAME or any(abs(float(ranks @ r)) > ALIKE for r in seen):
            continue
        chosen.append(candidate)
        seen.append(ranks)
        times[same] += 1
        if len(chosen) == MOST_MADE:
            break
    return chosen


def _ranks(values: Floats) -> Floats:
    """Ranks as a vector of length one and mean 0; missing values are in the middle."""
    known = np.where(np.isnan(values), np.nanmedian(values), values)
    ranks = np.asarray(stats.rankdata(known), dtype=np.float64)
    ranks -= ranks.mean()
    size = float(np.linalg.norm(ranks))
    return ranks / size if size > 0 else ranks
