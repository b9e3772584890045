"""Saving of estimators to model files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import arboleda
from arboleda._engine.model_file import FORMAT_VERSION, write_model
from arboleda._utils.files import write_atomically
from arboleda.persist.fields import Field, Sections
from arboleda.persist.model_parts import encode_model
from arboleda.persist.values import header_from_bytes, header_to_bytes


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
