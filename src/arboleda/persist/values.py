"""Encoding of values, columns and headers of model files as strict JSON.

JSON's null, true, "text", 1, 1.5 and [lists] represent themselves; objects with one key represent
other types:

    {"float": "nan"}, "inf" or "-inf"       {"tuple": [...]}
    {"dict": [[key, value], ...]}           {"numpy": "<i8", "value": 3}
    {"array": {"dtype": "<U5", "values": [...]}}      one-dimensional
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Schema
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.files import parse_strict_json


def encode_columns(schema: Schema) -> list[dict[str, Any]]:
    """Encode the columns: kind, levels if categorical, and name if the table had names."""
    stored = schema.to_dict()
    columns: list[dict[str, Any]] = stored["columns"]
    if stored["names"] is None:
        return columns
    return [{"name": name, **column} for name, column in zip(stored["names"], columns, strict=True)]


def decode_columns(stored: list[Any], estimator: Any) -> None:
    """Set the columns of an estimator from the header.

    Raises
    ------
    ModelFormatError
        If an entry is not a column, or only some columns have names.
    """
    if not all(isinstance(column, dict) for column in stored):
        raise ModelFormatError("columns has an entry that is not a column")
    names = [column["name"] for column in stored if "name" in column]
    if len(names) not in {0, len(stored)}:
        raise ModelFormatError("some columns have names and others do not")
    columns = [{key: column[key] for key in column if key != "name"} for column in stored]
    try:
        schema = Schema.from_dict({"names": names or None, "columns": columns})
    except ValueError as error:
        raise ModelFormatError(f"columns: {error}") from error
    estimator.schema_ = schema
    estimator.n_features_in_ = schema.n_columns
    if schema.names_are_text:
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)


_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f(?:2|4|8|16)|[<>]U([1-9]\d{0,8})|\|O"
    r"|[<>][mM]8\[(?:Y|M|W|D|h|m|s|ms|us|ns)\]"
)
_PADDING = 2**20  # bytes of padding that a text array may have in total
_MAX_DEPTH = 20


def encode(value: Any, depth: int = 0) -> Any:
    """Encode a plain value as JSON.

    Raises
    ------
    TypeError
        If the type is not supported; the message names it.
    """
    if depth > _MAX_DEPTH:
        raise TypeError("it is nested too deeply")
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if kind is np.str_:
        return str(value)
    if kind is list:
        return [encode(item, depth + 1) for item in value]
    if kind is tuple:
        return {"tuple": [encode(item, depth + 1) for item in value]}
    if kind is dict:
        pairs = [[encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items()]
        return {"dict": pairs}
    if isinstance(value, np.bool_ | np.integer | np.floating):
        [number] = encode_array(np.array([value]))["values"]
        return {"numpy": value.dtype.str, "value": number}
    if kind is np.ndarray:
        return {"array": encode_array(value)}
    raise TypeError(f"it is of type {kind.__name__}")


def decode(stored: Any, depth: int = 0) -> Any:
    """Decode a value that was encoded by `encode`.

    Raises
    ------
    ModelFormatError
        If it is not the result of `encode`.
    """
    if depth > _MAX_DEPTH:
        raise ModelFormatError("a value is nested too deeply")
    if isinstance(stored, list):
        return [decode(item, depth + 1) for item in stored]
    if not isinstance(stored, dict):
        return stored
    match stored:
        case {"float": str(name), **rest} if name in _SPECIAL and not rest:
            return _SPECIAL[name]
        case {"tuple": list(items), **rest} if not rest:
            return tuple(decode(item, depth + 1) for item in items)
        case {"dict": list(pairs), **rest} if not rest:
            return _decode_dict(pairs, depth + 1)
        case {"numpy": str(name), "value": number, **rest} if not rest and name[1:2] in "biuf":
            return decode_array({"dtype": name, "values": [number]})[0]
        case {"array": dict(array), **rest} if not rest:
            return decode_array(array)
    raise ModelFormatError(f"{_format_value(stored)} is not a value")


def _decode_dict(pairs: list[Any], depth: int) -> dict[Any, Any]:
    decoded = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ModelFormatError(f"{_format_value(pair)} is not a pair of key and value")
        key = decode(pair[0], depth)
        try:
            is_twice = key in decoded
        except TypeError as error:
            raise ModelFormatError(f"{_format_value(pair[0])} cannot be a key") from error
        if is_twice:
            raise ModelFormatError(f"the key {_format_value(pair[0])} is duplicated")
        decoded[key] = decode(pair[1], depth)
    return decoded


def encode_array(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Encode a one-dimensional array as JSON, with its dtype and values.

    Raises
    ------
    TypeError
        If the array has more dimensions, or values that are not numbers, texts or dates.
    """
    dtype = array.dtype.str
    if array.ndim != 1 or not _DTYPE.fullmatch(dtype):
        raise TypeError(f"it is an array of type {array.dtype} with {array.ndim} dimensions")
    kind = array.dtype.kind
    if kind == "O":
        return {"dtype": dtype, "values": [_encode_scalar(value) for value in array]}
    if kind in "mM":
        return {"dtype": dtype, "values": array.astype(np.int64).tolist()}
    if kind == "f":
        values = [float(value) for value in array]
        if not np.array_equal(np.array(values), array, equal_nan=True):
            raise TypeError(f"it is an array of type {array.dtype} with more digits than float64")
        return {"dtype": dtype, "values": [encode(value) for value in values]}
    values = array.tolist()
    if kind == "U":
        dtype = f"{dtype[:2]}{_text_width(array.dtype.itemsize // 4, values)}"
    return {"dtype": dtype, "values": values}


def _encode_scalar(value: Any) -> Any:
    if isinstance(value, list | tuple | dict | np.ndarray):
        raise TypeError(f"it is an array of objects and one is of type {type(value).__name__}")
    return encode(value)


def decode_array(stored: Any) -> npt.NDArray[Any]:
    """Decode an array that was encoded by `encode_array`.

    Raises
    ------
    ModelFormatError
        If it is not the result of `encode_array`.
    """
    match stored:
        case {"dtype": str(name), "values": list(values), **rest} if not rest:
            found = _DTYPE.fullmatch(name)
        case _:
            raise ModelFormatError(f"{_format_value(stored)} is not an array")
    if not found:
        raise ModelFormatError(f"{_format_value(name)} is not a supported dtype")
    if name == "|O":
        array = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            if isinstance(value, dict) and not {"float", "numpy"} & value.keys():
                raise ModelFormatError(f"{_format_value(value)} is neither a number nor a text")
            array[i] = decode(value) if not isinstance(value, list) else _refuse_list(value)
        return array
    if found[1]:
        _check_text(values, int(found[1]))
        return np.array(values, dtype=name)
    try:
        dtype = np.dtype(name)
    except TypeError as error:  # float128 is not available on every machine
        raise ModelFormatError(
            f"numbers of type {name} are not available on this machine"
        ) from error
    if dtype.kind == "f":
        return _decode_floats(values, dtype)
    return _decode_integers(values, dtype)


def _refuse_list(value: list[Any]) -> Any:
    raise ModelFormatError(f"{_format_value(value)} is neither a number nor a text")


def _check_text(values: list[Any], width: int) -> None:
    if not all(isinstance(value, str) for value in values):
        raise ModelFormatError("an array of texts has values of another type")
    # A small file must not allocate huge text arrays.
    if width != _text_width(width, values) or width < max(map(len, values), default=1):
        raise ModelFormatError(f"texts of {width} characters are longer than the file's")


def _text_width(width: int, values: list[str]) -> int:
    """Return the width to store: the array's own, or the longest text's if that saves space."""
    if 4 * width * len(values) <= _PADDING:
        return width
    return max(1, *map(len, values))


def _decode_floats(values: list[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    numbers = [decode(value) if isinstance(value, dict) else value for value in values]
    if not all(type(number) in (int, float) for number in numbers):
        raise ModelFormatError("an array of numbers has values of another type")
    try:
        exact = np.array([float(number) for number in numbers])
    except OverflowError as error:
        raise ModelFormatError(f"a number is out of range for {dtype}") from error
    with np.errstate(over="ignore", under="ignore"):
        array = exact.astype(dtype)
    if not np.array_equal(array, exact, equal_nan=True):
        raise ModelFormatError(f"a number cannot be represented as {dtype}")
    return array


def _decode_integers(values: list[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    kind = bool if dtype.kind == "b" else int
    if not all(type(value) is kind for value in values):
        raise ModelFormatError(f"an array of {dtype} has values of another type")
    if dtype.kind != "b":
        limits = np.iinfo(np.int64 if dtype.kind in "mM" else dtype)
        if not all(limits.min <= value <= limits.max for value in values):
            raise ModelFormatError(f"a number is out of range for {dtype}")
    if dtype.kind in "mM":
        return np.array(values, dtype=np.int64).astype(dtype)
    return np.array(values, dtype=dtype)


def _format_value(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


_SURROGATE = re.compile("[\ud800-\udfff]")


def header_to_bytes(header: dict[str, Any]) -> bytes:
    """Encode a header as UTF-8, with one line per entry down to the second level."""
    lines = ",\n".join(f" {_json(key)}: {_part(value)}" for key, value in header.items())
    text = f"{{\n{lines}\n}}\n"
    # UTF-8 cannot encode lone surrogates (which file names may hold); JSON can escape them.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _part(value: Any) -> str:
    if isinstance(value, dict) and value:
        lines = ",\n".join(f"  {_json(key)}: {_json(item)}" for key, item in value.items())
        return f"{{\n{lines}\n }}"
    if isinstance(value, list) and value:
        lines = ",\n".join(f"  {_json(item)}" for item in value)
        return f"[\n{lines}\n ]"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def header_from_bytes(content: bytes) -> dict[str, Any]:
    """Parse a header.

    Raises
    ------
    ModelFormatError
        If it is not UTF-8, not JSON, not an object, nested too deeply, or has a duplicate key.
    """
    header = parse_strict_json(content, "the header")
    if not isinstance(header, dict):
        raise ModelFormatError("the header is not a JSON object")
    return header
