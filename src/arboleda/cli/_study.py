"""The command study; its flags are derived from the declared options."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from arboleda._utils.errors import StudyError
from arboleda.cli._app import CtrlCError, print_line, without_collection
from arboleda.cli._commands import TABLE_HELP
from arboleda.cli._completion import COMPLETERS, complete_table
from arboleda.study.config.declaration import GROUPS, Declared, sort_by_group
from arboleda.study.config.settings import OPTIONS
from arboleda.study.execution.worker import (
    choose_processes,
    end_spare_workers,
    start_spare_workers,
)

if TYPE_CHECKING:
    from arboleda.study import Study, StudyResult

__all__ = ["GroupedCommand", "accept_study_options", "study"]


class GroupedCommand(TyperCommand):
    """A command whose help lists the options below the headings of their groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of each group, those without a group first."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            heading = getattr(parameter, "rich_help_panel", None) or _heading(parameter)
            if record is not None:
                groups.setdefault(heading, []).append(record)
        order = ("Arguments", *GROUPS, "Options")
        for heading, records in sorted(groups.items(), key=lambda group: order.index(group[0])):
            with formatter.section(heading):
                formatter.write_dl(records)


def _heading(parameter: Any) -> str:
    return "Arguments" if parameter.param_type_name == "argument" else "Options"


def accept_study_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the ``**options`` in the signature of a command by the options of a study."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    parameters = [*own, *_make_parameters()]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command


def _make_parameters() -> Iterator[inspect.Parameter]:
    for name, declared in sort_by_group(OPTIONS).items():
        yield inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_make_option(declared),
            annotation=declared.option.argument | None,
        )


def _make_option(declared: Declared) -> Any:
    option = declared.option
    is_switch = option.argument is bool
    repeated = " May be repeated." if option.argument == list[str] else ""
    return typer.Option(
        None,
        f"{declared.flag}/--no-{declared.flag[2:]}" if is_switch else declared.flag,
        help=declared.plain_text + repeated,
        metavar=None if is_switch else option.metavar,
        rich_help_panel=option.group,
        autocompletion=COMPLETERS.get(declared.name),
    )


# What the command takes beside the declared options: where the study is and what is done with it.
Table = Annotated[
    str | None,
    typer.Argument(
        help=TABLE_HELP, metavar="TABLE", show_default=False, autocompletion=complete_table
    ),
]
Target = Annotated[
    str | None,
    typer.Option(help="Predict this column.", metavar="COLUMN", rich_help_panel="Data"),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Read these options from a TOML file, such as study.toml in the folder of a "
        "study; options of the command line take precedence.",
        rich_help_panel="Data",
    ),
]
OutputFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Write the study to this folder. [studies/TABLE-TARGET]",
        metavar="FOLDER",
        rich_help_panel="Output",
    ),
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--dask",
        help="Run the fits on the workers of the Dask scheduler at this address, as in "
        "tcp://host:8786, or on N workers of this machine: local:N.",
        metavar="ADDRESS",
        rich_help_panel="Time and memory",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show what becomes of each column and which models would be tried, and stop.",
        rich_help_panel="Output",
    ),
]


@accept_study_options
def study(
    table: Table = None,
    *,
    target: Target = None,
    config: ConfigFile = None,
    output_dir: OutputFolder = None,
    dask: Workers = None,
    dry_run: DryRun = False,
    **options: Any,
) -> None:
    """Study TABLE: describe it, tune and compare models, test the best of each, write a report.

    To resume an interrupted study, run the same command again.
    """
    options |= {"table": table, "target": target, "output_dir": output_dir}
    # A repeatable option that is not given is an empty list.
    options = {name: None if value == [] else value for name, value in options.items()}
    if config is None:
        _check_required(table, target or options["event"])
    try:
        if not dry_run and config is None and dask is None:
            _start_workers_early(table, output_dir, options["n_jobs"])
        # Ctrl-C may also arrive while modules are loading.
        with without_collection():
            from arboleda.study import Study

        requested = Study(**options) if config is None else Study.from_config(config, **options)
        if dry_run:
            _print_plan(requested)
            return
        result = _run(requested, dask)
    except KeyboardInterrupt:
        kept = "finished work is saved, run the same command to resume"
        raise CtrlCError(kept) from None
    except MemoryError:
        raise StudyError(
            "Out of memory: use fewer rows or columns, fewer processes (--jobs 1), or a computer "
            "with more memory. Finished work is saved; the same command resumes the study."
        ) from None
    finally:
        end_spare_workers()
    _print_leaderboard(result)
    _print_next_steps(result, requested)


def _run(requested: "Study", dask: str | None) -> "StudyResult":
    """Run a study, on workers of Dask if they are named."""
    if dask is None:
        return requested.run(progress=True)
    from arboleda.dask.clients import open_client

    with open_client(dask) as requested.client:
        return requested.run(progress=True)


# A cell takes about so many bytes of a file, as text and compressed.
CELL_BYTES, COMPRESSED_CELL_BYTES = 4.0, 1.0


def _start_workers_early(table: str | None, folder: Path | None, n_jobs: int | None) -> None:
    """Start the workers of a new study of a large file while this process loads modules.

    The number of cells is unknown until the table is read: if it is too small for workers, they
    are ended unused.
    """
    if table is None or (folder is not None and folder.exists()):
        return
    try:
        size = Path(table).stat().st_size
    except (OSError, ValueError):
        return  # a data set by its name, or a mistake that is reported later
    is_text = Path(table).suffix.lower() in {".csv", ".tsv", ".txt", ".data"}
    n_cells = size / (CELL_BYTES if is_text else COMPRESSED_CELL_BYTES)
    # At most one per core, whatever the user's number: it has not been checked yet.
    processes = min(choose_processes(n_jobs, n_cells), choose_processes(None, float("inf")))
    start_spare_workers(processes - 1)  # this process keeps a core busy meanwhile


def _print_plan(requested: "Study") -> None:
    from arboleda.tables.column_plan import write_column_lines

    plan = requested.make_plan()
    table, split = plan.table, plan.split
    print_line(f"{table.name}: {table.n_rows:,} rows, {len(table.columns)} columns")
    print_line(f"The task is {plan.target.why}.")
    for line in write_column_lines(table.columns, plan.roles, max_lines=None):
        print_line(line)
    for note in table.notes:
        print_line(f"{note.column}: {note.text}" if note.column is not None else note.text)
    print_line(
        f"{len(split.train):,} rows to learn from, {len(split.test):,} to test on, "
        f"{len(plan.features.names)} features, {len(plan.models)} models: "
        f"{', '.join(model.key for model in plan.models)}."
    )
    print_line("Nothing was fitted or written; run the command without --dry-run.")


def _check_required(table: str | None, target: str | None) -> None:
    if table is None:
        raise StudyError(
            "Missing argument TABLE; pass a table, or --config with a file that names one."
        )
    if target is None:
        raise StudyError(
            "Missing option '--target'; pass the column to predict (of a time to an event, --time "
            "and --event), or --config with a file that names one."
        )


def _print_leaderboard(result: "StudyResult") -> None:
    from rich.console import Console

    from arboleda.study.results.leaderboard import (
        caveats,
        failures,
        leaderboard_table,
        preparation,
    )

    console = Console(highlight=False)
    console.print(leaderboard_table(result.facts, width=console.width))
    prepared = preparation(result.facts)
    if prepared is not None:
        typer.echo(prepared)
    for caution in result.facts["cautions"]:
        print_line(f"Caution: {caution['text']}")
    for line in (*caveats(result.facts), *failures(result.facts)):
        print_line(line)
    print_line(f"Report: {result.report}")


def _print_next_steps(result: "StudyResult", requested: "Study") -> None:
    """Print what to do next; lines with commands and code can be copied as they are."""
    from arboleda.study.output_folder import suggest_next_steps

    steps = suggest_next_steps(result.facts, result.folder, requested.table)
    if steps is None:
        return
    print_line("")
    print_line("What to do next")
    parts = [(step["about"], step["command"]) for step in steps["commands"]]
    for about, text in (*parts, ("Use the best model in Python:", steps["code"])):
        print_line("")
        print_line(about)
        for line in text.splitlines():
            print_line(line)
