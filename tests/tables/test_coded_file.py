"""Hostile files of coded tables: an error of the format or a sound table, and never a crash."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda import CodedTable, HistGradientBoostingRegressor, ModelFormatError
from arboleda._engine.coded_file import _PREAMBLE, MAGIC, VERSION

Header = dict[str, Any]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("coded") / "table"
    random = np.random.default_rng(0)
    x = random.integers(0, 9, 40).astype(float)
    frame = pd.DataFrame(
        {
            "x": np.where(x == 3, np.nan, x),
            "binned": random.normal(size=40),
            "c": random.choice(["a", "b", "d"], 40),
            "y": random.choice(["no", "yes"], 40),
            "w": 1.0,
        }
    )
    CodedTable.from_frames([frame], path=path, target="y", sample_weight="w", max_bins=8)
    return path.read_bytes()


def split_file(content: bytes) -> tuple[bytes, Header]:
    """Return the file without its header, and the header."""
    _, _, _, at, length = _PREAMBLE.unpack(content[: _PREAMBLE.size])
    return content[:at], json.loads(content[at : at + length])


def join_file(body: bytes, header: Header | bytes) -> bytes:
    """Return a file whose header has the right checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = _PREAMBLE.pack(MAGIC, VERSION, zlib.crc32(text), len(body), len(text))
    return start + body[len(start) :] + text


def use(content: bytes, path: Path) -> None:
    """Do everything that reads a file."""
    path.write_bytes(content)
    table = CodedTable(path)
    repr(table)
    y = table.y
    model = HistGradientBoostingRegressor(
        max_iter=2, max_bins=table.max_bins, min_samples_leaf=1, n_jobs=1, early_stopping=False
    )
    model.fit(table, np.arange(len(y), dtype=float), table.sample_weight)
    assert np.isfinite(model.predict(table)).all()


def test_the_file_itself_is_sound(content: bytes, tmp_path: Path) -> None:
    use(content, tmp_path / "table")
    use(join_file(*split_file(content)), tmp_path / "table")


def test_foreign_and_short_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table"
    for short in (0, 1, 31, 32, 4096, len(content) - 1):
        path.write_bytes(content[:short])
        with pytest.raises(ModelFormatError, match="table: "):
            CodedTable(path)
    path.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(ModelFormatError, match="this is no coded table of arboleda"):
        CodedTable(path)
    newer = bytearray(content)
    newer[8] = 9
    path.write_bytes(newer)
    with pytest.raises(ModelFormatError, match="has format version 9, and this version"):
        CodedTable(path)


def test_a_changed_byte_of_any_part_is_found(content: bytes, tmp_path: Path) -> None:
    body, header = split_file(content)
    for name, (at, length) in header["sections"].items():
        if name == "edges":
            continue  # other edges are another table
        changed = bytearray(content)
        changed[at + length // 2 - 1] ^= 1
        with pytest.raises(ModelFormatError):
            use(bytes(changed), tmp_path / "table")
    assert body[:8] == MAGIC


def set_item(*keys: Any, value: Any) -> Callable[[Header], None]:
    """Return a function that sets an item of a header."""

    def change(header: Header) -> None:
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return change


HOSTILE_HEADERS = {
    "rows": set_item("n_rows", value=2**31),
    "no rows": set_item("n_rows", value=0),
    "negative": set_item("n_rows", value=-1),
    "bool": set_item("n_rows", value=True),
    "stride": set_item("stride", value=2**40),
    "bins": set_item("max_bins", value=300),
    "place": set_item("sections", "columns", 0, value=2**62),
    "far place": set_item("sections", "rows", 0, value=4096 * 1000),
    "length": set_item("sections", "rows", 1, value=1),
    "section": set_item("sections", "more", value=[0, 0]),
    "codes": set_item("columns", 0, 0, value=300),
    "fewer codes": set_item("columns", 0, 0, value=3),
    "missing": set_item("columns", 0, 1, value=False),
    "order": set_item("order", value=[0, 0]),
    "order beyond": set_item("order", value=[7]),
    "other order": set_item("order", value=[1, 0, 2]),
    "no order": set_item("order", value=[]),
    "target type": set_item("target", "dtype", value="object"),
    "labels": set_item("target", "labels", value=["no"]),
    "weights": set_item("sample_weight", "dtype", value="<i8"),
    "no target": set_item("target", value=None),
    "schema": set_item("schema", "columns", value=[]),
    "levels": set_item("schema", "columns", 2, "levels", value=["a"]),
    "name": set_item("schema", "names", value=["x", "x", "c"]),
}


@pytest.mark.parametrize("case", HOSTILE_HEADERS)
def test_a_hostile_header(case: str, content: bytes, tmp_path: Path) -> None:
    body, header = split_file(content)
    HOSTILE_HEADERS[case](header)
    with pytest.raises(ModelFormatError):
        use(join_file(body, header), tmp_path / "table")


@pytest.mark.parametrize("edge", [np.nan, np.inf, -1e300, 1e300])
def test_hostile_edges(edge: float, content: bytes, tmp_path: Path) -> None:
    at = split_file(content)[1]["sections"]["edges"][0]
    changed = content[: at + 8] + np.float64(edge).tobytes() + content[at + 16 :]
    with pytest.raises(ModelFormatError, match="the edges of a column are not ascending"):
        use(changed, tmp_path / "table")


def test_damage_at_random(content: bytes, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    body, header = split_file(content)
    text = json.dumps(header).encode()
    used = [range(at, at + length) for at, length in header["sections"].values() if length]
    outcomes = {"refused": 0, "sound": 0}
    for number in range(400):
        changed, changed_text = bytearray(body), bytearray(text)
        for _ in range(random.integers(1, 4)):
            if number % 2:
                place = random.integers(len(text))
                changed_text[place] = random.choice(list(b'0123456789-[]{}",.:eax'))
            else:
                section = used[random.integers(len(used))]
                changed[section[random.integers(len(section))]] = random.integers(256)
        try:
            use(join_file(bytes(changed), bytes(changed_text)), tmp_path / "table")
        except ModelFormatError:
            outcomes["refused"] += 1
        else:
            outcomes["sound"] += 1
    assert outcomes["refused"] > 200
