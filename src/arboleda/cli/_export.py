"""``arboleda export``: export of a model of a study."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, print_line

__all__ = ["export"]


def export(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of a study.")],
    *,
    onnx: Annotated[
        bool, typer.Option("--onnx", help="Export as ONNX, which many runtimes read (default).")
    ] = True,
    model: Annotated[str | None, typer.Option(help="Key of a saved model. [the best]")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Path of the file. [STUDY/MODEL.onnx]")
    ] = None,
) -> None:
    """Export the best model of STUDY, with its preprocessing, for other programs."""
    del onnx
    try:
        from arboleda.study import export as export_model

        result = export_model(folder, out, model=model)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    if result.dates:
        print_line(f"Pass dates as numbers: {', '.join(result.dates)}.", err=True)
    print_line(f"Model: {result.path} ({result.name})")
