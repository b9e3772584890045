"""Trees of XGBoost models, and Universal Binary JSON: https://ubjson.org, draft 12.

A value is a marker followed by its bytes; numbers are big-endian:

    Z null   T true   F false   i int8   U uint8   I int16   l int32   L int64   d float32
    D float64   S length text   [ values ]   { length key value .. }

A container may state its length, ``[#`` length, and arrays also the type of their values, ``[$``
type ``#`` length; then there is no closing bracket.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import ModelFormatError
from arboleda._utils.float32 import rounded_below
from arboleda.importers._columns import (
    Columns,
    Floats,
    Integers,
    read_entry,
    read_floats,
    read_integer,
    read_integers,
)
from arboleda.importers._trees import NodeTable

_NUMBERS = {b"i": "b", b"U": "B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}
_CONSTANTS = {b"Z": None, b"T": True, b"F": False}
_MAX_DEPTH = 64


def read_ubjson(content: bytes) -> Any:
    """Decode a value; arrays of a single type become NumPy arrays.

    Memory use is proportional to the length of the content.

    Raises
    ------
    ModelFormatError
        If the content is invalid, truncated, or followed by more bytes.
    """
    reader = _Reader(content)
    value = reader.value(reader.take(1), 0)
    if reader.at != len(content):
        raise ModelFormatError(f"byte {reader.at}: the file continues after its end")
    return value


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def take(self, n: int) -> bytes:
        """Return the next bytes."""
        taken = self.content[self.at : self.at + n]
        if len(taken) < n:
            raise ModelFormatError(f"byte {self.at}: the file ends early")
        self.at += n
        return taken

    def value(self, marker: bytes, depth: int) -> Any:
        """Read the value that follows a marker."""
        if depth > _MAX_DEPTH:
            raise ModelFormatError(f"byte {self.at}: the file is nested too deeply")
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker in _NUMBERS:
            form = _NUMBERS[marker]
            return struct.unpack(form, self.take(struct.calcsize(form)))[0]
        if marker == b"S":
            return self._text()
        if marker == b"[":
            return self._array(depth)
        if marker == b"{":
            return self._object(depth)
        raise ModelFormatError(f"byte {self.at - 1}: {marker!r} is not the marker of a value")

    def _length(self) -> int:
        marker = self.take(1)
        length = self.value(marker, 0) if marker in _NUMBERS else None
        if type(length) is not int or not 0 <= length <= len(self.content) - self.at:
            raise ModelFormatError(f"byte {self.at}: a length is invalid, or beyond the file")
        return length

    def _text(self) -> str:
        try:
            return self.take(self._length()).decode()
        except UnicodeDecodeError as error:
            raise ModelFormatError(f"byte {self.at}: a string is not UTF-8") from error

    def _array(self, depth: int) -> Any:
        marker = self.take(1)
        if marker == b"$":
            return self._typed_array()
        if marker == b"#":
            return [self.value(self.take(1), depth + 1) for _ in range(self._length())]
        values = []
        while marker != b"]":
            values.append(self.value(marker, depth + 1))
            marker = self.take(1)
        return values

    def _typed_array(self) -> Any:
        form = _NUMBERS.get(self.take(1))
        if form is None or self.take(1) != b"#":
            raise ModelFormatError(f"byte {self.at}: the type of an array is not a number type")
        dtype = np.dtype(form)
        values = np.frombuffer(self.take(self._length() * dtype.itemsize), dtype=dtype)
        return values.astype(dtype.newbyteorder("="))

    def _object(self, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        marker = self.take(1)
        count = self._length() if marker == b"#" else None
        while count is None or len(entries) < count:
            if count is None:
                if marker == b"}":
                    break
                self.at -= 1  # the marker is that of the key's length
            key = self._text()
            if key in entries:
                raise ModelFormatError(f"byte {self.at}: the key {key[:60]!r} is not unique")
            entries[key] = self.value(self.take(1), depth + 1)
            if count is None:
                marker = self.take(1)
        return entries


def read_nodes(stored: Any, tree_weight: float, columns: Columns) -> NodeTable:
    """Read the nodes of a tree, with leaf values multiplied by ``tree_weight``.

    Their values have a column for each output of a vector leaf, and one column otherwise.

    Raises
    ------
    ValueError
        If they cannot be read.
    """
    size = read_entry(read_entry(stored, "tree_param", dict), "size_leaf_vector", object)
    width = read_integer(size, "size_leaf_vector")
    left = read_integers(stored, "left_children")
    n_nodes = left.size
    if not n_nodes:
        raise ModelFormatError("it has no node")
    is_leaf = left < 0
    right = read_integers(stored, "right_children", n_nodes)
    vectors = None
    if width > 1:
        vectors = _read_vector_leaves(stored, width, is_leaf, right)
        right = np.where(is_leaf, -1, right)
    condition = read_float32s(stored, "split_conditions", n_nodes)
    cover = read_float32s(stored, "sum_hessian", n_nodes)
    if not np.isfinite(cover).all():
        raise ModelFormatError("sum_hessian is not finite")
    feature = read_integers(stored, "split_indices", n_nodes)
    missing_left = read_integers(stored, "default_left", n_nodes) != 0
    gain = read_float32s(stored, "loss_changes", n_nodes)
    # Since version 3.4, "less than -infinity" separates missing values from all others.
    threshold = np.maximum(rounded_below(condition), np.finfo(np.float64).min)
    leaf_value = condition[:, np.newaxis] if vectors is None else vectors
    return NodeTable(
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        missing_left=missing_left,
        impurity=np.where(is_leaf, 0.0, gain),
        weight=cover,
        n_rows=np.rint(np.clip(cover, 1.0, 2.0**53)).astype(np.int64),
        value=np.where(is_leaf[:, np.newaxis], tree_weight * leaf_value, 0.0),
        categories=_read_categories(stored, feature, missing_left, columns),
    )


def _read_vector_leaves(
    stored: Any, width: int, is_leaf: npt.NDArray[np.bool_], number: Integers
) -> Floats:
    """Return the values of each node's leaf, of shape (n_nodes, width).

    Leaves are numbered; the file has a leaf's number in the place of its right child.
    """
    if "leaf_weights" not in stored:
        raise ModelFormatError(
            "its leaves have several values (multi_strategy='multi_output_tree') in the format "
            "before XGBoost 3.2, which lacks the covers of nodes: fit it with XGBoost 3.2 or later"
        )
    n_leaves = int(is_leaf.sum())
    if is_leaf.size >= 2 * n_leaves:  # there is a tree for each output: few bytes stay few
        raise ModelFormatError(f"{is_leaf.size} nodes with {n_leaves} leaves are not a tree")
    values = read_float32s(stored, "leaf_weights", n_leaves * width).reshape(n_leaves, width)
    number = np.where(is_leaf, number, 0)
    if number.min() < 0 or number.max() >= n_leaves:
        raise ModelFormatError(f"a leaf has a number that is none of its {n_leaves} leaves")
    return values[number]


def read_float32s(stored: Any, name: str, size: int | None = None) -> Floats:
    """Read single-precision numbers, which JSON files store with just enough digits for float32."""
    with np.errstate(over="ignore", under="ignore"):
        return read_floats(stored, name, size).astype(np.float32).astype(np.float64)


def _read_categories(
    stored: Any, feature: Integers, missing_left: Any, columns: Columns
) -> dict[int, Integers]:
    """Return the categories that do not go the way of missing values, for each categorical node.

    XGBoost lists the categories that go right.
    """
    kinds = read_integers(stored, "split_type", feature.size) if "split_type" in stored else None
    categorical = set() if kinds is None else set(np.flatnonzero(kinds == 1).tolist())
    if not categorical:
        return {}
    nodes = read_integers(stored, "categories_nodes").tolist()
    begins = read_integers(stored, "categories_segments", len(nodes)).tolist()
    sizes = read_integers(stored, "categories_sizes", len(nodes)).tolist()
    listed = read_integers(stored, "categories")
    if set(nodes) != categorical or len(set(nodes)) != len(nodes):
        raise ModelFormatError("categories_nodes are not the categorical nodes")
    if sum(sizes) > listed.size:
        raise ModelFormatError("categories_segments overlap")
    categories = {}
    for node, begin, size in zip(nodes, begins, sizes, strict=True):
        if not 0 <= begin <= begin + size <= listed.size or size < 0:
            raise ModelFormatError("categories_segments are not within the categories")
        column = int(feature[node])
        going_right = columns.encode_categories(column, listed[begin : begin + size].tolist())
        categories[node] = (
            going_right if missing_left[node] else columns.other_categories(column, going_right)
        )
    return categories
