"""Fitted estimators of scikit-learn as bytes that can be read without running code of theirs.

The bytes are those of skops: a zip archive with a description in JSON and one file for every
array. Its reader trusts all estimators of scikit-learn; ours is narrower: a description is read
only if all that it names stands in the lists below, and every array is as long as it says; the
objects that are made of it must follow the rules of their classes, for compiled code follows their
numbers without looking.
"""

import io
import json
import zipfile
import zlib
from typing import Any

import numpy as np

from arboleda.study.artifacts.object_rules import (
    RANDOM_STATE,
    RULES,
    BrokenRuleError,
    check_estimators,
)

__all__ = ["TRUSTED", "SkopsFileError", "estimators_from_bytes", "estimators_to_bytes"]

# What the description may be made of: skops' names of the kinds of nodes, and the types that each
# may name. None of them calls a function that the file names, but for the constructors of these
# types; objects of classes with rules are made without their constructors.
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
TRUSTED = frozenset().union(*_NODES.values())

_DESCRIPTION = "schema.json"


class SkopsFileError(ValueError):
    """The bytes are no such file, are damaged, or name what is not trusted."""


def estimators_to_bytes(estimators: list[Any]) -> bytes:
    """The bytes of a list of fitted estimators, or None in the place of one.

    Raises
    ------
    TypeError
        If they hold an object that would be refused when the bytes are read.
    """
    from skops.io import dumps

    content = dumps(estimators)
    try:
        _check(content)
        check_estimators(estimators)
    except (SkopsFileError, BrokenRuleError) as error:
        raise TypeError(f"cannot be kept: {error}") from error
    return bytes(content)


def estimators_from_bytes(content: bytes) -> list[Any]:
    """The list of fitted estimators that `estimators_to_bytes` was given.

    No code of the file is run; the memory taken is in proportion to its length.

    Raises
    ------
    SkopsFileError
        If anything is wrong with the bytes.
    """
    from skops.io import loads

    _check(content)
    try:
        found: list[Any] = loads(content, trusted=sorted(TRUSTED))
        check_estimators(found)
    except MemoryError:
        raise
    except BrokenRuleError as error:
        raise SkopsFileError(str(error)) from error
    except Exception as error:  # a damaged description fails in ways that cannot be listed
        raise SkopsFileError(_first_line(error)) from error
    return found


def _check(content: bytes) -> None:
    """Refuse bytes that hold more than trusted types and arrays of their length."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_archive(archive)
    except SkopsFileError:
        raise
    except RecursionError as error:
        raise SkopsFileError("it is nested too deeply") from error
    # zipfile says by these what is wrong with an archive, json with a text.
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
        raise SkopsFileError(_first_line(error)) from error


def _check_archive(archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise SkopsFileError("it is compressed")
    _count_nodes(json.loads(archive.read(_DESCRIPTION)), {})
    for member in members:
        if member.filename != _DESCRIPTION:
            _check_array(archive, member)


def _check_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse what grows when it is read: an array's header may promise any length."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise SkopsFileError(f"the array {member.filename} is of another format")
        if dtype.kind not in "biufU" or not dtype.isnative or dtype.itemsize == 0:
            raise SkopsFileError(f"the array {member.filename} is of the type {dtype}")
        length = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if file.tell() + length != member.file_size:
            raise SkopsFileError(f"the array {member.filename} is not as long as it says")


def _count_nodes(value: Any, counted: dict[Any, int]) -> int:
    """Check every description of an object in a description; their number.

    skops writes an object that several others hold in full each time, and reads it once. A shorter
    second time would be a reference: a few of them make more objects than there is memory for.
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
        raise SkopsFileError("two objects of it have the same number")
    return total + 1


def _check_node(node: dict[str, Any]) -> None:
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    if loader not in _NODES:
        raise SkopsFileError(f"it holds a {str(loader)[:60]}")
    if name not in _NODES[loader]:
        raise SkopsFileError(f"it names {name[:120]}, which is not trusted")


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__
