"""A second reader and writer of the model file, in the order of its description.

It follows docs/model_file.md alone, checks little, and computes every checksum and length anew: so
it tests that the description is enough, and builds files with one thing wrong.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

MAGIC = b"\x89ARB\r\n\x1a\n"

# Arrays of a tree in the order of the file: name, type, length given n nodes and k outputs.
TREE_ARRAYS = {
    "threshold": "<f8",
    "impurity": "<f8",
    "weight": "<f8",
    "value": "<f8",
    "n_node_samples": "<i8",
    "category_start": "<i8",
    "feature": "<i4",
    "right": "<i4",
    "category": "<u2",
    "missing_left": "<u1",
}


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_TABLE = [_table_entry(byte) for byte in range(256)]


@dataclass
class TreeTwin:
    """The sizes and the arrays of a tree."""

    n_features: int
    n_outputs: int
    impurity_exponent: int
    arrays: dict[str, Any]
    n_nodes: int | None = None  # None: as many as there are
    n_categories: int | None = None

    @classmethod
    def read(cls, content: bytes) -> Self:
        n_features, k, exponent, n, n_categories = struct.unpack_from("<iiiiQ", content)
        lengths = dict.fromkeys(TREE_ARRAYS, n)
        lengths["value"] = n * k
        lengths["category_start"] = n + 1 if n_categories else 0
        lengths["category"] = n_categories
        at, arrays = 24, {}
        for name, dtype in TREE_ARRAYS.items():
            arrays[name] = np.frombuffer(content, dtype, lengths[name], at).copy()
            at += arrays[name].nbytes
        assert at == len(content)
        return cls(n_features, k, exponent, arrays)

    def write(self) -> bytes:
        n = len(self.arrays["right"]) if self.n_nodes is None else self.n_nodes
        c = len(self.arrays["category"]) if self.n_categories is None else self.n_categories
        sizes = struct.pack("<iiiiQ", self.n_features, self.n_outputs, self.impurity_exponent, n, c)
        arrays = (
            np.asarray(self.arrays[name], dtype).tobytes() for name, dtype in TREE_ARRAYS.items()
        )
        return sizes + b"".join(arrays)

    def changed(self, **changes: Any) -> Self:
        """Return the tree with other sizes or other arrays."""
        sizes = {name: value for name, value in changes.items() if name not in TREE_ARRAYS}
        arrays = {name: changes.get(name, value) for name, value in self.arrays.items()}
        return replace(self, **sizes, arrays=arrays)


# Arrays of a tree of a forest, in the order of the file; m is its number of leaves.
FOREST_ARRAYS = {
    "threshold": "<f8",
    "value": "<f8",
    "weight": "<f8",
    "impurity": "<f8",
    "right": "<i4",
    "asks": "<u4",
    "n_rows": "<u4",
    "category_start": "<u4",
    "row": "<u4",
    "category": "<u2",
}
_MEANS, _MEDIANS = 5, 6


@dataclass
class ForestTwin:
    """The sizes of a forest and the arrays of its trees."""

    n_features: int
    n_outputs: int
    measure: int
    n_training_rows: int
    trees: list[tuple[int, dict[str, Any]]]  # exponent, arrays
    n_trees: int | None = None  # None: as many as there are

    @classmethod
    def read(cls, content: bytes) -> Self:
        n_features, k, measure, n_trees, n_training = struct.unpack_from("<iiIIQ", content)
        at, trees = 24, []
        for _ in range(n_trees):
            exponent, m, flags, lists, c, kept = struct.unpack_from("<iIIIQQ", content, at)
            n = 2 * m - 1
            lengths = dict.fromkeys(FOREST_ARRAYS, n)
            lengths["value"] = (n if measure == _MEDIANS else m) * k
            lengths["weight"] = m if flags & 1 else 0
            lengths["impurity"] = (n if measure in (_MEANS, _MEDIANS) else m) if flags & 2 else 0
            lengths["n_rows"] = m
            lengths["category_start"] = lists + 1 if lists else 0
            lengths["row"] = kept
            lengths["category"] = c
            at += 32
            arrays = {}
            for name, dtype in FOREST_ARRAYS.items():
                arrays[name] = np.frombuffer(content, dtype, lengths[name], at).copy()
                at += arrays[name].nbytes
            at += -at % 8
            trees.append((exponent, arrays))
        assert at == len(content)
        return cls(n_features, k, measure, n_training, trees)

    def write(self) -> bytes:
        n_trees = len(self.trees) if self.n_trees is None else self.n_trees
        data = struct.pack(
            "<iiIIQ",
            self.n_features,
            self.n_outputs,
            self.measure,
            n_trees,
            self.n_training_rows,
        )
        for exponent, arrays in self.trees:
            flags = (arrays["weight"].size > 0) + 2 * (arrays["impurity"].size > 0)
            lists = max(1, arrays["category_start"].size) - 1
            m, c, kept = arrays["n_rows"].size, arrays["category"].size, arrays["row"].size
            data += struct.pack("<iIIIQQ", exponent, m, flags, lists, c, kept)
            for name, dtype in FOREST_ARRAYS.items():
                data += np.asarray(arrays[name], dtype).tobytes()
            data = _pad_leaves(data)
        return data

    def with_array(self, tree: int, **changes: Any) -> Self:
        """Return the forest with other arrays in one of its trees."""
        trees = list(self.trees)
        trees[tree] = (trees[tree][0], trees[tree][1] | changes)
        return replace(self, trees=trees)


def section(kind: bytes, content: bytes) -> bytes:
    """Head, content and zeros up to a multiple of eight; the file's offsets are such."""
    head = kind + struct.pack("<IQ", crc32c(content), len(content))
    return _pad_leaves(head + content)


def array_content(name: str, array: Any) -> bytes:
    array = np.asarray(array)
    kind = {"f": 1, "i": 2}[array.dtype.kind]
    head = struct.pack("<IIII", kind, len(name), array.ndim, 0)
    shape = np.asarray(array.shape, "<u8").tobytes()
    return (
        _pad_leaves(head + shape + name.encode())
        + array.astype("<f8" if kind == 1 else "<i8").tobytes()
    )


def _pad_leaves(data: bytes, fill: bytes = b"\0") -> bytes:
    return data + fill * (-len(data) % 8)


@dataclass
class FileTwin:
    """The header and the sections of a file."""

    header: bytes
    sections: list[tuple[bytes, bytes]] = field(default_factory=list)
    magic: bytes = MAGIC
    version: int = 1
    n_sections: int | None = None
    length: int | None = None
    header_length: int | None = None
    end: bytes = b"END "
    after: bytes = b""

    @classmethod
    def read(cls, data: bytes) -> Self:
        version, n_sections, length, header_length = struct.unpack_from("<IIQQ", data, 8)
        assert data[:8] == MAGIC
        assert length == len(data)
        at = 32 + header_length
        header = data[32:at]
        assert struct.unpack_from("<II", data, at) == (crc32c(data[:at]), 0)
        at += 8
        sections = []
        for _ in range(n_sections):
            checksum, size = struct.unpack_from("<IQ", data, at + 4)
            content = data[at + 16 : at + 16 + size]
            assert checksum == crc32c(content)
            sections.append((data[at : at + 4], content))
            at += 16 + -(-size // 8) * 8
        assert data[at:] == b"END " + struct.pack("<I", crc32c(data[: at + 4]))
        return cls(header, sections, version=version)

    def write(self) -> bytes:
        header = _pad_leaves(self.header, b" ")
        body = b"".join(section(kind, content) for kind, content in self.sections)
        numbers = (
            self.version,
            len(self.sections) if self.n_sections is None else self.n_sections,
            32 + len(header) + 8 + len(body) + 8 + len(self.after)
            if self.length is None
            else self.length,
            len(header) if self.header_length is None else self.header_length,
        )
        data = self.magic + struct.pack("<IIQQ", *numbers) + header
        data += struct.pack("<II", crc32c(data), 0) + body + self.end
        return data + struct.pack("<I", crc32c(data)) + self.after

    @property
    def json(self) -> dict[str, Any]:
        """The header as Python has it."""
        return json.loads(self.header)  # type: ignore[no-any-return]

    def with_json(self, header: Any) -> Self:
        """Return the file with another header."""
        return replace(self, header=json.dumps(header).encode())

    @property
    def tree(self) -> TreeTwin:
        """The first section, which is a tree."""
        return TreeTwin.read(self.sections[0][1])

    def with_tree(self, **changes: Any) -> Self:
        """Return the file with another first tree."""
        content = self.tree.changed(**changes).write()
        return replace(self, sections=[(b"TREE", content), *self.sections[1:]])
