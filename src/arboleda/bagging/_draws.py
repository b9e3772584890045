"""What one member learns from: a function of plan and seed, drawn again rather than stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from arboleda.bagging._sampling_plan import SamplingPlan

__all__ = [
    "Draw",
    "RowsToDraw",
    "compute_switching_limit",
    "draw",
    "find_learned_rows",
    "switch_labels",
    "switch_labels_uniformly",
]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class RowsToDraw(NamedTuple):
    """The rows of a table, as draws see them.

    ``able`` lists the rows of positive weight; None: all. ``chance`` is the probability of each of
    them, for members that cannot weigh rows themselves; None: all alike. ``held_out`` lists rows of
    positive weight that no member learns from, because they measure the members' quality.
    """

    n_rows: int
    able: Indices | None = None
    chance: Floats | None = None
    held_out: Indices | None = None

    @property
    def n_able(self) -> int:
        """Rows there are to draw from."""
        return self.n_rows if self.able is None else len(self.able)

    @property
    def is_able(self) -> npt.NDArray[np.bool_]:
        """Whether each row of the table can be drawn."""
        found = np.ones(self.n_rows, dtype=bool)
        if self.able is not None:
            found[:] = False
            found[self.able] = True
        return found

    @classmethod
    def weighing(cls, n_rows: int, weight: Floats | None, *, by_chance: bool) -> RowsToDraw:
        """Rows to draw from when they have weights, which members use themselves or cannot."""
        if weight is None:
            return cls(n_rows)
        able = np.flatnonzero(weight)
        scaled = weight[able] / weight.max()
        chance = scaled / scaled.sum() if by_chance else None
        return cls(n_rows, None if len(able) == n_rows else able, chance)


def find_learned_rows(batches: Sequence[RowsToDraw], n_rows: int) -> npt.NDArray[np.bool_]:
    """Whether members may have learned from each row of a table of so many.

    Raises
    ------
    ValueError
        If they learned from tables of other sizes.
    """
    found = np.zeros(n_rows, dtype=bool)
    for rows in batches:
        if rows.n_rows != n_rows:
            raise ValueError(
                f"the members made before learned from {rows.n_rows} rows, and there are {n_rows} "
                "now, so that it is unknown which of these they learned from: set "
                "weights='uniform', or warm_start=False"
            )
        found |= rows.is_able
    return found


class Draw(NamedTuple):
    """Columns, and rows (those drawn twice stand twice; None: all that there are to draw from)."""

    columns: Indices
    rows: Indices | None

    def counts(self, rows: RowsToDraw) -> npt.NDArray[np.intp]:
        """How often each row of the table is in the bag."""
        if self.rows is None:
            if rows.able is None:
                return np.ones(rows.n_rows, dtype=np.intp)
            return np.bincount(rows.able, minlength=rows.n_rows)
        return np.bincount(self.rows, minlength=rows.n_rows)


def draw(plan: SamplingPlan, rows: RowsToDraw, seed: int) -> Draw:
    """Draw the columns, then the rows, of the member with that seed."""
    random = check_random_state(seed)
    n_columns = plan.n_columns
    if plan.random_n_columns:
        n_columns = 1 + random.randint(n_columns)
    columns = _draw_numbers(
        random, plan.n_features, n_columns, replace=plan.columns_with_replacement
    )
    if plan.bag == "all":
        return Draw(columns, None)
    replace = plan.bag == "bootstrap"
    if rows.chance is None:
        places = _draw_numbers(random, rows.n_able, plan.n_drawn, replace=replace)
    else:
        places = random.choice(rows.n_able, plan.n_drawn, replace=replace, p=rows.chance)
    return Draw(columns, places if rows.able is None else rows.able[places])


def _draw_numbers(random: np.random.RandomState, n: int, wanted: int, *, replace: bool) -> Indices:
    found: Any = (
        random.randint(0, n, wanted)
        if replace
        else sample_without_replacement(n, wanted, random_state=random)
    )
    return np.asarray(found, dtype=np.intp)


def switch_labels(labels: Indices, share: float, rows: RowsToDraw, seed: int) -> Indices:
    """Labels of which a share p are others, on average; every class keeps its number of rows.

    Breiman (2000) and Martinez-Munoz & Suarez (2005), equation (4): class j becomes i with
    probability w P_i, where w = p / (1 - sum P^2). That is, a row takes part with probability w and
    takes a label drawn from all. Here the rows that take part exchange their labels by a random
    permutation. Of m rows that do, each keeps its own with probability 1/m, so that
    (m - 1) n / (n - 1) (1 - sum P^2) labels of n become others on average: this gives m.
    """
    if share == 0.0:
        return labels
    able = np.arange(rows.n_rows) if rows.able is None else rows.able
    n = len(able)
    differing = _compute_disagreement(np.bincount(labels[able]))
    if differing == 0.0:  # one class
        return labels
    # Another stream than that of rows and columns, of the same seed.
    random = np.random.default_rng([seed, 1])
    taking_part = min(n, round(1 + share * (n - 1) / differing))
    some = random.choice(able, taking_part, replace=False)
    result = labels.copy()
    result[some] = labels[random.permutation(some)]
    return result


def switch_labels_uniformly(labels: Indices, share: float, rows: RowsToDraw, seed: int) -> Indices:
    """Labels of which a fixed share p are others, each of the other classes as likely as any.

    Martinez-Munoz & Suarez (2005), section 2: class j becomes i with probability p / (K - 1). The
    classes' sizes move towards equal ones. Only classes that rows to draw from have count.
    """
    able = np.arange(rows.n_rows) if rows.able is None else rows.able
    classes, place = np.unique(labels[able], return_inverse=True)
    n_classes = len(classes)
    if share == 0.0 or n_classes == 1:
        return labels
    # The same stream as that of the other scheme.
    random = np.random.default_rng([seed, 1])
    some = random.choice(len(able), round(share * len(able)), replace=False)
    steps = random.integers(1, n_classes, len(some))
    result = labels.copy()
    result[able[some]] = classes[(place[some] + steps) % n_classes]
    return result


def compute_switching_limit(class_sizes: npt.NDArray[Any]) -> float:
    """Share of switched labels from which on the majority of many members is no longer right.

    A class i must stay itself more often than it becomes any other class j:
    1 - w (1 - P_i) > w P_j, that is p < (1 - sum P^2) / (1 - P_i + P_j) for all of them. With two
    classes this is the share of the smaller one; with K classes of equal size it is (K - 1) / K.

    Parameters
    ----------
    class_sizes : ndarray of shape (n_classes,)
        At least two classes.
    """
    shares = class_sizes / class_sizes.sum()
    order = np.sort(shares)
    return float(_compute_disagreement(class_sizes) / (1 - order[0] + order[-1]))


def _compute_disagreement(class_sizes: npt.NDArray[Any]) -> float:
    """Probability that two labels differ: 1 - sum P^2."""
    shares = class_sizes / class_sizes.sum()
    return float(1 - np.sum(shares**2))
