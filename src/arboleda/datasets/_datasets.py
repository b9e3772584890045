"""Public data sets: their sources, readers, and download."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.request import urlopen

import numpy as np

from arboleda._utils.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CATALOGUE",
    "DatasetEntry",
    "Read",
    "RemoteFile",
    "cache_folder",
    "fetch",
    "unpack_gzip",
]

_TIMEOUT = 60.0
# More than twice the size of any file of the catalogue, compressed or not.
_MAX_BYTES = 128 * 2**20


@dataclass(frozen=True)
class RemoteFile:
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


def fetch(name: str, source: RemoteFile, cache: Path) -> bytes:
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


def _unpack(source: RemoteFile, packed: bytes) -> bytes:
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


_UCI = "https://archive.ics.uci.edu/static/public"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
_HOUSING = "https://raw.githubusercontent.com/ageron/handson-ml2/master/datasets/housing"
_RAM = "https://raw.githubusercontent.com/amueller/introduction_to_ml_with_python/master/data"

_ADULT = (
    "age workclass fnlwgt education educational-num marital-status occupation relationship race "
    "gender capital-gain capital-loss hours-per-week native-country income"
)
_HEART = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num"
_LETTER = (
    "lettr x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy "
    "y-ege yegvx"
)
_WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses "
    "free business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data "
    "415 85 technology 1999 parts pm direct cs meeting original project re edu table conference"
)
_SPAM = [
    *(f"word_freq_{word}" for word in _WORDS.split()),
    *(f"char_freq_{sign}" for sign in ";([!$#"),
    *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
    "spam",
]

Read = Callable[[Sequence[bytes]], "pd.DataFrame"]


@dataclass(frozen=True)
class DatasetEntry:
    """A data set of the catalogue.

    Parameters
    ----------
    target : str
    task : {"binary", "multiclass", "regression"}
    home : str
        Web page with its description and licence.
    sources : tuple of Source
        The published files; empty if downloading them needs an account.
    read : callable
        Reads the contents of these files, in this order, into a frame.
    table : str
        Name of a single file with the same data, for ``read_table``.
    read_table : callable
        Reads the contents of that file into a frame.
    """

    target: str
    task: Literal["binary", "multiclass", "regression"]
    home: str
    sources: tuple[RemoteFile, ...]
    read: Read
    table: str
    read_table: Read


def _parse_csv(content: bytes, **options: Any) -> pd.DataFrame:
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ImportError("data sets need pandas: pip install pandas") from error
    frame: pd.DataFrame = pd.read_csv(io.BytesIO(content), **options)
    return frame


def _make_csv_reader(**options: Any) -> Read:
    return lambda contents: _parse_csv(contents[0], **options)


def _make_headerless_reader(names: str | list[str]) -> Read:
    columns = names.split() if isinstance(names, str) else names
    return _make_csv_reader(header=None, names=columns, na_values="?")


def _read_adult(contents: Sequence[bytes]) -> pd.DataFrame:
    """Read the test rows, whose labels end in a full stop, followed by the training rows."""
    import pandas as pd

    options = {"header": None, "names": _ADULT.split(), "skipinitialspace": True, "na_values": "?"}
    test, train = _parse_csv(contents[0], skiprows=1, **options), _parse_csv(contents[1], **options)
    test["income"] = test["income"].str.rstrip(".")
    return pd.concat([test, train], ignore_index=True)


def _read_spam_with_split(contents: Sequence[bytes]) -> pd.DataFrame:
    """Read the version published with a book, which has a column that marks test rows."""
    return _parse_csv(contents[0]).drop(columns="test")


def _read_ram_prices(contents: Sequence[bytes]) -> pd.DataFrame:
    return _parse_csv(contents[0], index_col=0).reset_index(drop=True)


def _read_idx_images(contents: Sequence[bytes]) -> pd.DataFrame:
    """Read IDX files: training images and labels, then test images and labels."""
    parts = [np.frombuffer(content, dtype=np.uint8) for content in contents]
    pixels = np.concatenate([parts[0][16:], parts[2][16:]]).reshape(-1, 784)
    return _make_digits_frame(pixels, np.concatenate([parts[1][8:], parts[3][8:]]))


def _read_npz_images(contents: Sequence[bytes]) -> pd.DataFrame:
    with np.load(io.BytesIO(contents[0]), allow_pickle=False) as arrays:
        pixels = np.concatenate([arrays["X_train"], arrays["X_test"]]).reshape(-1, 784)
        return _make_digits_frame(pixels, np.concatenate([arrays["y_train"], arrays["y_test"]]))


def _make_digits_frame(pixels: Any, labels: Any) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(pixels, columns=[f"pixel{j}" for j in range(784)], copy=False)
    frame["digit"] = labels
    return frame


def _uci_source(number: int, archive: str, file: str, digest: str) -> RemoteFile:
    return RemoteFile(file, f"{_UCI}/{number}/{archive}.zip", f"sha256:{digest}")


def _mnist_source(file: str, digest: str) -> RemoteFile:
    return RemoteFile(file, f"{_MNIST}/{file}.gz", f"md5:{digest}")


CATALOGUE: dict[str, DatasetEntry] = {
    "adult": DatasetEntry(
        "income", "binary", "https://archive.ics.uci.edu/dataset/2/adult",
        (
            _uci_source(2, "adult", "adult.test",
                 "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
            _uci_source(2, "adult", "adult.data",
                 "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        ),
        _read_adult, "adult.csv.gz", _make_csv_reader(na_values="?"),
    ),
    "california_housing": DatasetEntry(
        "median_house_value", "regression", "https://github.com/ageron/handson-ml2",
        (
            RemoteFile("housing.csv", f"{_HOUSING}/housing.csv", "sha256:"
                   "8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e"),
        ),
        _make_csv_reader(), "housing.csv.gz", _make_csv_reader(),
    ),
    "heart_cleveland": DatasetEntry(
        "num", "multiclass", "https://archive.ics.uci.edu/dataset/45/heart+disease",
        (
            _uci_source(45, "heart+disease", "processed.cleveland.data",
                 "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8"),
        ),
        _make_headerless_reader(_HEART), "processed.cleveland.data",
        _make_headerless_reader(_HEART),
    ),
    "letter_recognition": DatasetEntry(
        "lettr", "multiclass", "https://archive.ics.uci.edu/dataset/59/letter+recognition",
        (
            _uci_source(59, "letter+recognition", "letter-recognition.data",
                 "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2"),
        ),
        _make_headerless_reader(_LETTER), "letter-recognition.data.gz",
        _make_headerless_reader(_LETTER),
    ),
    "mnist": DatasetEntry(
        "digit", "multiclass", "https://yann.lecun.com/exdb/mnist",
        (
            _mnist_source("train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"),
            _mnist_source("train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"),
            _mnist_source("t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea"),
            _mnist_source("t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"),
        ),
        _read_idx_images, "mnist.npz", _read_npz_images,
    ),
    "ram_price": DatasetEntry(
        "price", "regression", "https://github.com/amueller/introduction_to_ml_with_python",
        (
            RemoteFile("ram_price.csv", f"{_RAM}/ram_price.csv", "sha256:"
                   "0ec2deb22b4507e95b8f551065a1da9ccbc7d4e7173c45d1cce81cfb2e807003"),
        ),
        _read_ram_prices, "ram_price.csv", _read_ram_prices,
    ),
    "spambase": DatasetEntry(
        "spam", "binary", "https://archive.ics.uci.edu/dataset/94/spambase",
        (
            _uci_source(94, "spambase", "spambase.data",
                 "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12"),
        ),
        _make_headerless_reader(_SPAM), "spam_esl.csv.gz", _read_spam_with_split,
    ),
    "uk_used_cars": DatasetEntry(
        "price", "regression",
        "https://www.kaggle.com/datasets/adityadesai13/used-car-dataset-ford-and-mercedes",
        (), _make_csv_reader(), "vw.csv.gz", _make_csv_reader(),
    ),
}  # fmt: skip
