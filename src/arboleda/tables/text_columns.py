"""What the texts of a column are: a category, Booleans, a list, free text or an identifier."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arboleda.tables.text_encoding import (
    TextEncoding,
    compute_flagged_share,
    infer_list_separator,
    learn_encoding,
)

__all__ = ["TextDecision", "decide_text_kind", "is_true_word", "read_booleans"]

TextKind = Literal["category", "boolean", "list", "text", "identifier"]
Counts = npt.NDArray[np.int64]

# Texts with more distinct values than this, and than half of the rows, are no plain category.
MAX_LEVELS_OF_FEW_ROWS = 50
# Distinct values that only identify the rows: more than this number, all different.
MIN_IDENTIFIERS = 10
# Free text: this share of the rows has a frequent word.
MIN_FLAGGED = 0.2
# A category of many levels: at most this number of levels per row.
MAX_LEVELS_PER_ROW = 0.9

_BOOLEANS = (
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"),
    ("no", "si"), ("no", "sí"), ("non", "oui"), ("nein", "ja"), ("falso", "verdadero"),
)  # fmt: skip
_TRUE = frozenset(pair[1] for pair in _BOOLEANS)
_WORDS = frozenset(word for pair in _BOOLEANS for word in pair)


@dataclass(frozen=True)
class TextDecision:
    """What a column of texts is, with the encoding of a text or list."""

    kind: TextKind
    encoding: TextEncoding | None = None


def decide_text_kind(texts: pa.Array, counts: Counts) -> TextDecision:
    """Decide what the texts of some rows are.

    Parameters
    ----------
    texts : pyarrow.Array
        The distinct texts, without missing ones.
    counts : ndarray of shape (n_texts,)
        How often each occurs in the rows.
    """
    n_distinct, n_present = len(texts), int(counts.sum())
    if read_booleans(texts.to_pylist() if n_distinct < MIN_IDENTIFIERS else ()) is not None:
        return TextDecision("boolean")
    separator = infer_list_separator(texts, counts)
    if separator is not None:
        encoding = learn_encoding("list", texts, counts, separator)
        if encoding.n_flags:
            return TextDecision("list", encoding)
    if not _is_varied(n_distinct, n_present):
        return TextDecision("category")
    encoding = learn_encoding("text", texts, counts)
    if compute_flagged_share(encoding, texts, counts) >= MIN_FLAGGED:
        return TextDecision("text", encoding)
    if n_distinct <= MAX_LEVELS_PER_ROW * n_present:
        return TextDecision("category")
    return TextDecision("identifier", encoding)


def _is_varied(n_distinct: int, n_present: int) -> bool:
    """Return whether the texts have too many distinct values for a plain category."""
    if n_distinct == n_present:
        return n_distinct > MIN_IDENTIFIERS
    return n_distinct > MAX_LEVELS_OF_FEW_ROWS and n_distinct > n_present / 2


def read_booleans(texts: Iterable[str]) -> tuple[bool, ...] | None:
    """Return the truth values of words such as yes and no; None unless both occur.

    Examples
    --------
    >>> read_booleans(["Yes", "no ", "Y"])
    (True, False, True)
    >>> read_booleans(["yes", "maybe"]) is None
    True
    """
    folded = [text.strip().casefold() for text in texts]
    values = tuple(word in _TRUE for word in folded)
    if not set(folded) <= _WORDS or len({*values}) < 2:
        return None
    return values


def is_true_word(text: str) -> bool | None:
    """Return the truth value of one word; None for other texts."""
    folded = text.strip().casefold()
    return folded in _TRUE if folded in _WORDS else None
