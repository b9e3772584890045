"""``arboleda export``: a model of a study for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, tell

__all__ = ["export"]


def export(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of a study.")],
    *,
    onnx: Annotated[
        bool, typer.Option("--onnx", help="As ONNX, which many runtimes read (the default).")
    ] = True,
    model: Annotated[
        str | None, typer.Option(help="The key of a model that was kept. [the best]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file. [STUDY/MODEL.onnx]")
    ] = None,
) -> None:
    """Write the best model of STUDY, with its preparation, as a file for other programs."""
    del onnx
    try:
        from arboleda.study.artifacts.exports import export_model

        found = export_model(folder, out, model=model)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    if found.dates:
        tell(f"Dates are given as numbers: {', '.join(found.dates)}.", err=True)
    tell(f"Model: {found.path} ({found.name})")
