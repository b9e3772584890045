"""Sampling plan of an ensemble: numbers of rows, columns and switched labels of its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["BagKind", "SamplingPlan", "n_columns_of_member", "n_rows_of_bag"]

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
