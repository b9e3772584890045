"""The tables: where each lives, what its files are called, and how they are read."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from arboleda.datasets._fetch import Source

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CATALOGUE", "Entry", "Read"]

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
class Entry:
    """A table.

    Parameters
    ----------
    target : str
    task : {"binary", "multiclass", "regression"}
    home : str
        The page to read about it, and its licence.
    sources : tuple of Source
        Its files as they are published; none where only people with an account may fetch them.
    read : callable
        Makes a frame of their contents, in this order.
    table : str
        Name of one file that holds the same, readable by ``read_table``.
    read_table : callable
        Makes a frame of the contents of that file.
    """

    target: str
    task: Literal["binary", "multiclass", "regression"]
    home: str
    sources: tuple[Source, ...]
    read: Read
    table: str
    read_table: Read


def _csv(content: bytes, **options: Any) -> pd.DataFrame:
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ImportError("tables need pandas: pip install pandas") from error
    frame: pd.DataFrame = pd.read_csv(io.BytesIO(content), **options)
    return frame


def _as_it_is(**options: Any) -> Read:
    return lambda contents: _csv(contents[0], **options)


def _named(names: str | list[str]) -> Read:
    columns = names.split() if isinstance(names, str) else names
    return _as_it_is(header=None, names=columns, na_values="?")


def _adult(contents: Sequence[bytes]) -> pd.DataFrame:
    """The test rows, whose labels end in a full stop, then the training rows."""
    import pandas as pd

    options = {"header": None, "names": _ADULT.split(), "skipinitialspace": True, "na_values": "?"}
    test, train = _csv(contents[0], skiprows=1, **options), _csv(contents[1], **options)
    test["income"] = test["income"].str.rstrip(".")
    return pd.concat([test, train], ignore_index=True)


def _spam_with_mark(contents: Sequence[bytes]) -> pd.DataFrame:
    """As published beside a book, with a column that tells its test rows."""
    return _csv(contents[0]).drop(columns="test")


def _memory(contents: Sequence[bytes]) -> pd.DataFrame:
    return _csv(contents[0], index_col=0).reset_index(drop=True)


def _images(contents: Sequence[bytes]) -> pd.DataFrame:
    """Files of IDX form: images and labels for training, then for testing."""
    parts = [np.frombuffer(content, dtype=np.uint8) for content in contents]
    pixels = np.concatenate([parts[0][16:], parts[2][16:]]).reshape(-1, 784)
    return _digits(pixels, np.concatenate([parts[1][8:], parts[3][8:]]))


def _image_arrays(contents: Sequence[bytes]) -> pd.DataFrame:
    with np.load(io.BytesIO(contents[0]), allow_pickle=False) as arrays:
        pixels = np.concatenate([arrays["X_train"], arrays["X_test"]]).reshape(-1, 784)
        return _digits(pixels, np.concatenate([arrays["y_train"], arrays["y_test"]]))


def _digits(pixels: Any, labels: Any) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(pixels, columns=[f"pixel{j}" for j in range(784)], copy=False)
    frame["digit"] = labels
    return frame


def _uci(number: int, archive: str, file: str, digest: str) -> Source:
    return Source(file, f"{_UCI}/{number}/{archive}.zip", f"sha256:{digest}")


def _idx(file: str, digest: str) -> Source:
    return Source(file, f"{_MNIST}/{file}.gz", f"md5:{digest}")


CATALOGUE: dict[str, Entry] = {
    "adult": Entry(
        "income", "binary", "https://archive.ics.uci.edu/dataset/2/adult",
        (
            _uci(2, "adult", "adult.test",
                 "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
            _uci(2, "adult", "adult.data",
                 "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        ),
        _adult, "adult.csv.gz", _as_it_is(na_values="?"),
    ),
    "california_housing": Entry(
        "median_house_value", "regression", "https://github.com/ageron/handson-ml2",
        (
            Source("housing.csv", f"{_HOUSING}/housing.csv", "sha256:"
                   "8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e"),
        ),
        _as_it_is(), "housing.csv.gz", _as_it_is(),
    ),
    "heart_cleveland": Entry(
        "num", "multiclass", "https://archive.ics.uci.edu/dataset/45/heart+disease",
        (
            _uci(45, "heart+disease", "processed.cleveland.data",
                 "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8"),
        ),
        _named(_HEART), "processed.cleveland.data", _named(_HEART),
    ),
    "letter_recognition": Entry(
        "lettr", "multiclass", "https://archive.ics.uci.edu/dataset/59/letter+recognition",
        (
            _uci(59, "letter+recognition", "letter-recognition.data",
                 "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2"),
        ),
        _named(_LETTER), "letter-recognition.data.gz", _named(_LETTER),
    ),
    "mnist": Entry(
        "digit", "multiclass", "https://yann.lecun.com/exdb/mnist",
        (
            _idx("train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"),
            _idx("train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"),
            _idx("t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea"),
            _idx("t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"),
        ),
        _images, "mnist.npz", _image_arrays,
    ),
    "ram_price": Entry(
        "price", "regression", "https://github.com/amueller/introduction_to_ml_with_python",
        (
            Source("ram_price.csv", f"{_RAM}/ram_price.csv", "sha256:"
                   "0ec2deb22b4507e95b8f551065a1da9ccbc7d4e7173c45d1cce81cfb2e807003"),
        ),
        _memory, "ram_price.csv", _memory,
    ),
    "spambase": Entry(
        "spam", "binary", "https://archive.ics.uci.edu/dataset/94/spambase",
        (
            _uci(94, "spambase", "spambase.data",
                 "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12"),
        ),
        _named(_SPAM), "spam_esl.csv.gz", _spam_with_mark,
    ),
    "uk_used_cars": Entry(
        "price", "regression",
        "https://www.kaggle.com/datasets/adityadesai13/used-car-dataset-ford-and-mercedes",
        (), _as_it_is(), "vw.csv.gz", _as_it_is(),
    ),
}  # fmt: skip
