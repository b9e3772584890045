"""Parse and check a user's options (from Python, the command line or a file) into settings."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, InstanceOf, TypeAdapter, ValidationError

from arboleda._files import read_regular
from arboleda.study.config.schemes import Scheme, parse_scheme
from arboleda.study.config.settings import Settings
from arboleda.study.data.recipe import Condition, checked_merges, parse_condition, parse_merges
from arboleda.study.errors import StudyError
from arboleda.study.results.scoring import COST
from arboleda.study.search import SearchStrategy, named_search

__all__ = ["NAMES", "make_settings", "read_size"]

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d)", re.I)
_BYTES = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BYTES |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?", re.I)
_SHOWN = 60


@dataclass(frozen=True)
class _Rule:
    """The type of a valid value, and the error message (with ``{value}``) for others."""

    kind: Any
    wrong: str


def _whole(value: Any) -> Any:
    """Convert integers of any library to int; leave booleans and others unchanged."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def _real(value: Any) -> Any:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else value


def _duration(value: Any) -> Any:
    """Convert a string such as 15m, 1h30m or 90 to seconds; leave others unchanged."""
    if not isinstance(value, str):
        return _real(value)
    text = value.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = _DURATION.findall(text)
    if not parts or _DURATION.sub("", text).strip():
        return value
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts)


def _size(value: Any) -> Any:
    """Convert a string such as 4GB, 512 MiB or 1000000 to bytes; leave others unchanged."""
    if not isinstance(value, str):
        return _whole(value)
    match = _SIZE.fullmatch(value.strip())
    return value if match is None else int(float(match[1]) * _BYTES[match[2].lower()])


def _words(value: Any) -> Any:
    """Convert a comma-separated string, a JSON list or a sequence of strings to a tuple."""
    if isinstance(value, str):
        listed = _texts_of_json(value)
        if listed is not None:
            return listed
        return tuple(word.strip() for word in value.split(",") if word.strip())
    if isinstance(value, Sequence):
        return tuple(w.strip() if isinstance(w, str) else w for w in value)
    return value


def _texts_of_json(text: str) -> tuple[str, ...] | None:
    """Return the strings of a JSON list, which may contain commas; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return tuple(value) if is_list else None


def _columns(value: Any) -> Any:
    """Convert names of columns to strings: a frame's columns may be named by numbers."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return _words(value)
    return tuple(str(name) for name in value)


def _conditions(value: Any) -> Any:
    """Parse conditions from a string, a JSON list or a sequence of strings; all must hold."""
    if isinstance(value, str):
        value = _texts_of_json(value) or (value,)
    if not isinstance(value, Sequence) or not all(isinstance(v, (str, Condition)) for v in value):
        return value
    return tuple(parse_condition(v) if isinstance(v, str) else v for v in value)


def _merges(value: Any) -> Any:
    """Parse merges from a string, a sequence of strings, a mapping, or JSON of these."""
    if isinstance(value, str):
        value = (value,)
    if isinstance(value, Sequence) and all(isinstance(v, str) for v in value):
        value = [v for text in value for v in _texts_of_json(text) or (text,)]
        if len(value) == 1 and value[0].lstrip().startswith("{"):
            value = _merges_of_json(value[0])
        else:
            value = parse_merges(value)
    is_whole = isinstance(value, Mapping) and all(
        isinstance(groups, Mapping)
        and all(isinstance(old, Sequence) and not isinstance(old, str) for old in groups.values())
        for groups in value.values()
    )
    return checked_merges(value) if is_whole else value


def _merges_of_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StudyError(
            f"The merges {text[:_SHOWN]!r} are not JSON ({error}); write "
            '{"column": {"new": ["old", "older"]}}, or column: old, older -> new.'
        ) from error


def _scheme(value: Any) -> Any:
    value = _whole(value)
    return parse_scheme(str(value)) if isinstance(value, (str, int)) else value


def _search(value: Any) -> SearchStrategy:
    if not isinstance(value, str):
        raise StudyError(f"The search must be a string such as tpe:30, got {value!r}.")
    return named_search(value)


def _costs(value: Any) -> Any:
    """Convert costs from JSON, a JSON file or Python to a matrix or a mapping by labels.

    The forms are those of ``CostSensitiveClassifier``.
    """
    if isinstance(value, (str, Path)):
        value = _costs_from_json(str(value))
    if hasattr(value, "columns") and hasattr(value, "index"):
        value = {true: dict(row) for true, row in value.iterrows()}
    if not isinstance(value, Mapping):
        rows = value.tolist() if hasattr(value, "tolist") else value
        is_matrix = isinstance(rows, Sequence) and all(isinstance(row, Sequence) for row in rows)
        return tuple(tuple(map(_real, row)) for row in rows) if is_matrix and rows else value
    named: dict[str, dict[str, Any]] = {}
    for key, entry in value.items():
        if isinstance(entry, Mapping):
            row = named.setdefault(str(key), {})
            row.update((str(label), _real(cost)) for label, cost in entry.items())
        elif isinstance(key, tuple) and len(key) == 2:
            named.setdefault(str(key[0]), {})[str(key[1])] = _real(entry)
        else:
            return value
    return named


def _costs_from_json(text: str) -> Any:
    where = "The cost matrix"
    how = '{"true class": {"predicted class": 5}} or [[0, 1], [5, 0]]'
    if not text.lstrip().startswith(("{", "[")):
        where = f"The cost matrix {text[:_SHOWN]}"
        try:
            text = read_regular(Path(text)).decode()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StudyError(
                f"{where} cannot be read ({reason}); name a JSON file, or write {how}."
            ) from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{where} is not JSON ({error}); write {how}.") from error


_Whole = BeforeValidator(_whole)
_Real = BeforeValidator(_real)
_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_duration)]
_Column = Annotated[str, Field(min_length=1), BeforeValidator(str)]
_Cost = Annotated[float, Field(allow_inf_nan=False)]
_DURATIONS = "choose seconds, or a string such as 90s, 15m or 1h30m."

# In the order in which they are checked.
_RULES: dict[str, _Rule] = {
    "task": _Rule(
        Literal["classification", "regression"],
        "There is no task {value}; choose classification or regression.",
    ),
    "metric": _Rule(str, "The metric {value} is not a name; choose one such as accuracy."),
    "preset": _Rule(
        Literal["quick", "thesis", "best"],
        "There is no preset {value}; choose quick, thesis or best.",
    ),
    "models": _Rule(
        Annotated[tuple[str, ...], BeforeValidator(_words)],
        "models must be names separated by commas, as in core,kernel_ridge, got {value}.",
    ),
    "search": _Rule(Annotated[Any, BeforeValidator(_search)], ""),
    "cv": _Rule(
        Annotated[InstanceOf[Scheme], BeforeValidator(_scheme)],
        "The cross-validation {value} is not a scheme; choose one such as 5, 5x3, group:5, time:5, "
        "loo or bootstrap.",
    ),
    "test_size": _Rule(
        Annotated[float, Field(gt=0, lt=1), _Real],
        "test_size must be a fraction of the rows between 0 and 1, such as 0.2, got {value}.",
    ),
    "test": _Rule(Any, ""),
    "time_budget": _Rule(_Seconds, "The time budget {value} is not a time above 0; " + _DURATIONS),
    "jobs": _Rule(
        Annotated[int, Field(ge=1), _Whole],
        "jobs must be an integer >= 1, got {value}.",
    ),
    "seed": _Rule(
        Annotated[int, Field(ge=0, lt=2**32), _Whole],
        f"seed must be an integer from 0 to {2**32 - 1}, got {{value}}.",
    ),
    "cost_matrix": _Rule(
        Annotated[
            dict[str, dict[str, _Cost]] | tuple[tuple[_Cost, ...], ...], BeforeValidator(_costs)
        ],
        "The cost matrix {value} cannot be read; give for each true class the finite costs of "
        'predicted classes, as in {{"good": {{"bad": 1}}, "bad": {{"good": 5}}}}, or a row of '
        "costs for each true class in sorted order, as in [[0, 5], [1, 0]].",
    ),
    "reject_cost": _Rule(
        Annotated[float, Field(ge=0, allow_inf_nan=False), _Real],
        "reject_cost must be >= 0, got {value}.",
    ),
    "groups": _Rule(_Column, "groups must be the name of a column, got {value}."),
    "time": _Rule(_Column, "time must be the name of a column, got {value}."),
    "by": _Rule(
        Annotated[tuple[str, ...], BeforeValidator(_columns)],
        "Names of columns must be separated by commas, got {value}.",
    ),
    "where": _Rule(
        Annotated[tuple[InstanceOf[Condition], ...], BeforeValidator(_conditions)],
        "Conditions must be strings such as 'age >= 17', got {value}.",
    ),
    "drop_missing": _Rule(bool, "drop_missing must be true or false, got {value}."),
    "drop_duplicates": _Rule(bool, "drop_duplicates must be true or false, got {value}."),
    "merge": _Rule(
        Annotated[dict[str, dict[str, tuple[str, ...]]], BeforeValidator(_merges)],
        "The merges {value} cannot be read; write them as in 'education: 11th, 12th -> dropout', "
        'or as a mapping {{"education": {{"dropout": ["11th", "12th"]}}}}.',
    ),
    "drop": _Rule(
        Annotated[tuple[str, ...], BeforeValidator(_columns)],
        "Names of columns must be separated by commas, got {value}.",
    ),
    "lang": _Rule(Literal["en", "es"], "There is no language {value}; choose en or es."),
    "member_time": _Rule(
        _Seconds, "The time limit of a fit {value} is not a time above 0; " + _DURATIONS
    ),
    "member_memory": _Rule(
        Annotated[int, Field(gt=0), BeforeValidator(_size)],
        "The memory limit of a fit {value} is not a size above 0; choose bytes, or a string such "
        "as 512MB or 4GB.",
    ),
    "max_table_size": _Rule(
        Annotated[int, Field(gt=0), BeforeValidator(_size)],
        "The limit of a table's size {value} is not a size above 0; choose bytes, or a string such "
        "as 512MB or 2GB.",
    ),
}

# Names of a study's parameters; the flags have dashes for underscores.
NAMES = tuple(_RULES)
_FIELDS = {"cv": "scheme", "test": "test_table"}


def make_settings(**options: Any) -> Settings:
    """Check the options of a study and return its settings.

    Parameters
    ----------
    **options
        Options by the names in ``NAMES``; absent or None options have their defaults.

    Returns
    -------
    Settings

    Raises
    ------
    StudyError
        For the first invalid value; the message gives its name, the value and valid ones.

    Examples
    --------
    >>> make_settings(cv="5x3", time_budget="1h30m").time_budget
    5400.0
    """
    given = {name: options[name] for name in NAMES if options.get(name) is not None}
    checked = {_FIELDS.get(name, name): _validate(name, value) for name, value in given.items()}
    return _reconcile(Settings(**checked), by_default="cv" not in given)


def read_size(name: str, value: Any) -> int | None:
    """Parse a size in bytes, such as the parameter ``max_table_size``; None stays None.

    Raises
    ------
    StudyError
        If the value is not a size above 0.

    Examples
    --------
    >>> read_size("max_table_size", "2GB")
    2000000000
    """
    return None if value is None else int(_validate(name, value))


def _validate(name: str, value: Any) -> Any:
    rule = _RULES[name]
    try:
        return TypeAdapter(rule.kind).validate_python(value, strict=True)
    except ValidationError as error:
        own = error.errors()[0].get("ctx", {}).get("error")
        if isinstance(own, StudyError):
            raise own from error
        shown = repr(value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        raise StudyError(rule.wrong.format(value=shown)) from error


def _reconcile(settings: Settings, *, by_default: bool) -> Settings:
    """Check that settings are consistent; groups and time set the default scheme."""
    if settings.groups is not None and settings.time is not None:
        raise StudyError(
            f"Rows cannot be split by groups ({settings.groups!r}) and by time "
            f"({settings.time!r}) at once; name one of the two."
        )
    scheme = settings.scheme
    for name, column in (("group", settings.groups), ("time", settings.time)):
        flag = "--groups" if name == "group" else "--time"
        if column is not None and by_default:
            return replace(settings, scheme=parse_scheme(name))
        if column is not None and scheme.kind != name:
            raise StudyError(
                f"The cross-validation {scheme.text!r} does not use the column {column!r} of "
                f"{flag}; choose --cv {name}:{max(scheme.folds, 2)}, or leave out {flag}."
            )
        if column is None and scheme.kind == name:
            raise StudyError(
                f"The cross-validation {scheme.text!r} needs a column; name it by {flag}."
            )
    if settings.metric == COST and settings.cost_matrix is None:
        raise StudyError(
            "The metric 'cost' needs the costs of misclassification; give --cost-matrix, as in "
            '\'{"good": {"bad": 1}, "bad": {"good": 5}}\', or choose --metric accuracy.'
        )
    if settings.cost_matrix is not None and settings.task == "regression":
        raise StudyError("A cost matrix needs a classification; leave it out of a regression.")
    return settings
