"""The index of a study's models, rows and held-out predictions, and its facts read back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn
from pydantic import ValidationError

import arboleda
from arboleda._utils.errors import StudyFormatError
from arboleda._utils.text import json_escaped
from arboleda.facts.model import FactsModel
from arboleda.facts.study import SCHEMA_VERSION, StudyFacts
from arboleda.scoring.choice import is_metric_of
from arboleda.study.artifacts.files import (
    MODELS,
    MODELS_VERSION,
    FileList,
    check_file_list,
    read_text,
)
from arboleda.study.artifacts.model_files import check_key
from arboleda.study.plan import Plan
from arboleda.tables.column_entries import (
    check_choice,
    check_list,
    check_text,
    format_column,
    parse_column,
)
from arboleda.tables.layout import Layout, make_layout

__all__ = ["INDEX", "RESULTS", "Index", "check_facts", "format_index", "read_facts", "read_index"]

RESULTS = "results.json"
LEDGER = "ledger.sqlite"  # has the results of a study that has not finished
# Integers beyond these do not fit 64 bits, in which arrays hold them.
_LARGEST = 2**63 - 1
_MAX_SHOWN = 60
# The number of seeds that the random generators of every package accept.
_N_SEEDS = 2**32


def read_facts(folder: Path) -> dict[str, Any]:
    """Read the facts of a study, as `StudyFacts` describes them.

    Raises
    ------
    StudyFormatError
        If the file is missing, damaged, or of another version.
    """
    path = folder / RESULTS
    try:
        facts = json.loads(read_text(path), parse_int=_parse_integer)
    except (FileNotFoundError, NotADirectoryError) as error:
        if (folder / LEDGER).is_file():
            raise StudyFormatError(
                f"The study in {folder} was interrupted before it wrote its results; run the same "
                "`arboleda study` again, which continues it."
            ) from error
        raise StudyFormatError(
            f"There is no study in {folder}; name the folder that `arboleda study` wrote its "
            "report to."
        ) from error
    except OSError as error:
        raise StudyFormatError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise _make_damage_error(
            path, f"it is not JSON in UTF-8: {type(error).__name__}"
        ) from error
    version = facts.get("schema_version") if isinstance(facts, dict) else None
    if type(version) is int and version > 0 and version != SCHEMA_VERSION:
        writer, is_older = facts.get("arboleda_version"), version < SCHEMA_VERSION
        raise _make_version_error(f"The study in {folder} was", writer, is_older=is_older)
    wrong = check_facts(facts, StudyFacts) or _find_contradiction(facts)
    if wrong is not None:
        raise _make_damage_error(path, wrong)
    return dict(facts)


def _parse_integer(text: str) -> int:
    """Parse an integer of a JSON file; raise a ValueError if it does not fit 64 bits."""
    value = int(text)
    if abs(value) > _LARGEST:
        raise ValueError("an integer does not fit 64 bits")
    return value


def check_facts(facts: Any, model: type[FactsModel]) -> str | None:
    """Describe the first value of facts that does not match their model; None if all do.

    Parameters
    ----------
    facts : object
        From JSON: dict, list, str, int, float, bool or None.
    model : subclass of FactsModel

    Returns
    -------
    description : str or None
        The place and the problem, such as ``models[0].cv is null, not an object``.

    Examples
    --------
    >>> from arboleda.facts.study import ClassCounts
    >>> check_facts({"label": "yes", "train": 8, "test": 2}, ClassCounts)
    >>> check_facts({"label": "yes", "train": 8, "test": 2.5}, ClassCounts)
    'test is 2.5, not a valid integer'
    """
    try:
        model.model_validate(facts)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        kind, parent = first["type"], _format_place(facts, first["loc"][:-1])
        if kind == "missing":
            return f"{_join_place(parent, first['loc'][-1])} is missing"
        if kind == "extra_forbidden":
            unknown = str(first["loc"][-1])[:_MAX_SHOWN]
            return f"{parent or 'the file'} has the unknown key {unknown!r}"
        place = _format_place(facts, first["loc"]) or "the file"
        place = f"{place} is {_show_value(first['input'])}"
        if kind == "model_type":
            return f"{place}, not an object"
        expected = first["msg"].removeprefix("Input should be ")
        return f"{place}, not {expected}" if expected != first["msg"] else f"{place}: {expected}"
    return None


def _format_place(facts: Any, steps: tuple[int | str, ...]) -> str:
    """Write the place of a value as in JavaScript, without pydantic's names of union members."""
    place = ""
    for step in steps:
        is_key = isinstance(facts, dict) and step in facts
        if is_key or (isinstance(facts, list) and isinstance(step, int)):
            place, facts = _join_place(place, step), facts[step]
    return place


def _join_place(place: str, step: int | str) -> str:
    if isinstance(step, int):
        return f"{place}[{step}]"
    return f"{place}.{step[:_MAX_SHOWN]}".removeprefix(".")


def _show_value(value: Any) -> str:
    """Write a value briefly for a message, in JSON's words."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    if isinstance(value, str):
        return repr(value[:_MAX_SHOWN])
    return "null" if value is None else str(value).lower()


def _find_contradiction(facts: dict[str, Any]) -> str | None:
    """Describe a contradiction between parts of the facts; None if there is none."""
    study = facts["study"]
    if not is_metric_of(study["metric"], study["task"]):
        named = study["metric"][:60]
        return f"study.metric is {named!r}, which is not a metric of a {study['task']}"
    if study["seed"] >= _N_SEEDS:
        return f"study.seed is {study['seed']}, not below {_N_SEEDS}"
    keys = [model["key"] for model in facts["models"]]
    if len(set(keys)) != len(keys):
        return "models has a duplicate key"
    for place, model in enumerate(facts["models"]):
        if model["status"] != "ok":
            continue
        at = f"models[{place}]"
        absent = next((key for key in ("cv", "test", "best") if model[key] is None), None)
        if absent is not None:
            return f"{at}.{absent} is null, though the model did not fail"
        if not 0 <= model["best"] < len(model["candidates"]):
            return f"{at}.best is {model['best']}, which is not an index of its candidates"
    return _find_cost_contradiction(facts.get("costs"))


def _find_cost_contradiction(costs: dict[str, Any] | None) -> str | None:
    if costs is None:
        return None
    n = len(costs["labels"])
    if len(costs["matrix"]) != n or any(len(row) != n for row in costs["matrix"]):
        return f"costs.matrix is not a table of {n} by {n} costs, one for each pair of labels"
    return None


def _make_version_error(what: str, writer: Any, *, is_older: bool) -> StudyFormatError:
    """Return the error for files of another form; ``writer`` is the version that wrote them."""
    text = f"{what} written by {'an older' if is_older else 'a newer'} version of arboleda"
    if writer == arboleda.__version__:  # two states of a development version
        return StudyFormatError(f"{text} {writer}; run the study again in a new folder.")
    remedy = ", or run the study again in a new folder" if is_older else ""
    return StudyFormatError(
        f"{text}, {str(writer)[:40]}, which {arboleda.__version__} cannot read; install that "
        f"version{remedy}."
    )


def _make_damage_error(path: Path, reason: str) -> StudyFormatError:
    return StudyFormatError(
        f"The file {path} is damaged ({reason}); run the study's command again: completed work is "
        "reused."
    )


INDEX = "index.json"
FORMAT = "arboleda study models"
_TASKS = ("binary", "multiclass", "regression", "survival", "ranking")
_WITHOUT_CLASSES = ("regression", "survival", "ranking")


@dataclass(frozen=True)
class Index:
    """The index of what a study saved.

    ``models`` has, by the key of each model, the list of its files, or the reason why it was not
    saved; ``rows`` and ``held_out`` are the same for the rows and for the best model's predictions
    of held-out rows. ``classes`` are the values that are predicted, None without classes, and
    ``class_names`` their labels. ``second`` is the column of events or of queries, ``times`` those
    of survival curves.
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
    second: str | None = None
    times: tuple[float, ...] = ()


def format_index(
    plan: Plan,
    models: Mapping[str, Any],
    rows: Mapping[str, Any],
    held_out: Mapping[str, Any],
) -> str:
    """Format the index as JSON from the results of saving models, rows and predictions."""
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
            "second": plan.target.second,
            "times": list(plan.target.times),
        },
        "columns": [format_column(column) for column in layout.columns],
        "models": {key: _format_entry(saved) for key, saved in models.items()},
        "rows": _format_entry(rows),
        "held_out": _format_entry(held_out),
    }
    return json_escaped(json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def _format_entry(saved: Mapping[str, Any]) -> Any:
    return saved["files"] if saved["error"] is None else saved["error"]


def read_index(folder: Path) -> Index:
    """Read the index of a study's folder.

    Raises
    ------
    StudyFormatError
        If it is missing, damaged, or of another version.
    """
    path = folder / MODELS / INDEX
    try:
        stored = json.loads(read_text(path))
        check_choice((FORMAT,), stored["format"])
        version = _parse_version(stored["format_version"])
        if version == MODELS_VERSION:
            return _parse_index(stored)
    except FileNotFoundError as error:
        raise StudyFormatError(
            f"The folder {folder} has no models; run the study's command again: completed work is "
            "reused, and the best candidate of each model is fitted again."
        ) from error
    except OSError as error:
        raise StudyFormatError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StudyFormatError(
            f"The file {path} is damaged ({type(error).__name__}: {str(error)[:200]}); run the "
            "study's command again: completed work is reused."
        ) from error
    writer, is_older = stored.get("arboleda"), version < MODELS_VERSION
    raise _make_version_error(f"The models in {folder} were", writer, is_older=is_older)


def _parse_index(stored: dict[str, Any]) -> Index:
    target = stored["target"]
    labels = tuple(check_text(label) for label in check_list(target["labels"]))
    task = check_choice(_TASKS, stored["task"])
    if len(set(labels)) != len(labels):
        raise ValueError("a class is listed twice")
    fits = not labels if task in _WITHOUT_CLASSES else len(labels) == 2 or task == "multiclass"
    if not fits or (task == "multiclass" and len(labels) < 3):
        raise ValueError(f"{len(labels)} classes do not make a task that is {task}")
    models = stored["models"]
    columns = tuple(parse_column(entry) for entry in check_list(stored["columns"]))
    if len({column.name for column in columns}) != len(columns) or not columns:
        raise ValueError("there is no column, or a column is listed twice")
    if not all(column.name for column in columns):
        raise ValueError("a column has no name")
    return Index(
        sha256=check_text(stored["data_sha256"]),
        task=task,
        target=check_text(target["name"]),
        class_names=labels,
        classes=_parse_classes(check_text(target["kind"]), labels) if labels else None,
        layout=Layout(columns),
        models={check_key(key): _parse_files(models[key]) for key in models},
        rows=_parse_files(stored["rows"]),
        # Older versions did not save them.
        held_out=_parse_files(stored.get("held_out", "an older version did not save them")),
        scikit_learn=check_text(stored["scikit-learn"]),
        second=_parse_second(task, target.get("second")),
        times=_parse_times(task, target.get("times", [])),
    )


def _parse_second(task: str, name: Any) -> str | None:
    if task in ("survival", "ranking"):
        return check_text(name)
    if name is not None:
        raise ValueError(f"a task that is {task} has no second column")
    return None


def _parse_times(task: str, times: Any) -> tuple[float, ...]:
    values = np.array(check_list(times), dtype=np.float64)
    is_valid = values.ndim == 1 and np.isfinite(values).all() and bool(np.all(np.diff(values) > 0))
    if not is_valid or (values.size > 0) != (task == "survival") or (values < 0).any():
        raise ValueError("the times of survival curves are not valid")
    return tuple(values.tolist())


def _parse_classes(kind: str, labels: tuple[str, ...]) -> npt.NDArray[Any]:
    """Parse the classes as the table has them: strings, Booleans, integers or other numbers."""
    if kind == "boolean":
        if set(labels) != {"false", "true"}:
            raise ValueError("the classes are not Booleans")
        return np.array([label == "true" for label in labels])
    if kind == "string":
        return np.array(labels, dtype=object)
    values = np.array([float(label) for label in labels])
    are_integers = np.all(values == np.round(values)) and np.abs(values).max() < 2**53
    return values.astype(np.int64) if are_integers else values


def _parse_files(entry: Any) -> FileList | str:
    return entry if isinstance(entry, str) else check_file_list(entry)


def _parse_version(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"{str(value)[:60]} is not a version")
    return value
