"""Random words of rows: functions of a seed and of the numbers of the rows alone.

A row has the same word whichever rows are beside it, wherever it is held. The words are those of
`RowWords` in ``core/base/random.h``: those of SplitMix64 (Steele, Lea and Flood 2014, "Fast
splittable pseudorandom number generators"), from a start that seed and purpose determine.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Purpose", "draw_row_words"]

Words = npt.NDArray[np.uint64]

_WEYL = 0x9E3779B97F4A7C15
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_MASK = 2**64 - 1


class Purpose(IntEnum):
    """What words are for; words of different purposes are unrelated.

    ``core/base/random.h`` lists all purposes.
    """

    FOLD = 14
    TARGET_STATISTIC = 15


def draw_row_words(rows: npt.NDArray[np.integer[Any]], seed: int, purpose: Purpose) -> Words:
    """Return a random word of 64 bits for each row.

    Parameters
    ----------
    rows : ndarray
        Numbers of the rows in the table, not negative.
    seed : int
        Not negative.
    purpose : Purpose

    Returns
    -------
    words : ndarray of uint64, of the shape of ``rows``

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda._base.row_words import Purpose, draw_row_words
    >>> whole = draw_row_words(np.arange(10), 1, Purpose.FOLD)
    >>> part = draw_row_words(np.array([7, 3]), 1, Purpose.FOLD)
    >>> bool(whole[7] == part[0] and whole[3] == part[1])
    True
    """
    root = _scatter(seed & _MASK ^ _scatter(purpose << 32))
    words = rows.astype(np.uint64)
    words *= np.uint64(_WEYL)
    words += np.uint64((root + _WEYL) & _MASK)
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)
    return words


def _scatter(word: int) -> int:
    """Return a word scattered by the finaliser of SplitMix64."""
    word = (word + _WEYL) & _MASK
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        word = (word ^ word >> shift) * factor & _MASK
    return word ^ word >> 31
