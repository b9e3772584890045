"""Read delimited text of any common compression, encoding and separator."""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from arboleda._utils.errors import TableError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.number_parsing import has_leading_zeros
from arboleda.tables.table import MISSING, NO_HEADER, NO_NAMES, Note, check_names
from arboleda.tables.table_checks import check_separator, find_repeated_header, has_no_header
from arboleda.tables.table_files import (
    SizeLimit,
    explain_damage,
    make_size_limit,
    open_unpacked,
    shorten_error,
)

__all__ = [
    "guess_separator",
    "parse_text",
    "read_delimited",
    "read_header",
    "refuse_nul",
    "strip_blanks",
]

SEPARATORS = (",", ";", "\t", "|")
# Common encodings of tables; guesses among all encodings would often be exotic ones.
ENCODINGS = ["cp1252", "latin_1", "cp1250", "cp1251", "cp1253", "cp1254", "iso8859_2", "koi8_r"]
ENCODINGS += ["shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "mac_roman"]
_SAMPLE = 1 << 18
# A field such as 00501, which may be a code.
_LEADING_ZEROS = re.compile(r"""(?:^|[,;\t|"\n\r])0[0-9]{2,}(?:[,;\t|"\n\r]|$)""")
# Bytes that are decompressed at a time.
_BLOCK = 1 << 20
# Maximum bytes of a text: Arrow counts the bytes of a block in 32 bits.
_LARGEST = (1 << 31) - (1 << 16)


def read_delimited(
    path: Path, data: bytes, as_text: Sequence[str] = (), limit: SizeLimit | None = None
) -> tuple[pa.Table, bool, list[Note]]:
    """Parse a delimited text file into an Arrow table.

    Parameters
    ----------
    path : Path
        The file's path, for messages.
    data : bytes
        The file's content, which may be compressed by gzip, bzip2, xz, Zstandard or zip.
    as_text : sequence of str
        Columns that are kept as text even if they look like numbers, such as postal codes.
    limit : SizeLimit, optional
        Limit of the decompressed text; by default that of `make_size_limit`.

    Returns
    -------
    table : pyarrow.Table
        The columns, with numbers and ISO dates parsed, and the usual markers as missing values.
    decimal_comma : bool
        Whether ``1,5`` may be a number: true unless the comma is the separator.
    notes : list of Note
        Notes on guesses.

    Raises
    ------
    TableError
        If the text cannot be read, is larger than the limit, has no header, or has rows with more
        or fewer fields than the header.
    """
    notes: list[Note] = []
    text = _decode(_decompress(data, path, limit or make_size_limit(None)), path, notes)
    if not text.strip():
        raise TableError(f"The table {path.name} is empty; it needs a header line and rows.")
    separator = guess_separator(text)
    text = strip_blanks(text, separator)
    header = read_header(text, separator)
    check_names([h for h in header if h.strip()], path.name)
    check_separator(text, header, path.name)
    table = parse_text(text, separator, path, as_text)
    if sum(not name.strip() for name in header) > len(header) / 2:
        notes.append(Note("warning", None, NO_NAMES))
    elif find_repeated_header(table) is None and has_no_header(header, table):
        notes.append(Note("warning", None, NO_HEADER))
    if table.num_rows == 0:
        raise TableError(f"The table {path.name} has a header line but no rows.")
    return table, separator != ",", notes


def _decompress(data: bytes, path: Path, limit: SizeLimit) -> bytes:
    """Decompress the content block by block, and stop at the limit."""
    packed = io.BytesIO(data)
    with explain_damage(path), ExitStack() as stack:
        content = open_unpacked(path, packed, stack)
        if content is packed:
            return data
        blocks, size = [], 0
        while block := content.read(_BLOCK):
            size += len(block)
            limit.check(path.name, size, at_least=True)
            blocks.append(block)
    return b"".join(blocks)


def _decode(data: bytes, path: Path, notes: list[Note]) -> str:
    if data[:3] == b"\xef\xbb\xbf":
        encoding = "utf-8-sig"
    elif data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        encoding = "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = _guess_encoding(data, path)
        text = _decode_as(data, encoding, path)
        notes.append(Note("info", None, write_message("encoding", encoding=encoding)))
    refuse_nul(text, path)
    return text


def refuse_nul(text: str, path: Path) -> None:
    """Raise a TableError if a text contains a NUL character."""
    at = text.find("\0")
    if at >= 0:
        line = text.count("\n", 0, at) + 1
        raise TableError(
            f"The file {path.name} holds a NUL character in line {line}, so it is not a text "
            "table; export it as CSV in UTF-8."
        )


def _guess_encoding(data: bytes, path: Path) -> str:
    from charset_normalizer import from_bytes

    matches = from_bytes(data[:_SAMPLE], cp_isolation=ENCODINGS)
    best = matches.best()
    if best is None:
        if _reads_as_western(data):
            return "cp1252"
        raise TableError(_describe_bad_encoding(path))
    # Among encodings that fit equally well, the most common one is the most likely.
    if any("cp1252" in m.could_be_from_charset and m.chaos <= best.chaos for m in matches):
        return "cp1252"
    return str(best.encoding)


def _reads_as_western(data: bytes) -> bool:
    """Return whether the bytes are printable text in cp1252: a default for short texts."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return all(part.isprintable() for part in text.split())


def _decode_as(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise TableError(_describe_bad_encoding(path)) from error


def _describe_bad_encoding(path: Path) -> str:
    return f"The encoding of {path.name} cannot be read; save the table as CSV in UTF-8."


def guess_separator(text: str) -> str:
    """Guess the separator: the one with which most of the first lines have equally many fields."""
    lines = [line for line in text[:_SAMPLE].splitlines()[:21] if line.strip()]
    if len(text) > _SAMPLE and len(lines) > 1:
        lines.pop()

    def score(separator: str) -> tuple[float, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator)]
        if not counts or counts[0] < 2:
            return (0.0, 0)
        return (sum(c == counts[0] for c in counts) / len(counts), counts[0])

    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST))
    return max(SEPARATORS, key=score)


def strip_blanks(text: str, separator: str) -> str:
    r"""Remove the blanks around fields, as in files separated by ", "; quoted blanks are kept.

    A line that is blank as a whole is kept: in a table of one column it is a row.

    Examples
    --------
    >>> strip_blanks('age, job \n39, " a, b"\n', ",")
    'age,job\n39," a, b"\n'
    """
    marks = (f"{separator} ", f" {separator}", "\n ", "\r ", " \n", " \r")
    if text[:1] != " " and text[-1:] != " " and not any(mark in text for mark in marks):
        return text
    if '"' not in text:
        return _strip_unquoted(text, separator)
    # The quoted fields stand between the other parts, each of which ends where one begins.
    before_quotes = rf'(^|[{re.escape(separator)}\r\n]) *("[^"]*(?:""[^"]*)*")'
    pieces = re.split(before_quotes, text)
    others = [a + b for a, b in zip(pieces[::3], [*pieces[1::3], ""], strict=True)]
    stripped = _strip_unquoted("\0".join(others), separator).split("\0")
    return "".join(a + b for a, b in zip(stripped, [*pieces[2::3], ""], strict=True))


def _strip_unquoted(text: str, separator: str) -> str:
    """Remove the blanks around fields; a NUL character stands for a quoted field."""
    for mark in (f"{separator} ", f" {separator}"):
        while mark in text:
            text = text.replace(mark, separator)
    if "\n " in text or "\r " in text or text[:1] == " ":
        text = re.sub(r"(^|[\r\n]) +(?=[^ \r\n])", r"\1", text)
    if " \n" in text or " \r" in text or text[-1:] == " ":
        text = re.sub(r"([^ \r\n]) +(?=[\r\n]|$)", r"\1", text)
    return text


def read_header(text: str, separator: str) -> list[str]:
    """Return the fields of the first non-empty line."""
    # Lines may also end with a bare carriage return.
    rows = csv.reader(io.StringIO(text, newline=None), delimiter=separator)
    return next((row for row in rows if row), [])


def _replace_codes(table: pa.Table, texts: pa.Table) -> pa.Table:
    """Replace columns of digits by their texts if they are codes with leading zeros."""
    for name in texts.column_names:
        if table.column_names.count(name) == 1 and has_leading_zeros(pc.drop_null(texts[name])):
            table = table.set_column(table.column_names.index(name), name, texts[name])
    return table


def parse_text(text: str, separator: str, path: Path, as_text: Sequence[str]) -> pa.Table:
    """Parse text whose first line names the columns; see `read_delimited`."""
    data = text.encode("utf-8", "replace")
    if len(data) > _LARGEST:
        raise TableError(f"The text table {path.name} is above 2 GB; save it as Parquet.")
    ragged: list[pa_csv.InvalidRow] = []

    def save_row(row: pa_csv.InvalidRow) -> str:
        ragged.append(row)
        return "error"

    def read(names: Sequence[str], only: Sequence[str] = ()) -> pa.Table:
        return pa_csv.read_csv(
            io.BytesIO(data),
            # One block, so that a row of any length fits and row numbers are correct.
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=pa_csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=save_row
            ),
            convert_options=pa_csv.ConvertOptions(
                null_values=MISSING,
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                column_types={name: pa.string() for name in names},
                include_columns=only,
            ),
        )

    try:
        table = read(as_text)
        if not _LEADING_ZEROS.search(text):
            return table
        names = [f.name for f in table.schema if pa.types.is_integer(f.type)]
        return _replace_codes(table, read(names, names)) if names else table
    except pa.ArrowInvalid as error:
        if ragged:
            row = ragged[0]
            remedy = "correct it (an unclosed quote or a stray separator?)"
            if row.number == 2 and row.expected_columns < row.actual_columns:
                remedy = (
                    "if the first line is a title, remove the lines above the names of the "
                    f"columns, else {remedy}"
                )
            raise TableError(
                f"Row {row.number} of {path.name} (the header is row 1) has "
                f"{row.actual_columns} fields where the header has {row.expected_columns}; "
                f"{remedy}."
            ) from error
        if "Empty CSV" in str(error):
            raise TableError(f"The table {path.name} has a header line but no rows.") from error
        raise TableError(
            f"The table {path.name} cannot be read: {shorten_error(error)}."
        ) from error
