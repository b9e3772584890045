r"""Diversity of the members of an ensemble, measured on their predictions for the same rows.

For two members and N rows, let n11, n10, n01 and n00 be the numbers of rows where both are right,
only the first, only the second, and neither (Kuncheva and Whitaker 2003, tables 1 and 2):

    Q statistic   (n11 n00 - n01 n10) / (n11 n00 + n01 n10)
    correlation   (n11 n00 - n01 n10) / sqrt((n11+n10)(n01+n00)(n11+n01)(n10+n00))
    disagreement  (n01 + n10) / N
    double fault  n00 / N
    kappa         (t1 - t2) / (1 - t2), where t1 is the share of rows on which the two predict the
                  same class, and t2 its expectation by chance (Cohen 1960)

For all L members, with l(x) the number of members that are right on x:

    entropy                mean of min(l, L - l) / (L - ceil(L/2))
    Kohavi-Wolpert         mean of l (L - l) / L^2, which is (L - 1) / (2 L) disagreement
    generalised diversity  1 - p(2) / p(1), where p(1) is the probability that a random member is
                           wrong, and p(2) that two random members are wrong on the same row
                           (Partridge and Krzanowski 1997)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda.combine import MemberOutputs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

_OF_PAIRS = ("q_statistic", "correlation", "disagreement", "double_fault", "kappa", "error")
_BLOCK = 65536  # number of rows whose indicators are held in memory at a time


@dataclass(frozen=True, eq=False, repr=False)
class Diversity(Result):
    """Result of `diversity`. Arrays of pairs have an entry for each pair of members.

    Attributes
    ----------
    names : tuple
        Names of the members.
    member_error : ndarray of shape (n_members,)
        Share of rows on which a member is wrong.
    pairs : ndarray of int, shape (n_pairs, 2)
        Indices of the members of each pair: 0 and 1, 0 and 2, and so on.
    q_statistic, correlation, disagreement, double_fault, kappa : ndarray of shape (n_pairs,)
        NaN where a measure is not defined, such as the correlation with a member that is always
        right. ``disagreement`` increases with diversity, the others decrease.
    error : ndarray of shape (n_pairs,)
        Mean error of the two members.
    entropy, kohavi_wolpert, generalized_diversity : float
        Measures of all members, which increase with diversity. The last is NaN if no member is ever
        wrong.
    """

    names: tuple[Any, ...]
    member_error: Floats
    pairs: npt.NDArray[np.intp]
    q_statistic: Floats
    correlation: Floats
    disagreement: Floats
    double_fault: Floats
    kappa: Floats
    error: Floats
    entropy: float
    kohavi_wolpert: float
    generalized_diversity: float

    def summary(self) -> dict[str, float]:
        """Return each measure as one number; for pairs, the mean of the defined values."""
        means = {name: _mean_of_known(getattr(self, name)) for name in _OF_PAIRS}
        together = ("entropy", "kohavi_wolpert", "generalized_diversity")
        return means | {name: getattr(self, name) for name in together}

    def _summarize(self) -> dict[str, Any]:
        means = self.summary()
        shown = ("q_statistic", "disagreement", "kappa")
        return {"n_members": len(self.names)} | {name: means[name] for name in shown}

    def to_frame(self) -> pd.DataFrame:
        """Return the measures of pairs as a pandas data frame with a row for each pair.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``first``, ``second``, ``q_statistic``, ``correlation``, ``disagreement``,
            ``double_fault``, ``kappa`` and ``error``.
        """
        who = {
            side: [self.names[k] for k in self.pairs[:, place]]
            for place, side in enumerate(("first", "second"))
        }
        return new_frame(who | {name: getattr(self, name) for name in _OF_PAIRS})

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw the kappa-error diagram: a point for each pair, and their mean.

        Pairs to the left are diverse, pairs at the bottom are accurate (Margineantu and Dietterich
        1997). Draw several ensembles on the same axes to compare them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.
        label : str, default=None
            Name of this ensemble in the legend.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        (pairs,) = ax.plot(self.kappa, self.error, "o", ms=3, alpha=0.35, mew=0)
        colour = pairs.get_color()
        ax.plot(
            _mean_of_known(self.kappa), _mean_of_known(self.error), "o",
            ms=9, mec="black", color=colour, label=label, zorder=3,
        )  # fmt: skip
        ax.set_xlabel("kappa of two members")
        ax.set_ylabel("mean error of the two")
        return ax


def diversity(predictions: Any, y: Any, *, names: Sequence[Any] | None = None) -> Diversity:
    """Measure the diversity of classifiers on rows that they were not fitted on.

    Parameters
    ----------
    predictions : array-like of shape (n_members, n_samples), dict, or MemberOutputs
        Predicted class of each member for each row, by its name in a dict; or out-of-fold outputs
        from `arboleda.combine.out_of_fold_outputs`.
    y : array-like of shape (n_samples,)
        True classes.
    names : sequence, default=None
        Names of the members; None: those of the outputs or the dict, else their indices.

    Returns
    -------
    result : Diversity
        With the methods ``summary()``, ``to_frame()`` and ``plot()``, the kappa-error diagram.

    References
    ----------
    L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier ensembles and their
    relationship with the ensemble accuracy", Machine Learning 51; D. D. Margineantu,
    T. G. Dietterich (1997), "Pruning adaptive boosting", ICML.

    Examples
    --------
    >>> from arboleda.diagnose import diversity
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> one = [0, 0, 0, 0, 1, 1, 0, 0]
    >>> two = [0, 0, 1, 1, 1, 1, 1, 0]
    >>> result = diversity([one, two], y)
    >>> result.disagreement.tolist(), result.double_fault.tolist(), result.member_error.tolist()
    ([0.375], [0.125], [0.25, 0.375])
    """
    if isinstance(predictions, MemberOutputs):
        names = predictions.names if names is None else names
        predictions, y = _select_labels(predictions, y)
    if isinstance(predictions, Mapping):
        names = tuple(predictions) if names is None else names
        predictions = list(predictions.values())
    codes, truth = _encode_classes(predictions, y)
    members = tuple(range(len(codes)) if names is None else names)
    if len(members) != len(codes):
        raise ValueError(f"names has {len(members)} entries for {len(codes)} members")
    right = codes == truth
    pairs = np.array(list(combinations(range(len(codes)), 2)))
    wrong = (~right).mean(axis=1)
    return Diversity(
        members,
        wrong,
        pairs,
        *_measures_of_right_and_wrong(right, pairs),
        _compute_kappa(codes, pairs),
        wrong[pairs].mean(axis=1),
        *_measures_of_all(right.sum(axis=0), len(codes)),
    )


def _measures_of_right_and_wrong(
    right: npt.NDArray[np.bool_], pairs: npt.NDArray[np.intp]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Compute Q statistic, correlation, disagreement and double fault of each pair."""
    n_rows = right.shape[1]
    counts, (i, j) = right.sum(axis=1), pairs.T
    n11 = _count_rows_of_both(right)[i, j]
    n10, n01 = counts[i] - n11, counts[j] - n11
    n00 = n_rows - n11 - n10 - n01
    same, other = n11 * n00, n01 * n10
    margins = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)
    with np.errstate(invalid="ignore"):
        q_statistic = (same - other) / (same + other)
        correlation = (same - other) / np.sqrt(margins)
    return q_statistic, correlation, (n01 + n10) / n_rows, n00 / n_rows


def _compute_kappa(codes: npt.NDArray[np.intp], pairs: npt.NDArray[np.intp]) -> Floats:
    """Compute Cohen's kappa of the predicted classes of each pair."""
    n_rows = codes.shape[1]
    agreed = np.zeros(len(pairs))
    by_chance = np.zeros(len(pairs))
    i, j = pairs.T
    for number in range(codes.max() + 1):
        predicted = codes == number
        share = predicted.mean(axis=1)
        agreed += _count_rows_of_both(predicted)[i, j] / n_rows
        by_chance += share[i] * share[j]
    with np.errstate(invalid="ignore"):
        kappa: Floats = np.where(by_chance == 1, np.nan, (agreed - by_chance) / (1 - by_chance))
    return kappa


def _count_rows_of_both(indicators: npt.NDArray[np.bool_]) -> Floats:
    """Count the rows on which both of two indicators are true, for all pairs; sums are exact."""
    both = np.zeros((len(indicators), len(indicators)))
    for start in range(0, indicators.shape[1], _BLOCK):
        block = indicators[:, start : start + _BLOCK].astype(np.float64)
        both += block @ block.T
    return both


def _measures_of_all(n_right: npt.NDArray[np.intp], n_members: int) -> tuple[float, float, float]:
    """Compute entropy, Kohavi-Wolpert variance and generalised diversity."""
    n_wrong = n_members - n_right
    entropy = np.minimum(n_right, n_wrong).mean() / (n_members - (n_members + 1) // 2)
    kohavi_wolpert = (n_right * n_wrong).mean() / n_members**2
    one = n_wrong.mean() / n_members
    two = (n_wrong * (n_wrong - 1)).mean() / (n_members * (n_members - 1))
    return float(entropy), float(kohavi_wolpert), float(1 - two / one) if one else float("nan")


def _select_labels(outputs: MemberOutputs, y: Any) -> tuple[Array, Array]:
    """Return the predicted classes of the members, and the true classes of the same rows."""
    if outputs.classes is None:
        raise ValueError(
            "diversity compares predicted classes, but the members are regressors: use classifiers"
        )
    true = np.asarray(y)
    if len(true) != outputs.n_table_rows:
        raise ValueError(
            f"y must have a row for each of the {outputs.n_table_rows} rows of the members' table, "
            f"got {len(true)}"
        )
    return outputs.classes[outputs.choices()], true[outputs.rows]


def _encode_classes(predictions: Any, y: Any) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Check predicted and true classes, and return them as class numbers."""
    predicted, true = np.asarray(predictions), np.asarray(y)
    if predicted.ndim != 2 or len(predicted) < 2:
        raise ValueError(
            "predictions must hold a row of predicted classes for each of at least two members; "
            f"got an array of shape {predicted.shape}"
        )
    if true.shape != predicted.shape[1:] or not true.size:
        raise ValueError(
            f"predictions are for {predicted.shape[1]} rows, but y has the shape {true.shape}"
        )
    check_classification_targets(true)
    if (predicted.dtype.kind in "biuf") != (true.dtype.kind in "biuf") or not np.isin(
        predicted, true
    ).any():
        raise ValueError(
            f"no prediction is a class of y: a prediction is {predicted.flat[0]!r}, a class is "
            f"{true.flat[0]!r}. If the members predict class numbers, use "
            "ensemble.classes_[numbers]"
        )
    try:
        classes = np.unique(np.concatenate([np.unique(row) for row in (true, *predicted)]))
    except TypeError as error:
        raise ValueError(
            f"predictions and y hold labels of several types ({error}), such as None and strings: "
            "convert them to one type"
        ) from error
    if classes.dtype.kind == "f" and np.isnan(classes).any():
        raise ValueError("predictions hold NaN, which is not a class")
    return np.searchsorted(classes, predicted), np.searchsorted(classes, true)


def _mean_of_known(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
