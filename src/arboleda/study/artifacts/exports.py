"""Export of a study's model, with its preparation, to a file for other programs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda._utils.errors import StudyError
from arboleda._utils.files import write_atomically
from arboleda.features.cross_search import CrossedColumns
from arboleda.features.feature_crosses import ARITHMETIC, GroupColumn, Groups
from arboleda.study.artifacts.estimators import StudyClassifier, StudyRegressor
from arboleda.study.artifacts.files import LARGE, report_unwritable
from arboleda.study.artifacts.loaded import load_study
from arboleda.tables.layout import Layout
from arboleda.tables.table import MISSING

if TYPE_CHECKING:
    from arboleda.onnx_export import ModelContext

__all__ = ["ExportedModel", "convert_crosses_to_onnx", "export", "find_onnx_converters"]

_OPERATORS = dict(zip(ARITHMETIC, ("Add", "Sub", "Mul", "Div"), strict=True))
# The key of an unknown level; sums with other keys stay far below 0.
_UNKNOWN = -(2.0**52)


@dataclass(frozen=True)
class ExportedModel:
    """The file that was written: its path, the model's name, and the inputs made of dates."""

    path: Path
    name: str
    dates: tuple[str, ...]


def export(
    folder: str | Path, out: str | Path | None = None, *, model: str | None = None
) -> ExportedModel:
    """Write a model of a study as an ONNX file: from the table's columns to the prediction.

    Each column of the table that the model uses is an input of shape (n_rows, 1) with its name: a
    string if the column is categorical (``""`` if missing), else a number (NaN if missing; 0 or 1
    for Booleans). A date is several numbers, such as ``day (year)``.

    Parameters
    ----------
    folder : str or path
        The study's folder.
    out : str or path, optional
        The file; by default ``<key>.onnx`` in the study's folder.
    model : str, optional
        Key or name of a saved model; by default the best.

    Returns
    -------
    ExportedModel

    Raises
    ------
    StudyError
        If the folder cannot be used, there is no such model, a part of it cannot be expressed in
        ONNX, or the file cannot be written.

    Warns
    -----
    UserWarning
        Before a file of more than 50 MB is written.

    Examples
    --------
    >>> from arboleda.study import export
    >>> export("studies/iris-target", "iris.onnx").name  # doctest: +SKIP
    'Linear discriminant analysis'
    """
    study = load_study(folder)
    key = study.find_key(model)
    fitted = study.model(key)
    name = next(m["name"] for m in study.facts["models"] if m["key"] == key)
    path = Path(out) if out is not None else study.folder / f"{key}.onnx"
    content = _convert(fitted, study.layout, name)
    if len(content) > LARGE:
        size = f"{len(content) / 1e6:,.0f} MB"
        warnings.warn(f"The file {path} takes {size}: {name} is large.", stacklevel=2)
    with report_unwritable(path):
        write_atomically(path, content)
    table_names = set(study.layout.raw_names)
    return ExportedModel(path, name, tuple(n for n in study.layout.names if n not in table_names))


def _convert(model: StudyClassifier | StudyRegressor, layout: Layout, name: str) -> bytes:
    """Convert a model to the bytes of an ONNX file; packages of an extra are imported here."""
    try:
        from arboleda.onnx_export import coded_to_onnx

        exported = coded_to_onnx(
            model.pipeline_,
            layout.names,
            layout.levels,
            missing=sorted(MISSING),
            classes=getattr(model, "classes_", None),
            extra_converters=find_onnx_converters(),
        )
    except ModuleNotFoundError as error:
        raise StudyError(f"{error}.") from error
    except (TypeError, ValueError) as error:
        raise StudyError(f"{name} cannot be exported: {error}.") from error
    return bytes(exported.SerializeToString())


def find_onnx_converters() -> dict[type, Any]:
    """Return the converters of what only studies have, by class."""
    from arboleda.study.combination.estimators import (
        CombinedClassifier,
        CombinedRegressor,
        convert_combined_to_onnx,
    )

    return {
        CombinedClassifier: convert_combined_to_onnx,
        CombinedRegressor: convert_combined_to_onnx,
        CrossedColumns: convert_crosses_to_onnx,
    }


def convert_crosses_to_onnx(preparation: CrossedColumns, place: ModelContext) -> str:
    """Add operators that append the generated columns to the matrix; return the output's name."""
    graph, matrix = place.graph, place.inputs.numbers(place.columns)
    parts = [matrix]
    for made in preparation.made_:
        numbers = [graph.columns(matrix, [j]) for j in made.idea.numbers]
        if isinstance(made, GroupColumn):
            column = _add_group_values(made, matrix, place)
            if made.idea.kind != "distance":
                parts.append(column)
                continue
            column = graph.add("Sub", numbers[0], column)
        else:
            column = graph.add(_OPERATORS[made.idea.kind], *numbers)
        parts.append(graph.add("Where", graph.add("IsInf", column), graph.number(np.nan), column))
    return graph.concat_columns(parts)


def _add_group_values(made: GroupColumn, matrix: str, place: ModelContext) -> str:
    """Add operators that compute the value of each row's group."""
    key, keys = _add_group_keys(made.groups, matrix, place), made.groups.keys.astype(np.float64)
    return place.graph.map_values(key, keys, made.table, made.otherwise)


def _add_group_keys(groups: Groups, matrix: str, place: ModelContext) -> str:
    """Add operators that compute the key of each row's group; far below 0 if a level is unknown."""
    graph = place.graph
    key: str | None = None
    for j, levels in zip(groups.columns, groups.levels, strict=True):
        column = graph.columns(matrix, [j])
        codes = graph.add("Where", graph.add("IsNaN", column), graph.number(-1.0), column)
        at = graph.map_values(codes, levels, np.arange(len(levels)), _UNKNOWN)
        key = at if key is None else graph.add("Add", graph.times(key, float(len(levels))), at)
    assert key is not None
    return key
