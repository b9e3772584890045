r"""Condorcet's jury theorem: the accuracy of a majority with independent or correlated votes.

Each of L voters is right with probability p. If they err independently, the majority is right with
probability

    P = sum over m from floor(L/2) + 1 to L of C(L, m) p^m (1 - p)^(L - m)

(Condorcet 1785; Kuncheva 2014, section 4.3). For an even number of voters, a tie is not a majority.

Errors of voters that are trained on the same data are correlated. Let p vary from case to case with
a beta distribution of mean p and parameters a, b = p (1 - c) / c, (1 - p) (1 - c) / c. Then two
votes have the correlation c, and the number of right votes is beta-binomial (Skellam 1948). With
t = c / (1 - c),

    P(m right) = C(L, m) prod_{i<m} (p + i t) prod_{j<L-m} (1 - p + j t) / prod_{i<L} (1 + i t),

which is the binomial distribution at c = 0, and is numerically stable near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.number_types import is_integer, is_real
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JuryCurves(Result):
    """Accuracy of majorities by the number of voters.

    Attributes
    ----------
    p : tuple of float
        Probability that one voter is right.
    correlation : tuple of float
        Correlation of two votes being right.
    sizes : ndarray of int
        Numbers of voters.
    accuracy : ndarray of shape (n_p, n_correlation, n_sizes)
        Probability that the majority is right.
    """

    p: tuple[float, ...]
    correlation: tuple[float, ...]
    sizes: npt.NDArray[np.int64]
    accuracy: Floats

    def _summarize(self) -> dict[str, Any]:
        return {
            "p": self.p,
            "correlation": self.correlation,
            "largest_size": int(self.sizes.max()),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the curves as a pandas data frame with a row for each point.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``p``, ``correlation``, ``size`` and ``accuracy``.
        """
        axes = np.meshgrid(self.p, self.correlation, self.sizes, indexing="ij")
        names = ("p", "correlation", "size")
        columns = {name: axis.ravel() for name, axis in zip(names, axes, strict=True)}
        return new_frame(columns | {"accuracy": self.accuracy.ravel()})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a curve over the number of voters for each p and correlation.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        several = len(self.correlation) > 1
        styles = ("-", "--", "-.", ":")
        for i, p in enumerate(self.p):
            for j, c in enumerate(self.correlation):
                # The colour is that of p, unless there is only one.
                colour = f"C{i if len(self.p) > 1 else j}"
                style = styles[j % len(styles)] if len(self.p) > 1 else "-"
                label = f"p = {p:g}" + (f", correlation {c:g}" if several else "")
                ax.plot(
                    self.sizes, self.accuracy[i, j], style, color=colour, marker=".", label=label
                )
        ax.set_xlabel("voters")
        ax.set_ylabel("probability that the majority is right")
        ax.legend(frameon=False)
        return ax


def jury_accuracy(p: float, n_voters: int, *, correlation: float = 0.0) -> float:
    """Return the probability that the majority of voters is right: Condorcet's jury theorem.

    Parameters
    ----------
    p : float
        Probability that one voter is right, in [0, 1].
    n_voters : int
        Number of voters. For an even number, a tie counts as wrong.
    correlation : float, default=0.0
        Correlation of two votes being right, in [0, 1]. It is the same for all pairs, from a beta
        distribution of p over the cases. 0: independent votes; 1: all votes are equal.

    Returns
    -------
    accuracy : float

    References
    ----------
    L. I. Kuncheva (2014), *Combining Pattern Classifiers*, 2nd ed., section 4.3; J. G. Skellam
    (1948), "A probability distribution derived from the binomial distribution", JRSS B 10.

    Examples
    --------
    >>> from arboleda.diagnose import jury_accuracy
    >>> round(1 - jury_accuracy(0.7, 21), 3)
    0.026
    >>> round(1 - jury_accuracy(0.7, 21, correlation=0.2), 3)
    0.199
    """
    _check_share("p", p)
    _check_share("correlation", correlation)
    if isinstance(n_voters, bool) or not is_integer(n_voters) or n_voters < 1:
        raise ValueError(f"n_voters must be a whole number of at least 1; got {n_voters!r}")
    if correlation == 1:
        return float(p)
    n = int(n_voters)
    return min(
        1.0,
        float(
            np.exp(_compute_log_probabilities(float(p), n, float(correlation))[n // 2 + 1 :]).sum()
        ),
    )


def jury_curves(p: Any, sizes: Any, *, correlation: Any = 0.0) -> JuryCurves:
    """Compute `jury_accuracy` for all combinations of the values.

    Parameters
    ----------
    p : float or sequence of float
        Probability that one voter is right.
    sizes : sequence of int
        Numbers of voters.
    correlation : float or sequence of float, default=0.0
        Correlation of two votes being right.

    Returns
    -------
    curves : JuryCurves
        With the methods ``to_frame()`` and ``plot()``.

    Examples
    --------
    >>> from arboleda.diagnose import jury_curves
    >>> curves = jury_curves([0.4, 0.6], [1, 11, 101])
    >>> curves.accuracy[:, 0].round(3).tolist()
    [[0.4, 0.247, 0.021], [0.6, 0.753, 0.979]]
    """
    shares, correlations, numbers = (
        np.atleast_1d(value).tolist() for value in (p, correlation, sizes)
    )
    accuracy = [
        [[jury_accuracy(share, n, correlation=c) for n in numbers] for c in correlations]
        for share in shares
    ]
    return JuryCurves(
        tuple(shares), tuple(correlations), np.array(numbers, np.int64), np.array(accuracy)
    )


def _compute_log_probabilities(p: float, n: int, correlation: float) -> Floats:
    """Compute the log-probability that 0, 1, .., n of n voters are right; correlation < 1."""
    steps = np.arange(n) * (correlation / (1 - correlation))
    with np.errstate(divide="ignore"):  # nobody is right with p = 0: log 0
        right, wrong, all_of_them = (
            np.concatenate(([0.0], np.cumsum(np.log(start + steps)))) for start in (p, 1 - p, 1.0)
        )
    m = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    log_probabilities: Floats = ways + right + wrong[::-1] - all_of_them[-1]
    return log_probabilities


def _check_share(name: str, value: Any) -> None:
    if not is_real(value) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1; got {value!r}")
