"""The list of what a study's folder keeps beside its facts: models/index.json."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn

import arboleda
from arboleda._utils.text import json_escaped
from arboleda.study.artifacts.files import MODELS, MODELS_VERSION, FileList, checked_list, read_text
from arboleda.study.artifacts.layout import Layout, RawColumn, make_layout
from arboleda.study.artifacts.model_files import check_key
from arboleda.study.errors import StudyFormatError
from arboleda.study.plan import Plan

__all__ = ["INDEX", "Index", "index_text", "read_index"]

INDEX = "index.json"
FORMAT = "arboleda study models"
_KINDS = ("numeric", "categorical", "boolean", "datetime")
_TASKS = ("binary", "multiclass", "regression")


@dataclass(frozen=True)
class Index:
    """What the list says.

    ``models`` holds, for each model by its key, the list of its files, or why there are none;
    ``rows`` the same of the rows, and ``held_out`` of the best model's answers about the folds'
    rows. ``classes`` are the values that are predicted, None in a regression, and ``class_names``
    their texts.
    """

    sha256: str
    task: str
    target: str
    class_names: tuple[str, ...]
    classes: npt.NDArray[Any] | None
    layout: Layout
    models: Mapping[str, FileList | str]
    rows: FileList | str
    held_out: FileList | str
    scikit_learn: str


def index_text(
    plan: Plan,
    models: Mapping[str, Any],
    rows: Mapping[str, Any],
    held_out: Mapping[str, Any],
) -> str:
    """The list as JSON, from what was kept of each model, the rows and the held-out answers."""
    layout = make_layout(plan.table.columns, plan.roles, plan.settings.merge)
    entries = {
        "format": FORMAT,
        "format_version": MODELS_VERSION,
        "arboleda": arboleda.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "data_sha256": plan.table.sha256,
        "task": plan.target.task,
        "target": {
            "name": plan.target.name,
            "kind": plan.table.column(plan.target.name).kind,
            "labels": list(plan.target.labels),
        },
        "columns": [
            {"name": c.name, "kind": c.kind, "levels": list(c.levels)}
            | ({"merged": dict(c.merged)} if c.merged else {})
            for c in layout.columns
        ],
        "models": {key: _entry(kept) for key, kept in models.items()},
        "rows": _entry(rows),
        "held_out": _entry(held_out),
    }
    return json_escaped(json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def _entry(kept: Mapping[str, Any]) -> Any:
    return kept["files"] if kept["error"] is None else kept["error"]


def read_index(folder: Path) -> Index:
    """Read the list of a study's folder.

    Raises
    ------
    StudyFormatError
        If it is missing, damaged, or of another version.
    """
    path = folder / MODELS / INDEX
    try:
        stored = json.loads(read_text(path))
        _one_of((FORMAT,), stored["format"])
        version = _version(stored["format_version"])
        if version == MODELS_VERSION:
            return _index(stored)
    except FileNotFoundError as error:
        raise StudyFormatError(
            f"The folder {folder} keeps no models; run the study's command again: what is done is "
            "kept, and the best of each model is fitted once more."
        ) from error
    except OSError as error:
        raise StudyFormatError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StudyFormatError(
            f"The file {path} is damaged ({type(error).__name__}: {str(error)[:200]}); run the "
            "study's command again: what is done is kept."
        ) from error
    if version < MODELS_VERSION:
        raise StudyFormatError(
            f"The models in {folder} were written by an earlier version of arboleda, "
            f"{str(stored.get('arboleda'))[:40]}, in a format that this one does not read; run the "
            "study again in another folder, or install that version."
        )
    raise StudyFormatError(
        f"The models in {folder} were kept by a newer version of arboleda, "
        f"{str(stored.get('arboleda'))[:40]}; this is {arboleda.__version__}: install that one."
    )


def _index(stored: dict[str, Any]) -> Index:
    target = stored["target"]
    labels = tuple(_text(label) for label in _list(target["labels"]))
    task = _one_of(_TASKS, stored["task"])
    if len(set(labels)) != len(labels):
        raise ValueError("a class is there twice")
    if {"binary": len(labels) == 2, "regression": not labels}.get(task, len(labels) > 2) is False:
        raise ValueError(f"{len(labels)} classes do not make a task that is {task}")
    models = stored["models"]
    columns = tuple(_column(entry) for entry in _list(stored["columns"]))
    if len({column.name for column in columns}) != len(columns) or not columns:
        raise ValueError("there is no column, or one twice")
    if not all(column.name for column in columns):
        raise ValueError("a column has no name")
    return Index(
        sha256=_text(stored["data_sha256"]),
        task=task,
        target=_text(target["name"]),
        class_names=labels,
        classes=_classes(_text(target["kind"]), labels) if labels else None,
        layout=Layout(columns),
        models={check_key(key): _files(models[key]) for key in models},
        rows=_files(stored["rows"]),
        # Older versions kept none.
        held_out=_files(stored.get("held_out", "an older version did not keep it")),
        scikit_learn=_text(stored["scikit-learn"]),
    )


def _classes(kind: str, labels: tuple[str, ...]) -> npt.NDArray[Any]:
    """The classes as the table has them: text, truth values, whole numbers or others."""
    if kind == "boolean":
        if set(labels) != {"false", "true"}:
            raise ValueError("the classes are no truth values")
        return np.array([label == "true" for label in labels])
    if kind == "string":
        return np.array(labels, dtype=object)
    values = np.array([float(label) for label in labels])
    whole = np.all(values == np.round(values)) and np.abs(values).max() < 2**53
    return values.astype(np.int64) if whole else values


def _column(entry: Any) -> RawColumn:
    levels = tuple(_text(level) for level in _list(entry["levels"]))
    if len(set(levels)) != len(levels):
        raise ValueError("a column has a level twice")
    pairs = entry.get("merged", {})
    if not isinstance(pairs, dict):
        raise TypeError("there is no list of merged values where one should be")
    merged = tuple((_text(old), _text(new)) for old, new in pairs.items())
    kind = _one_of(_KINDS, entry["kind"])
    if merged and kind not in ("numeric", "categorical"):
        raise ValueError(f"values of the kind {kind} cannot be merged")
    if kind == "numeric":
        for pair in merged:
            np.array(pair, dtype=np.float64)
    return RawColumn(_text(entry["name"]), kind, levels, merged)


def _files(entry: Any) -> FileList | str:
    return entry if isinstance(entry, str) else checked_list(entry)


def _version(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"{str(value)[:60]} is no version")
    return value


def _one_of(allowed: tuple[str, ...], value: Any) -> Any:
    if value not in allowed:
        raise ValueError(f"{str(value)[:60]!r} is none of {', '.join(allowed)}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("there is no text where one should be")
    value.encode()  # half of a sign, which JSON can hold, is a ValueError
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("there is no list where one should be")
    return value
