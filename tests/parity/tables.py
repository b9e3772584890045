"""The tables on which trees are compared; every value is a float32, so that both read the same."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from tests.conftest import shared_data

Array = npt.NDArray[Any]


def _spambase() -> tuple[Array, Array]:
    frame = pd.read_csv(shared_data("spambase/spam_esl.csv.gz"))
    return frame.drop(columns=["test", "spam"]).to_numpy(), frame["spam"].to_numpy()


def _letters() -> tuple[Array, Array]:
    path = shared_data("letter_recognition/letter-recognition.data.gz")
    frame = pd.read_csv(path, header=None)
    return frame.drop(columns=0).to_numpy(), frame[0].to_numpy(dtype=str)


def _volkswagen() -> tuple[Array, Array]:
    frame = pd.read_csv(shared_data("uk_used_cars/vw.csv.gz"))
    X = pd.get_dummies(frame.drop(columns="price"))
    return X.to_numpy(dtype=np.float64), frame["price"].to_numpy(dtype=np.float64)


_TABLES: dict[str, Any] = {
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "spambase": _spambase,
    "letters": _letters,
    "volkswagen": _volkswagen,
}


def load(name: str) -> tuple[Array, Array]:
    """Return X and y of one table, or skip the test where it is missing."""
    X, y = _TABLES[name]()
    return X.astype(np.float32).astype(np.float64), y
