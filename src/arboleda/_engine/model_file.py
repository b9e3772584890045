"""Reading and writing of model files: header, trees, forests and named arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.forest import Forest
from arboleda._engine.tree import Tree

__all__ = [
    "FORMAT_VERSION",
    "PREAMBLE_SIZE",
    "check_preamble",
    "read_model",
    "read_model_header",
    "write_model",
]

FORMAT_VERSION: int = _native.MODEL_FORMAT_VERSION
PREAMBLE_SIZE: int = _native.MODEL_PREAMBLE_SIZE

check_preamble = _native.check_model_preamble
read_model_header = _native.read_model_header


def write_model(
    header: bytes,
    trees: Sequence[Tree],
    arrays: Mapping[str, npt.NDArray[np.generic]],
    forests: Sequence[Forest] = (),
) -> bytes:
    """Return the bytes of a model file; arrays are of float64 or int64."""
    parts = [(name, np.asarray(array, order="C")) for name, array in arrays.items()]
    return _native.write_model(
        header, [tree._native for tree in trees], [forest._native for forest in forests], parts
    )


def read_model(
    file: bytes,
) -> tuple[bytes, list[Tree], dict[str, npt.NDArray[np.generic]], list[Forest]]:
    """Return the header, trees, arrays and forests of a model file, with one target each.

    Raises
    ------
    ModelFormatError
        If the bytes are not a valid model file.
    """
    header, trees, forests, arrays = _native.read_model(file)
    return (
        header,
        [Tree(tree) for tree in trees],
        dict(arrays),
        [Forest(forest, (forest.n_outputs,)) for forest in forests],
    )
