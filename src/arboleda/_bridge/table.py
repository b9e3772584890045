"""The input contract: a table of any container becomes columns that the engine reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from arboleda._bridge.arrays import read_array
from arboleda._bridge.categories import encode, learn_levels
from arboleda._bridge.frames import Frame, FrameSource, as_frame, names_of
from arboleda._bridge.kinds import Source, categorical_columns, names_categories
from arboleda._bridge.labels import Label
from arboleda._bridge.schema import Name, Schema
from arboleda._native import CodedTable

# Types that the engine does not read, and the ones that hold the same values.
_WIDENED = {"float16": np.float32, "longdouble": np.float64}

Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns as the engine reads them.

    Parameters
    ----------
    columns : list of ndarray
        One-dimensional, of any stride; views of the caller's data where its type allows that. A
        numeric column has any type of the engine's, NaN means missing. A categorical column holds
        level numbers as uint16; 65535 means missing or unknown.
    n_rows : int
    n_levels : tuple of int
        Number of levels of each column, 0 for a numeric one.
    """

    columns: list[Column]
    n_rows: int
    n_levels: tuple[int, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, len(self.columns)


def check_table(estimator: Any, X: Any, *, reset: bool, categorical_features: Any = None) -> Table:
    """Validate a table and return its columns.

    Columns with names are matched by name. Fitting keeps ``n_features_in_``, ``feature_names_in_``
    and ``schema_`` on the estimator.

    Parameters
    ----------
    estimator : object
        The estimator, for its messages; it remembers the columns.
    X : array-like or frame of shape (n_samples, n_features)
    reset : bool
        True in ``fit``: learn the columns. False afterwards: compare them.
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default=None
        Which columns are categorical; read in ``fit`` only.

    Raises
    ------
    ValueError
        If a value is infinite or of a wrong kind, a column has too many levels, or the columns are
        not those of ``fit``. The message names the column, the value and a remedy.
    """
    frame = as_frame(X)
    if reset:
        return _learn(estimator, X, frame, categorical_features)
    schema: Schema = estimator.schema_
    if frame is None:
        labelled = any(levels is not None for levels in schema.levels)
        source: Source = read_array(estimator, X, reset=False, labelled=labelled)
    else:
        _check_rows(frame)
        source = FrameSource(frame, _order(estimator, frame, schema))
    columns: list[Column] = []
    for j, codes in enumerate(schema.codes):
        place = schema.describe(j)
        columns.append(
            _numeric(source, j, place)
            if codes is None
            else encode(source.labels(j, place), codes, place)
        )
    return Table(columns, source.n_rows, schema.n_levels)


def take_rows(table: Table, rows: npt.NDArray[np.intp]) -> Table:
    """Copy of some rows of a table."""
    return Table([column[rows] for column in table.columns], rows.size, table.n_levels)


def code_table(table: Table, n_threads: int, max_bins: int | None = None) -> CodedTable:
    """Codes of a table that `check_table` returned; it must outlive them.

    Numeric columns of more than ``max_bins`` distinct values get that many codes; None: no limit.
    """
    return CodedTable(table.columns, table.n_rows, n_threads, table.n_levels, max_bins or 0)


def check_class_shares_fit(n_nodes: int, n_classes: int) -> None:
    """Refuse a tree whose class shares could not be held, before it takes the machine down."""
    needed = 8 * n_nodes * n_classes
    if needed > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise ValueError(
            f"y has {n_classes:,} classes: a tree of up to {n_nodes:,} nodes would need "
            f"{needed / 2**30:,.0f} GiB for its class shares. If y is a quantity, use a regressor; "
            "otherwise merge rare classes or set max_leaf_nodes"
        )


def _learn(estimator: Any, X: Any, frame: Frame | None, categorical_features: Any) -> Table:
    """Columns of a table at fit; the estimator gets its schema."""
    names: tuple[Name, ...] | None = None
    if frame is None:
        labelled = names_categories(categorical_features)
        source: Source = read_array(estimator, X, reset=True, labelled=labelled)
    else:
        _check_rows(frame)
        validate_data(estimator, frame.to_native(), reset=True, skip_check_array=True)
        source, names = FrameSource(frame), names_of(frame)
    columns: list[Column] = []
    levels: list[tuple[Label, ...] | None] = []
    for j, categorical in enumerate(categorical_columns(categorical_features, source, names)):
        place = repr(names[j]) if names is not None else str(j)
        if categorical:
            labels = source.labels(j, place)
            learned = learn_levels(labels, place)
            columns.append(encode(labels, {label: c for c, label in enumerate(learned)}, place))
            levels.append(learned)
        else:
            columns.append(_numeric(source, j, place))
            levels.append(None)
    estimator.schema_ = Schema(names, tuple(levels))
    return Table(columns, source.n_rows, estimator.schema_.n_levels)


def _order(estimator: Any, frame: Frame, schema: Schema) -> list[int] | None:
    """Places of the fitted columns in a frame; None where they are matched by place."""
    names = names_of(frame)
    text = names is not None and all(isinstance(name, str) for name in names)
    if names is None or schema.names is None or text != schema.names_are_text:
        # scikit-learn compares the number of columns and warns about names on one side only.
        validate_data(estimator, frame.to_native(), reset=False, skip_check_array=True)
        return None
    if names == schema.names:
        return None
    places = {name: j for j, name in enumerate(names)}
    missing = [name for name in schema.names if name not in places]
    extra = [name for name in names if name not in schema.places]
    if missing or extra:
        faults = [f"lacks {_listed(missing)}"] * bool(missing) + [
            f"has {_listed(extra)}, unseen at fit"
        ] * bool(extra)
        raise ValueError(
            "The feature names should match those that were passed during fit: X "
            f"{' and '.join(faults)}; give the columns that {type(estimator).__name__} was fitted "
            "on, in any order"
        )
    return [places[name] for name in schema.names]


def _listed(names: list[Name]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


def _check_rows(frame: Frame) -> None:
    for count, what in zip(frame.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(f"X has 0 {what}(s): at least 1 is needed")


def _numeric(source: Source, column: int, place: str) -> Column:
    """Return a column of numbers in a type that the engine reads, and free of infinity."""
    values = source.numbers(column, place)
    with np.errstate(over="ignore"):  # beyond float64 is infinite: refused below, with its place
        values = values.astype(_engine_dtype(values.dtype), copy=False)
    # fmax and fmin skip NaN and need no temporary.
    if (
        values.dtype.kind == "f"
        and np.isinf([np.fmax.reduce(values), np.fmin.reduce(values)]).any()
    ):
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise ValueError(
            f"Input X contains infinity: column {place}, row {row} is {values[row]}. Replace it by "
            "NaN if the value is missing, or by a finite number"
        )
    return values


def _engine_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    name = "longdouble" if dtype == np.longdouble else dtype.name
    if name == "float64":
        return np.dtype(np.float64)
    return np.dtype(_WIDENED.get(name, dtype.newbyteorder("=")))
