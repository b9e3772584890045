"""The memory of a Parquet file's columns, computed before it is read."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["parquet_size"]

# Bytes of a value, and of the end of a text.
_WIDTH = 8


def parquet_size(file: pq.ParquetFile, source: Any, limit: int) -> int:
    """Compute the bytes of the columns, or a number above the limit.

    A small file may hold many rows, because runs of one value and dictionary-encoded texts take
    hardly any space. Values are counted as 8 bytes each, texts by their lengths: only the
    dictionary and the indices are read, one column of one row group at a time.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
    source : file or buffer
        The file's source, which is read again.
    limit : int
        Counting stops above this number of bytes.
    """
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    chunks = [[group.column(j) for j in range(group.num_columns)] for group in groups]
    size: int = max(
        sum(_WIDTH * chunk.num_values for row in chunks for chunk in row),
        sum(chunk.total_uncompressed_size for row in chunks for chunk in row),
    )
    texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    if size > limit or len(set(file.schema_arrow.names)) < len(file.schema_arrow.names):
        return size  # duplicate names are rejected later
    coded = pq.ParquetFile(source, read_dictionary=texts)
    for i in range(len(groups)):
        for name in texts:
            size += _size_of_texts(coded.read_row_group(i, columns=[name]).column(0))
            if size > limit:
                return size
    return size


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _size_of_texts(column: pa.ChunkedArray) -> int:
    size = 0
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = pc.cast(pc.binary_length(chunk.dictionary), pa.int64())
            found = pc.sum(lengths.take(chunk.indices)).as_py()
        else:
            found = pc.sum(pc.cast(pc.binary_length(chunk), pa.int64())).as_py()
        size += found or 0
    return size
