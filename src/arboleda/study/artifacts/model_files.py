"""Saving the fitted models of a study to files, and reading them.

A model consists of a preparation of the columns and an estimator. An estimator of this library that
has a model file is saved as ``<key>.arboleda``; the preparation and other estimators are saved in
``<key>.skops``. A combined model is saved as its rule, ``<key>.combined``, and the files of its
members.
"""

import re
import warnings
from collections.abc import Collection, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.pipeline import Pipeline

from arboleda._utils.errors import StudyFormatError
from arboleda._utils.files import drop_file
from arboleda.features.cross_search import CrossedColumns
from arboleda.persist import SavedModel, model_from_bytes, model_to_bytes
from arboleda.persist.object_rules import iterate_objects
from arboleda.persist.skops_file import deserialize_estimators, serialize_estimators
from arboleda.study.artifacts.combined_file import deserialize_combined
from arboleda.study.artifacts.files import FileList, has_files, read_checked_file, write_file

__all__ = [
    "check_key",
    "check_model",
    "is_model_saved",
    "read_model",
    "remove_models",
    "save_combined",
    "save_model",
]

if find_spec("skops") is None:  # checked before a study begins; imported when needed
    raise ModuleNotFoundError("No module named 'skops'", name="skops")

_KEY = re.compile(r"[a-z][a-z0-9_]{0,60}")
SaveResult = dict[str, Any]
_NEIGHBOURS = KNeighborsClassifier | KNeighborsRegressor | NearestNeighbors


def save_model(pipeline: Pipeline, folder: Path, key: str) -> SaveResult:
    """Write the files of a fitted model.

    Returns
    -------
    result : dict
        ``files``, the list of its files, and ``error``, the reason why it could not be saved, or
        None; ``made`` lists the feature crosses that its preparation generates, if it can.
    """
    with warnings.catch_warnings():
        # Warnings of skops' imports do not concern the model.
        warnings.simplefilter("ignore")
        try:
            if hasattr(pipeline["model"], "keep"):  # its members are saved already
                return dict(pipeline["model"].keep(folder, key))
            crosses = _describe_crosses(pipeline)
            return {"files": _write_model(pipeline, folder, key), "error": None, **crosses}
        except Exception as error:  # noqa: BLE001 - a model that cannot be saved is reported
            for left in folder.glob(f"{key}.*"):
                drop_file(left)
            reason = getattr(error, "strerror", None) or str(error) or "unknown reason"
            return {"files": {}, "error": f"{type(error).__name__}: {reason.splitlines()[0][:300]}"}


def save_combined(
    folder: Path, key: str, content: bytes, members: Sequence[FileList]
) -> SaveResult:
    """Write the file of a combined model whose members are saved already.

    Returns
    -------
    result : dict
        As in `save_model`; ``files`` also lists the members' files.
    """
    name = f"{key}.combined"
    try:
        own = {name: write_file(folder, name, content)}
    except OSError as error:
        return {"files": {}, "error": f"{type(error).__name__}: {error.strerror or error}"}
    return {
        "files": {k: dict(v) for files in (own, *members) for k, v in files.items()},
        "error": None,
    }


def is_model_saved(result: Any, folder: Path) -> bool:
    """Whether a model was saved and its files still exist."""
    match result:
        case {"files": files, "error": None}:
            return bool(files) and has_files(folder, files)
    return False


def remove_models(folder: Path, pattern: str, keys_to_keep: Collection[str]) -> None:
    """Remove the files of models whose keys match a pattern, except those to keep."""
    for path in folder.glob(f"{pattern}.*"):
        if path.stem not in keys_to_keep:
            drop_file(path)


def check_key(key: Any) -> str:
    """Return a model's key if it is valid, as file names contain it; else raise a ValueError."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError(f"{str(key)[:60]!r} is not a model's key")
    return key


def _describe_crosses(pipeline: Pipeline) -> dict[str, list[dict[str, Any]]]:
    preparation = pipeline["preparation"]
    if not isinstance(preparation, CrossedColumns):
        return {}
    return {"made": [asdict(cross) for cross in preparation.crosses_]}


def _write_model(pipeline: Pipeline, folder: Path, key: str) -> dict[str, Any]:
    preparation, model = pipeline["preparation"], pipeline["model"]
    has_model_file = isinstance(model, SavedModel)
    parts = [
        None if preparation == "passthrough" else preparation,
        None if has_model_file else model,
    ]
    files = {}
    if has_model_file:
        name = f"{key}.arboleda"
        files[name] = write_file(folder, name, model_to_bytes(model))
    if parts != [None, None]:
        name = f"{key}.skops"
        with _WithoutTrees(model):
            content = serialize_estimators(parts)
        files[name] = write_file(folder, name, content)
    return files


def read_model(folder: Path, key: str, files: FileList) -> Pipeline:
    """Read a fitted pipeline from a model's files, without running code that they contain.

    Raises
    ------
    StudyFormatError
        If a file is missing or damaged, or the files do not contain a model.
    """
    try:
        combined = f"{check_key(key)}.combined"
        if combined in files:
            content = read_checked_file(folder, combined, files)
            model = deserialize_combined(
                content, lambda member: _read_single(folder, member, files)
            )
            return Pipeline([("preparation", "passthrough"), ("model", model)])
        return _read_single(folder, key, files)
    except StudyFormatError:
        raise
    except (TypeError, ValueError) as error:
        raise StudyFormatError(
            f"The model {key} in {folder} was written by an older version of arboleda, or changed "
            f"({error}); run the study again in a new folder."
        ) from error


def _read_single(folder: Path, key: str, files: FileList) -> Pipeline:
    """Read the fitted pipeline of a model that is not a combined one."""
    own_file, skops_file = f"{check_key(key)}.arboleda", f"{key}.skops"
    preparation, model = None, None
    if skops_file in files:
        content = read_checked_file(folder, skops_file, files)
        with warnings.catch_warnings():
            # `load_study` warns once if the version of scikit-learn differs.
            warnings.simplefilter("ignore")
            preparation, model = _unpack_parts(deserialize_estimators(content))
    if own_file in files:
        model = model_from_bytes(read_checked_file(folder, own_file, files))
    return _make_pipeline(preparation, model)


def _unpack_parts(parts: list[Any]) -> tuple[Any, Any]:
    if len(parts) != 2:
        raise ValueError("it does not contain a preparation and an estimator")
    return parts[0], parts[1]


def _make_pipeline(preparation: Any, model: Any) -> Pipeline:
    if not isinstance(preparation, ColumnTransformer | CrossedColumns | None):
        raise TypeError("its preparation is not one of a study")
    if not isinstance(model, BaseEstimator) or not hasattr(model, "predict"):
        raise TypeError("its estimator is not a model")
    for part in iterate_objects(model):
        is_neighbours = isinstance(part, _NEIGHBOURS)
        if is_neighbours and hasattr(part, "_fit_X"):
            _rebuild_tree(part)
    return Pipeline([("preparation", preparation or "passthrough"), ("model", model)])


class _WithoutTrees:
    """Context in which nearest-neighbor models have no search trees.

    Search trees hold a second copy of all rows, and compiled code follows their indices without
    checks. Therefore they are not saved, but rebuilt when the model is read.
    """

    def __init__(self, model: Any) -> None:
        self._models = [
            part
            for part in iterate_objects(model)
            if isinstance(part, BaseEstimator) and hasattr(part, "_tree")
        ]

    def __enter__(self) -> None:
        self._trees = [model._tree for model in self._models]
        for model in self._models:
            model._tree = None

    def __exit__(self, *raised: object) -> None:
        for model, tree in zip(self._models, self._trees, strict=True):
            model._tree = tree


def _rebuild_tree(model: Any) -> None:
    try:
        if isinstance(model, NearestNeighbors):
            model.fit(np.asarray(model._fit_X))
            return
        y = np.asarray(model._y)
        model.fit(np.asarray(model._fit_X), model.classes_[y] if is_classifier(model) else y)
    except (AttributeError, TypeError, IndexError) as error:
        raise ValueError("its rows and targets do not match") from error


def check_model(
    pipeline: Any, n_columns: int, classes: npt.NDArray[Any] | None, *, has_curves: bool = False
) -> None:
    """Check that a model has the study's columns and classes, and that it can predict a row.

    One of times to an event also needs survival curves.

    Each file of a model may be intact although they do not belong together.

    Raises
    ------
    ValueError
        If it does not; an inconsistent model may also raise any other error.
    """
    first = next(step for _, step in pipeline.steps if step != "passthrough")
    # A model that ignores all columns does not store their number.
    taken = getattr(first, "n_features_in_", n_columns)
    if taken != n_columns:
        raise ValueError(f"it takes {taken} columns, not {n_columns}")
    row = np.zeros((1, n_columns))
    with warnings.catch_warnings():
        # Warnings are shown when the user's rows are predicted.
        warnings.simplefilter("ignore")
        predicted = np.asarray(pipeline.predict(row))
        if classes is None:
            is_valid = predicted.shape == (1,) and predicted.dtype.kind in "fiu"
            is_valid &= hasattr(pipeline[-1], "predict_survival_function") == has_curves
        else:
            places = np.asarray(pipeline.classes_)
            if places.dtype.kind != "i" or places.min() < 0 or places.max() >= len(classes):
                raise ValueError("it has other classes")
            is_valid = predicted.shape == (1,) and predicted[0] in places
            if hasattr(pipeline, "predict_proba"):
                p = np.asarray(pipeline.predict_proba(row))
                is_valid &= p.shape == (1, len(places)) and bool(np.all(p >= 0.0))
    if not is_valid:
        raise ValueError("its predictions are not values of the target")
