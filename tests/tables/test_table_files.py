"""Tables that are no files, or that would fill the memory, are refused in one sentence."""

import bz2
import gzip
import io
import lzma
import os
import socket
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arboleda._utils import memory
from arboleda._utils.memory import available_memory
from arboleda.cli import main
from arboleda.study import Study, StudyError, explore
from arboleda.study.config.options import read_config
from arboleda.tables import chunked_reader
from arboleda.tables.chunked_reader import read_chunks
from arboleda.tables.reading import read_table
from arboleda.tables.table_files import make_size_limit

MB = 10**6
ROWS = b"a,b\n" + b"1.5,x\n" * 700_000  # 4.2 MB


def zip_of(*contents: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"{number}.csv", content)
    return out.getvalue()


def zstd(data: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as file:
        file.write(data)
    return bytes(out.getvalue().to_pybytes())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
    "zip": zip_of,
}


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_tables_are_read(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.csv.{ending}"
    path.write_bytes(PACKERS[ending](ROWS))
    assert path.stat().st_size < MB
    table = read_table(path)
    assert (table.n_rows, table.stem) == (700_000, "table")
    with pytest.raises(StudyError) as refused:
        read_table(path, max_table_size=2 * MB)
    text = str(refused.value)
    assert f"The table table.csv.{ending} takes at least 2." in text
    assert "the limit is 2.0 MB" in text
    assert "--max-table-size" in text


def test_unpacking_stops_at_the_limit(tmp_path: Path) -> None:
    """A bomb of 300 MB takes about as much memory as the limit."""
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b\n")
        for _ in range(300):
            file.write(b"1,2\n" * 250_000)
    tracemalloc.start()
    with pytest.raises(StudyError, match="takes at least 5.. MB unpacked, and the limit is 5.0 MB"):
        read_table(path, max_table_size=5 * MB)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20 * MB


def test_a_plain_table_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(ROWS)
    with pytest.raises(StudyError, match="takes 4.2 MB unpacked, and the limit is 1.0 MB;"):
        read_table(path, max_table_size=MB)
    assert read_table(path, max_table_size=len(ROWS)).n_rows == 700_000


def test_parquet_files_are_limited(tmp_path: Path) -> None:
    """Runs of one value, and a long text that stands once in the dictionary."""
    path = tmp_path / "table.parquet"
    for column in (pa.array([1.5] * 10**6), pa.array(["x" * 10_000] * 5_000)):
        pq.write_table(pa.table({"a": column}), path, compression="zstd")
        assert path.stat().st_size < 0.1 * MB
        with pytest.raises(StudyError, match="takes at least .* MB unpacked, and the limit is 2.0"):
            read_table(path, max_table_size=2 * MB)
        assert read_table(path, max_table_size=60 * MB).n_rows == len(column)
    names = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(names, path)
    with pytest.raises(StudyError, match="more than one column"):
        read_table(path)
    nested = pa.table({"a": pa.array([[1.0] * 1000] * 1000)})
    pq.write_table(nested, path)
    with pytest.raises(StudyError, match="takes at least 8.0 MB"):
        read_table(path, max_table_size=MB)


def test_the_default_limit_is_a_quarter_of_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    available = available_memory()
    assert available is not None
    assert 10 * MB < available < 2**50
    monkeypatch.setattr("arboleda.tables.table_files.available_memory", lambda: 8 * MB)
    assert make_size_limit(None).bytes == 2 * MB
    assert make_size_limit(3).bytes == 3
    path = tmp_path / "table.csv"
    path.write_bytes(ROWS)
    with pytest.raises(StudyError, match="2.0 MB, a quarter of the memory that is available;"):
        read_table(path)
    monkeypatch.setattr("arboleda.tables.table_files.available_memory", lambda: None)
    assert read_table(path).n_rows == 700_000


def test_a_container_limit_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")
    limit, used, pages = (tmp_path / name for name in names)
    version = next(v for v in memory._CGROUPS if v.limit == limit.name)
    monkeypatch.setattr(memory, "_CGROUPS", (version._replace(folder=tmp_path),))
    monkeypatch.setattr(memory, "_OWN_CGROUPS", tmp_path / "groups")
    used.write_text("1000\n")
    for text, left in (("5000\n", 4000), ("10\n", 0)):
        limit.write_text(text)
        assert available_memory() == left
    pages.write_text("cache 900\ntotal_inactive_file 200\ntotal_active_file 300\n")
    limit.write_text("5000\n")
    assert available_memory() == 4500  # what the pages of files take can be allocated

    # The group of the process, and the one that contains it; other hierarchies do not count.
    (tmp_path / "groups").write_text("3:cpu:/other\n2:hugetlb,memory:/job/task\n0::/other\n")
    for folder, bytes_left in ((tmp_path / "job", 3000), (tmp_path / "job" / "task", 3500)):
        folder.mkdir()
        (folder / limit.name).write_text(f"{bytes_left + 100}\n")
        (folder / used.name).write_text("100\n")
    assert available_memory() == 3000
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / limit.name).write_text("7\n")
    (tmp_path / "other" / used.name).write_text("7\n")
    assert available_memory() == 3000
    (tmp_path / "groups").write_text("2:memory:/../../..\n")
    assert available_memory() == 4500
    whole = memory._read_machine_memory()
    assert whole is not None
    for text in ("max\n", ""):
        limit.write_text(text)
        found = available_memory()
        assert found is not None
        assert found > 4000
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    found = memory._read_machine_memory()
    assert found is not None
    assert found >= whole / 2


def things(folder: Path) -> dict[str, Path]:
    pipe, link, place = folder / "pipe", folder / "link", folder / "socket"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))
    return {
        "is a pipe": pipe,
        "link is a pipe": link,
        "is a device": Path("/dev/zero"),
        "is a socket": place,
        "is a folder": folder,
    }


@pytest.mark.timeout(60)
def test_invalid_files_are_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("t")
    readers: tuple[Callable[[Path], Any], ...] = (
        read_table,
        lambda path: list(read_chunks(path)),
        explore,
        lambda path: Study(path, target="x", output_dir=folder / "out").run(),
    )
    for words, path in things(folder).items():
        for read in readers:
            with pytest.raises(StudyError, match=words):
                read(path)


@pytest.mark.timeout(60)
def test_invalid_settings_files_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StudyError, match="cannot be read: it is not a file"):
        read_config(pipe)
    with pytest.raises(StudyError, match=r"cannot be read \(it is not a file\)"):
        Study("iris", target="target", cost_matrix=str(pipe))


def test_the_option_sets_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A study has no room for a sample of 1,000 rows of two columns, either."""
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(ROWS))
    config = tmp_path / "study.toml"
    config.write_text('table = "table.csv.gz"\ntarget = "a"\nmax_table_size = "10kB"\n')
    out = ["--out", str(tmp_path / "out")]
    for command in (
        ["explore", str(path), "--max-table-size", "10kB"],
        ["study", str(path), "--target", "a", "--max-table-size", "10kB", *out],
        ["study", "--config", str(config), *out],
    ):
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == 2
        assert "the limit is 10.0 kB; reduce its rows" in capsys.readouterr().err
    for wrong in ("many", "-1", "0"):
        with pytest.raises(StudyError, match="The limit of a table's size"):
            explore("iris", max_table_size=wrong)


def test_chunks_are_not_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read part by part may be larger than the limit, however small its file is."""
    monkeypatch.setattr(chunked_reader, "LARGE", MB)
    monkeypatch.setattr(chunked_reader, "_CHARACTERS", 100_000)
    for ending, pack in PACKERS.items():
        path = tmp_path / f"table.csv.{ending}"
        path.write_bytes(pack(ROWS))
        parts = list(read_chunks(path, max_table_size=MB // 2))
        assert len(parts) > 20
        assert sum(part.raw.data.num_rows for part in parts) == 700_000
        path.write_bytes(pack(b"a,b\n" + b"1" * (2 * MB)))
        with pytest.raises(StudyError, match="takes at least .* and the limit is 500.0 kB"):
            list(read_chunks(path, max_table_size=MB // 2))
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame({"a": 1.0, "b": "x" * 1000}, index=range(5_000))
    frame.to_parquet(path)
    parts = list(read_chunks(path, max_table_size=MB // 2))
    assert len(parts) > 20
    assert sum(part.raw.data.num_rows for part in parts) == 5_000
    frame[:5].to_parquet(path)
    assert len(list(read_chunks(path))) == 1


def test_archives_of_several_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.zip"
    path.write_bytes(zip_of(b"a,b\n1,2\n", b"a,b\n3,4\n"))
    for read in (read_table, lambda path: list(read_chunks(path))):
        with pytest.raises(StudyError, match="holds 2 files, but must hold exactly one; unpack it"):
            read(path)
