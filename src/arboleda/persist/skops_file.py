"""Serialization of fitted scikit-learn estimators to bytes that are read without running code.

The format is that of skops: a zip archive with a description in JSON and a file for each array. The
reader of skops trusts all estimators of scikit-learn. This one is stricter: a description may only
name what is in the lists below, each array must have the length that it states, and objects must
follow the rules of their classes, because compiled code uses their numbers without checks.
"""

import io
import json
import zipfile
import zlib
from typing import Any

import numpy as np

from arboleda.persist.object_rules import (
    RANDOM_STATE,
    RULES,
    BrokenRuleError,
    check_estimators,
)

__all__ = ["TRUSTED", "SkopsFileError", "deserialize_estimators", "serialize_estimators"]

# The allowed kinds of nodes in a description, and the types that each may name. None of them calls
# a function that the file names, except the constructors of these types; objects of classes with
# rules are created without their constructors.
_SCALARS = {
    "builtins.bool",
    "builtins.float",
    "builtins.int",
    "builtins.str",
    "numpy.float64",
    "numpy.int64",
}
_NODES = {
    "ConstructorFromReduceNode": {"arboleda._engine.columns.Schema"},
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {"builtins.dict", "sklearn.utils._bunch.Bunch"},
    "JsonNode": _SCALARS | {"builtins.NoneType"},
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", "numpy.bool", "numpy.bool_", "numpy.float64", "numpy.int64"},
    "ObjectNode": set(RULES),
    "RandomStateNode": {RANDOM_STATE},
    "SliceNode": {"builtins.slice"},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": _SCALARS,
}
TRUSTED: frozenset[str] = frozenset().union(*_NODES.values())

_DESCRIPTION = "schema.json"


class SkopsFileError(ValueError):
    """The bytes are not such a file, are damaged, or name a type that is not trusted."""


def serialize_estimators(estimators: list[Any]) -> bytes:
    """Serialize a list whose entries are fitted estimators or None.

    Raises
    ------
    TypeError
        If they contain an object that would be refused when the bytes are read.
    """
    from skops.io import dumps

    content = dumps(estimators)
    try:
        _check_content(content)
        check_estimators(estimators)
    except (SkopsFileError, BrokenRuleError) as error:
        raise TypeError(f"cannot be saved: {error}") from error
    return bytes(content)


def deserialize_estimators(content: bytes) -> list[Any]:
    """Deserialize a list that `serialize_estimators` wrote.

    No code of the file is run; memory use is proportional to its length.

    Raises
    ------
    SkopsFileError
        If anything is wrong with the bytes.
    """
    from skops.io import loads

    _check_content(content)
    try:
        estimators: list[Any] = loads(content, trusted=sorted(TRUSTED))
        check_estimators(estimators)
    except MemoryError:
        raise
    except BrokenRuleError as error:
        raise SkopsFileError(str(error)) from error
    except Exception as error:  # a damaged description can fail in any way
        raise SkopsFileError(_summarize_error(error)) from error
    return estimators


def _check_content(content: bytes) -> None:
    """Check that the bytes contain only trusted types and arrays of the stated lengths."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_archive(archive)
    except SkopsFileError:
        raise
    except RecursionError as error:
        raise SkopsFileError("it is nested too deeply") from error
    # zipfile raises these for a damaged archive, json for a damaged text.
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise SkopsFileError(_summarize_error(error)) from error


def _check_archive(archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise SkopsFileError("it is compressed")
    _count_nodes(json.loads(archive.read(_DESCRIPTION)), {})
    for member in members:
        if member.filename != _DESCRIPTION:
            _check_array(archive, member)


def _check_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Check the length of an array: its header may state any."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise SkopsFileError(f"the array {member.filename} has another format version")
        if dtype.kind not in "biufU" or not dtype.isnative or dtype.itemsize == 0:
            raise SkopsFileError(f"the array {member.filename} has the type {dtype}")
        length = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if file.tell() + length != member.file_size:
            raise SkopsFileError(f"the array {member.filename} is not as long as its header states")


def _count_nodes(value: Any, counted: dict[Any, int]) -> int:
    """Check every node of a description and return the number of nodes.

    skops writes a shared object in full each time, but reads it once. A shorter second copy would
    be a reference, and a few nested references can expand to more objects than fit into memory.
    """
    if isinstance(value, list):
        return sum(_count_nodes(inner, counted) for inner in value)
    if not isinstance(value, dict):
        return 0
    is_node = "__loader__" in value
    if is_node:
        _check_node(value)
    total = sum(_count_nodes(inner, counted) for inner in value.values())
    if not is_node:
        return total
    number = value.get("__id__")
    if number is not None and counted.setdefault(number, total) != total:
        raise SkopsFileError("two of its objects have the same number")
    return total + 1


def _check_node(node: dict[str, Any]) -> None:
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    if loader not in _NODES:
        raise SkopsFileError(f"it contains a {str(loader)[:60]}")
    if name not in _NODES[loader]:
        raise SkopsFileError(f"it names {name[:120]}, a type that such files cannot hold")


def _summarize_error(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__
