"""Margins of training rows, and bounds of the test error from them.

The margin of a row is the vote share of its class minus the largest vote share of another class,
from -1 to 1. Boosting keeps increasing small margins after the training error is 0. By the bound of
Schapire, Freund, Bartlett and Lee (1998), "Boosting the margin: a new explanation for the
effectiveness of voting methods", Annals of Statistics 26(5), the test error is at most the share of
training rows whose margin is at most theta, plus a term that does not depend on the number of
rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.number_types import is_integer, is_real
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["margin_bound", "vc_bound"]


def vc_bound(training_error: float, *, n_samples: int, n_rounds: int, vc_dimension: int) -> float:
    """Bound the test error of AdaBoost by its training error and the VC dimension of its members.

    With high probability the test error is at most

        training_error + O~(sqrt(d L / N))

    for L members of VC dimension d and N training rows. The theorem does not specify the constant
    and the logarithmic factors, which are set to 1 here, so the value is not a guarantee: it shows
    how the bound depends on d, L and N. It grows with the number of rounds, in contrast to the
    observed error of AdaBoost and to `margin_bound`. For data of usual size, both are above 1.

    Parameters
    ----------
    training_error : float
        Share of the training rows that the ensemble misclassifies, from 0 to 1.
    n_samples : int
        Number N of training rows.
    n_rounds : int
        Number L of members.
    vc_dimension : int
        VC dimension d of the class of members. For decision stumps on one numeric column it is 2.

    Returns
    -------
    bound : float

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Y. Freund, R. E. Schapire (1997), "A decision-theoretic generalization of on-line learning and
    an application to boosting", Journal of Computer and System Sciences 55(1), section 4.2.

    Examples
    --------
    >>> from arboleda.diagnose import vc_bound
    >>> vc_bound(0.0, n_samples=10_000, n_rounds=50, vc_dimension=2)
    0.1
    """
    _check_share("training_error", training_error)
    _check_counts(n_samples=n_samples, n_rounds=n_rounds, vc_dimension=vc_dimension)
    return float(training_error + math.sqrt(vc_dimension * n_rounds / n_samples))


def margin_bound(
    share_below: float,
    *,
    theta: float,
    n_samples: int,
    vc_dimension: int,
    delta: float = 0.05,
) -> float:
    """Bound the test error of a vote by the margins of its training rows.

    With probability 1 - delta the test error is, for every theta > 0, at most

        P_S[margin <= theta] + O(sqrt((d log^2(N / d) / theta^2 + log(1 / delta)) / N))

    for N training rows and any number of members of VC dimension d. The theorem does not specify
    the constant, which is set to 1 here, so the value is not a guarantee: use it to compare values
    of theta, or ensembles on the same rows. For data of usual size, it is above 1.

    Parameters
    ----------
    share_below : float
        Share of the training rows whose margin is at most ``theta``: ``margin_bound_term`` of the
        AdaBoost classes, or `MarginDistribution.share_below`.
    theta : float
        Margin, above 0 and at most 1.
    n_samples : int
        Number N of training rows; at least ``vc_dimension``.
    vc_dimension : int
        VC dimension d of the class of members.
    delta : float, default=0.05
        Probability with which the bound may fail, between 0 and 1.

    Returns
    -------
    bound : float

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998), "Boosting the margin: a new
    explanation for the effectiveness of voting methods", Annals of Statistics 26(5), theorem 2.

    Examples
    --------
    >>> from arboleda.diagnose import margin_bound
    >>> round(margin_bound(0.02, theta=0.5, n_samples=1_000_000, vc_dimension=2), 3)
    0.057
    """
    _check_share("share_below", share_below)
    _check_counts(n_samples=n_samples, vc_dimension=vc_dimension)
    if n_samples < vc_dimension:
        raise ValueError(f"n_samples must be >= vc_dimension={vc_dimension}, got {n_samples}")
    if not 0.0 < theta <= 1.0:
        raise ValueError(f"theta must be above 0 and at most 1, got {theta}")
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be between 0 and 1, got {delta}")
    complexity = vc_dimension * math.log(n_samples / vc_dimension) ** 2 / theta**2
    return float(share_below + math.sqrt((complexity + math.log(1.0 / delta)) / n_samples))


def _check_share(name: str, value: float) -> None:
    if not is_real(value) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be a share from 0 to 1, got {value!r}")


def _check_counts(**counts: int) -> None:
    for name, value in counts.items():
        if not is_integer(value) or value < 1:
            raise ValueError(f"{name} must be a positive whole number, got {value!r}")


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class MarginDistribution(Result):
    """Margins of rows after some numbers of rounds.

    Attributes
    ----------
    rounds : ndarray of int
        The numbers of rounds.
    margins : ndarray of shape (n_numbers, n_rows)
        The margins after each of them, ascending.
    """

    rounds: npt.NDArray[np.int64]
    margins: Floats

    def share_below(self, theta: float) -> Floats:
        """Return the share of rows with margin at most ``theta``, after each number of rounds.

        This is the first term of the bound on the test error.

        Parameters
        ----------
        theta : float

        Returns
        -------
        share : ndarray of shape (n_numbers,)
        """
        share: Floats = np.mean(self.margins <= theta, axis=1)
        return share

    def _summarize(self) -> dict[str, Any]:
        return {
            "rounds": self.rounds.tolist(),
            "n_rows": self.margins.shape[1],
            "smallest_margin": float(self.margins[-1, 0]),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the smallest margins, quartiles and means as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``n_rounds``, ``minimum``, ``quarter``, ``median``, ``three_quarters``,
            ``mean`` and ``error`` (the share of non-positive margins).
        """
        quarter, median, three = np.quantile(self.margins, [0.25, 0.5, 0.75], axis=1)
        return new_frame(
            {
                "n_rounds": self.rounds,
                "minimum": self.margins[:, 0],
                "quarter": quarter,
                "median": median,
                "three_quarters": three,
                "mean": self.margins.mean(axis=1),
                "error": self.share_below(0.0),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the cumulative distribution of margins, with a curve for each number of rounds.

        See figure 1.7 of Schapire and Freund (2012), "Boosting: foundations and algorithms".

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        share = np.arange(1, self.margins.shape[1] + 1) / self.margins.shape[1]
        for number, margins in zip(self.rounds, self.margins, strict=True):
            places = np.concatenate([[-1.0], margins, [1.0]])
            ax.step(places, np.concatenate([[0.0], share, [1.0]]), where="post", label=f"{number}")
        ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
        ax.set_xlim(-1.0, 1.0)
        ax.set_ylim(0.0, 1.0)
        ax.set_xlabel("margin")
        ax.set_ylabel("share of rows up to this margin")
        ax.legend(title="rounds", frameon=False)
        return ax


def margin_distribution(
    model: Any, X: Any, y: Any, *, rounds: Sequence[int] | None = None
) -> MarginDistribution:
    """Compute the margins of rows after some numbers of rounds.

    Parameters
    ----------
    model : estimator
        A fitted classifier with ``margins`` and ``staged_margins``, such as `AdaBoostClassifier`.
    X : array-like of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
    rounds : sequence of int, default=None
        Numbers of rounds, ascending. None: all rounds of the model.

    Returns
    -------
    result : MarginDistribution
        With the methods ``share_below()``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If the numbers are not ascending, or exceed the rounds of the model.

    Examples
    --------
    >>> from arboleda import AdaBoostClassifier
    >>> from arboleda.diagnose import margin_distribution
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=200, algorithm="discrete").fit(X, y)
    >>> result = margin_distribution(model, X, y, rounds=[5, 50, 200])
    >>> result.share_below(0.0).round(3).tolist()
    [0.032, 0.0, 0.0]
    >>> bool(result.margins[1, 0] < result.margins[2, 0])  # the smallest margin still grows
    True
    """
    check_sparse(X)
    if rounds is None:
        margins = np.sort(model.margins(X, y))
        return MarginDistribution(np.array([model.best_iteration_]), margins[np.newaxis])
    selected = np.array(rounds, dtype=np.int64)
    if selected.ndim != 1 or not len(selected) or selected[0] < 1 or (np.diff(selected) <= 0).any():
        raise ValueError(
            f"rounds must be ascending integers from 1, such as [5, 100]; got {rounds!r}"
        )
    if selected[-1] > model.best_iteration_:
        raise ValueError(
            f"rounds must be at most {model.best_iteration_}, the rounds of the model, got "
            f"{selected[-1]}: use fewer rounds, or fit with a larger n_estimators"
        )
    kept = [
        np.sort(margins)
        for number, margins in enumerate(model.staged_margins(X, y), start=1)
        if number in selected
    ]
    return MarginDistribution(selected, np.array(kept))
