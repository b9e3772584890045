"""Packages of the optional extras, looked for without importing them."""

from importlib.util import find_spec

__all__ = ["can_study"]

# What the modules behind `Study`, `explore` and their kin import when they are loaded.
_STUDY = ("charset_normalizer", "jinja2", "matplotlib", "pyarrow", "pydantic", "rich")


def can_study() -> bool:
    """Whether the packages that a study needs are installed.

    Where they are not, public names that need them are left out of ``__all__`` and ``dir()``, so
    that ``from arboleda import *`` and ``help()`` work; used by name they say what to install.
    """
    return all(_is_installed(package) for package in _STUDY)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # a finder that refuses it, or a module without a spec
        return False
