"""Saving: an estimator as one file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import arboleda
from arboleda._engine.model_file import FORMAT_VERSION, write_model
from arboleda._files import write_atomically
from arboleda.persist._fields import Field, Sections
from arboleda.persist._header import header_from_bytes, header_to_bytes
from arboleda.persist._model_part import encode_model


class SavedModel:
    """What every estimator that has a model file inherits.

    ``_fitted_attributes`` lists the attributes that `fit` leaves, each with the field that stores
    it; columns and parameters are stored for every estimator alike.
    """

    _fitted_attributes: ClassVar[dict[str, Field]] = {}
    _saved_parameters: ClassVar[dict[str, Field]] = {}  # those that are no plain values
    _has_columns: ClassVar[bool] = True  # a combination has those of its members

    def _defect(self) -> str | None:
        """Tell in a sentence why loaded attributes do not fit together; None when they do."""
        return None

    def save(
        self, path: str | os.PathLike[str], *, metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Write the fitted model to a file that `arboleda.load` reads.

        The same model gives the same bytes on every machine. A file at ``path`` is replaced whole,
        or, when anything fails, left as it was.

        Parameters
        ----------
        path : str or path-like
            Where to; by custom the name ends in ``.arboleda``.
        metrics : mapping of str, default=None
            Figures to keep with the model, for who reads its header: numbers, texts, and lists and
            mappings of them. A NaN is stored as null.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        TypeError
            If a class label or a metric is of a type that the file cannot hold, the class is
            derived from one of ours, or a member is of another library.
        OSError
            If the file cannot be written.

        Warns
        -----
        UserWarning
            If a parameter is an object, such as a generator as ``random_state``: predictions do
            not depend on it, and the file holds the parameter's default in its place.
        """
        content = model_to_bytes(self, metrics)
        write_atomically(Path(path), content)


def model_to_bytes(model: Any, metrics: Mapping[str, Any] | None = None) -> bytes:
    """Bytes of the model file of a fitted estimator."""
    if not isinstance(metrics, Mapping | None):
        raise TypeError(
            f"metrics is of type {type(metrics).__name__}: give a mapping of names to figures, "
            'such as {"accuracy": 0.9}'
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
        raise ValueError("a name or label of the model is no Unicode text, and cannot be stored")
    return write_model(content, sections.trees, arrays, sections.forests)


def _plain(value: Any, where: str) -> Any:
    """Metrics are for reading: plain JSON, without the marks of types that parameters have."""
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
        f"{where} is of type {type(value).__name__}: give numbers, texts, and lists and mappings "
        "of them"
    )
