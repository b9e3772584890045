"""Search for feature crosses that improve predictions, on rows whose targets are known.

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
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.study.data.feature_crosses import (
    ARITHMETIC,
    CrossColumn,
    FeatureCross,
    Groups,
    find_groups,
    fit_cross,
)

__all__ = ["MAX_CROSSES", "MIN_SEARCH_ROWS", "CrossedColumns", "choose_crosses", "encode_target"]

# Of fewer rows nothing can be told; more than so many are not looked at.
MIN_SEARCH_ROWS, MAX_SEARCH_ROWS = 200, 6_000
# Columns that are kept, and of them those of the same columns.
MAX_CROSSES, MOST_OF_SAME = 12, 2
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
    outputs = encode_target(y, n_classes)
    look = partial(
        _cross_validate, y=y, outputs=outputs, categorical=categorical, n_classes=n_classes
    )
    _, rest, weights = look(x, rounds=SHORT, seed=seed)
    useful = [int(j) for j in np.argsort(-weights, kind="stable") if _varies(x[:, j])]
    numbers = [j for j in useful if j not in categorical and weights[j] > 0][:NUMBERS]
    groups = [j for j in useful if j in categorical][:CATEGORIES]
    candidates = _score_candidates(x, outputs, rest, numbers, groups, seed)
    chosen = _drop_redundant(candidates, [x[:, j] for j in numbers])
    if not chosen:
        return []
    wide = np.column_stack([x, *(c.values for c in chosen)])
    before, after = (look(table, rounds=LONG, seed=seed)[0] for table in (x, wide))
    better = before - after
    is_significant = better.mean() > SURELY * better.std() / np.sqrt(len(better))
    return [c.idea for c in chosen] if is_significant else []


def encode_target(y: npt.NDArray[Any], n_classes: int) -> Floats:
    """What is averaged of the target: its values, the second of two classes, or each class."""
    if n_classes == 0:
        return np.asarray(y, dtype=np.float64)[:, None]
    shown = [1] if n_classes == 2 else range(n_classes)
    return np.asarray(y[:, None] == np.asarray(shown), dtype=np.float64)


def _cross_validate(
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
    predicted = np.zeros_like(outputs)
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
            predicted[judge, 0] = model.predict(x[judge])
        else:
            if bool(np.all(y[learn] == y[learn][0])):
                predicted[judge] = outputs[learn][0]
                continue
            model = HistGradientBoostingClassifier(**options).fit(x[learn], y[learn])
            full = np.zeros((len(judge), n_classes))
            full[:, model.classes_] = model.predict_proba(x[judge])
            predicted[judge] = full[:, [1]] if n_classes == 2 else full
        weights += model.feature_importances_
    if n_classes == 0:
        rest = outputs - predicted
        return (rest**2)[:, 0], _clip_outliers(rest), weights
    likely = np.where(outputs == 1.0, predicted, 1.0 - predicted) if n_classes == 2 else predicted
    own = likely[:, 0] if n_classes == 2 else (likely * outputs).sum(axis=1)
    return -np.log(np.clip(own, np.finfo(np.float64).eps, 1.0)), outputs - predicted, weights


def _clip_outliers(rest: Floats) -> Floats:
    """A few rows that are far off would tell of themselves alone."""
    return np.clip(rest, *np.quantile(rest, [0.01, 0.99]))


def _varies(column: Floats) -> bool:
    known = column[~np.isnan(column)]
    return len(known) > 0 and bool(np.any(known != known[0]))


def _score_candidates(
    x: Floats, outputs: Floats, rest: Floats, numbers: list[int], groups: list[int], seed: int
) -> list[_Candidate]:
    """All that chance hardly explains, those that gain most first."""
    ideas = _propose_crosses(numbers, groups, outputs.shape[1])
    known: dict[tuple[int, ...], Groups] = {}
    own = {j: _test_association(x[:, j], rest)[0] for j in numbers}
    found = []
    for idea in ideas:
        if idea.groups and idea.groups not in known:
            known[idea.groups] = find_groups(x, idea.groups)
        _, values = fit_cross(idea, x, outputs, seed, known.get(idea.groups))
        share, p_value = _test_association(values, rest)
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


def _test_association(values: Floats, rest: Floats) -> tuple[float, float]:
    """Share of the rest's variance between bins of the values, and the chance of as much."""
    bins = _bin_values(values)
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


def _bin_values(values: Floats) -> Bins:
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


def _drop_redundant(
    candidates: Sequence[_Candidate], columns: Sequence[Floats]
) -> list[_Candidate]:
    """Candidates in their order, without those that repeat what is there."""
    chosen: list[_Candidate] = []
    seen = [_compute_ranks(column) for column in columns]
    times: Counter[tuple[int, ...]] = Counter()
    for candidate in candidates:
        same = tuple(sorted(candidate.idea.sources))
        ranks = _compute_ranks(candidate.values)
        if times[same] >= MOST_OF_SAME or any(abs(float(ranks @ r)) > ALIKE for r in seen):
            continue
        chosen.append(candidate)
        seen.append(ranks)
        times[same] += 1
        if len(chosen) == MAX_CROSSES:
            break
    return chosen


def _compute_ranks(values: Floats) -> Floats:
    """Ranks as a vector of length one and mean 0; missing values are in the middle."""
    known = np.where(np.isnan(values), np.nanmedian(values), values)
    ranks = np.asarray(stats.rankdata(known), dtype=np.float64)
    ranks -= ranks.mean()
    size = float(np.linalg.norm(ranks))
    return ranks / size if size > 0 else ranks


class CrossedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add the few made columns that a cheap look at the rows finds worth it.

    They are sums, differences, products and ratios of two numbers; means and standard deviations of
    a number within a category's level, and how far a row is from that mean; the number of a level's
    rows; and the target's mean within a level, or a pair of levels. All is learned from the rows
    that it is fitted on, and means of the target are cross-fitted: `fit_transform` gives each row
    what other rows teach, so that a model may be fitted on it.

    What cannot be told is missing: a ratio with a zero denominator, anything made of a missing
    number. Rows of a level that was not learned from have the mean of all rows, and the count 0.

    Parameters
    ----------
    names : tuple of str
        Of the matrix's columns.
    categorical : tuple of int
        Columns that hold codes of categories, -1 where missing; all others hold numbers, NaN where
        missing.
    task : {"binary", "multiclass", "regression"}
    seed : int, default=0

    Attributes
    ----------
    made_ : list of NumberColumn or GroupColumn
        The most useful first.
    n_classes_ : int
        0 in a regression.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> x = draw.lognormal(0, 1, (600, 2))
    >>> y = np.log(x[:, 0] / x[:, 1])
    >>> found = CrossedColumns(("price", "size"), (), "regression").fit(x, y)
    >>> found.get_feature_names_out()[2]
    'size / price'
    """

    made_: list[CrossColumn]
    n_classes_: int
    n_features_in_: int

    def __init__(
        self, names: Sequence[str], categorical: Sequence[int], task: str, seed: int = 0
    ) -> None:
        self.names = names
        self.categorical = categorical
        self.task = task
        self.seed = seed

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Choose the columns, and learn what they need.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        y : ndarray of shape (n_rows,)
            Numbers of classes, or values.
        """
        self._fit_crosses(X, y)
        return self

    def fit_transform(self, X: Floats, y: npt.NDArray[Any]) -> Floats:
        """Fit, and give the same rows with the made columns; no row meets its own target."""
        return np.column_stack([X, *self._fit_crosses(X, y)])

    def transform(self, X: Floats) -> Floats:
        """The matrix, and the made columns after its own.

        Raises
        ------
        ValueError
            If it has another number of columns.
        """
        check_is_fitted(self, "made_")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the columns were made of {self.n_features_in_}"
            )
        return np.column_stack([X, *(made.values(X) for made in self.made_)])

    def _fit_crosses(self, X: Floats, y: npt.NDArray[Any]) -> list[Floats]:
        if X.shape[1] != len(self.names):
            raise ValueError(f"X has {X.shape[1]} columns, but {len(self.names)} are named")
        self.n_features_in_ = X.shape[1]
        few = 2 if self.task == "binary" else 0
        # A class after the last that is met has no rows to tell of it.
        self.n_classes_ = int(np.max(y)) + 1 if self.task == "multiclass" else few
        ideas = choose_crosses(X, y, self.categorical, self.n_classes_, self.seed)
        outputs = encode_target(y, self.n_classes_)
        both = [fit_cross(idea, X, outputs, self.seed) for idea in ideas]
        self.made_ = [made for made, _ in both]
        return [values for _, values in both]

    @property
    def crosses_(self) -> list[FeatureCross]:
        """What the made columns are of."""
        return [made.idea for made in self.made_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of all columns, those of the made ones in words.

        Classes are told by their numbers: ``FeatureCross.name`` takes their labels.
        """
        check_is_fitted(self, "made_")
        names = list(self.names if input_features is None else input_features)
        labels = [str(k) for k in range(self.n_classes_)]
        made = [idea.name(names, labels) for idea in self.crosses_]
        return np.array([*names, *made], dtype=object)
