"""The options of ``arboleda study``, made from their declarations in `arboleda.study`."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand

from arboleda.study.config.declaration import Declared
from arboleda.study.config.settings import OPTIONS

__all__ = ["GroupedCommand", "accept_study_options"]


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
        for heading, records in groups.items():
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
    for name, declared in OPTIONS.items():
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
    )
