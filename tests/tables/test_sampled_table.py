"""Samples of tables that are larger than their limit: the same rows however they are read."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda import CodedTable
from arboleda._utils.errors import TableError
from arboleda.tables import chunked_reader, sampled_table
from arboleda.tables.reading import read_table
from arboleda.tables.sampled_table import read_table_or_sample

N_ROWS = 6_000


def make_frame() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "row": np.arange(N_ROWS),
            "value": draw.normal(size=N_ROWS).round(3),
            "code": [f"{k:03d}" for k in draw.integers(0, 90, N_ROWS)],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, N_ROWS), "D"),
            "y": draw.choice(["no", "yes"], N_ROWS),
        }
    )
    frame.loc[::7, "value"] = np.nan
    return frame


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_reader, "LARGE", 1 << 10)
    monkeypatch.setattr(chunked_reader, "_CHARACTERS", 20_000)
    monkeypatch.setattr(chunked_reader, "_ROWS", 700)
    monkeypatch.setattr(sampled_table, "MAX_ROWS", 1_500)


def write(frame: pd.DataFrame, folder: Path, ending: str) -> Path:
    path = folder / f"table.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False, sep=";", decimal=",").encode()))
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_a_sample_has_the_values_and_types_of_the_whole_table(ending: str, tmp_path: Path) -> None:
    path = write(make_frame(), tmp_path, ending)
    whole = read_table(path)
    table, sample = read_table_or_sample(path, max_table_size=100_000)
    assert sample is not None
    assert (sample.n_rows, len(sample.rows), table.n_rows) == (N_ROWS, 1_500, 1_500)
    assert table.sha256 == whole.sha256
    assert "a random sample of 1,500 rows" in table.notes[-1].text
    for column, other in zip(table.columns, whole.columns, strict=True):
        assert (column.name, column.kind, column.levels) == (other.name, other.kind, other.levels)
        np.testing.assert_array_equal(column.values, other.values[sample.rows])
    # 500 expected in each third, with a standard deviation of 16.
    assert np.histogram(sample.rows, bins=3, range=(0, N_ROWS))[0].min() > 420


def test_the_rows_do_not_depend_on_the_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(make_frame(), tmp_path, "parquet")
    found = []
    for rows in (100, 6_000):
        monkeypatch.setattr(chunked_reader, "_ROWS", rows)
        found.append(read_table_or_sample(path, max_table_size=100_000))
    (one, first), (other, second) = found
    assert first is not None
    assert second is not None
    np.testing.assert_array_equal(first.rows, second.rows)
    assert one.sha256 == other.sha256


def test_small_tables_and_small_limits(tmp_path: Path) -> None:
    path = write(make_frame(), tmp_path, "parquet")
    table, sample = read_table_or_sample(path)
    assert (table.n_rows, sample) == (N_ROWS, None)
    with pytest.raises(TableError, match="the limit is 20.0 kB; reduce its rows"):
        read_table_or_sample(path, max_table_size=20_000)  # has no room for 1,000 rows


def test_long_texts_take_fewer_rows(tmp_path: Path) -> None:
    frame = make_frame().assign(text=[f"{k} " + "word " * 20 for k in range(N_ROWS)])
    table, sample = read_table_or_sample(write(frame, tmp_path, "parquet"), max_table_size=200_000)
    assert sample is not None
    assert 1_000 < table.n_rows < 1_450


def test_coded_tables_have_the_values_of_their_bins(tmp_path: Path) -> None:
    frame = make_frame().drop(columns=["row", "day"])
    path = tmp_path / "table.coded"
    coded = CodedTable.from_frames([frame], target="y", path=path)
    for source in (coded, str(path)):
        table, sample = read_table_or_sample(source)
        assert sample is not None
        assert (table.name, sample.n_rows, table.n_rows) == ("table.coded", N_ROWS, 1_500)
        codes = [table.column("code").levels[int(k)] for k in table.column("code").values]
        assert codes == frame["code"].iloc[sample.rows].tolist()
        found, values = table.column("value").values, frame["value"].to_numpy()[sample.rows]
        np.testing.assert_array_equal(np.isnan(found), np.isnan(values))
        assert np.nanmedian(np.abs(found - values)) < 0.02  # of 255 bins
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TableError, match="^The coded table .* is damaged: it should have"):
        read_table_or_sample(str(path))


def test_a_part_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    lines = make_frame().to_csv(index=False).splitlines()
    lines[5_000] += ",more"
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(TableError, match=r"^In the rows after the first [\d,]+: Row \d+ of table"):
        read_table_or_sample(path, max_table_size=100_000)


def test_all_rows_of_a_coded_table_may_fit(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(sampled_table, "MAX_ROWS", N_ROWS)
    coded = CodedTable.from_frames([make_frame()[["value", "y"]]], target="y", path=tmp_path / "t")
    table, sample = read_table_or_sample(coded)
    assert sample is not None
    assert sample.is_whole
    assert (table.n_rows, table.notes) == (N_ROWS, ())
