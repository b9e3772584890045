"""A fitted model of a study as files, and back.

A model is a preparation of the columns and an estimator. An estimator of this library that has a
model file is kept as one, ``<key>.arboleda``; the preparation, and other estimators, are in
``<key>.skops``. A combination of models is kept as its rule, ``<key>.combined``, beside the files
of its members, which are listed with it.
"""

import re
import warnings
from collections.abc import Collection, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.pipeline import Pipeline

from arboleda._utils.files import drop_file
from arboleda.persist import SavedModel, model_from_bytes, model_to_bytes
from arboleda.study.artifacts.combined_file import combined_from_bytes
from arboleda.study.artifacts.files import FileList, checked_bytes, is_there, put
from arboleda.study.artifacts.object_rules import iterate_objects
from arboleda.study.artifacts.skops_file import estimators_from_bytes, estimators_to_bytes
from arboleda.study.data.cross_search import CrossedColumns
from arboleda.study.errors import StudyFormatError

__all__ = ["check_key", "drop_models", "is_kept", "read_model", "save_combined", "save_model"]

if find_spec("skops") is None:  # told before a study begins; it is loaded when needed
    raise ModuleNotFoundError("No module named 'skops'", name="skops")

_KEY = re.compile(r"[a-z][a-z0-9_]{0,60}")
Kept = dict[str, Any]
_NEIGHBOURS = KNeighborsClassifier | KNeighborsRegressor | NearestNeighbors


def save_model(pipeline: Pipeline, folder: Path, key: str) -> Kept:
    """Write a fitted model's files.

    Returns
    -------
    kept : dict
        ``files``, the list of its files, and ``error``, why it could not be kept, or None; where
        its preparation makes columns, ``made`` lists what they are of.
    """
    with warnings.catch_warnings():
        # What skops' own imports say is nothing about the model.
        warnings.simplefilter("ignore")
        try:
            if hasattr(pipeline["model"], "keep"):  # its parts are kept already
                return dict(pipeline["model"].keep(folder, key))
            made = _made_of(pipeline)
            return {"files": _put_model(pipeline, folder, key), "error": None, **made}
        except Exception as error:  # noqa: BLE001 - a model that cannot be kept is told, not lost
            for left in folder.glob(f"{key}.*"):
                drop_file(left)
            reason = getattr(error, "strerror", None) or str(error) or "no reason given"
            return {"files": {}, "error": f"{type(error).__name__}: {reason.splitlines()[0][:300]}"}


def save_combined(folder: Path, key: str, content: bytes, members: Sequence[FileList]) -> Kept:
    """Write a combination's file beside its members', which are kept already.

    Returns
    -------
    kept : dict
        As `save_model` gives it; ``files`` lists the members' files, too.
    """
    name = f"{key}.combined"
    try:
        own = {name: put(folder, name, content)}
    except OSError as error:
        return {"files": {}, "error": f"{type(error).__name__}: {error.strerror or error}"}
    return {
        "files": {k: dict(v) for files in (own, *members) for k, v in files.items()},
        "error": None,
    }


def is_kept(kept: Any, folder: Path) -> bool:
    """Whether a model was kept and its files are still there."""
    match kept:
        case {"files": files, "error": None}:
            return bool(files) and is_there(folder, files)
    return False


def drop_models(folder: Path, pattern: str, kept: Collection[str]) -> None:
    """Remove the files of models whose names are like the pattern, but for those to be kept."""
    for path in folder.glob(f"{pattern}.*"):
        if path.stem not in kept:
            drop_file(path)


def check_key(key: Any) -> str:
    """A model's key, if it is one: file names are made of it; else ValueError."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError(f"{str(key)[:60]!r} is no model's key")
    return key


def _made_of(pipeline: Pipeline) -> dict[str, list[dict[str, Any]]]:
    preparation = pipeline["preparation"]
    if not isinstance(preparation, CrossedColumns):
        return {}
    return {"made": [asdict(idea) for idea in preparation.crosses_]}


def _put_model(pipeline: Pipeline, folder: Path, key: str) -> dict[str, Any]:
    preparation, model = pipeline["preparation"], pipeline["model"]
    ours = isinstance(model, SavedModel)
    parts = [None if preparation == "passthrough" else preparation, None if ours else model]
    files = {}
    if ours:
        name = f"{key}.arboleda"
        files[name] = put(folder, name, model_to_bytes(model))
    if parts != [None, None]:
        name = f"{key}.skops"
        with _WithoutTrees(model):
            content = estimators_to_bytes(parts)
        files[name] = put(folder, name, content)
    return files


def read_model(folder: Path, key: str, files: FileList) -> Pipeline:
    """The fitted pipeline of a model's files; nothing in them is run.

    Raises
    ------
    StudyFormatError
        If a file is missing or damaged, or the files hold no model.
    """
    try:
        combined = f"{check_key(key)}.combined"
        if combined in files:
            content = checked_bytes(folder, combined, files)
            model = combined_from_bytes(content, lambda member: _read_plain(folder, member, files))
            return Pipeline([("preparation", "passthrough"), ("model", model)])
        return _read_plain(folder, key, files)
    except StudyFormatError:
        raise
    except (TypeError, ValueError) as error:
        raise StudyFormatError(
            f"The model {key} in {folder} cannot be used ({error}); delete its files and run the "
            "study's command again: what is done is kept."
        ) from error


def _read_plain(folder: Path, key: str, files: FileList) -> Pipeline:
    """The fitted pipeline of a model that is no combination."""
    ours, others = f"{check_key(key)}.arboleda", f"{key}.skops"
    preparation, model = None, None
    if others in files:
        content = checked_bytes(folder, others, files)
        with warnings.catch_warnings():
            # Another version of scikit-learn is told once, for the whole study.
            warnings.simplefilter("ignore")
            preparation, model = _two_parts(estimators_from_bytes(content))
    if ours in files:
        model = model_from_bytes(checked_bytes(folder, ours, files))
    return _whole(preparation, model)


def _two_parts(found: list[Any]) -> tuple[Any, Any]:
    if len(found) != 2:
        raise ValueError("it does not hold a preparation and an estimator")
    return found[0], found[1]


def _whole(preparation: Any, model: Any) -> Pipeline:
    if not isinstance(preparation, ColumnTransformer | CrossedColumns | None):
        raise TypeError("its preparation is none")
    if not isinstance(model, BaseEstimator) or not hasattr(model, "predict"):
        raise TypeError("its estimator is none")
    for part in iterate_objects(model):
        is_neighbours = isinstance(part, _NEIGHBOURS)
        if is_neighbours and hasattr(part, "_fit_X"):
            _grow_tree(part)
    return Pipeline([("preparation", preparation or "passthrough"), ("model", model)])


class _WithoutTrees:
    """Take the search trees away from models of neighbours for a while.

    They hold all rows a second time, and compiled code follows their numbers without checking them:
    they are not kept, but grown again when the model is read.
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


def _grow_tree(model: Any) -> None:
    try:
        if isinstance(model, NearestNeighbors):
            model.fit(np.asarray(model._fit_X))
            return
        y = np.asarray(model._y)
        model.fit(np.asarray(model._fit_X), model.classes_[y] if is_classifier(model) else y)
    except (AttributeError, TypeError, IndexError) as error:
        raise ValueError("its rows and answers do not fit together") from error
