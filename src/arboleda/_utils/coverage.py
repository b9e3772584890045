"""The coverage of intervals: the probability that they contain the target."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from arboleda._utils.number_types import is_real

__all__ = ["check_coverage", "compute_rank"]


def check_coverage(coverage: Any) -> None:
    """Raise an error if a coverage is not strictly between 0 and 1.

    Raises
    ------
    ValueError
        If it is not.
    """
    is_number = is_real(coverage) and not isinstance(coverage, bool)
    if not is_number or not 0.0 < coverage < 1.0:
        raise ValueError(
            f"coverage must be strictly between 0 and 1, such as 0.9, got {coverage!r}."
        )


def compute_rank(coverage: float, n_rows: int) -> int:
    """Compute the rank of the limit among n sorted scores: ceil((n + 1) coverage), from 1.

    The score of one more exchangeable row is at most the k-th smallest of n with probability at
    least k / (n + 1). The product is computed exactly from the decimal form of ``coverage``: 0.56
    times 100 is 56.

    Returns
    -------
    k : int
        n + 1 if n rows are too few: no score is large enough.
    """
    return math.ceil((n_rows + 1) * Fraction(repr(float(coverage))))
