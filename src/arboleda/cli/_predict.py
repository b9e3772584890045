"""``arboleda predict``: the best model of a study on new rows."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, tell

__all__ = ["predict"]


def predict(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of a study.")],
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="A CSV or Parquet file with the study's columns."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file, .csv or .parquet. [TABLE-predicted.csv]"),
    ] = None,
    intervals: Annotated[
        float | None,
        typer.Option(
            help="Add intervals (of classes: sets) that hold this share of true values, as in 0.9."
        ),
    ] = None,
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help="How large a part of TABLE that cannot be divided may be, as in 2GB; TABLE itself "
            "may be larger. [a quarter of the memory available]"
        ),
    ] = None,
) -> None:
    """Predict the target of each row of TABLE by the best model of STUDY, with probabilities.

    Where the study has costs, the decision of least expected cost is added.
    """
    try:
        from arboleda.study.results.predictions import predict_table

        found = predict_table(
            folder,
            table,
            out,
            intervals=intervals,
            progress=True,
            max_table_size=max_table_size,
        )
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    for note in found.notes:
        tell(note, err=True)
    tell(f"Predictions: {found.path} ({found.n_rows:,} rows, by {found.name})")
