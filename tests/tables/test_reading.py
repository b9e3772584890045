"""Tables of any format are read; what cannot be read is reported in one sentence."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arboleda.study import StudyError
from arboleda.tables.chunked_reader import read_chunks
from arboleda.tables.csv_reader import strip_blanks
from arboleda.tables.reading import BUNDLED, read_raw, read_table

Csv = Callable[[str | bytes], Path]
PLAIN = "num,text,flag\n1.5,Zoë,true\n?,b,false\n-2,NA,true\n"


def zipped(data: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("table.csv", data)
    return out.getvalue()


def spoilt(data: bytes, at: int) -> bytes:
    """The same with a deflate block of a type that does not exist at this place."""
    return data[:at] + b"\x07" + data[at + 1 :]


def encrypted(archive: bytes) -> bytes:
    """The archive with the flag set, in both headers, that marks its member as encrypted."""
    changed, entry = bytearray(archive), archive.index(b"PK\x01\x02")
    changed[6] |= 1
    changed[entry + 8] |= 1
    return bytes(changed)


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.encode("cp1252"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r").encode(),
        PLAIN.replace(",", "\t").encode(),
        PLAIN.replace(",", "|").encode(),
        PLAIN.replace(",", ";").replace("1.5", "1,5").encode(),
        PLAIN.replace(",", ", ").replace("?", "? ").encode(),
        gzip.compress(PLAIN.encode()),
        bz2.compress(PLAIN.encode()),
        lzma.compress(PLAIN.encode()),
        zipped(PLAIN.encode()),
    ],
    ids=[
        "utf8",
        "bom",
        "utf16",
        "cp1252",
        "crlf",
        "cr",
        "tab",
        "pipe",
        "semicolon",
        "blanks",
        "gz",
        "bz2",
        "xz",
        "zip",
    ],
)
def test_every_form_of_text_gives_the_same_columns(csv: Csv, content: bytes) -> None:
    table = read_table(csv(content))
    names = [column.name.strip() for column in table.columns]
    assert names == ["num", "text", "flag"]
    num, text, flag = table.columns
    np.testing.assert_array_equal(num.values, [1.5, np.nan, -2])
    assert [level.strip() for level in text.levels] == ["Zoë", "b"]
    np.testing.assert_array_equal(text.values, [0, 1, np.nan])
    assert flag.kind == "boolean"
    np.testing.assert_array_equal(flag.values, [1, 0, 1])


def test_frames_of_every_library_agree(tmp_path: Path) -> None:
    data: dict[str, list[Any]] = {"a": [1.0, None, 3.0], "b": ["x", None, "y"], "c": [1, 2, 3]}
    frames: list[Any] = [
        pd.DataFrame(data),
        pl.DataFrame(data),
        pa.table(data),
        pd.DataFrame(data).astype({"b": "category", "c": "Int8"}),
    ]
    path = tmp_path / "t.parquet"
    frames[0].to_parquet(path)
    tables = [read_table(frame) for frame in [*frames, path]]
    for table in tables:
        assert [c.kind for c in table.columns] == ["numeric", "string", "numeric"]
        np.testing.assert_array_equal(table.columns[0].values, [1, np.nan, 3])
        np.testing.assert_array_equal(table.columns[1].values, [0, np.nan, 1])
        assert table.columns[1].levels == ("x", "y")
    assert len({table.sha256 for table in tables[:4]}) == 1


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["1970-01-02", "1970-01-03"], [86400, 172800]),
        (["1970-01-01T00:00:10", "1970-01-01 00:01:00"], [10, 60]),
        (["1970-01-01T01:00:10+01:00", "1970-01-01T00:01:00Z"], [10, 60]),
        (["02.01.1970", "03.01.1970"], [86400, 172800]),
        (["1970/01/02", "1970/01/03"], [86400, 172800]),
    ],
)
def test_dates_are_recognized(csv: Csv, texts: list[str], seconds: list[float]) -> None:
    column = read_table(csv("when,x\n" + "".join(f"{t},1\n" for t in texts))).columns[0]
    assert column.kind == "datetime"
    assert column.values.tolist() == seconds


def test_dates_with_a_zone_become_utc() -> None:
    when = pd.to_datetime(["1970-01-01 01:00"]).tz_localize("Europe/Berlin")
    assert read_table(pd.DataFrame({"when": when, "x": [1]})).columns[0].values.tolist() == [0.0]


def test_numbers_keep_their_type(csv: Csv) -> None:
    table = read_table(csv("a,b,c\n1e400,007,99999999999999999999\n-inf,1_0,-0.0\n"))
    a, b, c = table.columns
    assert a.values.tolist() == [np.inf, -np.inf]
    assert b.levels == ("007", "1_0")
    assert c.values.tolist() == [1e20, 0.0]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_are_read(name: str) -> None:
    table = read_table(name)
    assert table.columns[-1].name == "target"
    assert (table.columns[-1].kind == "string") == BUNDLED[name]


def test_large_fields_and_many_columns_are_read(csv: Csv) -> None:
    assert len(read_table(csv("a,b\n" + "x" * 2**20 + ",1\n")).columns[0].levels[0]) == 2**20
    names = ",".join(f"c{i}" for i in range(100_000))
    assert len(read_table(csv(f"{names}\n{','.join('1' * 100_000)}\n")).columns) == 100_000


def test_names_of_any_kind_are_read(csv: Csv) -> None:
    names = ["<script>", 'q"', "new\nline", "=1+1", "ü[{", "x" * 10_000]
    quoted = ",".join('"' + n.replace('"', '""') + '"' for n in names)
    table = read_table(csv(f"{quoted}\n1,2,3,4,5,6\n"))
    assert [c.name for c in table.columns] == names
    assert [c.name for c in read_table(csv(",b\n1,2\n")).columns] == ["(column 1)", "b"]


def test_inferred_formats_are_reported(csv: Csv) -> None:
    notes = read_table(csv("a,b\nMüller,Garçon\n".encode("cp1252"))).notes
    assert "cp1252" in notes[0].text
    assert "holds values" in read_table(csv("1,2\n3,4\n")).notes[0].text
    # Too little text to infer its encoding by statistics.
    few = read_table(csv("a,b\né,1\na,2\n".encode("cp1252")))
    assert few.columns[0].levels == ("a", "é")
    assert "cp1252" in few.notes[0].text


def test_a_folder_of_the_same_name_does_not_hide_a_bundled_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iris").mkdir()
    assert read_table("iris").n_rows == 150


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b", "no rows"),
        (b"a,b\n1,2\n3\n", "Row 3 of table.csv .* has 1 fields where the header has 2"),
        (b"a,b\n1,2,3\n", "Row 2 of table.csv .* has 3 fields where the header has 2"),
        (b'a,b\n"1,2\n3,4\n', "Row 2 .* unclosed quote"),
        (b"a,b\n1,\x00\n", "NUL character in line 2"),
        (b"a,a\n1,2\n", "more than one column named 'a'"),
        (bytes(range(256)) * 9, "encoding of table.csv cannot be read|NUL character"),
        (gzip.compress(PLAIN.encode())[:-9], "damaged"),
        (spoilt(gzip.compress(PLAIN.encode()), 10), "damaged .*while decompressing"),
        (
            spoilt(zipped(PLAIN.encode(), zipfile.ZIP_DEFLATED), 39),
            "damaged .*while decompressing",
        ),
        (
            encrypted(zipped(PLAIN.encode(), zipfile.ZIP_DEFLATED)),
            "table.csv cannot be unpacked .*password",
        ),
        (b"PAR1" + b"\x00" * 40, "Parquet file table.csv cannot be read"),
    ],
    ids=[
        "empty",
        "blank",
        "header",
        "bare",
        "short",
        "long",
        "quote",
        "nul",
        "duplicate",
        "binary",
        "gz",
        "gz-stream",
        "zip-stream",
        "zip-password",
        "parquet",
    ],
)
def test_invalid_files_are_reported_in_one_sentence(
    csv: Csv, content: bytes, sentence: str
) -> None:
    with pytest.raises(StudyError, match=sentence) as caught:
        read_table(csv(content))
    assert "\n" not in str(caught.value)


def test_invalid_paths_and_frames_are_reported_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"There is no file .*nowhere.csv"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(StudyError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(StudyError, match="cannot be read"):
        read_table("nul\0.csv")
    with pytest.raises(StudyError, match="cannot be read: File name too long"):
        read_table("n" * 5000)
    with pytest.raises(StudyError, match="Column 'a' cannot be read .*one kind"):
        read_table(pd.DataFrame({"b": [1, 2], "a": [1, "x"]}))
    with pytest.raises(StudyError, match="Column 'a' has values of type .*interval"):
        read_table(pd.DataFrame({"a": pd.cut([1.0, 2.0, 3.0], 2)}))
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "twice.parquet")
    with pytest.raises(StudyError, match="more than one column named 'a'"):
        read_table(tmp_path / "twice.parquet")
    with pytest.raises(StudyError, match=r"more than one column|unique column names"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(StudyError, match="more than one column named '1'"):
        read_table(pd.DataFrame([[1, 2]], columns=["1", 1]))
    with pytest.raises(StudyError, match="A int cannot be read"):
        read_table(3)
    with pytest.raises(StudyError, match="Column 'a' has values of type list"):
        read_table(pa.table({"a": [[1], [2]]}))
    with pytest.raises(StudyError, match="no rows"):
        read_table(pd.DataFrame({"a": []}))


def test_integers_beyond_float64_precision_stay_distinct(tmp_path: Path) -> None:
    """Beyond 2^53 neighbouring whole numbers are one float64: they are read as names."""
    first = 2**53
    numbers = [first, first + 1, first + 2, None]
    for table in (pa.table({"id": numbers}), _csv_of(tmp_path, numbers)):
        column = read_table(table).column("id")
        assert column.kind == "string"
        assert column.levels == (str(first), str(first + 1), str(first + 2))
    apart = read_table(pa.table({"id": [first, first + 2, first + 4]})).column("id")
    assert apart.kind == "numeric"


def _csv_of(folder: Path, numbers: list[int | None]) -> Path:
    path = folder / "ids.csv"
    rows = ["" if n is None else str(n) for n in numbers]
    path.write_text("\n".join(["id,x", *(f"{row},1" for row in rows)]) + "\n")
    return path


ADULT = """age, workclass, "job, title", income
39, State-gov , "Adm, clerical",  <=50K
50, ?, " Exec", >50K
 38,Private,Sales, <=50K
"""


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blanks_around_unquoted_fields_are_no_part_of_them(csv: Csv, mark: str, end: str) -> None:
    inside = ADULT.replace("job, title", "job@ title").replace("Adm, clerical", "Adm@ clerical")
    path = csv(inside.replace(",", mark).replace("@", mark).replace("\n", end))
    table = read_table(path)
    assert [c.name for c in table.columns] == ["age", "workclass", f"job{mark} title", "income"]
    age, work, job, income = table.columns
    assert age.values.tolist() == [39, 50, 38]
    assert work.levels == ("Private", "State-gov")
    assert work.missing.tolist() == [False, True, False]
    assert job.levels == (" Exec", f"Adm{mark} clerical", "Sales")
    assert income.levels == ("<=50K", ">50K")
    (chunk,) = read_chunks(path)
    assert chunk.raw.names == [c.name for c in table.columns]


def test_chunks_are_read_without_blanks_around_fields(
    csv: Csv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.tables.chunked_reader.LARGE", 100)
    monkeypatch.setattr("arboleda.tables.chunked_reader._CHARACTERS", 60)
    path = csv(ADULT)
    chunks = list(read_chunks(path))
    assert len(chunks) > 1
    whole = read_raw(path).data
    texts = [t for chunk in chunks for t in chunk.raw.data.column("income").to_pylist()]
    assert texts == whole.column("income").to_pylist()
    assert chunks[0].raw.data.column_names == whole.column_names


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("c\n a\n \nb \n", "c\na\n \nb\n"),  # a blank line of one column is a row
        ('a,b\n5" pipe, 3" w\n', 'a,b\n5" pipe,3" w\n'),  # a quote within a field is none
        ('a,b\n" x ""y, z""", "\nw"\n', 'a,b\n" x ""y, z""","\nw"\n'),
        ("a, \n1,  ", "a,\n1,"),
        ("a,b\n1,2\n", "a,b\n1,2\n"),
    ],
)
def test_blanks_are_removed_only_around_unquoted_fields(text: str, stripped: str) -> None:
    assert strip_blanks(text, ",") == stripped
