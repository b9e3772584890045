"""Arrays of a page: one block of bytes, deflated and written in base64."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

# Types of JavaScript's typed arrays, the smallest first.
_INTEGERS = (
    ("u1", np.uint8),
    ("i1", np.int8),
    ("u2", np.uint16),
    ("i2", np.int16),
    ("u4", np.uint32),
    ("i4", np.int32),
)
_ALIGNMENT = 8


class Tables:
    """Arrays that a page reads by their number."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._entries: list[tuple[str, int, int]] = []
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._size = 0

    def add_floats(self, values: npt.ArrayLike) -> int:
        """Add float64 numbers and return the number of the array."""
        return self._add("f8", np.asarray(values, dtype="<f8").ravel())

    def add_integers(self, values: npt.ArrayLike) -> int:
        """Add integers in the smallest type that holds them."""
        array = np.asarray(values).ravel()
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        for name, kind in _INTEGERS:
            limits = np.iinfo(kind)
            if limits.min <= low and high <= limits.max:
                return self._add(name, array.astype(np.dtype(kind).newbyteorder("<")))
        raise ValueError("the model has too many nodes for 32-bit indices: export fewer trees")

    @property
    def entries(self) -> list[tuple[str, int, int]]:
        """Type, length and first byte of each array."""
        return self._entries

    def encode(self) -> str:
        """Return the bytes, deflated and in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")

    def _add(self, name: str, array: npt.NDArray[Any]) -> int:
        content = array.tobytes()
        key = name, content
        if key in self._numbers:
            return self._numbers[key]
        self._entries.append((name, array.size, self._size))
        padded = content + bytes(-len(content) % _ALIGNMENT)
        self._parts.append(padded)
        self._size += len(padded)
        number = self._numbers[key] = len(self._entries) - 1
        return number
