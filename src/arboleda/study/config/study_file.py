"""A study as a file: ``study.toml`` is read, and kept in the study's folder."""

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
# Beside the settings a file may name these.
_WHAT = ("table", "target", "out")
_PATHS = ("table", "test", "out", "cost_matrix")


def read_config(path: str | Path) -> dict[str, Any]:
    r"""What a file asks for, by the names of a study's parameters.

    Paths are those seen from the file's folder.

    Parameters
    ----------
    path : str or path
        A TOML file with any of the keys ``table``, ``target``, ``out`` and a study's parameters.

    Returns
    -------
    asked : dict

    Raises
    ------
    StudyError
        If there is no such file, it is not TOML, or has a key that nobody reads.

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
        asked = tomllib.loads(read_regular(path).decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise StudyError(
            f"There is no file {path}; name a TOML file such as a study's {CONFIG}."
        ) from error
    except OSError as error:
        raise StudyError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"The file {path} is not TOML ({error}); correct it.") from error
    for key, value in asked.items():
        if key not in (*_WHAT, *NAMES):
            raise StudyError(f"The file {path} has the key {key[:60]!r}, which {_meant(key)}.")
        if key in (*_WHAT, "test") and not (isinstance(value, str) and value):
            raise StudyError(f"The key {key!r} of {path} is {value!r}; give it a text.")
    return {k: _from(path.parent, v) if k in _PATHS else v for k, v in asked.items()}


def _meant(key: str) -> str:
    names = [*_WHAT, *NAMES]
    near = difflib.get_close_matches(key.lower().replace("-", "_"), names, n=1, cutoff=0.6)
    return (
        f"means nothing; did you mean {near[0]!r}?"
        if near
        else (f"means nothing; known are {', '.join(names)}")
    )


def _from(folder: Path, value: Any) -> Any:
    """A path as seen from a folder; bundled tables and JSON have no place."""
    if not isinstance(value, str) or value.lstrip().startswith(("{", "[")):
        return value
    path = folder / value
    return value if value in BUNDLED and not path.is_file() else str(path)


def config_text(table: Any, target: str, settings: Settings) -> str:
    """The file that asks for the same study again, from any folder.

    A table that is no file has no name to be asked for by: its line is a remark.
    """
    lines = ["# arboleda study --config study.toml", ""]
    lines.append(_path_line("table", table))
    lines.append(f"target = {_written(target)}")
    lines.append('out = "."')
    told = {**settings.to_dict(), "jobs": settings.jobs, "max_table_size": settings.max_table_size}
    merges = told.pop("merge")
    # A mapping is written as tables, which come after all values.
    costs = told.pop("cost_matrix") if isinstance(settings.cost_matrix, Mapping) else {}
    for name, value in told.items():
        if name == "test" and settings.test_table is not None:
            lines.append(_path_line("test", settings.test_table))
        elif value is None:
            lines.append(f"# {name}: as it comes")
        else:
            lines.append(f"{name} = {_written(value)}")
    for label, row in costs.items():
        lines += ["", f"[cost_matrix.{_written(label)}]"]
        lines += [f"{_written(other)} = {_written(cost)}" for other, cost in row.items()]
    for column, groups in merges.items():
        lines += ["", f"[merge.{_written(column)}]"]
        lines += [f"{_written(new)} = {_written(old)}" for new, old in groups.items()]
    return "\n".join(lines) + "\n"


def _path_line(name: str, source: Any) -> str:
    if not isinstance(source, (str, Path)):
        return f"# {name}: a table in memory, which has no name; write it to a file and name that"
    text = str(source)
    if not (text in BUNDLED and not Path(text).is_file()):
        text = str(Path(text).absolute())
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"# {name}: a file whose name is no text"
    return f"{name} = {_written(text)}"


def _written(value: Any) -> str:
    """A value as TOML has it: its texts, numbers and lists of texts are those of JSON."""
    return json_escaped(json.dumps(value, ensure_ascii=False))
