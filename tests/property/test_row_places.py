"""Splits and orders of rows follow from the rows' numbers, wherever the rows are held."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import checked

from arboleda._base.folds import fold_splits, hold_out
from arboleda._base.row_words import Purpose, draw_row_words
from arboleda.boosting._target_statistics import _CategoryGroups

SEEDS = st.integers(0, 2**31 - 1)
PARTS = [[0, 40], [0, 13, 40], [0, 13, 13, 40], [0, 0, 3, 4, 20, 21, 40, 40]]


def make_rows(seed: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Numbers of some rows, ascending with gaps, and classes of all rows."""
    random = np.random.default_rng(seed)
    rows = np.sort(random.choice(90, 40, replace=False))
    return rows, random.integers(0, 4, 90)


def test_words_are_those_of_the_core() -> None:
    """core/base/random_test.cc notes the same numbers."""
    words = draw_row_words(np.arange(5), 17, Purpose.FOLD)
    assert words[0] == 4320831212805362530
    assert words[4] == 18042285788461210165
    assert not np.isin(draw_row_words(np.arange(5), 17, Purpose.TARGET_STATISTIC), words).any()


def test_words_are_uniform_and_differ() -> None:
    """Chi-squared of the upper bits and of the lower ones stays under its 99.9 % point."""
    words = draw_row_words(np.arange(64_000), 3, Purpose.FOLD)
    assert np.unique(words).size == words.size
    for bits in (words >> np.uint64(58), words & np.uint64(63)):
        counts = np.bincount(bits.astype(np.intp), minlength=64)
        assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 103.4


@pytest.mark.parametrize("bounds", PARTS)
@given(seed=SEEDS)
@checked
def test_parts_of_a_table_have_the_words_of_the_whole(bounds: list[int], seed: int) -> None:
    rows = np.arange(1000, 1040)
    parts = [
        draw_row_words(np.arange(end - begin) + (1000 + begin), seed, Purpose.FOLD)
        for begin, end in pairwise(bounds)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), draw_row_words(rows, seed, Purpose.FOLD))


@pytest.mark.parametrize("bounds", PARTS)
@given(seed=SEEDS, n_held_out=st.integers(1, 39), stratify=st.booleans())
@checked
def test_rows_are_held_out_by_rank_in_their_class(
    bounds: list[int], seed: int, n_held_out: int, stratify: bool
) -> None:
    """Every part finds its own held-out rows, from limits that counts of all parts determine."""
    rows, y = make_rows(seed)
    train, held_out = hold_out(n_held_out, y, rows, stratify=stratify, seed=seed)
    assert held_out.size == n_held_out
    np.testing.assert_array_equal(np.union1d(train, held_out), rows)

    classes = y if stratify else np.zeros_like(y)
    places = [np.arange(begin, end) for begin, end in pairwise(bounds)]
    parts = [rows[place] for place in places]
    counts = sum(np.bincount(classes[part], minlength=4) for part in parts)
    ends = np.cumsum(counts)
    chosen = np.diff(ends * n_held_out // rows.size, prepend=0)
    found = []
    for label in range(4):
        # The limit by bisection: each part only counts how many of its words are below.
        words = [
            draw_row_words(place[classes[rows[place]] == label], seed, Purpose.FOLD)
            for place in places
        ]
        limit = 0
        for bit in range(63, -1, -1):
            tried = np.uint64(limit | 1 << bit)
            if sum(int((own < tried).sum()) for own in words) <= chosen[label]:
                limit |= 1 << bit
        for part, own in zip(parts, words, strict=True):
            found.append(part[classes[part] == label][own < np.uint64(limit)])
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), held_out)


@given(seed=SEEDS, n_folds=st.integers(2, 40), stratify=st.booleans())
@checked
def test_folds_are_ranges_of_ranks(seed: int, n_folds: int, stratify: bool) -> None:
    """Sizes differ by 1 at most, within classes too; without classes folds are ranges of words."""
    rows, y = make_rows(seed)
    folds = [held for _, held in fold_splits(n_folds, y, rows, stratify=stratify, seed=seed)]
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), rows)
    assert np.ptp([fold.size for fold in folds]) <= 1
    for label in range(4) if stratify else ():
        assert np.ptp([(y[fold] == label).sum() for fold in folds]) <= 1
    if not stratify:  # one after the other by words
        words = draw_row_words(np.arange(rows.size), seed, Purpose.FOLD)
        limits = [np.sort(words[np.searchsorted(rows, fold)])[[0, -1]] for fold in folds]
        assert all(before[1] < after[0] for before, after in pairwise(limits))
    # Only the places of the rows matter, not what their numbers are.
    others = fold_splits(n_folds, y[rows], np.arange(rows.size), stratify=stratify, seed=seed)
    for fold, (_, other) in zip(folds, others, strict=True):
        np.testing.assert_array_equal(fold, rows[other])


@given(seed=SEEDS)
@checked
def test_sums_over_earlier_rows_of_a_category_need_only_its_rows(seed: int) -> None:
    rows, y = make_rows(seed)
    codes = y[rows]
    values = np.random.default_rng(seed).integers(-9, 10, rows.size)
    words = draw_row_words(rows, seed, Purpose.TARGET_STATISTIC)
    before, totals = _CategoryGroups(codes, words).sums(values, 4)
    for code in range(4):
        own = codes == code
        alone, total = _CategoryGroups(codes[own], words[own]).sums(values[own], 4)
        np.testing.assert_array_equal(alone, before[own])
        assert total[code] == totals[code] == values[own].sum()
