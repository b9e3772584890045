"""Exceptions of the library, and detection of optional dependencies."""

from importlib.util import find_spec
from typing import Any

__all__ = [
    "ClusterError",
    "ModelFormatError",
    "OptionError",
    "ShardLostError",
    "StudyError",
    "StudyFormatError",
    "TableError",
    "can_study",
]


class ModelFormatError(ValueError):
    """Error for a file that is not a model file, is damaged, or was written by a newer version.

    `load` raises it for all errors in the content of a file, and so does `CodedTable` for its own;
    the message describes the error and its location. Errors of the file system (no such file, no
    permission) are `OSError`.

    Examples
    --------
    >>> import arboleda
    >>> from pathlib import Path
    >>> _ = Path("model.arboleda").write_bytes(b"")
    >>> arboleda.load("model.arboleda")
    Traceback (most recent call last):
    arboleda._utils.errors.ModelFormatError: model.arboleda: byte 0: the file is empty
    """


# Packages that `Study`, `explore` and related modules import.
_STUDY = ("charset_normalizer", "jinja2", "matplotlib", "pyarrow", "pydantic", "rich")


def can_study() -> bool:
    """Return whether the packages required by `Study` are installed.

    If not, public names that require them are omitted from ``__all__`` and ``dir()``, so that
    ``from arboleda import *`` and ``help()`` work; importing them by name raises an error that
    lists the packages to install.
    """
    return all(_is_installed(package) for package in _STUDY)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # a finder that raises, or a module without a spec
        return False


class StudyError(ValueError):
    """Bad input or an unusable folder; the message is one sentence that names the remedy."""


class OptionError(StudyError):
    """An option has an invalid value, or options contradict each other.

    Examples
    --------
    >>> from arboleda import Study
    >>> try:
    ...     Study("iris", target="target", test_size=2)
    ... except OptionError as error:
    ...     print(error)
    test_size must be a fraction of the rows between 0 and 1, such as 0.2, got 2.
    """


class TableError(StudyError):
    """A table cannot be read or used: the file, a column or the target.

    Examples
    --------
    >>> from arboleda import Study
    >>> try:
    ...     Study("iris", target="species").run()
    ... except TableError as error:
    ...     print(str(error)[:36])
    The table iris has no column 'specie
    """


class StudyFormatError(StudyError):
    """A study's folder lacks a file, or a file in it is damaged or of another version.

    It is the common error of everything that reads a study: `Study.load` and its result,
    prediction, explanation, comparison, export, and a run that resumes in the folder. The message
    names the file, what is wrong with it and what to do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "results.json").write_text('{"schema_version": 4}')
    ...     try:
    ...         Study.load(folder)
    ...     except StudyFormatError as error:
    ...         print(str(error).partition("results.json ")[2][:45])
    is damaged (arboleda_version is missing); run
    """


class ClusterError(StudyError):
    """Workers of Dask cannot be used: there are none, they differ, or they are out of reach.

    Examples
    --------
    >>> from arboleda import Study
    >>> try:
    ...     Study("iris", target="target", client="tcp://scheduler:8786")
    ... except (ClusterError, ImportError):
    ...     print("a client is an object, not an address")
    a client is an object, not an address
    """


class ShardLostError(RuntimeError):
    """Another shard of the table failed, its worker was lost, or the fit was cancelled.

    Attributes
    ----------
    rounds : object or None
        What the fit had finished, for another attempt to go on from.
    """

    rounds: Any = None
