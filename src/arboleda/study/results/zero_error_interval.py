"""The low end of a metric's interval where no test row was answered wrong.

Every sample drawn from such rows is without error, too: the bootstrap would be sure of what it
cannot know. If n answers in a row are right, a share of wrong ones of up to

    u = 1 - tail^(1 / n)

stays possible: the upper end of the interval of Clopper and Pearson (1934, "The use of confidence
or fiducial limits illustrated in the case of the binomial"), about 3.7 / n for 95 percent.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["least_area", "table_still_possible"]

Counts = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


def table_still_possible(y: Rows, n_classes: int, units: Rows, tail: float) -> Counts:
    """Counts by true and predicted class with as many errors as stay possible.

    Each class has the same share of them, in the other classes by their frequency.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes of the rows, all of them predicted right.
    n_classes : int
    units : ndarray of shape (n,)
        What each row belongs to: rows of one unit are no evidence of their own.
    tail : float
        Probability of seeing no error where that many are to be expected.
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
    """The area under the ROC curve that stays possible where every hit stands above the others.

    As many pairs as the rarer side has units share no row, and each tells for itself which stands
    higher. Of more than two classes the mean over them.
    """
    shown = [1] if n_classes == 2 else range(n_classes)
    areas = []
    for k in shown:
        hit = y == k
        rarer = min((units[hit], units[~hit]), key=lambda some: len(np.unique(some)))
        areas.append(_least_share(rarer, tail))
    return float(np.mean(areas))


def _least_share(units: Rows, tail: float) -> float:
    """The least share of right answers that as many right ones leave possible."""
    return float(tail ** (1 / len(np.unique(units))))
