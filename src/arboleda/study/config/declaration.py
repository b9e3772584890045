"""Declaration of options: how they are presented, and their documentation.

The command line, ``study.toml`` and the docstring of `arboleda.study.Study` are made from it.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

__all__ = [
    "GROUPS",
    "Declared",
    "Option",
    "declared_options",
    "document_parameters",
    "sort_by_group",
]

Documented = TypeVar("Documented", bound=type)
# The groups of options, in the order of the help and of study.toml.
GROUPS = ("Data", "Columns", "Models", "Evaluation", "Time and memory", "Output")


@dataclass(frozen=True)
class Option:
    """How an option is presented to users; it stands in the annotation of the option's field.

    Attributes
    ----------
    group : str
        Heading of the option on the command line and in ``study.toml``.
    error : str
        Message for an invalid value, which replaces ``{value}``.
    accepts : str
        Type of the parameter in Python, as numpydoc writes it; by default the field's choices.
    default : str or None
        The default in words, for options whose default is not a plain value.
    metavar : str
        Name of the argument on the command line.
    argument : type
        Type of the argument on the command line; ``list[str]``: the option may be repeated.
    flag : str or None
        The flag; None: the name with dashes.
    may_be_path : bool
        Whether a string may be a path, which ``study.toml`` takes as relative to its folder.
    affects_results : bool
        Whether results depend on the option, so that it belongs to the facts.
    """

    group: str
    error: str
    accepts: str = ""
    default: str | None = None
    metavar: str = "NAME"
    argument: Any = str
    flag: str | None = None
    may_be_path: bool = False
    affects_results: bool = True


@dataclass(frozen=True)
class Declared:
    """An option with its name and the parts of its declaration that its field states."""

    name: str
    option: Option
    description: str
    value: Any
    accepts: str

    @property
    def flag(self) -> str:
        """The flag on the command line."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def is_inferred(self) -> bool:
        """Whether the default depends on the table or on other options."""
        return self.option.default is not None

    @property
    def default_text(self) -> str | None:
        """The default in words; None for a default without effect."""
        if self.option.default is not None or self.value is False:
            return self.option.default
        return str(self.value) if isinstance(self.value, (int, float, str)) else None

    @property
    def plain_text(self) -> str:
        """The description and the default, without markup."""
        text = self.description.replace("``", "")
        return text if self.default_text is None else f"{text} [{self.default_text}]"


def declared_options(model: type[BaseModel]) -> dict[str, Declared]:
    """Return the declared options of a model by their names, in the model's order."""
    return {name: _declared(name, field) for name, field in model.model_fields.items()}


def sort_by_group(options: Mapping[str, Declared]) -> dict[str, Declared]:
    """Return options in the order of their groups."""
    order = sorted(options.items(), key=lambda item: GROUPS.index(item[1].option.group))
    return dict(order)


def _declared(name: str, field: FieldInfo) -> Declared:
    option = next(item for item in field.metadata if isinstance(item, Option))
    choices = ", ".join(f'"{choice}"' for choice in _choices(field.annotation))
    accepts = option.accepts or f"{{{choices}}}"
    value = field.get_default(call_default_factory=True)
    return Declared(name, option, field.description or "", value, accepts)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return the choices of a Literal, which may be optional."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((found for part in get_args(annotation) if (found := _choices(part))), ())


def document_parameters(options: Mapping[str, Declared]) -> str:
    """Return the entries of a numpydoc section Parameters for the options."""
    return "\n".join(_entry(declared) for declared in options.values())


def _entry(declared: Declared) -> str:
    is_plain = isinstance(declared.value, (int, float, str)) and not declared.is_inferred
    words = f"default={declared.value!r}".replace("'", '"') if is_plain else "optional"
    text = declared.description
    if declared.is_inferred:
        text += f" Default: {declared.option.default}."
    body = textwrap.fill(
        text, 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
    return f"{declared.name} : {declared.accepts}, {words}\n{body}"
