"""Download of public files, checked against digests and cached."""

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

__all__ = ["Source", "cache_folder", "fetch", "unpack_gzip"]

_TIMEOUT = 60.0
# More than twice the size of any file of the catalogue, compressed or not.
_MAX_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Source:
    """A published file.

    Parameters
    ----------
    file : str
        Name in the cache and inside an archive.
    url : str
        URL of the file, of its ``.gz`` or of a ``.zip`` that contains it.
    digest : str
        ``sha256:`` or ``md5:``, followed by the digest of the uncompressed file.
    """

    file: str
    url: str
    digest: str

    def has_digest_of(self, content: bytes) -> bool:
        """Return whether the content has the digest of the file."""
        kind, _, expected = self.digest.partition(":")
        return hashlib.new(kind, content, usedforsecurity=False).hexdigest() == expected


def cache_folder(cache: str | os.PathLike[str] | None) -> Path:
    """Return the cache folder.

    This is the argument, or the environment variable ``ARBOLEDA_CACHE``, or ``arboleda`` in
    ``XDG_CACHE_HOME`` or ``~/.cache``.
    """
    if cache is not None:
        return Path(cache)
    own = os.environ.get("ARBOLEDA_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "arboleda"


def fetch(name: str, source: Source, cache: Path) -> bytes:
    """Return a file from the cache, or download it into the cache.

    A cached file with a wrong digest is downloaded again.

    Raises
    ------
    OSError
        If the download fails, or the cache cannot be written.
    ValueError
        If the downloaded file has another digest.
    """
    path = cache / name / source.file
    if path.is_file():
        content = path.read_bytes()
        if source.has_digest_of(content):
            return content
    content = _unpack(source, _download(name, source.url))
    if not source.has_digest_of(content):
        raise ValueError(
            f"{source.file} from {source.url} does not have the digest {source.digest}: it has "
            "changed or was damaged during the download; try again, or pass a folder with the file"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    return content


def _download(name: str, url: str) -> bytes:
    try:
        with urlopen(url, timeout=_TIMEOUT) as response:
            content: bytes = response.read(_MAX_BYTES + 1)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise OSError(
            f"{name} cannot be downloaded from {url}: {reason}; without a network, pass the folder "
            f"that contains it, load({name!r}, folder=...)"
        ) from error
    if len(content) > _MAX_BYTES:
        raise ValueError(
            f"the download from {url} has more than {_MAX_BYTES:,} bytes, so it is not the data set"
        )
    return content


def _unpack(source: Source, packed: bytes) -> bytes:
    """Return the uncompressed file, up to the maximal size."""
    try:
        if source.url.endswith(".zip"):
            with (
                zipfile.ZipFile(io.BytesIO(packed)) as archive,
                archive.open(source.file) as member,
            ):
                return member.read(_MAX_BYTES)
        return unpack_gzip(packed)
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, zlib.error) as error:
        raise ValueError(
            f"the download from {source.url} is not an archive that contains {source.file}: {error}"
        ) from error


def unpack_gzip(content: bytes) -> bytes:
    """Decompress gzip content, up to the maximal size; return other content unchanged."""
    if content[:2] != b"\x1f\x8b":
        return content
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        return file.read(_MAX_BYTES)
