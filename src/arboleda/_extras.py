"""Detection of optional dependencies without importing them."""

from importlib.util import find_spec

__all__ = ["can_study"]

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
