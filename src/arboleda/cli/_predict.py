"""``arboleda predict``: predictions of the best model of a study."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, print_line

__all__ = ["predict"]


def predict(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of a study.")],
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="CSV or Parquet file with the columns of the study."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Path of the file, .csv or .parquet. [TABLE-predicted.csv]"
        ),
    ] = None,
    intervals: Annotated[
        float | None,
        typer.Option(
            help="Add prediction intervals (for classes: sets) with this coverage, as in 0.9."
        ),
    ] = None,
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help="Maximum size of an indivisible part of TABLE, as in 2GB; TABLE itself may be "
            "larger. [a quarter of the available memory]"
        ),
    ] = None,
) -> None:
    """Predict the target of each row of TABLE with the best model of STUDY.

    Adds class probabilities and, if the study has costs, the decision of least expected cost.
    """
    try:
        from arboleda.study.results.predict_file import predict_table

        result = predict_table(
            folder,
            table,
            out,
            intervals=intervals,
            progress=True,
            max_table_size=max_table_size,
        )
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    for note in result.notes:
        print_line(note, err=True)
    print_line(f"Predictions: {result.path} ({result.n_rows:,} rows, by {result.name})")
