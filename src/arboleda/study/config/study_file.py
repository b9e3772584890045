"""The configuration file of a study, ``study.toml``, which is also saved in its folder."""

import difflib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arboleda._files import read_regular
from arboleda._visible import json_escaped
from arboleda.study.config.options import NAMES
from arboleda.study.config.settings import Settings
from arboleda.study.data.reading import BUNDLED
from arboleda.study.errors import StudyError

__all__ = ["CONFIG", "config_text", "read_config"]

CONFIG = "study.toml"
# Keys of the file beside the settings.
_SOURCES = ("table", "target", "out")
_PATHS = ("table", "test", "out", "cost_matrix")


def read_config(path: str | Path) -> dict[str, Any]:
    r"""Read a configuration file as parameters of a study.

    Paths are relative to the file's folder.

    Parameters
    ----------
    path : str or path
        A TOML file with any of the keys ``table``, ``target``, ``out`` and a study's parameters.

    Returns
    -------
    options : dict

    Raises
    ------
    StudyError
        If there is no such file, it is not TOML, or it has an unknown key.

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
        raise StudyError(
            f"There is no file {path}; name a TOML file such as a study's {CONFIG}."
        ) from error
    except OSError as error:
        raise StudyError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"The file {path} is not TOML ({error}); correct it.") from error
    for key, value in options.items():
        if key not in (*_SOURCES, *NAMES):
            raise StudyError(
                f"The file {path} has the key {key[:60]!r}, which {_suggest_key(key)}."
            )
        if key in (*_SOURCES, "test") and not (isinstance(value, str) and value):
            raise StudyError(
                f"The key {key!r} of {path} must be a non-empty string, got {value!r}."
            )
    return {k: _resolve_path(path.parent, v) if k in _PATHS else v for k, v in options.items()}


def _suggest_key(key: str) -> str:
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

    A table in memory has no path: its line is a comment.
    """
    lines = ["# arboleda study --config study.toml", ""]
    lines.append(_path_line("table", table))
    lines.append(f"target = {_to_toml(target)}")
    lines.append('out = "."')
    values = {
        **settings.to_dict(),
        "jobs": settings.jobs,
        "max_table_size": settings.max_table_size,
    }
    merges = values.pop("merge")
    # A mapping is written as tables, which come after all values.
    costs = values.pop("cost_matrix") if isinstance(settings.cost_matrix, Mapping) else {}
    for name, value in values.items():
        if name == "test" and settings.test_table is not None:
            lines.append(_path_line("test", settings.test_table))
        elif value is None:
            lines.append(f"# {name}: default")
        else:
            lines.append(f"{name} = {_to_toml(value)}")
    for label, row in costs.items():
        lines += ["", f"[cost_matrix.{_to_toml(label)}]"]
        lines += [f"{_to_toml(other)} = {_to_toml(cost)}" for other, cost in row.items()]
    for column, groups in merges.items():
        lines += ["", f"[merge.{_to_toml(column)}]"]
        lines += [f"{_to_toml(new)} = {_to_toml(old)}" for new, old in groups.items()]
    return "\n".join(lines) + "\n"


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
