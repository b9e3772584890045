"""A disk cache of member outputs, which avoids fitting the same member twice."""

from __future__ import annotations

import io
import os
import pickle
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
import sklearn

import arboleda
from arboleda._utils.files import write_atomically

__all__ = ["OutputCache"]

Floats = npt.NDArray[np.float64]
# Exceptions that reading a damaged archive or array raises: encrypted or compressed in an unknown
# way, of an impossible size, without the outputs.
_DAMAGES = (OSError, ValueError, LookupError, EOFError, RuntimeError, MemoryError, TypeError)
_HEADER = 4096  # maximal size of a header, in bytes


class OutputCache:
    """A folder of arrays, each in a file named by a hash of everything its values depend on.

    The files hold only numbers (NumPy's ``.npz``, without pickles), so reading them runs no code. A
    damaged file is computed again, with a warning.

    Parameters
    ----------
    folder : path-like
        Created if it does not exist.
    dependencies : tuple
        Data that the outputs of all members depend on: rows, target, splits, weights.

    Raises
    ------
    NotADirectoryError
        If the path is a file, or lies in one.
    """

    def __init__(self, folder: str | os.PathLike[str], dependencies: tuple[Any, ...]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise NotADirectoryError(
                f"cache={str(self.folder)!r} is a file or lies in one: give a folder, which is "
                "created if it does not exist"
            ) from error
        versions = arboleda.__version__, sklearn.__version__, np.__version__
        self._hash = joblib.hash((versions, dependencies), hash_name="sha1")

    def path_of(self, member: Any, params: dict[str, Any]) -> Path:
        """Return the path of the file with a member's outputs.

        Raises
        ------
        ValueError
            If the parameters of the member cannot be hashed.
        """
        kind = f"{type(member).__module__}.{type(member).__qualname__}"
        try:
            key = joblib.hash((self._hash, kind, member, params), hash_name="sha1")
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ValueError(
                f"the outputs of {type(member).__name__} cannot be cached because its parameters "
                f"cannot be hashed ({error}): replace lambdas by functions of a module, or set "
                "cache=None"
            ) from error
        return self.folder / f"{key}.npz"

    def read_into(self, path: Path, outputs: Floats) -> bool:
        """Read a file into an array; return False if it is missing or damaged."""
        if not path.exists():
            return False
        try:
            with path.open("rb") as opened, zipfile.ZipFile(opened) as arrays:
                stored = _read_array(arrays, outputs.nbytes)
        except (*_DAMAGES, zipfile.BadZipFile, zlib.error, tokenize.TokenError) as error:
            return _warn_damaged(path, str(error))
        is_valid = stored.dtype == np.float64 and stored.shape == outputs.shape
        if not is_valid or not np.isfinite(stored).all():
            return _warn_damaged(path, "it does not hold the outputs of this member")
        outputs[:] = stored
        return True

    def write(self, path: Path, outputs: Floats) -> None:
        """Write a member's outputs atomically."""
        content = io.BytesIO()
        np.savez(content, outputs=outputs)
        write_atomically(path, content.getvalue())


def _read_array(arrays: zipfile.ZipFile, n_bytes: int) -> Any:
    """Read the outputs, refusing an array that is larger than expected."""
    size = arrays.getinfo("outputs.npy").file_size
    if size > n_bytes + _HEADER:
        raise ValueError(f"it holds {size} bytes, expected {n_bytes} and a header")
    with arrays.open("outputs.npy") as content:
        return np.lib.format.read_array(content, allow_pickle=False)


def _warn_damaged(path: Path, reason: str) -> bool:
    warnings.warn(
        f"the cached outputs in {path} cannot be read ({reason}) and are computed again",
        stacklevel=2,
    )
    return False
