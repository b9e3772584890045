"""Tables that are read in chunks match those read at once."""

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arboleda.study import Study, StudyError
from arboleda.study.artifacts.loaded import load_study
from arboleda.study.results import predict_file
from arboleda.study.results.predict_file import predict
from arboleda.tables import chunked_reader
from arboleda.tables.chunked_reader import read_chunks
from arboleda.tables.reading import read_raw


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_reader, "LARGE", 1)
    monkeypatch.setattr(chunked_reader, "_CHARACTERS", 1500)
    monkeypatch.setattr(chunked_reader, "_ROWS", 40)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """The folder of a study of a tree."""
    out = tmp_path_factory.mktemp("parts") / "study"
    Study(mixed, target="rich", output_dir=out, models="cart", n_jobs=1).run()
    return out


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".csv": bytes,
    ".csv.gz": gzip.compress,
    ".csv.bz2": bz2.compress,
    ".csv.xz": lzma.compress,
}


@pytest.mark.parametrize("ending", [*PACKED, ".csv.zip", ".parquet", ".utf16"])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_chunks_give_the_same_predictions_as_one_table(
    tree: Path,
    mixed: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
    out: str,
) -> None:
    frame = mixed.drop(columns="rich")
    text = frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]][0]
    frame[text] = frame[text].astype(object)
    frame.loc[::11, text] = 'a "new", one\nin two lines'
    path = tmp_path / f"new{ending}"
    content = frame.to_csv(index=False).encode()
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pandas(frame), path)
    elif ending == ".csv.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("new.csv", content)
    elif ending == ".utf16":
        path.write_bytes(content.decode().encode("utf-16"))
    else:
        path.write_bytes(PACKED[ending](content))
    assert len(list(read_chunks(path))) > 3
    found = predict(tree, path, tmp_path / out)
    monkeypatch.setattr(chunked_reader, "LARGE", 1 << 30)
    whole = predict(tree, path, tmp_path / f"whole-{out}")
    assert found.n_rows == whole.n_rows == len(frame)
    assert found.notes == whole.notes
    if out == "out.csv":
        assert found.path.read_bytes() == whole.path.read_bytes()
    else:
        assert pq.read_table(found.path).equals(pq.read_table(whole.path))


@pytest.mark.parametrize("size", [1, 5, 40, 10_000])
def test_chunks_end_at_row_ends(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_reader, "_CHARACTERS", size)
    path = tmp_path / "t.csv"
    lines = ['"a\nb";c', '"x;\r\n""y""";1', "plain;2", f'"{"long" * 50}";3', "é;4", ";5"]
    path.write_bytes("\r\n".join(lines).encode())  # no end of line after the last row
    parts = list(read_chunks(path))
    whole = read_raw(path)
    joined = pa.concat_tables([p.raw.data for p in parts], promote_options="permissive")
    assert joined.to_pylist() == whole.data.to_pylist()
    assert [p.first for p in parts] == np.cumsum([0, *(p.raw.data.num_rows for p in parts)])[
        :-1
    ].tolist()
    assert all(p.raw.decimal_comma for p in parts)
    shares = [p.share for p in parts]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_errors_in_late_rows_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 900 + "3\n")
    with pytest.raises(StudyError, match=r"In the rows after the first \d+: Row \d+ of t.csv"):
        list(read_chunks(path))
    path.write_bytes(b"a,b\n" + b"1,2\n" * 500 + b"\xe9,2\n")
    with pytest.raises(StudyError, match="too large to guess its encoding"):
        list(read_chunks(path))
    path.write_bytes(b"a,b\n" + b"1,2\n" * 500 + b"\0,2\n")
    with pytest.raises(StudyError, match="NUL character"):
        list(read_chunks(path))
    path.write_bytes(b"a,b\n")
    with pytest.raises(StudyError, match="no rows"):
        list(read_chunks(path))
    path.write_bytes(b"a,a\n" + b"1,2\n" * 500)
    with pytest.raises(StudyError, match="more than one column"):
        list(read_chunks(path))
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 5000)[:-9])
    with pytest.raises(StudyError, match="cannot be read"):
        list(read_chunks(path))
    path.write_bytes(b"PAR1" + b"0" * 100)
    with pytest.raises(StudyError, match="cannot be read"):
        list(read_chunks(path))


def test_an_invalid_chunk_leaves_no_file(tree: Path, mixed: pd.DataFrame, tmp_path: Path) -> None:
    frame = mixed.drop(columns="rich")
    columns = load_study(tree).layout.columns
    number = next(column.name for column in columns if column.kind == "numeric")
    frame[number] = frame[number].astype(object)
    frame.loc[frame.index[-1], number] = "many"
    frame.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    with pytest.raises(StudyError, match="In the rows after the first"):
        predict(tree, tmp_path / "new.csv", out)
    assert not out.exists()


def test_ctrl_c_leaves_the_old_file(
    tree: Path, mixed: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    out.write_text("old")
    sizes = []

    class Stopped(predict_file.PredictionColumns):
        def table(self, block: np.ndarray) -> tuple[pa.Table, list[str] | None]:
            sizes.append(len(block))
            if len(sizes) == 3:
                raise KeyboardInterrupt
            return super().table(block)

    monkeypatch.setattr(predict_file, "PredictionColumns", Stopped)
    with pytest.raises(KeyboardInterrupt):
        predict(tree, tmp_path / "new.csv", out)
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.csv", "out.csv"]
