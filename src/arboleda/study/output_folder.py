"""The output folder of a study: its default path, and the files of the whole study."""

import errno
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arboleda._utils.errors import StudyError
from arboleda._utils.files import write_atomically
from arboleda._utils.text import json_escaped
from arboleda.reports.study.page import FIGURES, write_report
from arboleda.study.artifacts.files import MODELS, remove_temporary_files
from arboleda.study.artifacts.index import INDEX, format_index
from arboleda.study.artifacts.loaded import REPORT
from arboleda.study.artifacts.rows import save_held_out, save_rows
from arboleda.study.config.options import CONFIG
from arboleda.study.next_steps import suggest_next_steps
from arboleda.study.results.holdout_facts import ReadPredictions, held_out_predictions
from arboleda.study.results.leaderboard import leaderboard_csv
from arboleda.study.runner import RunResult, ranked

__all__ = [
    "check_scored",
    "default_folder",
    "explain_write_errors",
    "write_config",
    "write_index",
    "write_results",
]

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
    if best is not None:
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
        write_report(facts, draft / REPORT, next_steps=steps)
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
