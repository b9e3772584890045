"""The commands compare, explain, explore, export, page and predict."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arboleda._utils.text import count_noun
from arboleda.cli._app import CtrlCError, print_line
from arboleda.cli._completion import COMPLETERS, complete_study_model, complete_table
from arboleda.study.config.settings import OPTIONS

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["TABLE_HELP", "compare", "explain", "explore", "export", "page", "predict"]

# What several commands take.
TABLE_HELP = (
    "A CSV or Parquet file, or a bundled table: breast_cancer, diabetes, digits, iris, wine."
)
StudyFolder = Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of a study.")]
SavedModel = Annotated[
    str | None,
    typer.Option(
        help="Use this saved model, given by its key or name. [the best]",
        metavar="NAME",
        rich_help_panel="Models",
        autocompletion=complete_study_model,
    ),
]
StudyPageLanguage = Annotated[
    str | None,
    typer.Option(
        help="Write the page in this language: en, or es for Spanish. [that of the study]",
        rich_help_panel="Output",
        autocompletion=COMPLETERS["lang"],
    ),
]
PageLanguage = Annotated[
    str,
    typer.Option(
        help="Write the page in this language: en, or es for Spanish.",
        rich_help_panel="Output",
        autocompletion=COMPLETERS["lang"],
    ),
]


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="Folders of at least two studies.")
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the page to this path. [compared.html]", rich_help_panel="Output"),
    ] = None,
    lang: PageLanguage = "en",
) -> None:
    """Compare studies: settings, leaderboards and best models."""
    try:
        from rich.console import Console

        from arboleda.study import compare as compare_studies

        result = compare_studies(folders, progress=True, lang=lang)
        page = result.save(out or result.default_path)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    Console(highlight=False).print(_make_table(result.facts))
    for sentence in result.facts["sentences"]:
        print_line(sentence)
    print_line(f"Page: {page}")


def _make_table(facts: Mapping[str, Any]) -> "Table":
    """Return the leaderboards side by side, with cross-validated and test scores."""
    from rich.table import Table
    from rich.text import Text

    from arboleda._utils.numbers import plain
    from arboleda._utils.text import visible

    table = Table(title=Text("Cross-validated / test"))
    table.add_column("Model", overflow="fold")
    for study in facts["studies"]:
        heading = f"{study['name']}: {study['metric_label']}"
        table.add_column(Text(visible(heading), overflow="fold"), justify="right")
    for row in facts["leaderboard"]:
        cells = [Text(visible(row["name"]))]
        for cell in row["cells"]:
            scores = "" if cell is None else f"{plain(cell['cv'])} / {plain(cell['test'])}"
            best = cell is not None and cell["rank"] == 1
            cells.append(Text(visible(scores), style="bold" if best else ""))
        table.add_row(*cells)
    return table


def explain(
    folder: StudyFolder,
    *,
    row: Annotated[
        int | None,
        typer.Option(
            help="Explain the prediction for the data row of this number, from 1. [explain the "
            "model as a whole]",
            rich_help_panel="Data",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the page to this path. [STUDY/explained.html, STUDY/explained-row-N.html]",
            rich_help_panel="Output",
        ),
    ] = None,
    model: SavedModel = None,
    seed: Annotated[
        int,
        typer.Option(help="Draw samples and shuffles by this seed.", rich_help_panel="Evaluation"),
    ] = 0,
    lang: StudyPageLanguage = None,
) -> None:
    """Explain the best model of STUDY, or another, or its prediction for one row, on a page."""
    try:
        from arboleda.study import explain as explain_study

        result = explain_study(folder, row, model=model, seed=seed, progress=True, lang=lang)
        page = result.save(out or result.default_path)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    print_line(f"Page: {page}")


def explore(
    table: Annotated[str, typer.Argument(help=TABLE_HELP, autocompletion=complete_table)],
    *,
    target: Annotated[
        str | None,
        typer.Option(
            help="Relate the columns to this one, which is to be predicted later.",
            rich_help_panel="Data",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the page to this folder or path (.html). [TABLE-explored.html]",
            rich_help_panel="Output",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Draw samples and maps by this seed.", rich_help_panel="Evaluation")
    ] = 0,
    lang: PageLanguage = "en",
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help=OPTIONS["max_table_size"].plain_text,
            rich_help_panel="Time and memory",
        ),
    ] = None,
) -> None:
    """Explore TABLE before modelling: columns, gaps, relations, structure and outliers.

    Models are not compared; use a study for that.
    """
    try:
        from arboleda.study import explore as explore_table
        from arboleda.study.artifacts.files import check_not_source, choose_page_path

        if out is not None:
            check_not_source(out, table)
        result = explore_table(
            table, target, seed=seed, progress=True, max_table_size=max_table_size, lang=lang
        )
        page = result.save(choose_page_path(out, result.default_path))
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    print_line(f"Page: {page}")


def export(
    folder: StudyFolder,
    *,
    onnx: Annotated[
        bool,
        typer.Option(
            "--onnx",
            help="Write ONNX, which many runtimes read; this is the default.",
            show_default=False,
            rich_help_panel="Output",
        ),
    ] = True,
    model: Annotated[
        str | None,
        typer.Option(
            help="Export the saved model of this key. [the best]",
            metavar="KEY",
            rich_help_panel="Models",
            autocompletion=complete_study_model,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the model to this path. [STUDY/MODEL.onnx]",
            rich_help_panel="Output",
        ),
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


def page(
    folder: StudyFolder,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the page to this folder or path (.html). [STUDY/page.html]",
            rich_help_panel="Output",
        ),
    ] = None,
    model: SavedModel = None,
    intervals: Annotated[
        float | None,
        typer.Option(
            help="Show prediction intervals (for classes: sets) with this coverage, as in 0.9. "
            "[values: 0.9]",
            rich_help_panel="Evaluation",
        ),
    ] = None,
    include_rows: Annotated[
        int,
        typer.Option(
            help="Put this number of training rows into the page, as examples and to show the "
            "nearest ones; everyone who has the page can read them. [none]",
            metavar="N",
            rich_help_panel="Data",
        ),
    ] = 0,
    lang: StudyPageLanguage = None,
) -> None:
    """Write a page in which the best model of STUDY predicts, in the browser and offline."""
    try:
        from arboleda.study import page as write_page

        result = write_page(
            folder, out, model=model, intervals=intervals, include_rows=include_rows, lang=lang
        )
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    for note in result.notes:
        print_line(note, err=True)
    print_line(f"Page: {result.path} ({result.name})")


def predict(
    folder: StudyFolder,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A CSV or Parquet file with the columns of the study.",
            autocompletion=complete_table,
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the predictions to this path, .csv or .parquet. [TABLE-predicted.csv]",
            rich_help_panel="Output",
        ),
    ] = None,
    model: SavedModel = None,
    intervals: Annotated[
        float | None,
        typer.Option(
            help="Add prediction intervals (for classes: sets) with this coverage, as in 0.9.",
            rich_help_panel="Evaluation",
        ),
    ] = None,
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help="Refuse a larger indivisible part of TABLE, as in 2GB; TABLE itself may be "
            "larger. [a quarter of the available memory]",
            rich_help_panel="Time and memory",
        ),
    ] = None,
) -> None:
    """Predict the target of each row of TABLE with the best model of STUDY, or another.

    Adds class probabilities and, if the study has costs, the decision of least expected cost.
    """
    try:
        from arboleda.study import predict as predict_table

        result = predict_table(
            folder,
            table,
            out,
            model=model,
            intervals=intervals,
            progress=True,
            max_table_size=max_table_size,
        )
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    for note in result.notes:
        print_line(note, err=True)
    print_line(f"Predictions: {result.path} ({count_noun(result.n_rows, 'row')}, by {result.name})")
