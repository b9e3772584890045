"""The output folder of a study: its default path, its files, and commands that use it."""

import errno
import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arboleda._utils.errors import StudyError
from arboleda._utils.files import write_atomically
from arboleda._utils.text import json_escaped
from arboleda.catalogue.entries import CATALOGUE
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.reports.study.next_steps import describe_purpose
from arboleda.reports.study.page import FIGURES, write_report
from arboleda.study.artifacts.files import MODELS, remove_temporary_files
from arboleda.study.artifacts.index import INDEX, format_index
from arboleda.study.artifacts.loaded import PAGE, REPORT
from arboleda.study.artifacts.rows import save_held_out, save_rows
from arboleda.study.combination.methods import METHODS
from arboleda.study.config.options import CONFIG
from arboleda.study.results.holdout_facts import ReadPredictions, held_out_predictions
from arboleda.study.results.leaderboard import leaderboard_csv
from arboleda.study.runner import RunResult, ranked

__all__ = [
    "can_export",
    "check_scored",
    "default_folder",
    "explain_write_errors",
    "suggest_next_steps",
    "write_config",
    "write_index",
    "write_results",
]

_CODE = """\
from arboleda import Study

study = Study.load({folder!r})
rows = study.test_rows().X
print(study.best_model_.predict(rows))
"""


def suggest_next_steps(facts: Mapping[str, Any], folder: Path, table: Any) -> dict[str, Any] | None:
    """Return what to do next with a study; None without a saved model.

    Parameters
    ----------
    facts : mapping
        Facts of the study.
    folder : Path
        Folder of the study.
    table : str, path or frame
        Table of the study; a table in memory has no commands that read it.

    Returns
    -------
    dict or None
        ``commands``, of which each has a ``purpose`` ("predict", "explain", "export", "explore"),
        ``about`` (a sentence) and the ``command`` for a shell; and Python ``code``.
    """
    best = next((model for model in facts["models"] if model["status"] == "ok"), None)
    if best is None or best["not_kept"]:
        return None
    where = _quote(str(folder))
    commands = {"explain": f"arboleda explain {where}"}
    if isinstance(table, str | Path):
        what = _quote(str(table))
        commands = {"predict": f"arboleda predict {where} {what}"} | commands
        commands["explore"] = f"arboleda explore {what} --target={_quote_value(facts)}"
    if can_export(best):
        commands.pop("explore", None)
        commands["export"] = f"arboleda export {where}"
    return {
        "commands": [
            {"purpose": purpose, "about": describe_purpose(purpose), "command": command}
            for purpose, command in commands.items()
        ],
        "code": _CODE.format(folder=str(folder)),
    }


def can_export(model: Mapping[str, Any]) -> bool:
    """Return whether a model of the facts can be written as ONNX in this environment."""
    if find_spec("onnx") is None:
        return False
    kinds = ("classification", "binary", "regression")
    listed = [m for m in (*CATALOGUE, *PORTFOLIO) if m.task in kinds]
    single = {m.key for m in listed if m.learns and (m.core or m.bag)}
    members = model["ensemble"]["members"] if model.get("ensemble") else [model]
    combined = {method.key for method in METHODS}
    return all(m["key"] in single for m in members) and model["key"] in single | combined


def _quote(path: str) -> str:
    """Quote a path for a shell; one that begins with a dash is not taken for an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _quote_value(facts: Mapping[str, Any]) -> str:
    return shlex.quote(facts["study"]["target"])


RESULTS, LEADERBOARD = "results.json", "leaderboard.csv"


def default_folder(stem: str, target: str) -> Path:
    """Return ``studies/<table>-<target>``, with characters that every file system accepts."""
    name = re.sub(r"[^\w.-]+", "_", f"{stem}-{target}")[:80].strip("._")
    return Path("studies") / (name or "study")


@contextmanager
def explain_write_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError of writing into a StudyError that names the folder and the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StudyError(
                f"No space is left for the results in {folder}; free some and run the same "
                "command again: finished work is kept."
            ) from error
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            raise StudyError(f"{folder} is not a folder; choose another one with --out.") from error
        raise StudyError(
            f"The folder {folder} cannot be written ({error.strerror}); choose another one "
            "with --out."
        ) from error


def write_config(text: str, folder: Path) -> None:
    """Remove unfinished files of a killed run, and write the study's configuration."""
    remove_temporary_files(folder / MODELS)
    write_atomically(folder / CONFIG, text)


def write_index(result: RunResult, read_predictions: ReadPredictions, folder: Path) -> None:
    """Save the rows and the best model's held-out predictions, and list all saved files."""
    models = folder / MODELS
    tested = [o for o in result.outcomes if o.test and not o.test["error"]]
    kept = {o.model.key: o.test["kept"] for o in tested if o.test}
    best = next(iter(ranked(result.plan, result.outcomes)), None)
    predictions = None
    # Those of times and ranks serve neither intervals nor calibration.
    if best is not None and result.plan.target.second is None:
        predictions = held_out_predictions(result.plan, best, read_predictions)
    held_out = save_held_out(predictions, models, result.plan.seed)
    text = format_index(result.plan, kept, save_rows(result.plan, models), held_out)
    write_atomically(models / INDEX, text)


def write_results(facts: dict[str, Any], folder: Path, table: Any) -> None:
    """Write the facts, the leaderboard and the report.

    The report ends with commands on the folder and the table. All are written to a draft folder,
    then moved: a failure leaves the old ones.
    """
    draft = folder / ".draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    try:
        text = json.dumps(facts, indent=1, allow_nan=False, ensure_ascii=False)
        write_atomically(draft / RESULTS, json_escaped(text) + "\n")
        write_atomically(draft / LEADERBOARD, leaderboard_csv(facts))
        steps = suggest_next_steps(facts, folder, table)
        page = PAGE if (folder / PAGE).is_file() else None
        write_report(facts, draft / REPORT, next_steps=steps, page=page)
        for name in (RESULTS, LEADERBOARD, REPORT):
            (draft / name).replace(folder / name)
        shutil.rmtree(folder / FIGURES, ignore_errors=True)
        (draft / FIGURES).replace(folder / FIGURES)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_scored(facts: Mapping[str, Any], folder: Path) -> None:
    """Raise a StudyError if no model could be scored."""
    models = facts["models"]
    if not models:
        raise StudyError(
            "No model could be scored within the time budget; allow more time. The report is at "
            f"{folder / REPORT}."
        )
    if all(model["status"] != "ok" for model in models):
        raise StudyError(
            f"No model could be scored, the first because of {models[0]['error']}; the report is "
            f"at {folder / REPORT}."
        )
