"""Search for feature crosses that improve predictions, on rows whose targets are known.

A short boosting is cross-validated in two folds. New features are to explain what it leaves: the
residuals of the held-out rows. The values of a candidate are cut into bins of about equally many
rows, and

    gain = share of the residuals' variance between the bins - the best such share of its numbers

A candidate is kept if its share is significant (F test with Bonferroni's correction for all
candidates), if it hardly correlates in ranks with the columns that are there already, and if few
candidates of the same columns precede it. Finally a longer boosting is cross-validated with and
without all kept candidates: unless its held-out loss falls significantly, none is used.

References
----------
T. Zhang et al. (2023), "OpenFE: automated feature generation with expert-level performance", ICML:
candidates are scored by the residuals of a boosted model.
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
from arboleda.features.feature_crosses import (
    ARITHMETIC,
    CrossColumn,
    FeatureCross,
    Groups,
    find_groups,
    fit_cross,
)

__all__ = ["MAX_CROSSES", "MIN_SEARCH_ROWS", "CrossedColumns", "choose_crosses", "encode_target"]

# The search needs the first number of rows, and uses a sample of at most the second.
MIN_SEARCH_ROWS, MAX_SEARCH_ROWS = 200, 6_000
# Maximum crosses, and maximum crosses of the same columns.
MAX_CROSSES, MAX_PER_SOURCES = 12, 2
# Maximum columns that candidates combine: numbers, numbers within a group, categories.
MAX_NUMBERS, MAX_GROUPED_NUMBERS, MAX_CATEGORIES = 8, 5, 4
# With more classes, the shares of each class would be too many candidates.
MAX_CLASSES = 10
# Rounds of the short boosting that gives residuals, and of the long one that validates the result.
# With several classes, the limit of trees in total reduces them.
SHORT_ROUNDS, LONG_ROUNDS = 25, 100
MAX_TREES, MIN_ROUNDS = 400, 8
MAX_BINS, ROWS_PER_BIN = 24, 40
SIGNIFICANCE_LEVEL = 0.01
# Columns with a higher absolute rank correlation are redundant: their bins are nearly the same.
MAX_RANK_CORRELATION = 0.98
# Minimum decrease of the mean loss, in standard errors over the rows.
MIN_STANDARD_ERRORS = 1.0

Floats = npt.NDArray[np.float64]
Bins = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Candidate:
    cross: FeatureCross
    values: Floats
    gain: float


def choose_crosses(
    x: Floats, y: npt.NDArray[Any], categorical: Sequence[int], n_classes: int, seed: int
) -> list[FeatureCross]:
    """Select the feature crosses that improve predictions, the most useful first.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_columns)
        Codes in the columns ``categorical``, numbers in all others; NaN where missing. Infinite
        numbers count as missing.
    y : ndarray of shape (n_rows,)
        Class numbers, or values.
    categorical : sequence of int
    n_classes : int
        0 in a regression.
    seed : int
    """
    if len(x) < MIN_SEARCH_ROWS or bool(np.all(y == y[0])):
        return []
    if len(x) > MAX_SEARCH_ROWS:
        rows = np.sort(np.random.default_rng([seed, len(x)]).choice(len(x), MAX_SEARCH_ROWS, False))
        x, y = x[rows], y[rows]
    x = np.where(np.isinf(x), np.nan, x)
    outputs = encode_target(y, n_classes)
    cross_validate = partial(
        _cross_validate, y=y, categorical=categorical, n_classes=n_classes, seed=seed
    )
    _, residuals, importances = cross_validate(x, rounds=SHORT_ROUNDS)
    useful = [int(j) for j in np.argsort(-importances, kind="stable") if _has_variance(x[:, j])]
    numbers = [j for j in useful if j not in categorical and importances[j] > 0][:MAX_NUMBERS]
    groups = [j for j in useful if j in categorical][:MAX_CATEGORIES]
    candidates = _score_candidates(x, outputs, residuals, numbers, groups, seed)
    chosen = _drop_redundant(candidates, [x[:, j] for j in numbers])
    if not chosen:
        return []
    wide = np.column_stack([x, *(c.values for c in chosen)])
    before, after = (cross_validate(matrix, rounds=LONG_ROUNDS)[0] for matrix in (x, wide))
    gains = before - after
    is_significant = gains.mean() > MIN_STANDARD_ERRORS * gains.std() / np.sqrt(len(gains))
    return [c.cross for c in chosen] if is_significant else []


def encode_target(y: npt.NDArray[Any], n_classes: int) -> Floats:
    """Encode the target as columns: its values, or indicators of the second or of each class."""
    if n_classes == 0:
        return np.asarray(y, dtype=np.float64)[:, None]
    shown = [1] if n_classes == 2 else range(n_classes)
    return np.asarray(y[:, None] == np.asarray(shown), dtype=np.float64)


def _cross_validate(
    x: Floats,
    *,
    y: npt.NDArray[Any],
    categorical: Sequence[int],
    n_classes: int,
    rounds: int,
    seed: int,
) -> tuple[Floats, Floats, Floats]:
    """Return the held-out loss and residuals of each row, and the importance of each column."""
    outputs = encode_target(y, n_classes)
    predicted = np.zeros_like(outputs)
    importances = np.zeros(x.shape[1])
    options = {
        "max_iter": max(MIN_ROUNDS, min(rounds, MAX_TREES // outputs.shape[1])),
        "max_leaf_nodes": 15,
        "early_stopping": False,
        "categorical_features": list(categorical) or None,
        "random_state": seed,
        "n_jobs": 1,
    }
    for fit, held_out in KFold(2, shuffle=True, random_state=seed).split(x):
        if n_classes == 0:
            model: Any = HistGradientBoostingRegressor(**options).fit(x[fit], y[fit])
            predicted[held_out, 0] = model.predict(x[held_out])
        else:
            if bool(np.all(y[fit] == y[fit][0])):
                predicted[held_out] = outputs[fit][0]
                continue
            model = HistGradientBoostingClassifier(**options).fit(x[fit], y[fit])
            full = np.zeros((len(held_out), n_classes))
            full[:, model.classes_] = model.predict_proba(x[held_out])
            predicted[held_out] = full[:, [1]] if n_classes == 2 else full
        importances += model.feature_importances_
    residuals = outputs - predicted
    if n_classes == 0:
        return (residuals**2)[:, 0], _clip_outliers(residuals), importances
    if n_classes == 2:
        likelihoods = np.where(outputs == 1.0, predicted, 1.0 - predicted)[:, 0]
    else:
        likelihoods = (predicted * outputs).sum(axis=1)
    losses = -np.log(np.clip(likelihoods, np.finfo(np.float64).eps, 1.0))
    return losses, residuals, importances


def _clip_outliers(residuals: Floats) -> Floats:
    """Clip residuals at their 1 % and 99 % quantiles, lest a few rows dominate the variance."""
    return np.clip(residuals, *np.quantile(residuals, [0.01, 0.99]))


def _has_variance(column: Floats) -> bool:
    known = column[~np.isnan(column)]
    return len(known) > 0 and bool(np.any(known != known[0]))


def _score_candidates(
    x: Floats, outputs: Floats, residuals: Floats, numbers: list[int], groups: list[int], seed: int
) -> list[_Candidate]:
    """Return the candidates with a significant share and a positive gain, best first."""
    crosses = _propose_crosses(numbers, groups, outputs.shape[1])
    groups_of_columns: dict[tuple[int, ...], Groups] = {}
    own = {j: _test_association(x[:, j], residuals)[0] for j in numbers}
    candidates = []
    for cross in crosses:
        if cross.groups and cross.groups not in groups_of_columns:
            groups_of_columns[cross.groups] = find_groups(x, cross.groups)
        _, values = fit_cross(cross, x, outputs, seed, groups_of_columns.get(cross.groups))
        share, p_value = _test_association(values, residuals)
        gain = share - max((own[j] for j in cross.numbers), default=0.0)
        if gain > 0 and p_value * len(crosses) < SIGNIFICANCE_LEVEL:
            candidates.append(_Candidate(cross, values, gain))
    return sorted(candidates, key=lambda candidate: -candidate.gain)


def _propose_crosses(numbers: list[int], groups: list[int], n_outputs: int) -> list[FeatureCross]:
    # In the table's order, so that a cross has the same name in all folds.
    pairs = list(combinations(sorted(numbers), 2))
    ideas = [FeatureCross(kind, pair) for pair in pairs for kind in ARITHMETIC]
    ideas += [FeatureCross("ratio", (b, a)) for a, b in pairs]
    for j in groups:
        ideas.append(FeatureCross("count", (), (j,)))
        ideas += [
            FeatureCross(kind, (number,), (j,))
            for number in numbers[:MAX_GROUPED_NUMBERS]
            for kind in ("mean", "sd", "distance")
        ]
    if n_outputs <= MAX_CLASSES:
        together = [(j,) for j in groups] + list(combinations(sorted(groups), 2))
        ideas += [
            FeatureCross("target", (), some, k) for some in together for k in range(n_outputs)
        ]
    return ideas


def _test_association(values: Floats, residuals: Floats) -> tuple[float, float]:
    """Return the share of the residuals' variance between bins of the values, and its p-value."""
    bins = _bin_values(values)
    n, n_bins = len(bins), int(bins.max()) + 1
    if n_bins < 2:
        return 0.0, 1.0
    counts = np.bincount(bins)
    centred = residuals - residuals.mean(axis=0)
    sums = np.column_stack([np.bincount(bins, column) for column in centred.T])
    total = float((centred**2).sum())
    if total == 0.0:
        return 0.0, 1.0
    share = float((sums**2 / counts[:, None]).sum()) / total
    # The shares of several classes sum to one, which removes one degree of freedom.
    n_free = max(1, residuals.shape[1] - 1)
    above, below = (n_bins - 1) * n_free, (n - n_bins) * n_free
    with np.errstate(divide="ignore"):
        f = np.divide(share / above, max(0.0, 1.0 - share) / below)
    return share, float(stats.f.sf(f, above, below))


def _bin_values(values: Floats) -> Bins:
    """Cut values into bins of about equally many rows; missing values have a bin of their own."""
    known = ~np.isnan(values)
    n_bins = int(np.clip(len(values) // ROWS_PER_BIN, 4, MAX_BINS))
    cuts = (
        np.unique(np.quantile(values[known], np.linspace(0, 1, n_bins + 1)[1:-1]))
        if known.any()
        else np.empty(0)
    )
    bins = np.where(known, np.searchsorted(cuts, values), len(cuts) + 1)
    return np.unique(bins, return_inverse=True)[1].ravel()


def _drop_redundant(
    candidates: Sequence[_Candidate], columns: Sequence[Floats]
) -> list[_Candidate]:
    """Return the candidates, in order, that differ enough from the columns and from each other."""
    chosen: list[_Candidate] = []
    seen = [_compute_ranks(column) for column in columns]
    times: Counter[tuple[int, ...]] = Counter()
    for candidate in candidates:
        same = tuple(sorted(candidate.cross.sources))
        ranks = _compute_ranks(candidate.values)
        if times[same] >= MAX_PER_SOURCES or any(
            abs(float(ranks @ r)) > MAX_RANK_CORRELATION for r in seen
        ):
            continue
        chosen.append(candidate)
        seen.append(ranks)
        times[same] += 1
        if len(chosen) == MAX_CROSSES:
            break
    return chosen


def _compute_ranks(values: Floats) -> Floats:
    """Return the ranks, centred and scaled to length 1; missing values have the median's rank."""
    known = np.where(np.isnan(values), np.nanmedian(values), values)
    ranks = np.asarray(stats.rankdata(known), dtype=np.float64)
    ranks -= ranks.mean()
    size = float(np.linalg.norm(ranks))
    return ranks / size if size > 0 else ranks


class CrossedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Append the few feature crosses that improve predictions (`choose_crosses`).

    The crosses are sums, differences, products and ratios of two numbers; means and standard
    deviations of a number per level of a category, and a number's distance from that mean; counts
    of the rows of a level; and means of the target per level, or per pair of levels. They use the
    training rows only. Means of the target are cross-fitted: `fit_transform` computes a row's mean
    without its own target, so that a model can be fitted to the result.

    A ratio with a zero denominator and a cross of a missing number are missing. Rows of an unseen
    level have the mean of all rows, and the count 0.

    Parameters
    ----------
    names : tuple of str
        Names of the matrix's columns.
    categorical : tuple of int
        Indices of the columns with codes of categories, -1 where missing; all others have numbers,
        NaN where missing.
    task : {"binary", "multiclass", "regression"}
    seed : int, default=0

    Attributes
    ----------
    made_ : list of NumberColumn or GroupColumn
        The generated columns, the most useful first.
    n_classes_ : int
        0 in a regression.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> x = generator.lognormal(0, 1, (600, 2))
    >>> y = np.log(x[:, 0] / x[:, 1])
    >>> crossed = CrossedColumns(("price", "size"), (), "regression").fit(x, y)
    >>> crossed.get_feature_names_out()[2]
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
        """Select feature crosses, and fit them to the rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        y : ndarray of shape (n_rows,)
            Class numbers, or values.
        """
        self._fit_crosses(X, y)
        return self

    def fit_transform(self, X: Floats, y: npt.NDArray[Any]) -> Floats:
        """Fit, and append the crosses to the same rows; no value uses its own row's target."""
        return np.column_stack([X, *self._fit_crosses(X, y)])

    def transform(self, X: Floats) -> Floats:
        """Append the crosses to the columns of a matrix.

        Raises
        ------
        ValueError
            If the matrix has a different number of columns than in ``fit``.
        """
        check_is_fitted(self, "made_")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but CrossedColumns was fitted to "
                f"{self.n_features_in_}"
            )
        return np.column_stack([X, *(column.compute(X) for column in self.made_)])

    def _fit_crosses(self, X: Floats, y: npt.NDArray[Any]) -> list[Floats]:
        if X.shape[1] != len(self.names):
            raise ValueError(f"X has {X.shape[1]} columns, but {len(self.names)} are named")
        self.n_features_in_ = X.shape[1]
        if self.task == "multiclass":
            # Classes after the last that occurs in these rows have no statistics.
            self.n_classes_ = int(np.max(y)) + 1
        else:
            self.n_classes_ = 2 if self.task == "binary" else 0
        crosses = choose_crosses(X, y, self.categorical, self.n_classes_, self.seed)
        outputs = encode_target(y, self.n_classes_)
        fitted = [fit_cross(cross, X, outputs, self.seed) for cross in crosses]
        self.made_ = [column for column, _ in fitted]
        return [values for _, values in fitted]

    @property
    def crosses_(self) -> list[FeatureCross]:
        """The feature cross of each generated column."""
        return [column.idea for column in self.made_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of all columns, and descriptions of the generated ones.

        Descriptions contain class numbers; `FeatureCross.describe` takes the labels instead.
        """
        check_is_fitted(self, "made_")
        names = list(self.names if input_features is None else input_features)
        labels = [str(k) for k in range(self.n_classes_)]
        generated = [cross.describe(names, labels) for cross in self.crosses_]
        return np.array([*names, *generated], dtype=object)
