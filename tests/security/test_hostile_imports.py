"""Damaged files of other libraries are refused, or give a model that predicts: never more."""

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arboleda import ModelFormatError, from_lightgbm, from_xgboost

FOLDER = Path(__file__).parents[1] / "importers" / "models"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
NAMES = sorted(EXPECTED["models"])
MUTATIONS = 60  # of each file and kind; the slow test makes more

# What stands for a number, a text or a list in its stead.
ODD: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, 10**400, 1e308, -1e308, 1e-320, "", "x", "1", "-1", "1e999",
    "[1]", "[[]]", [], [0], [-1, 5], [1e40], ["1"], {}, {"a": 1},
]  # fmt: skip
WORDS = ["", "-1", "0", "nan", "inf", "-inf", "1e400", "99999999999999999999", "1.5", "x", "\x00"]


def read(name: str, path: Path) -> Any:
    if name.startswith("xgboost"):
        return from_xgboost(path)
    return from_lightgbm(path)


def tried(name: str, path: Path, content: bytes) -> bool:
    """Whether a file was read; one that was must predict."""
    path.write_bytes(content)
    try:
        model = read(name, path)
    except ModelFormatError as error:
        return _check_message(error, str(path))
    except ValueError as error:  # old files need their categories
        return _check_message(error, "does not contain the categories")
    random_numbers = np.random.default_rng(0)
    levels = model.schema_.levels
    table = random_numbers.normal(size=(20, len(levels))).astype(object)
    for column, known in enumerate(levels):
        if known is not None:
            table[:, column] = [known[i % len(known)] if known else None for i in range(20)]
    table[::3] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an array has no names
        assert model._raw_scores(table).shape == (20, model.n_trees_per_iteration_)
    return True


def _check_message(error: Exception, text: str) -> bool:
    assert text in str(error)
    return False


def damaged_bytes(content: bytes, numbers: random.Random) -> bytes:
    """Some bytes are others, are gone, or come twice."""
    found = bytearray(content)
    for _ in range(numbers.randint(1, 4)):
        if not found:
            return b""
        at = numbers.randrange(len(found))
        kind = numbers.randrange(4)
        if kind == 0:
            found[at] = numbers.randrange(256)
        elif kind == 1:
            found[at] ^= 1 << numbers.randrange(8)
        elif kind == 2:
            del found[at : at + numbers.randint(1, 40)]
        else:
            found[at:at] = found[at : at + numbers.randint(1, 40)]
    cut = bool(found) and numbers.random() < 0.1
    return bytes(found[: numbers.randrange(len(found))] if cut else found)


def damaged_json(content: bytes, numbers: random.Random) -> bytes:
    """A value somewhere in the document is another."""
    document = json.loads(content)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            places.append((value, key))
            if isinstance(item, dict | list):
                walk(item)

    walk(document)
    for _ in range(numbers.randint(1, 3)):
        parent, key = numbers.choice(places)
        if not (key in parent if isinstance(parent, dict) else key < len(parent)):
            continue
        if numbers.random() < 0.15:
            del parent[key]
        elif type(parent[key]) in (int, float) and numbers.random() < 0.5:
            parent[key] = numbers.choice([parent[key] + 1, -parent[key], 3, 0, 1e30])
        else:
            parent[key] = numbers.choice(ODD)
    return json.dumps(document).encode()


def damaged_text(content: bytes, numbers: random.Random) -> bytes:
    """A line is gone, or comes twice, or a word of it is another."""
    lines = content.decode().split("\n")
    for _ in range(numbers.randint(1, 3)):
        at = numbers.randrange(min(len(lines), 70))
        kind = numbers.randrange(5)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[at])
        else:
            name, equals, value = lines[at].partition("=")
            words = value.split(" ")
            words[numbers.randrange(len(words))] = numbers.choice(
                [*WORDS, str(numbers.randint(-9, 9))]
            )
            lines[at] = name + equals + " ".join(words)
    return "\n".join(lines).encode()


def mutate(name: str, damage: Callable[[bytes, random.Random], bytes], path: Path, n: int) -> int:
    content = (FOLDER / name).read_bytes()
    return sum(tried(name, path, damage(content, random.Random(seed))) for seed in range(n))


@pytest.mark.parametrize("name", NAMES)
def test_damaged_bytes_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    assert mutate(name, damaged_bytes, tmp_path / "model", MUTATIONS) < MUTATIONS


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".json")])
def test_damaged_json_values_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    assert mutate(name, damaged_json, tmp_path / "model", 3 * MUTATIONS) < 3 * MUTATIONS


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".txt")])
def test_damaged_text_lines_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    assert mutate(name, damaged_text, tmp_path / "model", 2 * MUTATIONS) < 2 * MUTATIONS


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_damaged_files_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    kinds: dict[str, Callable[[bytes, random.Random], bytes]] = {
        ".json": damaged_json,
        ".txt": damaged_text,
        ".ubj": damaged_bytes,
    }
    for damage in {damaged_bytes, kinds[Path(name).suffix]}:
        assert mutate(name, damage, tmp_path / "model", 2000) < 2000


def test_the_depth_of_a_document_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for content in (
        b'{"a":' * 100_000,
        b'{"learner":' + b"[" * 100_000,
        b"{i\x01a" * 100_000,
        b"{i\x01a" + b"[" * 100_000,
    ):
        assert not tried("xgboost", path, content)


def test_lengths_beyond_the_file_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "model"
    huge = b"L\x7f\xff\xff\xff\xff\xff\xff\xff"
    for content in (b"{" + huge, b"{i\x01a[$d#" + huge, b"{i\x01a[#" + huge, b"{i\x01aS" + huge):
        assert not tried("xgboost", path, content)
    document = json.loads((FOLDER / "xgboost_counts.json").read_text())
    document["learner"]["learner_model_param"]["num_feature"] = str(2**31 - 1)
    document["learner"]["feature_names"] = document["learner"]["feature_types"] = []
    assert not tried("xgboost", path, json.dumps(document).encode())
    text = (FOLDER / "lightgbm_two.txt").read_text()
    for entry in ("max_feature_idx=6", "num_leaves=6", "num_tree_per_iteration=1"):
        changed = text.replace(entry, f"{entry.partition('=')[0]}=2147483646")
        assert not tried("lightgbm", path, changed.encode())
