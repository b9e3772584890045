"""Texts are recognized as values, categories, lists, free text or identifiers."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arboleda.tables.column_formats import (
    format_from_dict,
    format_to_dict,
    get_value_kind,
    recognize_format,
)
from arboleda.tables.text_columns import decide_text_kind, is_true_word
from arboleda.tables.text_encoding import TextEncoding, encoding_from_dict, learn_encoding

DRAW = np.random.default_rng(0)
TITLES = DRAW.choice(["Mr", "Mrs", "Miss", "Master"], 300, p=[0.5, 0.2, 0.2, 0.1])
NAMES = [f"Family{i}, {title}. Given{i}" for i, title in enumerate(TITLES)]


def count(values: Any) -> tuple[pa.Array, np.ndarray]:
    distinct, counts = np.unique(np.asarray(values, dtype=str), return_counts=True)
    return pa.array(distinct.tolist(), pa.large_string()), counts


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["yes", "no", "No"] * 20, "boolean"),
        (["yes"] * 60, "category"),
        (["red", "blue"] * 30, "category"),
        ([f"level {i % 40}" for i in range(200)], "category"),
        ([f"k{i}" for i in range(200)], "identifier"),
        ([f"{i * 7919 % 99991:x}-{i}" for i in range(300)], "identifier"),
        (NAMES, "text"),
        ([f"town{i % 250}" for i in range(300)], "category"),
        (["|".join(DRAW.permutation(["war", "love", "crime"])[: i % 3 + 1]) for i in range(99)],
         "list"),
    ],
)  # fmt: skip
def test_the_kind_of_texts_is_decided_by_what_repeats(values: list[str], kind: str) -> None:
    assert decide_text_kind(*count(values)).kind == kind


def test_names_are_encoded_by_their_frequent_words() -> None:
    encoding = decide_text_kind(*count(NAMES)).encoding
    assert encoding is not None
    assert {"mr", "mrs", "miss", "master"} <= set(encoding.vocabulary)
    values = encoding.encode(pa.array(["New, Mrs. Unseen 7", ""]))
    at = encoding.names.index("has 'mrs'")
    assert values[:, at].tolist() == [1, 0]
    assert values[:, encoding.names.index("length")].tolist() == [18, 0]


def test_lists_are_encoded_by_their_items() -> None:
    encoding = learn_encoding("list", *count(["a|b", "b", "a"] * 10), "|")
    assert sorted(encoding.vocabulary) == ["a", "b"]
    values = encoding.encode(pa.array(["b | a", "c"]))
    assert values[:, 0].tolist() == [2, 1]
    assert values[:, 1:].sum(axis=1).tolist() == [2, 0]


def test_a_number_inside_texts_is_a_value() -> None:
    encoding = learn_encoding("text", *count([f"PC {i * i}" for i in range(50)]))
    assert encoding.has_number
    assert encoding.encode(pa.array(["PC 17 a", "PC"]))[:, 2].tolist()[0] == 17
    assert np.isnan(encoding.encode(pa.array(["PC"]))[0, 2])


def test_a_number_that_counts_the_texts_is_no_value() -> None:
    assert not learn_encoding("text", *count([f"PC {i}" for i in range(50)])).has_number


def test_words_that_always_stand_together_have_one_flag() -> None:
    encoding = learn_encoding("text", *count(["new york", "old town"] * 20))
    assert len(encoding.vocabulary) == 2
    assert {"new", "york"} & set(encoding.vocabulary)
    assert {"old", "town"} & set(encoding.vocabulary)


def test_longer_tables_have_fewer_flags() -> None:
    words = [f"word{i}" for i in range(300)]
    texts = pa.array([" ".join(DRAW.choice(words, 60)) for _ in range(400)], pa.large_string())
    flags = [learn_encoding("text", texts, np.full(400, n)).n_flags for n in (1, 1_000, 10_000)]
    assert flags == [100, 50, 30]


@pytest.mark.parametrize("sign", ["", " ñandú"])
def test_words_are_letters_and_digits(sign: str) -> None:
    texts = [f"Red-hot {sign}, C85!", f"red_HOT\t'x'{sign}", f"hot{sign}"] * 20
    encoding = learn_encoding("text", *count(texts))
    assert {"red", "x"} <= set(encoding.vocabulary)
    values = encoding.encode(pa.array([f" (RED)...x9 {sign}", f"Reds{sign}"]))
    n_words = 3 + bool(sign), 1 + bool(sign)
    assert values[:, 1].tolist() == [*n_words]
    assert values[:, encoding.names.index("has 'red'")].tolist() == [1, 0]
    assert values[:, encoding.names.index("has 'x'")].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "kind", "share"),
    [
        ([f"${n:,}" for n in range(900, 1100)], "numeric", 1.0),
        ([f"{n} kg" for n in range(50)] + ["unknown"] * 20, "numeric", 50 / 70),
        ([f"{d:02}/{m:02}/2020" for m in range(1, 13) for d in range(1, 29)], "datetime", 1.0),
        ([f"{h}:15" for h in range(24)], "numeric", 1.0),
    ],
)
def test_formats_are_recognized(values: list[str], kind: str, share: float) -> None:
    parsed = recognize_format(*count(values))
    assert parsed is not None
    assert get_value_kind(parsed.format) == kind
    assert parsed.share == pytest.approx(share)
    assert len(parsed.examples) == 3
    stored = format_to_dict(parsed.format)
    assert format_from_dict(stored) == parsed.format


@pytest.mark.parametrize(
    "values",
    [
        ["00501", "10001", "94105"] * 5,
        [f"{i:05}" for i in range(50)],
        ["red", "blue"],
        ["1", "2", "3+"] * 9,
        ["10th", "11th", "Bachelors", "Masters"] * 5,
        NAMES,
        [f"{10**17 + i} x" for i in range(30)],
        [],
    ],
)
def test_codes_and_categories_stay_texts(values: list[str]) -> None:
    assert recognize_format(*count(values)) is None


def test_frequent_words_beside_numbers_are_kept() -> None:
    parsed = recognize_format(*count([str(n) for n in range(50)] + ["unknown"] * 20 + ["typo"]))
    assert parsed is not None
    assert pa.compute.drop_null(parsed.words).to_pylist() == ["unknown"]
    assert parsed.unparsed == ("unknown", "typo")


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"kind": "number"} | {"decimal": "x"},
        {"kind": "number", "factors": {"": float("nan")}},
        {"kind": "number", "factors": {"": "1"}},
        {"kind": "number", "code": "1"},
        {"kind": "date", "order": "xyz"},
        {"kind": "date", "epoch": 7.0},
        {"kind": "clock", "order": "dmy"},
    ],
)
def test_a_stored_format_is_checked(content: Any) -> None:
    with pytest.raises(ValueError, match="not a format"):
        format_from_dict(content)


def test_a_stored_encoding_is_checked() -> None:
    encoding = TextEncoding("list", ("a",), ";")
    stored = encoding.to_dict() | {"vocabulary": ["a"]}
    assert encoding_from_dict(stored) == encoding
    for wrong in ({"kind": "tree"}, {"vocabulary": [1]}, {"vocabulary": ["a"] * 999}):
        with pytest.raises(ValueError, match="not an encoding"):
            encoding_from_dict(stored | wrong)


def test_words_are_truth_values() -> None:
    assert [is_true_word(word) for word in ("Yes", " no", "perhaps")] == [True, False, None]


def test_hostile_columns_are_no_error() -> None:
    for values in ([], [""], ["x" * 10**6], ["\ud7ff\U0010ffff"], [f"{i}" * 9 for i in range(30)]):
        texts = pa.array(values, pa.large_string())
        counts = np.ones(len(values), dtype=np.int64)
        decision = decide_text_kind(texts, counts)
        recognize_format(texts, counts)
        if decision.encoding is not None:
            assert len(decision.encoding.encode(texts)) == len(values)
