"""Check a user's options, from Python, the command line or a file, against their declarations."""

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import Any, ParamSpec, TypeVar

from pydantic import ValidationError

from arboleda.study.config.declaration import document_parameters
from arboleda.study.config.parsing import SHOWN
from arboleda.study.config.settings import OPTIONS, Settings
from arboleda.study.errors import OptionError, StudyError

__all__ = [
    "NAMES",
    "RETIRED",
    "document_options",
    "make_settings",
    "read_size",
    "refuse_retired_names",
]

# Names of the options in Python and in study.toml.
NAMES = tuple(OPTIONS)
# Former names of parameters, and the names that replaced them.
RETIRED = {
    "out": "output_dir",
    "jobs": "n_jobs",
    "seed": "random_state",
    "by": "score_by",
    "member_time": "fit_timeout",
    "member_memory": "fit_memory",
}
P = ParamSpec("P")
R = TypeVar("R")
Class = TypeVar("Class", bound=type)


def make_settings(**options: Any) -> Settings:
    """Check the options of a study and return its settings.

    Parameters
    ----------
    **options
        Options by the names in ``NAMES``; absent or None options have their defaults.

    Returns
    -------
    Settings

    Raises
    ------
    OptionError
        For the first invalid value; the message gives its name, the value and valid ones.

    Examples
    --------
    >>> make_settings(cv="5x3", time_budget="1h30m").time_budget
    5400.0
    """
    given = {name: options[name] for name in NAMES if options.get(name) is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        own = first.get("ctx", {}).get("error")
        if isinstance(own, StudyError):
            raise own from error
        name = str(first["loc"][0])
        shown = repr(given[name])
        shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
        raise OptionError(OPTIONS[name].option.error.format(value=shown)) from error


def read_size(name: str, value: Any) -> int | None:
    """Parse a size in bytes, such as the parameter ``max_table_size``; None stays None.

    Raises
    ------
    OptionError
        If the value is not a size above 0.

    Examples
    --------
    >>> read_size("max_table_size", "2GB")
    2000000000
    """
    size: int | None = getattr(make_settings(**{name: value}), name)
    return size


def refuse_retired_names(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to name the new parameter where a caller uses a former one."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        former = next((name for name in kwargs if name in RETIRED), None)
        if former is not None:
            raise TypeError(f"A study has no parameter {former!r}; it is {RETIRED[former]!r} now.")
        return function(*args, **kwargs)

    return checked


def document_options(documented: Class) -> Class:
    """Decorate a class to replace ``{options}`` in its docstring by the options of a study."""
    if documented.__doc__ is not None:  # as it is under python -OO
        text = cleandoc(documented.__doc__)
        documented.__doc__ = text.replace("{options}", document_parameters(OPTIONS))
    return documented
