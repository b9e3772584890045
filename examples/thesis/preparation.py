"""Prepare and split the three tables as in the thesis.

Each preparation checks the number of rows after every step, so that another edition of a table is
detected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PREPARED", "TEST_SIZE", "prepared_adult", "prepared_cars", "prepared_digits", "split"]

TEST_SIZE, SPLIT_SEED = 0.2, 1

_DROPOUT = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th")
_EDUCATION = {
    **dict.fromkeys(_DROPOUT, "dropout"),
    "HS-grad": "HighGrad",
    **dict.fromkeys(("Some-college", "Assoc-acdm", "Assoc-voc"), "CommunityCollege"),
    "Bachelors": "Bachelors",
    **dict.fromkeys(("Masters", "Prof-school"), "Masters"),
    "Doctorate": "Doctorate",
}
_MARITAL = {
    **dict.fromkeys(("Never-married", "Married-spouse-absent"), "NotMarried"),
    **dict.fromkeys(("Married-civ-spouse", "Married-AF-spouse"), "Married"),
    **dict.fromkeys(("Separated", "Divorced"), "Separated"),
    "Widowed": "Widowed",
}
_UNUSED = ["fnlwgt", "native-country", "educational-num"]


def prepared_adult(frame: pd.DataFrame, *, check: bool = True) -> pd.DataFrame:
    """Prepare P1: incomes in the United States, with merged levels of education and marital status.

    Parameters
    ----------
    frame : DataFrame
        The table "adult".
    check : bool
        Whether to check the numbers of rows, for the whole table.

    Raises
    ------
    ValueError
        If the number of rows differs from that of the thesis, or a level is unknown.
    """
    frame = _counted(frame.replace("?", None).dropna(), 45_222, check, "without missing values")
    frame = _counted(frame.drop_duplicates(), 45_175, check, "that are distinct")
    frame = frame[frame["native-country"].astype(str).str.strip() == "United-States"]
    frame = _counted(frame, 41_256, check, "from the United States").drop(columns=_UNUSED)
    for column, levels in (("education", _EDUCATION), ("marital-status", _MARITAL)):
        merged = frame[column].astype(str).str.strip().map(levels)
        if merged.isna().any():
            unknown = frame[column][merged.isna()].iloc[0]
            raise ValueError(f"the column {column!r} holds {unknown!r}, which the thesis has not")
        frame[column] = merged
    return frame.reset_index(drop=True)


def prepared_digits(frame: pd.DataFrame, *, check: bool = True) -> pd.DataFrame:
    """Prepare P2: handwritten digits with binary pixels, 1 for any ink.

    Raises
    ------
    ValueError
        If the number of rows differs.
    """
    frame = _counted(frame, 70_000, check, "of both parts of the table")
    pixels = (frame.drop(columns="digit") > 0).astype("uint8")
    return pixels.assign(digit=frame["digit"].to_numpy())


def prepared_cars(frame: pd.DataFrame, *, check: bool = True) -> pd.DataFrame:
    """Prepare P3: prices of used Volkswagens, without rows with missing values.

    Raises
    ------
    ValueError
        If the number of rows differs from that of the thesis.
    """
    return _counted(frame.dropna(), 15_157, check, "without missing values").reset_index(drop=True)


def split(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split off a random fifth for the test, not stratified, with seed 1."""
    train, test = train_test_split(frame, test_size=TEST_SIZE, random_state=SPLIT_SEED)
    return train.sort_index(), test.sort_index()


def _counted(frame: Any, rows: int, check: bool, what: str) -> Any:
    if check and len(frame) != rows:
        raise ValueError(f"{len(frame):,} rows {what}, where there are {rows:,} in this study")
    return frame


PREPARED = {"p1": prepared_adult, "p2": prepared_digits, "p3": prepared_cars}
