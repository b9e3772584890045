"""What to do with a finished study: commands and Python code with its paths."""

import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arboleda.catalogue.entries import CATALOGUE
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.reports.study.next_steps import describe_purpose
from arboleda.study.combination.methods import METHODS

__all__ = ["can_export", "suggest_next_steps"]

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
    single = {m.key for m in (*CATALOGUE, *PORTFOLIO) if m.learns and (m.core or m.bag)}
    members = model["ensemble"]["members"] if model.get("ensemble") else [model]
    combined = {method.key for method in METHODS}
    return all(m["key"] in single for m in members) and model["key"] in single | combined


def _quote(path: str) -> str:
    """Quote a path for a shell; one that begins with a dash is not taken for an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _quote_value(facts: Mapping[str, Any]) -> str:
    return shlex.quote(facts["study"]["target"])
