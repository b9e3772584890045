"""Sampling plans: the rows, columns and labels of each member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

__all__ = [
    "BagKind",
    "Draw",
    "RowsToDraw",
    "SamplingPlan",
    "compute_switching_limit",
    "draw",
    "find_learned_rows",
    "n_columns_of_member",
    "n_rows_of_bag",
    "switch_labels",
    "switch_labels_uniformly",
]

BagKind = Literal["all", "bootstrap", "without_replacement"]


@dataclass(frozen=True)
class SamplingPlan:
    """Numbers of rows, columns and switched labels, the same for all members.

    Each member gets ``n_drawn`` rows of positive weight, drawn as ``bag`` specifies, and
    ``n_columns`` columns, or with ``random_n_columns`` a number uniform on 1 .. ``n_columns``. A
    share ``switch_share`` of the labels is switched such that the classes keep their sizes or, with
    ``switch_uniformly``, to any other class with equal probability.
    """

    n_features: int
    n_drawn: int
    n_columns: int
    bag: BagKind = "all"
    columns_with_replacement: bool = False
    random_n_columns: bool = False
    switch_share: float = 0.0
    switch_uniformly: bool = False

    @property
    def all_columns(self) -> bool:
        """Whether every member gets the unchanged columns of the table."""
        whole = self.n_columns == self.n_features
        return whole and not self.columns_with_replacement and not self.random_n_columns


def n_rows_of_bag(max_samples: int | float | None, n_rows: int, *, bootstrap: bool) -> int:
    """Compute the number of rows of a bag.

    Parameters
    ----------
    max_samples : int, float or None
        A number, a fraction of the rows, or None for all rows.
    n_rows : int
        Number of rows of positive weight, from which rows are drawn.
    bootstrap : bool
        Whether a row may be drawn more than once.

    Raises
    ------
    ValueError
        If more rows are drawn without replacement than there are.
    """
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, float):
        return max(1, int(max_samples * n_rows))
    if max_samples > n_rows and not bootstrap:
        raise ValueError(
            f"max_samples={max_samples} is more than the {n_rows} rows of positive weight: lower "
            "it, or set bootstrap=True."
        )
    return int(max_samples)


def n_columns_of_member(max_features: int | float, n_features: int) -> int:
    """Compute the number of columns of a member from a number or a fraction.

    Raises
    ------
    ValueError
        If it exceeds the number of columns.
    """
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    if max_features > n_features:
        raise ValueError(
            f"max_features={max_features} must be <= n_features={n_features}, the columns of X: "
            "lower it, or use a fraction."
        )
    return int(max_features)


Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class RowsToDraw(NamedTuple):
    """Rows of a table that can be drawn.

    ``able`` lists the rows of positive weight; None: all. ``chance`` is the probability of each of
    them, for members that do not take weights; None: all are equal. ``held_out`` lists rows of
    positive weight that no member is trained on, because they are used to evaluate the members.
    """

    n_rows: int
    able: Indices | None = None
    chance: Floats | None = None
    held_out: Indices | None = None

    @property
    def n_able(self) -> int:
        """Number of rows that can be drawn."""
        return self.n_rows if self.able is None else len(self.able)

    @property
    def is_able(self) -> npt.NDArray[np.bool_]:
        """Whether each row of the table can be drawn."""
        is_able = np.ones(self.n_rows, dtype=bool)
        if self.able is not None:
            is_able[:] = False
            is_able[self.able] = True
        return is_able

    @classmethod
    def weighing(cls, n_rows: int, weight: Floats | None, *, by_chance: bool) -> RowsToDraw:
        """Create the rows from sample weights, which become probabilities with ``by_chance``."""
        if weight is None:
            return cls(n_rows)
        able = np.flatnonzero(weight)
        scaled = weight[able] / weight.max()
        chance = scaled / scaled.sum() if by_chance else None
        return cls(n_rows, None if len(able) == n_rows else able, chance)


def find_learned_rows(batches: Sequence[RowsToDraw], n_rows: int) -> npt.NDArray[np.bool_]:
    """Find the rows of a table with ``n_rows`` rows that members may have been trained on.

    Raises
    ------
    ValueError
        If members were trained on tables of other sizes.
    """
    is_learned = np.zeros(n_rows, dtype=bool)
    for rows in batches:
        if rows.n_rows != n_rows:
            raise ValueError(
                f"The existing members were trained on {rows.n_rows} rows, but X has {n_rows} "
                "rows, so their training rows are unknown: set weights='uniform', or "
                "warm_start=False."
            )
        is_learned |= rows.is_able
    return is_learned


class Draw(NamedTuple):
    """Columns and rows of a member, with repeats; rows are None if all are used."""

    columns: Indices
    rows: Indices | None

    def counts(self, rows: RowsToDraw) -> npt.NDArray[np.intp]:
        """Count how often each row of the table is in the bag."""
        if self.rows is None:
            if rows.able is None:
                return np.ones(rows.n_rows, dtype=np.intp)
            return np.bincount(rows.able, minlength=rows.n_rows)
        return np.bincount(self.rows, minlength=rows.n_rows)


def draw(plan: SamplingPlan, rows: RowsToDraw, seed: int) -> Draw:
    """Draw the columns, then the rows, of the member with this seed."""
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


def _draw_numbers(random: np.random.RandomState, n: int, n_drawn: int, *, replace: bool) -> Indices:
    drawn: Any = (
        random.randint(0, n, n_drawn)
        if replace
        else sample_without_replacement(n, n_drawn, random_state=random)
    )
    return np.asarray(drawn, dtype=np.intp)


def switch_labels(labels: Indices, share: float, rows: RowsToDraw, seed: int) -> Indices:
    """Switch an expected share p of the labels; every class keeps its number of rows.

    Breiman (2000) and Martinez-Munoz & Suarez (2005), equation (4): class j becomes i with
    probability w P_i, where w = p / (1 - sum P^2). That is, a row is selected with probability w
    and gets a label drawn from all rows. Here the selected rows exchange their labels by a random
    permutation. Each of m selected rows keeps its label with probability 1/m, so the expected
    number of switched labels is (m - 1) n / (n - 1) (1 - sum P^2), which determines m.
    """
    if share == 0.0:
        return labels
    able = np.arange(rows.n_rows) if rows.able is None else rows.able
    n = len(able)
    differing = _compute_disagreement(np.bincount(labels[able]))
    if differing == 0.0:  # one class
        return labels
    # A separate random stream of the same seed, independent of rows and columns.
    random = np.random.default_rng([seed, 1])
    n_selected = min(n, round(1 + share * (n - 1) / differing))
    selected = random.choice(able, n_selected, replace=False)
    result = labels.copy()
    result[selected] = labels[random.permutation(selected)]
    return result


def switch_labels_uniformly(labels: Indices, share: float, rows: RowsToDraw, seed: int) -> Indices:
    """Switch a fixed share p of the labels, to each other class with equal probability.

    Martinez-Munoz & Suarez (2005), section 2: class j becomes i with probability p / (K - 1). The
    classes become more balanced. Only classes of rows that can be drawn count.
    """
    able = np.arange(rows.n_rows) if rows.able is None else rows.able
    classes, place = np.unique(labels[able], return_inverse=True)
    n_classes = len(classes)
    if share == 0.0 or n_classes == 1:
        return labels
    # The same random stream as in `switch_labels`.
    random = np.random.default_rng([seed, 1])
    selected = random.choice(len(able), round(share * len(able)), replace=False)
    steps = random.integers(1, n_classes, len(selected))
    result = labels.copy()
    result[able[selected]] = classes[(place[selected] + steps) % n_classes]
    return result


def compute_switching_limit(class_sizes: npt.NDArray[Any]) -> float:
    """Compute the share of switched labels at which the majority vote becomes unreliable.

    A class i must be kept more often than it becomes any other class j:
    1 - w (1 - P_i) > w P_j, that is p < (1 - sum P^2) / (1 - P_i + P_j) for all i and j. With two
    classes this is the share of the smaller one; with K classes of equal size it is (K - 1) / K.

    Parameters
    ----------
    class_sizes : ndarray of shape (n_classes,)
        Numbers of rows of at least two classes.
    """
    shares = class_sizes / class_sizes.sum()
    order = np.sort(shares)
    return float(_compute_disagreement(class_sizes) / (1 - order[0] + order[-1]))


def _compute_disagreement(class_sizes: npt.NDArray[Any]) -> float:
    """Compute the probability that two labels differ: 1 - sum P^2."""
    shares = class_sizes / class_sizes.sum()
    return float(1 - np.sum(shares**2))
