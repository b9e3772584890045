"""Options of a study from Python, the command line or study.toml, and its settings."""

import difflib
import json
import textwrap
import tomllib
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from arboleda._utils.errors import OptionError, StudyError
from arboleda._utils.files import read_regular
from arboleda._utils.text import json_escaped
from arboleda.study.config.declaration import document_parameters, sort_by_group
from arboleda.study.config.other_names import OTHER_NAMES, RETIRED
from arboleda.study.config.parsers import SHOWN
from arboleda.study.config.settings import OPTIONS, Settings
from arboleda.tables.reading import BUNDLED

__all__ = [
    "CONFIG",
    "NAMES",
    "config_text",
    "document_options",
    "make_settings",
    "read_config",
    "read_size",
]

# Names of the options in Python and in study.toml.
NAMES = tuple(OPTIONS)
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


def document_options(documented: Class) -> Class:
    """Decorate a class to replace ``{options}`` in its docstring by the options of a study."""
    if documented.__doc__ is not None:  # as it is under python -OO
        text = cleandoc(documented.__doc__)
        documented.__doc__ = text.replace("{options}", document_parameters(OPTIONS))
    return documented


CONFIG = "study.toml"
# Keys of the file beside the options, and the keys whose values may be paths.
_SOURCES = ("table", "target", "output_dir")
_PATHS = ("table", "output_dir", *(o.name for o in OPTIONS.values() if o.option.may_be_path))


def read_config(path: str | Path) -> dict[str, Any]:
    r"""Read a configuration file as parameters of a study.

    Paths are relative to the file's folder.

    Parameters
    ----------
    path : str or path
        A TOML file with any of the keys ``table``, ``target``, ``output_dir`` and a study's
        options.

    Returns
    -------
    options : dict

    Raises
    ------
    OptionError
        If there is no such file, it is not TOML, or it has an unknown or retired key.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "study.toml")
    ...     _ = path.write_text('table = "iris"\ntarget = "target"\ncv = "5x3"\n')
    ...     read_config(path)
    {'table': 'iris', 'target': 'target', 'cv': '5x3'}
    """
    path = Path(path)
    try:
        options = tomllib.loads(read_regular(path).decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise OptionError(
            f"There is no file {path}; name a TOML file such as a study's {CONFIG}."
        ) from error
    except OSError as error:
        raise OptionError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise OptionError(f"The file {path} is not TOML ({error}); correct it.") from error
    for key, value in options.items():
        if key not in (*_SOURCES, *NAMES):
            raise OptionError(
                f"The file {path} has the key {key[:60]!r}, which {_suggest_key(key)}."
            )
        if key in (*_SOURCES, "test") and not (isinstance(value, str) and value):
            raise OptionError(
                f"The key {key!r} of {path} must be a non-empty string, got {value!r}."
            )
    return {k: _resolve_path(path.parent, v) if k in _PATHS else v for k, v in options.items()}


def _suggest_key(key: str) -> str:
    """Return what is wrong with a key that no option has, and the key to use."""
    if key in RETIRED:
        return f"is {RETIRED[key]!r} now; rename it"
    if key in OTHER_NAMES:
        return f"is {OTHER_NAMES[key]!r} here; rename it"
    names = [*_SOURCES, *NAMES]
    near = difflib.get_close_matches(key.lower().replace("-", "_"), names, n=1, cutoff=0.6)
    return (
        f"is unknown; did you mean {near[0]!r}?"
        if near
        else f"is unknown; the keys are {', '.join(names)}"
    )


def _resolve_path(folder: Path, value: Any) -> Any:
    """Resolve a path relative to a folder; leave bundled tables and JSON unchanged."""
    if not isinstance(value, str) or value.lstrip().startswith(("{", "[")):
        return value
    path = folder / value
    return value if value in BUNDLED and not path.is_file() else str(path)


def config_text(table: Any, target: str, settings: Settings) -> str:
    """Return the text of a configuration file that repeats the study from any folder.

    Every option stands below its description; an option without a value is a comment. A table in
    memory has no path: its line is a comment.
    """
    lines = ["# arboleda study --config study.toml", ""]
    lines += [_path_line("table", table), f"target = {_to_toml(target)}", 'output_dir = "."']
    group = None
    for name, declared in sort_by_group(OPTIONS).items():
        if declared.option.group != group:
            group = declared.option.group
            lines += ["", f"# -- {group} --"]
        lines += textwrap.wrap(
            declared.plain_text, 100, initial_indent="# ", subsequent_indent="# "
        )
        lines.append(_option_line(name, settings))
    # TOML has its tables after all values.
    return "\n".join([*lines, *_table_lines(settings)]) + "\n"


def _option_line(name: str, settings: Settings) -> str:
    if name == "test" and settings.test is not None:
        return _path_line(name, settings.test)
    value = settings.plain_value(name)
    if value is None or isinstance(value, dict):
        return f"# {name} = {'a table below' if value else ''}".rstrip()
    return f"{name} = {_to_toml(value)}"


def _table_lines(settings: Settings) -> Iterator[str]:
    """Yield the lines of the options that are mappings of mappings: costs and merges."""
    for name in OPTIONS:
        tables = settings.plain_value(name)
        if isinstance(tables, dict):
            for key, entries in tables.items():
                yield from ("", f"[{name}.{_to_toml(key)}]")
                yield from (f"{_to_toml(k)} = {_to_toml(value)}" for k, value in entries.items())


def _path_line(name: str, source: Any) -> str:
    if not isinstance(source, (str, Path)):
        return f"# {name}: a table in memory, which has no path; write it to a file and name that"
    text = str(source)
    if not (text in BUNDLED and not Path(text).is_file()):
        text = str(Path(text).absolute())
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"# {name}: a file whose name is not valid Unicode"
    return f"{name} = {_to_toml(text)}"


def _to_toml(value: Any) -> str:
    """Write a value in TOML; strings, numbers and lists are written as in JSON."""
    return json_escaped(json.dumps(value, ensure_ascii=False))
