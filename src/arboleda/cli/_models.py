"""The command models: the catalogue by family."""

import json
from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, print_line

__all__ = ["models"]

_TASKS = {
    "classification": "classes",
    "binary": "two classes",
    "regression": "numbers",
    "survival": "times to an event",
    "ranking": "rankings",
}


def models(
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the list as JSON, for other programs.")
    ] = False,
) -> None:
    """List the models of the catalogue by family, with the keys that --models takes."""
    try:
        from arboleda.study.choices import list_models

        listed = list_models()
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    if as_json:
        text = json.dumps([asdict(model) for model in listed], indent=1, ensure_ascii=False)
        for line in text.splitlines():
            print_line(line)
        return
    for family, members in groupby(listed, key=lambda model: model.family):
        print_line(f"{family}:")
        for model in members:
            facts = ", ".join(_TASKS[task] for task in model.tasks)
            presets = f"; preset {', '.join(model.presets)}" if model.presets else ""
            print_line(f"  {model.key}  {model.name} ({facts}{presets})")
            print_line(f"      {model.about}")
        print_line("")
    print_line("Try some of them: arboleda study TABLE --target COLUMN --models KEY,KEY")
