"""Errors that are the library's own."""

__all__ = ["ModelFormatError"]


class ModelFormatError(ValueError):
    """A file is no model file, is damaged, or was written by a newer version.

    The one error of `load` for what a file holds; the message says what is wrong and where. What
    the file system refuses (no such file, no permission) stays an `OSError`.

    Examples
    --------
    >>> import arboleda
    >>> from pathlib import Path
    >>> _ = Path("model.arboleda").write_bytes(b"")
    >>> arboleda.load("model.arboleda")
    Traceback (most recent call last):
    arboleda._errors.ModelFormatError: model.arboleda: byte 0: the file is empty
    """
