"""Random words of given ranks, found by counts that are added over the shards of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from arboleda._base.row_words import Words
from arboleda._engine.all_shards import AllShards

__all__ = ["find_limits"]

_BITS = 12  # of a word, which are counted together
_FEW_WORDS = 1024  # of a group, which are compared themselves


def find_limits(
    groups: Sequence[Words], ranks: npt.NDArray[np.integer], shards: AllShards
) -> Words:
    """Return the k-th smallest word of each group over all shards.

    Bits of the words are counted from the highest on, as in ``core/base/key_search.h``, until few
    words with the bits found so far are left.

    Parameters
    ----------
    groups : sequence of ndarray of uint64
        The words of this shard.
    ranks : ndarray of shape (n_groups,)
        k of each group, from 1 to its number of words over all shards; 0: the limit is 0.
    shards : AllShards

    Returns
    -------
    limits : ndarray of uint64 of shape (n_groups,)

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda._engine.all_shards import ALONE
    >>> find_limits([np.array([50, 20, 70], dtype=np.uint64)], np.array([2]), ALONE)
    array([50], dtype=uint64)
    """
    if shards.is_alone:
        return _select(groups, ranks)
    left = [words if k > 0 else words[:0] for words, k in zip(groups, ranks.tolist(), strict=True)]
    rank = ranks.astype(np.int64)
    shift = 64
    while int(shards.add(np.array([words.size for words in left])).max(initial=0)) > _FEW_WORDS:
        shift -= _BITS
        digits = [(words >> np.uint64(shift)) & np.uint64(2**_BITS - 1) for words in left]
        own = [np.bincount(digit.astype(np.intp), minlength=2**_BITS) for digit in digits]
        ends = np.cumsum(shards.add(np.concatenate(own)).reshape(len(left), -1), axis=1)
        for g, k in enumerate(rank.tolist()):
            found = int(np.searchsorted(ends[g], k))
            if k > 0:
                left[g] = left[g][digits[g] == found]
                rank[g] -= ends[g, found - 1] if found else 0
    return _select([np.concatenate(each) for each in zip(*shards.gather(left), strict=True)], rank)


def _select(groups: Sequence[Words], ranks: npt.NDArray[np.integer]) -> Words:
    limits = [
        np.partition(words, k - 1)[k - 1] if k > 0 else 0
        for words, k in zip(groups, ranks.tolist(), strict=True)
    ]
    return np.array(limits, dtype=np.uint64)
