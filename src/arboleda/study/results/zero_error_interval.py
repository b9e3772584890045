"""The lower end of a metric's interval if no test row was predicted wrong.

Every bootstrap sample of such rows has no error either, so the bootstrap interval would have no
width. If n of n predictions are correct, an error rate of up to

    u = 1 - tail^(1 / n)

is possible: the upper end of the interval of Clopper and Pearson (1934, "The use of confidence
or fiducial limits illustrated in the case of the binomial"), about 3.7 / n for 95 percent.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["least_area", "table_still_possible"]

Counts = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


def table_still_possible(y: Rows, n_classes: int, units: Rows, tail: float) -> Counts:
    """Return counts by true and predicted class at the largest possible error rate.

    Each class has the same error rate; errors go to other classes by their frequency.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes of the rows, all predicted correctly.
    n_classes : int
    units : ndarray of shape (n,)
        The unit of each row: rows of one unit are not independent.
    tail : float
        Probability of no error at that error rate.
    """
    counts = np.bincount(y, minlength=n_classes).astype(np.float64)
    wrong = 1 - _least_share(units, tail)
    others = np.tile(counts, (n_classes, 1))
    np.fill_diagonal(others, 0.0)
    if not others[y[0]].any():
        others[y[0]] = 1.0
        others[y[0], y[0]] = 0.0
    total = others.sum(axis=1, keepdims=True)
    spread = np.divide(others, total, out=np.zeros_like(others), where=total > 0)
    possible: Counts = np.diag((1 - wrong) * counts) + wrong * counts[:, np.newaxis] * spread
    return possible


def least_area(y: Rows, n_classes: int, units: Rows, tail: float) -> float:
    """Return the smallest possible area under the ROC curve of a perfect ranking.

    As many pairs as the rarer class has units share no row and so are independent. With more than
    two classes it is the mean over the classes.
    """
    shown = [1] if n_classes == 2 else range(n_classes)
    areas = []
    for k in shown:
        hit = y == k
        rarer = min((units[hit], units[~hit]), key=lambda some: len(np.unique(some)))
        areas.append(_least_share(rarer, tail))
    return float(np.mean(areas))


def _least_share(units: Rows, tail: float) -> float:
    """Return the smallest possible accuracy if all predictions are correct."""
    return float(tail ** (1 / len(np.unique(units))))
