"""The facts of a study, read from results.json and checked before anything uses them."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import arboleda
from arboleda.study.artifacts.files import read_text
from arboleda.study.errors import StudyError, StudyFormatError
from arboleda.study.results.facts import SCHEMA_VERSION, StudyFacts
from arboleda.study.results.model_facts import FactsModel
from arboleda.study.results.scoring import choose_metric

__all__ = ["RESULTS", "check_facts", "read_facts"]

RESULTS = "results.json"
# Integers beyond these do not fit 64 bits, in which arrays hold them.
_LARGEST = 2**63 - 1
_SHOWN = 60
# What random generators of every package take.
_SEEDS = 2**32


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
        raise StudyFormatError(
            f"There is no study in {folder}; name the folder that `arboleda study` wrote its "
            "report to."
        ) from error
    except OSError as error:
        raise StudyFormatError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is not JSON in UTF-8: {type(error).__name__}") from error
    version = facts.get("schema_version") if isinstance(facts, dict) else None
    if type(version) is int and 0 < version < SCHEMA_VERSION:
        raise StudyFormatError(
            f"The study in {folder} was written by an older version of arboleda, "
            f"{str(facts.get('arboleda_version'))[:40]}; this one, {arboleda.__version__}, reads "
            "its own: install that one, or run the study again in a new folder."
        )
    if type(version) is int and version > SCHEMA_VERSION:
        raise StudyFormatError(
            f"The study in {folder} was written by a newer version of arboleda, "
            f"{str(facts.get('arboleda_version'))[:40]}; this is {arboleda.__version__}: install "
            "that one."
        )
    wrong = check_facts(facts, StudyFacts) or _contradiction(facts)
    if wrong is not None:
        raise _damaged(path, wrong)
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
    >>> from arboleda.study.results.facts import ClassCounts
    >>> check_facts({"label": "yes", "train": 8, "test": 2}, ClassCounts)
    >>> check_facts({"label": "yes", "train": 8, "test": 2.5}, ClassCounts)
    'test is 2.5, not a valid integer'
    """
    try:
        model.model_validate(facts)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        kind, parent = first["type"], _place(facts, first["loc"][:-1])
        if kind == "missing":
            return f"{_join(parent, first['loc'][-1])} is missing"
        if kind == "extra_forbidden":
            return f"{parent or 'the file'} has the unknown key {str(first['loc'][-1])[:_SHOWN]!r}"
        place = f"{_place(facts, first['loc']) or 'the file'} is {_shown(first['input'])}"
        if kind == "model_type":
            return f"{place}, not an object"
        expected = first["msg"].removeprefix("Input should be ")
        return f"{place}, not {expected}" if expected != first["msg"] else f"{place}: {expected}"
    return None


def _place(facts: Any, steps: tuple[int | str, ...]) -> str:
    """Write the place of a value as in JavaScript, without pydantic's names of union members."""
    place = ""
    for step in steps:
        is_key = isinstance(facts, dict) and step in facts
        if is_key or (isinstance(facts, list) and isinstance(step, int)):
            place, facts = _join(place, step), facts[step]
    return place


def _join(place: str, step: int | str) -> str:
    if isinstance(step, int):
        return f"{place}[{step}]"
    return f"{place}.{step[:_SHOWN]}".removeprefix(".")


def _shown(value: Any) -> str:
    """Write a value briefly for a message, in JSON's words."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    if isinstance(value, str):
        return repr(value[:_SHOWN])
    return "null" if value is None else str(value).lower()


def _contradiction(facts: dict[str, Any]) -> str | None:
    """Describe a contradiction between parts of the facts; None if there is none."""
    study = facts["study"]
    try:
        choose_metric(study["metric"], study["task"])
    except StudyError:
        return f"study.metric is {study['metric'][:60]!r}, which is no metric of a {study['task']}"
    if study["seed"] >= _SEEDS:
        return f"study.seed is {study['seed']}, not below {_SEEDS}"
    keys = [model["key"] for model in facts["models"]]
    if len(set(keys)) != len(keys):
        return "models has a key twice"
    for place, model in enumerate(facts["models"]):
        if model["status"] != "ok":
            continue
        at = f"models[{place}]"
        absent = next((key for key in ("cv", "test", "best") if model[key] is None), None)
        if absent is not None:
            return f"{at}.{absent} is null, though the model did not fail"
        if not 0 <= model["best"] < len(model["candidates"]):
            return f"{at}.best is {model['best']}, which is no place in its candidates"
    return _contradiction_of_costs(facts.get("costs"))


def _contradiction_of_costs(costs: dict[str, Any] | None) -> str | None:
    if costs is None:
        return None
    n = len(costs["labels"])
    if len(costs["matrix"]) != n or any(len(row) != n for row in costs["matrix"]):
        return f"costs.matrix is not a table of {n} by {n} costs, one for each pair of labels"
    return None


def _damaged(path: Path, reason: str) -> StudyFormatError:
    return StudyFormatError(
        f"The file {path} is damaged ({reason}); run the study's command again: what is done is "
        "kept."
    )
