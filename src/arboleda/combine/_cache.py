"""Outputs of members kept on disk, so that a member is not fitted twice for the same answer."""

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
from arboleda._files import write_atomically

__all__ = ["OutputCache"]

Floats = npt.NDArray[np.float64]
# What reading an archive and an array raises where bytes are not what they should be: encrypted or
# packed in an unknown way, of an impossible size, without the outputs.
_DAMAGES = (OSError, ValueError, LookupError, EOFError, RuntimeError, MemoryError, TypeError)
_HEADER = 4096  # bytes of a header at most


class OutputCache:
    """A folder of arrays, each in a file named by a hash of what its values depend on.

    The files hold numbers alone (NumPy's ``.npz``, without pickles): reading one runs no code. A
    file that is damaged is made anew, with a warning.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    given : tuple
        What the outputs of all members depend on: rows, target, splits, weights.

    Raises
    ------
    NotADirectoryError
        If a file stands there.
    """

    def __init__(self, folder: str | os.PathLike[str], given: tuple[Any, ...]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise NotADirectoryError(
                f"cache={str(self.folder)!r} is no folder but a file, or in one: give a folder, "
                "which is made if it is not there"
            ) from error
        versions = arboleda.__version__, sklearn.__version__, np.__version__
        self._given = joblib.hash((versions, given), hash_name="sha1")

    def path_of(self, member: Any, params: dict[str, Any]) -> Path:
        """File of a member's outputs.

        Raises
        ------
        ValueError
            If the member holds what no hash can be made of.
        """
        kind = f"{type(member).__module__}.{type(member).__qualname__}"
        try:
            key = joblib.hash((self._given, kind, member, params), hash_name="sha1")
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ValueError(
                f"the outputs of a {type(member).__name__} cannot be cached, for its parameters "
                f"have no hash ({error}): use functions of a module instead of lambda, or leave "
                "cache=None"
            ) from error
        return self.folder / f"{key}.npz"

    def read_into(self, path: Path, outputs: Floats) -> bool:
        """Fill an array with what a file holds; False where there is none or it is damaged."""
        if not path.exists():
            return False
        try:
            with path.open("rb") as opened, zipfile.ZipFile(opened) as arrays:
                found = _array_of(arrays, outputs.nbytes)
        except (*_DAMAGES, zipfile.BadZipFile, zlib.error, tokenize.TokenError) as error:
            return _damaged(path, str(error))
        right = found.dtype == np.float64 and found.shape == outputs.shape
        if not right or not np.isfinite(found).all():
            return _damaged(path, "it does not hold the outputs of this member")
        outputs[:] = found
        return True

    def write(self, path: Path, outputs: Floats) -> None:
        """Write a member's outputs; a reader sees all of them or none."""
        content = io.BytesIO()
        np.savez(content, outputs=outputs)
        write_atomically(path, content.getvalue())


def _array_of(arrays: zipfile.ZipFile, n_bytes: int) -> Any:
    """Read the outputs, not more bytes than they and a header can take."""
    size = arrays.getinfo("outputs.npy").file_size
    if size > n_bytes + _HEADER:
        raise ValueError(f"it holds {size} bytes where {n_bytes} and a header are expected")
    with arrays.open("outputs.npy") as content:
        return np.lib.format.read_array(content, allow_pickle=False)


def _damaged(path: Path, why: str) -> bool:
    warnings.warn(
        f"the cached outputs in {path} cannot be read ({why}): they are computed again",
        stacklevel=2,
    )
    return False
