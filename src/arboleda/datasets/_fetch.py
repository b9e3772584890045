"""Files from their public home: checked, and kept so that they are fetched once."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zipfile
import zlib
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from arboleda._files import write_atomically

__all__ = ["Source", "cache_folder", "fetched", "unzipped"]

_TIMEOUT = 60.0
# No file of the catalogue is half as large, packed or not.
_MOST_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Source:
    """A file and its public home.

    Parameters
    ----------
    file : str
        Its name, here and inside an archive.
    url : str
        Of the file, of a ``.gz`` of it or of a ``.zip`` that holds it.
    digest : str
        ``sha256:`` or ``md5:``, then the sum of the file itself, unpacked.
    """

    file: str
    url: str
    digest: str

    def is_that(self, content: bytes) -> bool:
        """Whether these are the bytes of the file."""
        kind, _, wanted = self.digest.partition(":")
        return hashlib.new(kind, content, usedforsecurity=False).hexdigest() == wanted


def cache_folder(cache: str | os.PathLike[str] | None) -> Path:
    """Return the folder that files are kept in.

    The one given, else that of the variable ``ARBOLEDA_CACHE``, else ``arboleda`` in
    ``XDG_CACHE_HOME`` or ``~/.cache``.
    """
    if cache is not None:
        return Path(cache)
    own = os.environ.get("ARBOLEDA_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "arboleda"


def fetched(name: str, source: Source, cache: Path) -> bytes:
    """Return a file from the cache, or from its home and into the cache.

    A file in the cache that is not the one known is fetched again.

    Raises
    ------
    OSError
        If its home does not answer, or the cache cannot be written.
    ValueError
        If what it sends is another file.
    """
    kept = cache / name / source.file
    if kept.is_file():
        content = kept.read_bytes()
        if source.is_that(content):
            return content
    content = _unpacked(source, _downloaded(name, source.url))
    if not source.is_that(content):
        raise ValueError(
            f"{source.url} sends another {source.file} than the one known ({source.digest}): "
            f"it has changed or was damaged on the way; try again, or give a folder that holds it"
        )
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, content)
    return content


def _downloaded(name: str, url: str) -> bytes:
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:
            content: bytes = answer.read(_MOST_BYTES + 1)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise OSError(
            f"{name} cannot be fetched from {url}: {reason}; without a network give the folder "
            f"that holds it, load({name!r}, folder=...)"
        ) from error
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{url} sends more than {_MOST_BYTES:,} bytes: this is not the table")
    return content


def _unpacked(source: Source, packed: bytes) -> bytes:
    """The file itself, of at most so many bytes as any has."""
    try:
        if source.url.endswith(".zip"):
            with (
                zipfile.ZipFile(io.BytesIO(packed)) as archive,
                archive.open(source.file) as member,
            ):
                return member.read(_MOST_BYTES)
        return unzipped(packed)
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, zlib.error) as error:
        raise ValueError(
            f"{source.url} sends no archive that holds {source.file}: {error}"
        ) from error


def unzipped(content: bytes) -> bytes:
    """Return what gzip packed, at most so many bytes as any file has; others as they are."""
    if content[:2] != b"\x1f\x8b":
        return content
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        return file.read(_MOST_BYTES)
