"""The facts of a study, read from results.json and checked before anything uses them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import arboleda
from arboleda.study.artifacts.files import read_text
from arboleda.study.artifacts.json_schema import first_violation
from arboleda.study.errors import StudyError, StudyFormatError
from arboleda.study.results.scoring import choose_metric

__all__ = ["RESULTS", "SCHEMA_VERSION", "read_facts"]

RESULTS = "results.json"
SCHEMA_VERSION = 2
_SCHEMA = Path(__file__).parents[1] / "results" / "facts.schema.json"
# What random generators of every package take.
_SEEDS = 2**32


def read_facts(folder: Path) -> dict[str, Any]:
    """Read the facts of a study, as ``facts.schema.json`` describes them.

    Raises
    ------
    StudyFormatError
        If the file is missing, damaged, or of another version.
    """
    path = folder / RESULTS
    try:
        facts = json.loads(read_text(path))
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
    wrong = first_violation(facts, _schema()) or _contradiction(facts)
    if wrong is not None:
        raise _damaged(path, wrong)
    return dict(facts)


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    return schema


def _contradiction(facts: dict[str, Any]) -> str | None:
    """What no schema can say: parts that do not fit each other."""
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
