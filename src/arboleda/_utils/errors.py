"""Exceptions of the library, and detection of optional dependencies."""

from importlib.util import find_spec

__all__ = ["ModelFormatError", "can_study"]


class ModelFormatError(ValueError):
    """Error for a file that is not a model file, is damaged, or was written by a newer version.

    `load` raises it for all errors in the content of a file; the message describes the error and
    its location. Errors of the file system (no such file, no permission) are `OSError`.

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
