"""Export of a study's model, with its preparation, to a file for other programs."""

from dataclasses import dataclass
from pathlib import Path

from arboleda._utils.files import write_atomically
from arboleda.study.artifacts.estimators import StudyClassifier, StudyRegressor
from arboleda.study.artifacts.layout import Layout
from arboleda.study.artifacts.loaded import load_study
from arboleda.study.data.table import MISSING
from arboleda.study.errors import StudyError

__all__ = ["ExportedModel", "export"]


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
        The model's key; by default the best model's.

    Returns
    -------
    ExportedModel

    Raises
    ------
    StudyError
        If the folder cannot be used, there is no such model, a part of it cannot be expressed in
        ONNX, or the file cannot be written.

    Examples
    --------
    >>> from arboleda.study import export
    >>> export("studies/iris-target", "iris.onnx").name  # doctest: +SKIP
    'Linear discriminant analysis'
    """
    study = load_study(folder)
    key = study.best_key if model is None else model
    fitted = study.model(key)
    name = next(m["name"] for m in study.facts["models"] if m["key"] == key)
    path = Path(out) if out is not None else study.folder / f"{key}.onnx"
    content = _convert(fitted, study.layout, name)
    try:
        write_atomically(path, content)
    except OSError as error:
        raise StudyError(
            f"The file {path} cannot be written ({error.strerror or error}); name another file "
            "with --out."
        ) from error
    table_names = set(study.layout.raw_names)
    return ExportedModel(path, name, tuple(n for n in study.layout.names if n not in table_names))


def _convert(model: StudyClassifier | StudyRegressor, layout: Layout, name: str) -> bytes:
    """Convert a model to the bytes of an ONNX file; packages of an extra are imported here."""
    try:
        from arboleda.onnx_export import coded_to_onnx
        from arboleda.study.artifacts.onnx_crosses import convert_crosses_to_onnx
        from arboleda.study.combination.estimators import (
            CombinedClassifier,
            CombinedRegressor,
            convert_combined_to_onnx,
        )
        from arboleda.study.data.cross_search import CrossedColumns

        exported = coded_to_onnx(
            model.pipeline_,
            layout.names,
            layout.levels,
            missing=sorted(MISSING),
            classes=getattr(model, "classes_", None),
            extra_converters={
                CombinedClassifier: convert_combined_to_onnx,
                CombinedRegressor: convert_combined_to_onnx,
                CrossedColumns: convert_crosses_to_onnx,
            },
        )
    except ModuleNotFoundError as error:
        raise StudyError(f"{error}.") from error
    except (TypeError, ValueError) as error:
        raise StudyError(f"{name} cannot be exported: {error}.") from error
    return bytes(exported.SerializeToString())
