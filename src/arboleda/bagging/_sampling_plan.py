"""What the members of an ensemble are made to differ by: rows, columns and labels, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["BagKind", "SamplingPlan", "n_columns_of_member", "n_rows_of_bag"]

BagKind = Literal["all", "bootstrap", "without_replacement"]


@dataclass(frozen=True)
class SamplingPlan:
    """What each member is given; the same for all of them.

    ``n_drawn`` rows by ``bag``, out of those of positive weight; ``n_columns`` columns, or with
    ``random_n_columns`` a number uniform on 1 .. ``n_columns``; of the labels a share
    ``switch_share`` switched, such that the classes keep their sizes or, with
    ``switch_uniformly``, to any other class alike.
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
        """Whether every member sees the table as it is."""
        whole = self.n_columns == self.n_features
        return whole and not self.columns_with_replacement and not self.random_n_columns


def n_rows_of_bag(max_samples: int | float | None, n_rows: int, *, bootstrap: bool) -> int:
    """Rows that a bag draws.

    Parameters
    ----------
    max_samples : int, float or None
        A number, a fraction of the rows, or None: as many as there are.
    n_rows : int
        Rows there are to draw from: those of positive weight.
    bootstrap : bool
        Whether a row may be drawn more than once.

    Raises
    ------
    ValueError
        If more rows are to be drawn than there are, without replacement.
    """
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, float):
        return max(1, int(max_samples * n_rows))
    if max_samples > n_rows and not bootstrap:
        raise ValueError(
            f"max_samples={max_samples} is more than the {n_rows} rows there are to draw from "
            "without replacement: lower it, or set bootstrap=True"
        )
    return int(max_samples)


def n_columns_of_member(max_features: int | float, n_features: int) -> int:
    """Columns that a member draws: a number, or a fraction of all.

    Raises
    ------
    ValueError
        If that is more than there are.
    """
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    if max_features > n_features:
        raise ValueError(
            f"max_features={max_features} must be <= n_features={n_features}, the columns of X: "
            "lower it, or give a fraction"
        )
    return int(max_features)
