"""The data sets of the quality study: each has a data frame, a target and a task.

Rows and columns are those of the original files. Identifiers and indicators of an existing split
are dropped (`Id`, `row.names`, spambase's `test`). Text is a category; a `?` among numbers is
missing, and a `?` among categories remains a category. Nothing is scaled, encoded or selected.

Where a thousand rounds of a library take minutes per fold, a fixed random sample of the rows is
used: 20,000 rows, 6,000 with several classes (one tree per round for each), and 4,000 images, whose
pixels are averaged in fours.

The series of memory prices is not included: its task is extrapolation in time, which
cross-validation over shuffled rows does not measure and trees cannot do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from run import N_FOLDS
from sklearn.model_selection import KFold, StratifiedKFold

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)


@dataclass(frozen=True)
class Problem:
    """The input of a contestant: a data frame with category columns, and the target."""

    frame: pd.DataFrame
    target: npt.NDArray[Any]
    task: str  # "binary", "multiclass" or "regression"

    @property
    def categories(self) -> list[str]:
        """Names of the categorical columns."""
        return list(self.frame.columns[self.frame.dtypes == "category"])

    def folds(self) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Return the same five folds for all contestants, stratified by class."""
        kind = KFold if self.task == "regression" else StratifiedKFold
        folds = kind(n_splits=N_FOLDS, shuffle=True, random_state=0)
        return iter(folds.split(self.frame, self.target))


def make_problem(frame: pd.DataFrame, target: Any, task: str) -> Problem:
    """Convert text to categories, and number classes and columns (some libraries reject names)."""
    frame = frame.set_axis([f"c{k}" for k in range(frame.shape[1])], axis=1)
    text = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    frame = frame.reset_index(drop=True).astype(dict.fromkeys(text, "category"))
    y = np.asarray(target)
    if task == "regression":
        return Problem(frame, y.astype(np.float64), task)
    return Problem(frame, np.unique(y, return_inverse=True)[1], task)


def draw_rows(frame: pd.DataFrame, n_rows: int | None) -> pd.DataFrame:
    """Draw a fixed random sample of rows, in the order of the file; all rows for None."""
    if n_rows is None:
        return frame
    chosen = np.random.default_rng(0).choice(len(frame), n_rows, replace=False)
    return frame.iloc[np.sort(chosen)]


def read_named(folder: str, file: str) -> pd.DataFrame:
    """Read a file whose column names are in a separate file."""
    names = (DATA / folder / "columns.txt").read_text().split()
    return pd.read_csv(DATA / folder / file, header=None, names=names, na_values="?")


def adult() -> Problem:
    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz")
    return make_problem(frame, frame.pop("income"), "binary")


def california_housing() -> Problem:
    frame = pd.read_csv(DATA / "california_housing" / "housing.csv.gz")
    return make_problem(frame, frame.pop("median_house_value"), "regression")


def covertype_15k(n_rows: int | None = 6_000) -> Problem:
    """6,000 of the 15,120 rows."""
    frame = pd.read_csv(DATA / "covertype_15k" / "train.csv.gz").drop(columns="Id")
    frame = draw_rows(frame, n_rows)
    return make_problem(frame, frame.pop("Cover_Type"), "multiclass")


def heart_cleveland() -> Problem:
    frame = read_named("heart_cleveland", "processed.cleveland.data")
    return make_problem(frame, frame.pop("num") > 0, "binary")


def ijcnn1(n_rows: int | None = 20_000) -> Problem:
    """20,000 of the 49,990 training rows."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(DATA / "ijcnn1" / "ijcnn1.trn.bz2"), n_features=22)
    frame = draw_rows(pd.DataFrame(X.toarray()).assign(target=y), n_rows)
    return make_problem(frame, frame.pop("target"), "binary")


def kddcup99_10pct(n_rows: int | None = 20_000) -> Problem:
    """`normal.` against the rest: 20,000 of the 145,586 distinct rows."""
    frame = read_named("kddcup99_10pct", "kddcup.data_10_percent.gz").drop_duplicates()
    frame = draw_rows(frame, n_rows)
    return make_problem(frame, frame.pop("label") != "normal.", "binary")


def letter_recognition(n_rows: int | None = 6_000) -> Problem:
    """6,000 of the 20,000 rows."""
    frame = draw_rows(read_named("letter_recognition", "letter-recognition.data.gz"), n_rows)
    return make_problem(frame, frame.pop("lettr"), "multiclass")


def mnist() -> Problem:
    """4,000 of the 60,000 training images, each of 14 x 14 means of four pixels."""
    with np.load(DATA / "mnist" / "mnist.npz") as arrays:
        blocks = arrays["X_train"].reshape(60_000, 14, 2, 14, 2)
        frame = pd.DataFrame(blocks.mean(axis=(2, 4)).reshape(60_000, 196))
        frame["digit"] = arrays["y_train"]
    frame = draw_rows(frame, 4_000)
    return make_problem(frame, frame.pop("digit"), "multiclass")


def saheart() -> Problem:
    frame = pd.read_csv(DATA / "saheart" / "SAheart.data").drop(columns="row.names")
    return make_problem(frame, frame.pop("chd"), "binary")


def spambase() -> Problem:
    frame = pd.read_csv(DATA / "spambase" / "spam_esl.csv.gz").drop(columns="test")
    return make_problem(frame, frame.pop("spam"), "binary")


def uk_used_cars() -> Problem:
    frame = pd.read_csv(DATA / "uk_used_cars" / "vw.csv.gz")
    return make_problem(frame, frame.pop("price"), "regression")


# Smallest first: an interrupted run has the most tables done.
TABLES: dict[str, Callable[[], Problem]] = {
    each.__name__: each
    for each in (
        heart_cleveland,
        saheart,
        spambase,
        uk_used_cars,
        california_housing,
        adult,
        ijcnn1,
        kddcup99_10pct,
        covertype_15k,
        mnist,
        letter_recognition,
    )
}


def images() -> Problem:
    """All 60,000 training images, each of 28 x 28 pixels."""
    with np.load(DATA / "mnist" / "mnist.npz") as arrays:
        frame = pd.DataFrame(arrays["X_train"].reshape(60_000, 784))
        return make_problem(frame, arrays["y_train"], "multiclass")


# The same tables with all their rows and columns.
WHOLE_TABLES: dict[str, Callable[[], Problem]] = TABLES | {
    "ijcnn1": partial(ijcnn1, None),
    "kddcup99_10pct": partial(kddcup99_10pct, None),
    "covertype_15k": partial(covertype_15k, None),
    "mnist": images,
    "letter_recognition": partial(letter_recognition, None),
}
