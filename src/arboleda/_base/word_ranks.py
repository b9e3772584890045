"""Random words of given ranks, found by counts that are added over the shards of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from arboleda._base.row_words import Words
from arboleda._engine.all_shards import AllShards

__all__ = ["find_limits"]

Ranks = npt.NDArray[np.integer]

_BITS = 12  # of a word, which are counted together
_FEW_WORDS = 1024  # of a group, which are compared themselves


def find_limits(groups: Sequence[Words], ranks: Sequence[Ranks], shards: AllShards) -> list[Words]:
    """Return the k-th smallest words of each group over all shards.

    Parameters
    ----------
    groups : sequence of ndarray of uint64
        The words of this shard.
    ranks : sequence of ndarray of int
        The ranks k for each group, ascending, from 1 to its number of words over all shards.
    shards : AllShards

    Returns
    -------
    limits : list of ndarray of uint64
        For each group as many as ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda._engine.all_shards import ALONE
    >>> words = np.array([50, 20, 70], dtype=np.uint64)
    >>> find_limits([words], [np.array([1, 3])], ALONE)
    [array([20, 70], dtype=uint64)]
    """
    if shards.is_alone:
        return [_select(words, k) for words, k in zip(groups, ranks, strict=True)]
    sizes = [k.size for k in ranks]
    repeated = [words for words, size in zip(groups, sizes, strict=True) for _ in range(size)]
    limits = _search(repeated, np.concatenate([np.empty(0, np.int64), *ranks]), shards)
    return np.split(limits, np.cumsum(sizes)[:-1])


def _select(words: Words, ranks: Ranks) -> Words:
    limits: Words = np.partition(words, ranks - 1)[ranks - 1] if ranks.size else words[:0]
    return limits


def _search(left: list[Words], rank: Ranks, shards: AllShards) -> Words:
    """Return the word of one rank in each group.

    Bits of the words are counted from the highest on, as in ``core/base/key_search.h``, until few
    words with the bits found so far are left in all shards.
    """
    shift = 64
    while shards.add(np.array([words.size for words in left])).max(initial=0) > _FEW_WORDS:
        shift -= _BITS
        digits = [(words >> np.uint64(shift)) & np.uint64(2**_BITS - 1) for words in left]
        own = [np.bincount(digit.astype(np.intp), minlength=2**_BITS) for digit in digits]
        ends = np.cumsum(shards.add(np.concatenate(own)).reshape(len(left), -1), axis=1)
        for g, k in enumerate(rank.tolist()):
            found = int(np.searchsorted(ends[g], k))
            left[g] = left[g][digits[g] == found]
            rank[g] -= ends[g, found - 1] if found else 0
    together = [np.concatenate(words) for words in zip(*shards.gather(left), strict=True)]
    limits = [_select(words, rank[g : g + 1]) for g, words in enumerate(together)]
    return np.concatenate([np.empty(0, np.uint64), *limits])
