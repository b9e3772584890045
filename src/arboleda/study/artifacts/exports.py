"""Export of a study's model, with its preparation, to a file for other programs."""

from dataclasses import dataclass
from pathlib import Path

from arboleda._utils.files import write_atomically
from arboleda.study.artifacts.loaded import load_study
from arboleda.study.data.table import MISSING
from arboleda.study.errors import StudyError

__all__ = ["Exported", "export"]


@dataclass(frozen=True)
class Exported:
    """The file that was written: its path, the model's name, and the inputs made of dates."""

    path: Path
    name: str
    dates: tuple[str, ...]


def export(
    folder: str | Path, out: str | Path | None = None, *, model: str | None = None
) -> Exported:
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
    Exported

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
    path = Path(out) if out is not None else study.folder / f"{key}.onnx"
    name = next(m["name"] for m in study.facts["models"] if m["key"] == key)
    layout = study.layout
    try:
        from arboleda.onnx_export import coded_to_onnx
        from arboleda.study.artifacts.onnx_crosses import of_crossed
        from arboleda.study.combination.estimators import (
            CombinedClassifier,
            CombinedRegressor,
            convert_combined_to_onnx,
        )
        from arboleda.study.data.cross_search import CrossedColumns

        exported = coded_to_onnx(
            fitted.pipeline_,
            layout.names,
            layout.levels,
            missing=sorted(MISSING),
            classes=getattr(fitted, "classes_", None),
            extra_converters={
                CombinedClassifier: convert_combined_to_onnx,
                CombinedRegressor: convert_combined_to_onnx,
                CrossedColumns: of_crossed,
            },
        )
    except ModuleNotFoundError as error:
        raise StudyError(f"{error}.") from error
    except (TypeError, ValueError) as error:
        raise StudyError(f"{name} cannot be exported: {error}.") from error
    try:
        write_atomically(path, exported.SerializeToString())
    except OSError as error:
        raise StudyError(
            f"The file {path} cannot be written ({error.strerror or error}); name another "
            "file with --out."
        ) from error
    raw = set(layout.raw_names)
    return Exported(path, name, tuple(n for n in layout.names if n not in raw))
