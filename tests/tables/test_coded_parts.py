"""Parts of a coded table: files and frames, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arboleda import CodedTable, HistGradientBoostingRegressor


def make_frame(n_rows: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    x = random.normal(size=n_rows)
    return pd.DataFrame(
        {"x": x, "n": random.integers(0, 9, n_rows), "c": random.choice(["u", "v"], n_rows), "y": x}
    )


def fit_bytes(X: Any, y: Any, path: Path) -> bytes:
    model = HistGradientBoostingRegressor(
        max_iter=2, early_stopping=False, random_state=0, n_jobs=1
    )
    model.fit(X, y).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_give_the_model_of_the_whole_table(kind: str, tmp_path: Path) -> None:
    frame = make_frame(700).round({"x": 3, "y": 3})
    frame.loc[3, "x"] = np.nan
    frame.loc[650:, "c"] = "t"  # only in the last part
    for number, begin in enumerate(range(0, 700, 300)):
        part = frame.iloc[begin : begin + 300]
        if kind == "csv":
            part.to_csv(tmp_path / f"part-{number}.csv", index=False)
        else:
            part.to_parquet(tmp_path / f"part-{number}.parquet", index=False)
    read = CodedTable.from_csv if kind == "csv" else CodedTable.from_parquet
    table = read(tmp_path / f"part-*.{kind}", path=tmp_path / "table", target="y")
    assert table.shape == (700, 3)
    assert table._file_rows.schema.levels[2] == ("t", "u", "v")
    expected = fit_bytes(frame.drop(columns="y"), frame["y"], tmp_path / "model")
    assert fit_bytes(table, table.y, tmp_path / "model") == expected


def test_a_callable_and_a_generator(tmp_path: Path) -> None:
    frame = make_frame(100)

    def parts() -> Iterator[pd.DataFrame]:
        yield frame.iloc[:40]
        yield frame.iloc[40:]

    first = CodedTable.from_frames(parts, path=tmp_path / "1", target="y")
    second = CodedTable.from_frames(parts(), path=tmp_path / "2", target="y")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    np.testing.assert_array_equal(first.y, second.y)


def test_empty_parts_are_fine(tmp_path: Path) -> None:
    frame = make_frame(60)
    parts = [frame.iloc[:0], frame.iloc[:30], frame.iloc[:0], frame.iloc[30:]]
    CodedTable.from_frames(parts, path=tmp_path / "1", target="y")
    CodedTable.from_frames([frame], path=tmp_path / "2", target="y")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    with pytest.raises(ValueError, match="the parts have no rows"):
        CodedTable.from_frames([frame.iloc[:0]], path=tmp_path / "3", target="y")


def test_a_column_without_values_in_a_part(tmp_path: Path) -> None:
    first = pa.table({"x": pa.nulls(3), "c": pa.nulls(3), "n": [1, 2, None]})
    second = pa.table({"x": [1.5, 2.5], "c": ["a", "b"], "n": [2.5, None]})
    table = CodedTable.from_frames([second, first], path=tmp_path / "table")
    assert table._file_rows.schema.levels == (None, ("a", "b"), None)
    assert table.shape == (5, 3)


BAD_PARTS = {
    "type": (
        lambda frame: frame.assign(x=frame["x"].astype(str)),
        r"column 'x' of frame 1 is of type .* \(text\), but in frame 0 it is number",
    ),
    "lacking": (lambda frame: frame.drop(columns="n"), "frame 1 lacks 'n': the first part is"),
    "more": (lambda frame: frame.assign(z=1), "frame 1 has 'z', unseen before"),
    "infinity": (lambda frame: frame.assign(x=np.inf), "column 'x', frame 1,.* is inf"),
    "target": (
        lambda frame: frame.assign(y=[*frame["y"][:-1], np.nan]),
        "the target 'y' of frame 1 is nan in row 29 of those after the first 30 rows",
    ),
    "categories": (
        lambda frame: pd.concat([frame] * 10).assign(c=[f"k{i}" for i in range(300)]),
        "column 'c' has more than 255 categories up to frame 1",
    ),
}


@pytest.mark.parametrize("case", BAD_PARTS)
def test_a_bad_part_is_named_and_nothing_is_left(case: str, tmp_path: Path) -> None:
    frame = make_frame(30)
    change, message = BAD_PARTS[case]
    with pytest.raises(ValueError, match=message):
        CodedTable.from_frames([frame, change(frame)], path=tmp_path / "table", target="y")
    assert not list(tmp_path.iterdir())


def test_bad_arguments(tmp_path: Path) -> None:
    frame = make_frame(30)
    with pytest.raises(ValueError, match="target='z' is not a column of frame 0, which has 'x'"):
        CodedTable.from_frames([frame], path=tmp_path / "table", target="z")
    with pytest.raises(ValueError, match="max_bins must be an integer from 2 to 255, got 256"):
        CodedTable.from_frames([frame], path=tmp_path / "table", max_bins=256)
    with pytest.raises(TypeError, match="frame 0 is of type list"):
        CodedTable.from_frames([[1, 2]], path=tmp_path / "table")
    with pytest.raises(FileNotFoundError, match=r"no file matches 'none-\*\.parquet'"):
        CodedTable.from_parquet("none-*.parquet", path=tmp_path / "table")
    bad_weight = frame.assign(w=[-1.0] * 30)
    with pytest.raises(ValueError, match="the sample_weight 'w' of frame 0 is -1.0 in row 0"):
        CodedTable.from_frames([bad_weight], path=tmp_path / "table", sample_weight="w")


def test_bad_files(tmp_path: Path) -> None:
    make_frame(30).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no table")
    with pytest.raises(ValueError, match=r"b\.parquet cannot be read as a Parquet file"):
        CodedTable.from_parquet(tmp_path / "*.parquet", path=tmp_path / "table")
    pq.write_table(pa.table({"x": ["a"], "n": [1], "c": ["u"], "y": [1.0]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"column 'x' of .*b\.parquet is of type .*a\.parquet"):
        CodedTable.from_parquet(tmp_path / "*.parquet", path=tmp_path / "table")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,3\n")
    (tmp_path / "b.csv").write_text("x,y\n1,2\nword,3\n")
    with pytest.raises(ValueError, match=r"b\.csv cannot be read as a CSV file: .*word"):
        CodedTable.from_csv(tmp_path / "*.csv", path=tmp_path / "table")
    (tmp_path / "b.csv").write_text("")
    with pytest.raises(ValueError, match=r"b\.csv is empty"):
        CodedTable.from_csv(tmp_path / "*.csv", path=tmp_path / "table")


def test_a_file_that_vanishes_meanwhile(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_frame(30).to_parquet(tmp_path / f"{name}.parquet")
    parts = [tmp_path / "a.parquet", tmp_path / "b.parquet"]

    (tmp_path / "b.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.parquet"):
        CodedTable.from_parquet(parts, path=tmp_path / "table")
    assert not (tmp_path / "table").exists()
