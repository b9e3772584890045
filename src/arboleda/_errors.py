"""Exceptions of the library."""

__all__ = ["ModelFormatError"]


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
    arboleda._errors.ModelFormatError: model.arboleda: byte 0: the file is empty
    """
