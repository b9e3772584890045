"""Distribution of the margins of training rows after some numbers of rounds.

The margin of a row is the vote share of its class minus the largest vote share of another class,
from -1 to 1. Boosting keeps increasing small margins after the training error is 0. By the bound of
Schapire, Freund, Bartlett and Lee (1998), "Boosting the margin: a new explanation for the
effectiveness of voting methods", Annals of Statistics 26(5), the test error is at most the share of
training rows whose margin is at most theta, plus a term that does not depend on the number of
rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda._sparse import check_sparse

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MarginDistribution:
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
