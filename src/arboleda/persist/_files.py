"""Model files: saved atomically, and loaded after full validation without code execution."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

import arboleda
from arboleda._engine.model_file import (
    FORMAT_VERSION,
    PREAMBLE_SIZE,
    check_preamble,
    read_model,
    read_model_header,
    write_model,
)
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.files import write_atomically
from arboleda.persist.fields import Field, Sections
from arboleda.persist.model_parts import decode_model, encode_model
from arboleda.persist.values import header_from_bytes, header_to_bytes

_Result = TypeVar("_Result")
_KEYS = {
    "format": str,
    "format_version": int,
    "library_version": str,
    "class": str,
    "parameters": dict,
    "metrics": dict | None,
    "trees": int,
    "forests": int,  # omitted if there are none
    "arrays": list,
    "fitted": dict,
    "columns": list,
}


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that was written by `save`.

    Loading never executes code: the file is validated in full before use, and the memory taken is
    proportional to its length. The predictions are bitwise identical to those of the saved model,
    on every machine.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : estimator
        A fitted estimator of the saved class, with its parameters.

    Raises
    ------
    ModelFormatError
        If it is not a model file, is damaged, or was written by a newer version. A subclass of
        ValueError.
    OSError
        If the file does not exist or cannot be read.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> tree.save("answer.arboleda", metrics={"accuracy": 1.0})
    >>> arboleda.load("answer.arboleda").predict([[1]])
    array(['yes'], dtype='<U3')
    """
    return _error_location(path, lambda: model_from_bytes(_read(path)))


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the header of a model file, without its trees.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    header : dict
        Described in the guide: ``class``, ``parameters``, ``metrics``, ``columns`` and others.

    Raises
    ------
    ModelFormatError
        If it is not a model file or the header is damaged.
    OSError
        If the file does not exist or cannot be read.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> tree.save("answer.arboleda", metrics={"accuracy": 1.0})
    >>> arboleda.persist.read_header("answer.arboleda")["metrics"]
    {'accuracy': 1.0}
    """
    return _error_location(
        path, lambda: _check_keys(read_model_header(_read(path, only_header=True)))
    )


def model_from_bytes(content: bytes) -> Any:
    """Create the estimator of a model file."""
    text, trees, arrays, forests = read_model(content)
    header = _check_keys(text)
    if (
        header["trees"] != len(trees)
        or header["arrays"] != list(arrays)
        or header.get("forests", 0) != len(forests)
    ):
        raise ModelFormatError("the header lists different trees or arrays than the file holds")
    sections = Sections(trees, arrays.items(), forests)
    model = decode_model(header, sections)
    sections.check_all_taken()
    return model


def _check_keys(text: bytes) -> dict[str, Any]:
    header = header_from_bytes(text)
    entries = {"forests": 0, **header}
    if entries.keys() != _KEYS.keys():
        raise ModelFormatError("the entries of the header are not those of this format")
    for name, kind in _KEYS.items():
        if not isinstance(entries[name], kind) or isinstance(entries[name], bool):
            raise ModelFormatError(f"the header's {name} has the wrong type")
    if header["format_version"] != FORMAT_VERSION:
        raise ModelFormatError("the format versions of the header and the file differ")
    return header


def _read(path: str | os.PathLike[str], *, only_header: bool = False) -> bytes:
    """Read a file after checking its first bytes and its length.

    Only regular files are opened: reading others may block or never end.
    """
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a special file"
        raise ModelFormatError(f"this is {what}, not a model file")
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        begin = file.read(PREAMBLE_SIZE)
        header_end = check_preamble(begin, size)
        wanted = header_end if only_header else size
        content = begin + file.read(wanted - len(begin))
    if len(content) != wanted:
        raise ModelFormatError("the file changed while it was read")
    return content


def _error_location(path: str | os.PathLike[str], read: Callable[[], _Result]) -> _Result:
    try:
        return read()
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from error


class SavedModel:
    """Base class of estimators that can be saved to model files.

    ``_fitted_attributes`` lists the attributes that `fit` sets, each with the field that stores it;
    columns and parameters are stored for every estimator.
    """

    _fitted_attributes: ClassVar[dict[str, Field]] = {}
    _saved_parameters: ClassVar[dict[str, Field]] = {}  # parameters that are not plain values
    _has_columns: ClassVar[bool] = True  # False if only the members have columns

    def _defect(self) -> str | None:
        """Return a description of an inconsistency of loaded attributes, or None."""
        return None

    def save(
        self, path: str | os.PathLike[str], *, metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Write the fitted model to a file that `arboleda.load` reads.

        The same model gives the same bytes on every machine. An existing file at ``path`` is
        replaced atomically; it is unchanged if saving fails.

        Parameters
        ----------
        path : str or path-like
            File to write; by convention the name ends in ``.arboleda``.
        metrics : mapping of str, default=None
            Metrics to store in the header: numbers, strings, and lists and mappings of them. NaN is
            stored as null.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        TypeError
            If the type of a class label or metric is not supported, the class is a subclass of one
            of this library, or a member is from another library.
        OSError
            If the file cannot be written.

        Warns
        -----
        UserWarning
            If a parameter is an object, such as a ``RandomState``: predictions do not depend on it,
            and the file stores the default value instead.
        """
        content = model_to_bytes(self, metrics)
        write_atomically(Path(path), content)


def model_to_bytes(model: Any, metrics: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of the model file of a fitted estimator."""
    if not isinstance(metrics, Mapping | None):
        raise TypeError(
            'metrics must be a mapping of names to values, such as {"accuracy": 0.9}, '
            f"got {type(metrics).__name__}"
        )
    sections = Sections()
    entries = encode_model(model, sections)
    arrays = dict(sorted(sections.arrays.items()))
    header = {
        "format": "arboleda model",
        "format_version": FORMAT_VERSION,
        "library_version": arboleda.__version__,
        "class": entries["class"],
        "parameters": entries["parameters"],
        "metrics": None if metrics is None else _plain(metrics, "metrics"),
        "trees": len(sections.trees),
        "arrays": list(arrays),
        "fitted": entries["fitted"],
        "columns": entries["columns"],
    } | ({"forests": len(sections.forests)} if sections.forests else {})
    content = header_to_bytes(header)
    if header_from_bytes(content) != header:
        raise ValueError("a name or label of the model is not valid Unicode and cannot be stored")
    return write_model(content, sections.trees, arrays, sections.forests)


def _plain(value: Any, where: str) -> Any:
    """Convert metrics to plain JSON, without the type tags of parameters."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist(), where)
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"{where} has the type {type(value).__name__}: use numbers, strings, and lists and "
        "mappings of them"
    )
