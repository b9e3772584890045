"""Comparison of models over many data sets: the tests of Friedman and Nemenyi.

Models are ranked on each of N data sets, where 1 is the best and ties get their mean rank; R_j is
the mean rank of the j-th of k models (Demšar 2006, sections 3.2.2 and 3.2.3):

    chi2 = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4) / c, k - 1 degrees of freedom
    c    = 1 - sum (t^3 - t) / (N k (k^2 - 1))
    F    = (N - 1) chi2 / (N (k - 1) - chi2),                      k - 1 and (k - 1)(N - 1)
    CD   = q_alpha sqrt(k (k + 1) / (6 N))

chi2 is Friedman's statistic (1937), corrected for ties by c, with a sum over all groups of t models
that tie on a data set (Conover 1999, section 5.8); c is 1 without ties. F is the more powerful
statistic of Iman and Davenport (1980). By Nemenyi's test, two models differ if their mean ranks
differ by at least the critical difference CD, where q_alpha is the quantile of the studentised
range of k groups with infinite degrees of freedom, divided by sqrt(2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.text import plot_escaped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_STEP = 1.0  # between two lines of text, in units of the vertical axis
_BAR = 0.28  # between two bars


def draw_ranks(
    ax: Axes,
    names: Sequence[str],
    mean_rank: npt.NDArray[np.float64],
    difference: float,
    spans: Sequence[tuple[float, float]],
) -> Axes:
    """Draw an axis of ranks, with rank 1 to the right, and the names below it on both sides.

    ``spans`` are the first and the last rank of each bar. The limits leave space for the names at
    the current size of the axes.
    """
    n_models = len(names)
    order = np.argsort(mean_rank, kind="stable")
    bars, margin, widest = _BAR * (len(spans) + 1), 0.03 * (n_models - 1), 0.0
    for place, k in enumerate(order):
        # The better half of the names is to the right, the best on top; the others to the left.
        right = place < (n_models + 1) // 2
        line = place if right else n_models - 1 - place
        height = -bars - _STEP * (line + 0.5)
        end = 1 - margin if right else n_models + margin
        rank = mean_rank[k]
        ax.plot([rank, rank, end], [0, height, height], color="black", lw=0.8)
        text = ax.text(
            end, height, f" {names[k]} ({rank:.2f}) ",
            ha="left" if right else "right", va="center",
        )  # fmt: skip
        widest = max(widest, text.get_window_extent().width)
    for number, (low, high) in enumerate(spans):
        height = -_BAR * (number + 1)
        ax.plot([low - margin / 2, high + margin / 2], [height, height], color="C3", lw=4)
    _draw_scale(ax, n_models, difference)
    # The width of a name does not depend on the scale; it gets at most a third of the axes.
    share = min(widest / ax.bbox.width, 1 / 3)
    room = margin + share * (n_models - 1 + 2 * margin) / (1 - 2 * share)
    ax.set_xlim(n_models + room, 1 - room)
    ax.set_ylim(-bars - _STEP * ((n_models + 1) // 2), 1.9)
    ax.axis("off")
    return ax


def _draw_scale(ax: Axes, n_models: int, difference: float) -> None:
    """Draw the axis of ranks, and the critical difference above it."""
    ax.plot([1, n_models], [0, 0], color="black", lw=1)
    for rank in range(1, n_models + 1):
        ax.plot([rank, rank], [0, 0.15], color="black", lw=1)
        ax.text(rank, 0.25, str(rank), ha="center", va="bottom")
    start = n_models
    ax.plot([start, start - difference], [1.2, 1.2], color="black", lw=1.5)
    for end in (start, start - difference):
        ax.plot([end, end], [1.1, 1.3], color="black", lw=1.5)
    ax.text(start - difference / 2, 1.35, f"CD = {difference:.2f}", ha="center", va="bottom")


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class DataSetComparison(Result):
    """Result of `compare_over_data_sets`.

    Attributes
    ----------
    names : tuple of str
        Names of the models.
    ranks : ndarray of shape (n_data_sets, n_models)
        Rank of each model, 1 for the least error; ties get their mean rank.
    mean_rank : ndarray of shape (n_models,)
    chi2, chi2_p_value : float
        Friedman's statistic, corrected for ties, and its p-value under the hypothesis that all
        models are equally good.
    f, f_p_value : float
        Iman and Davenport's statistic, which is recommended, and its p-value.
    alpha : float
        Level of the critical difference.
    critical_difference : float
        Smallest difference of mean ranks that is significant by Nemenyi's test.
    p_values : ndarray of shape (n_models, n_models)
        p-values of all pairs of models by Nemenyi's test.
    groups : tuple of tuple of str
        Maximal groups of at least two models that do not differ significantly, the best first.
    """

    names: tuple[str, ...]
    ranks: Floats
    mean_rank: Floats
    chi2: float
    chi2_p_value: float
    f: float
    f_p_value: float
    alpha: float
    critical_difference: float
    p_values: Floats
    groups: tuple[tuple[str, ...], ...]

    def _summarize(self) -> dict[str, Any]:
        return {
            "models": self.names,
            "n_data_sets": len(self.ranks),
            "best_mean_rank": self.names[int(self.mean_rank.argmin())],
            "p_value": self.f_p_value,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return mean ranks and p-values as a pandas data frame with a row for each model.

        Returns
        -------
        frame : pandas.DataFrame
            The index holds the models, sorted by mean rank; the columns are ``mean_rank`` and the
            p-values against each model.
        """
        order = np.argsort(self.mean_rank, kind="stable")
        names = [self.names[k] for k in order]
        columns = {"mean_rank": self.mean_rank[order]}
        for k, name in zip(order, names, strict=True):
            columns[name] = self.p_values[order, k]
        return new_frame(columns, index=names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the critical-difference diagram: mean ranks, with the best to the right.

        Bars join models that do not differ significantly. See figure 1 of Demšar (2006).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        places = [[self.names.index(name) for name in group] for group in self.groups]
        spans = [(self.mean_rank[group[0]], self.mean_rank[group[-1]]) for group in places]
        return draw_ranks(
            axes_or_new(ax),
            list(map(plot_escaped, self.names)),
            self.mean_rank,
            self.critical_difference,
            spans,
        )


def compare_over_data_sets(
    errors: Any, *, names: Sequence[str] | None = None, alpha: float = 0.05
) -> DataSetComparison:
    """Compare models over many data sets by the tests of Friedman and Nemenyi.

    Parameters
    ----------
    errors : array-like or data frame of shape (n_data_sets, n_models), or dict
        Error of each model on each data set, by its name in a dict; smaller is better, so negate
        scores for which greater is better. Rows must be independent: one for each data set, not one
        for each fold.
    names : sequence of str, default=None
        Names of the models; None: those of a frame or a dict, else "model 1" and so on.
    alpha : float, default=0.05
        Level of the critical difference.

    Returns
    -------
    result : DataSetComparison
        With the methods ``to_frame()`` and ``plot()``, the critical-difference diagram.

    References
    ----------
    J. Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7.

    Examples
    --------
    >>> from arboleda.diagnose import compare_over_data_sets
    >>> errors = [[0.24, 0.20, 0.19], [0.31, 0.25, 0.26], [0.12, 0.11, 0.08], [0.43, 0.40, 0.37],
    ...           [0.07, 0.05, 0.04], [0.18, 0.17, 0.13]]
    >>> result = compare_over_data_sets(errors, names=["tree", "forest", "boosting"])
    >>> result.mean_rank.round(2).tolist(), round(result.critical_difference, 2)
    ([3.0, 1.83, 1.17], 1.35)
    >>> result.groups
    (('boosting', 'forest'), ('forest', 'tree'))
    """
    if isinstance(errors, Mapping):
        names = tuple(errors) if names is None else names
        errors = np.column_stack(list(errors.values()))
    if names is None and hasattr(errors, "columns"):
        names = [str(name) for name in errors.columns]
    table = _check_errors(np.asarray(errors, dtype=np.float64))
    n_sets, k = table.shape
    models = tuple(f"model {j + 1}" for j in range(k)) if names is None else tuple(names)
    if len(models) != k or len(set(models)) != k:
        raise ValueError(f"names must hold a different name for each of {k} models; got {models}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha!r}")
    ranks = stats.rankdata(table, axis=1)
    mean_rank = ranks.mean(axis=0)
    scale = np.sqrt(k * (k + 1) / (6 * n_sets))
    gaps = np.abs(mean_rank[:, np.newaxis] - mean_rank)
    difference = float(stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2) * scale)
    return DataSetComparison(
        models,
        ranks,
        mean_rank,
        *friedman(ranks),
        alpha,
        difference,
        stats.studentized_range.sf(gaps / scale * np.sqrt(2), k, np.inf),
        _find_groups(models, mean_rank, difference),
    )


def friedman(ranks: Floats) -> tuple[float, float, float, float]:
    """Return Friedman's chi2 and its p-value, Iman and Davenport's F and its p-value.

    Parameters
    ----------
    ranks : ndarray of shape (n_data_sets, n_models)
        Ranks of the models on each data set; ties get their mean rank.
    """
    n_sets, k = ranks.shape
    tied = sum(float((t**3 - t).sum()) for t in map(_count_ties, ranks))
    correction = 1.0 - tied / (n_sets * k * (k**2 - 1))
    if correction <= 0.0:  # all models tie on every data set
        return 0.0, 1.0, 0.0, 1.0
    spread = float(np.sum(ranks.mean(axis=0) ** 2)) - k * (k + 1) ** 2 / 4
    chi2 = 12 * n_sets / (k * (k + 1)) * spread / correction
    chi2 = min(max(chi2, 0.0), float(n_sets * (k - 1)))
    rest = n_sets * (k - 1) - chi2
    # If all data sets have the same order, the denominator is 0.
    f = (n_sets - 1) * chi2 / rest if rest > 0 else float("inf")
    f_p_value = float(stats.f.sf(f, k - 1, (k - 1) * (n_sets - 1)))
    return chi2, float(stats.chi2.sf(chi2, k - 1)), f, f_p_value


def _count_ties(ranks: Floats) -> npt.NDArray[np.int64]:
    """Return the number of models at each distinct rank."""
    return np.unique(ranks, return_counts=True)[1].astype(np.int64)


def _find_groups(
    names: tuple[str, ...], mean_rank: Floats, difference: float
) -> tuple[tuple[str, ...], ...]:
    """Find maximal runs in the order of ranks that span less than the critical difference."""
    order = np.argsort(mean_rank, kind="stable")
    ordered = mean_rank[order]
    groups, reached = [], 0
    for start in range(len(order)):
        end = int(np.count_nonzero(ordered < ordered[start] + difference))
        if end > max(reached, start + 1):
            groups.append(tuple(names[k] for k in order[start:end]))
        reached = max(reached, end)
    return tuple(groups)


def _check_errors(table: Floats) -> Floats:
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(
            "errors must have a row for each of at least two data sets and a column for each of at "
            f"least two models; got the shape {table.shape}"
        )
    if np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        raise ValueError(
            f"errors[{row}, {column}] is NaN: every model needs an error on every data set"
        )
    return table
