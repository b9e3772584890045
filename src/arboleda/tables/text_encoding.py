"""Free text and lists as numbers: flags of frequent words or items, lengths, and numbers inside."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "SEPARATORS",
    "TextEncoding",
    "compute_flagged_share",
    "encoding_from_dict",
    "infer_list_separator",
    "learn_encoding",
]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

SEPARATORS = (";", "|")
# A list column: the share of its values with several items, and the number of items per different
# item, so that items repeat.
MIN_LISTS, MIN_REPEATS = 0.1, 5
# Flags of a column: at most so many, and fewer if they have more than so many cells, but not fewer
# than the last number.
MAX_FLAGS, MAX_CELLS, MIN_FLAGS = 100, 20_000_000, 30
# How often a word must occur, and be absent: in so many rows, and in this share of them.
MIN_ROWS, MIN_ROW_SHARE = 10, 0.01
# Texts from which the words are learned.
MAX_SAMPLE = 100_000
# A code such as C85, whose letters are a word of their own, too; and random digits and letters.
_CODE = r"\b(\p{L}{1,4})([0-9]+)\b"
_HEXADECIMAL, MIN_HEXADECIMAL = r"^[0-9a-fA-F-]{3,}$", 0.9
# The range of numbers that count the texts, as a multiple of their number: test rows are gaps.
MAX_GAPS = 1.5
# The letters and digits of ASCII; all other bytes are blanks.
_WORD_BYTES = np.array([b if chr(b).isalnum() and b < 128 else 32 for b in range(256)], np.uint8)
# Digits of a number inside a text, so that it is exact.
MAX_DIGITS = 15


@dataclass(frozen=True)
class TextEncoding:
    """The numbers that represent a text or a list.

    Attributes
    ----------
    kind : {"text", "list"}
    vocabulary : tuple of str
        The words (in lower case) or items with a flag each.
    separator : str
        What separates the items of a list.
    has_number : bool
        Whether the last number inside a text is a value of its own, as in "PC 17599".
    """

    kind: Literal["text", "list"]
    vocabulary: tuple[str, ...] = ()
    separator: str = ""
    has_number: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers, such as "length" or "has 'mrs'"."""
        counts = ("items",) if self.kind == "list" else ("length", "words")
        number = ("number",) if self.has_number else ()
        return (*counts, *number, *(f"has {word!r}" for word in self.vocabulary))

    @property
    def n_flags(self) -> int:
        """The number of flags, which are the last of the names."""
        return len(self.vocabulary)

    def encode(self, texts: pa.Array) -> Floats:
        """Compute the numbers of distinct texts.

        Returns
        -------
        values : ndarray of shape (n_texts, n_names)
        """
        texts = texts.cast(pa.large_string())
        rows, parts = _split(self, texts)
        n_parts = np.bincount(rows, minlength=len(texts)).astype(np.float64)
        columns = [n_parts] if self.kind == "list" else [_count_characters(texts), n_parts]
        if self.has_number:
            columns.append(_find_numbers(texts))
        known = pa.array(self.vocabulary, pa.large_string())
        place = np.asarray(pc.fill_null(pc.index_in(parts, value_set=known), -1))
        values = np.zeros((len(texts), len(columns) + len(self.vocabulary)))
        values[:, : len(columns)] = np.column_stack(columns)
        is_known = place >= 0
        values[rows[is_known], place[is_known] + len(columns)] = 1.0
        return values

    def to_dict(self) -> dict[str, Any]:
        """Convert the encoding to plain values, for JSON."""
        return {**asdict(self), "vocabulary": list(self.vocabulary)}


def encoding_from_dict(content: Any) -> TextEncoding:
    """Make an encoding of plain values.

    Raises
    ------
    ValueError
        If they are none of an encoding.
    """
    match content:
        case {
            "kind": "text" | "list" as kind,
            "vocabulary": list(words),
            "separator": str(separator),
            "has_number": bool(has_number),
        } if all(isinstance(word, str) for word in words) and len(words) <= MAX_FLAGS:
            return TextEncoding(kind, tuple(words), separator, has_number)
    raise ValueError("it is not an encoding of texts")


def infer_list_separator(texts: pa.Array, counts: Counts) -> str | None:
    """Return what separates the items of lists; None if the texts are no lists.

    In lists, items repeat: a sentence with a semicolon is none.
    """
    texts, counts = _draw_texts(texts, counts)
    for separator in SEPARATORS:
        is_list = np.asarray(pc.match_substring(texts, separator))
        if counts[is_list].sum() < MIN_LISTS * max(1, counts.sum()):
            continue
        rows, items = _split(TextEncoding("list", separator=separator), texts)
        n_items = int(counts[rows].sum())
        n_distinct = pc.count_distinct(items).as_py()
        if n_items >= MIN_REPEATS * n_distinct and n_distinct < max(len(texts), 3):
            return separator
    return None


def learn_encoding(
    kind: Literal["text", "list"], texts: pa.Array, counts: Counts, separator: str = ""
) -> TextEncoding:
    """Choose the words or items that get a flag: those that split the rows most evenly.

    Parameters
    ----------
    kind : {"text", "list"}
    texts : pyarrow.Array
        The distinct texts of the training rows, without missing ones.
    counts : ndarray of shape (n_texts,)
        How often each occurs.
    separator : str, default=""
        What separates the items of a list.
    """
    n_flags = min(MAX_FLAGS, max(MIN_FLAGS, MAX_CELLS // max(1, int(counts.sum()))))
    texts, counts = _draw_texts(texts, counts)
    encoding = TextEncoding(kind, separator=separator)
    rows, parts = _split(encoding, texts)
    coded = parts.dictionary_encode()
    n_distinct, n_rows = len(coded.dictionary), int(counts.sum())
    # A word that stands twice in a text counts once.
    pairs = np.unique(rows * n_distinct + np.asarray(coded.indices, dtype=np.int64))
    text, word = np.divmod(pairs, max(n_distinct, 1))
    totals = np.bincount(word, counts[text], minlength=n_distinct)
    smaller = np.minimum(totals, n_rows - totals)
    order = np.argsort(-smaller, kind="stable")
    order = order[smaller[order] >= max(MIN_ROWS, MIN_ROW_SHARE * n_rows)]
    if kind == "text" and _is_hexadecimal(texts):
        order = order[:0]
    chosen = _drop_copies(order[: 2 * n_flags], text, word)[:n_flags]
    words = coded.dictionary.take(pa.array(chosen, pa.int64())).to_pylist()
    has_number = kind == "text" and _are_numbered(texts, counts)
    return replace(encoding, vocabulary=tuple(words), has_number=has_number)


def _drop_copies(chosen: Counts, text: Counts, word: Counts) -> list[int]:
    """Keep one of the words that always stand together, by the text of each word."""
    texts_of_words = text[np.argsort(word, kind="stable")]
    ends = np.cumsum(np.bincount(word))
    first: dict[bytes, int] = {}
    for w in chosen.tolist():
        texts = texts_of_words[ends[w - 1] if w else 0 : ends[w]]
        first.setdefault(texts.tobytes(), w)
    return list(first.values())


def compute_flagged_share(encoding: TextEncoding, texts: pa.Array, counts: Counts) -> float:
    """Return the share of the rows with at least one of the first flags."""
    texts, counts = _draw_texts(texts, counts)
    encoding = replace(encoding, vocabulary=encoding.vocabulary[:MIN_FLAGS])
    if not encoding.n_flags:
        return 0.0
    flags = encoding.encode(texts)[:, -encoding.n_flags :]
    return float(counts[flags.any(axis=1)].sum() / max(1, counts.sum()))


def _draw_texts(texts: pa.Array, counts: Counts) -> tuple[pa.Array, Counts]:
    texts = texts.cast(pa.large_string())
    if len(texts) <= MAX_SAMPLE:
        return texts, counts
    rows = np.linspace(0, len(texts) - 1, MAX_SAMPLE).astype(np.int64)
    return texts.take(pa.array(rows)), counts[rows]


def _split(encoding: TextEncoding, texts: pa.Array) -> tuple[Counts, pa.Array]:
    """Split texts into words or items; return the index of each one's text, and the parts."""
    if encoding.kind == "list":
        lists = pc.split_pattern(texts, encoding.separator)
    else:
        spelled = pc.replace_substring_regex(pc.utf8_lower(texts), _CODE, r"\1 \1\2")
        lists = _split_words(spelled)
    rows = np.asarray(pc.list_parent_indices(lists), dtype=np.int64)
    parts = pc.utf8_trim_whitespace(pc.list_flatten(lists))
    is_part = pc.greater(pc.binary_length(parts), 0)
    return rows[np.asarray(is_part)], parts.filter(is_part)


def _split_words(texts: pa.Array) -> pa.Array:
    """Split texts in lower case at characters that are no letter or digit."""
    if texts.offset or pc.sum(pc.binary_length(texts)).as_py() != _count_characters(texts).sum():
        return pc.split_pattern_regex(texts, r"[^\p{L}0-9]+")
    # In ASCII, a table of bytes blanks the other characters three times as fast.
    _, offsets, data = texts.buffers()
    blanked = _WORD_BYTES[np.frombuffer(data or b"", np.uint8)]
    plain = pa.LargeStringArray.from_buffers(len(texts), offsets, pa.py_buffer(blanked))
    return pc.ascii_split_whitespace(plain)


def _is_hexadecimal(texts: pa.Array) -> bool:
    """Return whether texts are codes such as 9f8a-03, whose parts repeat by chance."""
    share = (
        np.mean(np.asarray(pc.match_substring_regex(texts, _HEXADECIMAL))) if len(texts) else 0.0
    )
    return bool(share >= MIN_HEXADECIMAL)


def _count_characters(texts: pa.Array) -> Floats:
    return np.asarray(pc.utf8_length(texts), dtype=np.float64)


def _find_numbers(texts: pa.Array) -> Floats:
    """Return the last number inside each text; NaN without any."""
    found = pc.extract_regex(texts, rf"(?s)(?P<number>[0-9]{{1,{MAX_DIGITS}}})[^0-9]*$")
    numbers = pc.struct_field(found, "number").cast(pa.float64())
    return np.array(pc.fill_null(numbers, np.nan))


def _are_numbered(texts: pa.Array, counts: Counts) -> bool:
    """Return whether half of the texts contain a number, which does not only count them."""
    numbers = _find_numbers(texts)
    is_known = ~np.isnan(numbers)
    distinct = np.unique(numbers[is_known])
    if counts[is_known].sum() < counts.sum() / 2 or len(distinct) <= 2:
        return False
    counts_texts = distinct[-1] - distinct[0] < MAX_GAPS * len(distinct)
    return not (counts_texts and len(distinct) == is_known.sum())
