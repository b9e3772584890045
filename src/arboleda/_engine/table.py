"""Validation of tables in any container and conversion to the engine's columns."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from arboleda._engine.arrays import read_array, read_float_matrix, read_sparse
from arboleda._engine.column_options import Source, find_categorical_columns, selects_categories
from arboleda._engine.columns import Column, DenseTable, FileTable, Name, Schema, SparseTable
from arboleda._engine.encoding import encode, learn_levels
from arboleda._engine.frames import Frame, as_frame, get_column_names, read_frame
from arboleda._engine.labels import Label
from arboleda._utils.text import format_names

__all__ = ["DenseTable", "SparseTable", "check_table", "find_fitted_order"]


def check_table(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    categorical_features: Any = None,
    many_levels: bool = False,
    separate_unseen: bool = False,
) -> DenseTable | SparseTable:
    """Validate a table and return its columns.

    Columns with names are matched by name. Fitting sets ``n_features_in_``, ``feature_names_in_``
    and ``schema_`` of the estimator.

    Parameters
    ----------
    estimator : object
        The estimator, which is named in messages and whose columns are set or compared.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
    reset : bool
        True in ``fit``: set the columns. False otherwise: compare them.
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default=None
        Selection of the categorical columns; used in ``fit`` only.
    many_levels : bool, default=False
        Whether a column may have more levels than the engine supports; its codes are then uint32,
        and the estimator replaces them by numbers. Used in ``fit`` only.
    separate_unseen : bool, default=False
        Whether unseen categories are distinguished from missing ones; see `encode`.

    Raises
    ------
    ValueError
        If a value is infinite or has the wrong type, a column has too many levels, or the columns
        are not those of ``fit``. The message names the column, the value and a remedy.
    """
    rows = getattr(X, "_file_rows", None)
    if isinstance(rows, FileTable):
        table: Any = _of_file(estimator, rows, reset, categorical_features)
        return table  # type: ignore[no-any-return]
    if issparse(X):
        return _sparse(estimator, X, reset, categorical_features)
    quick = None if reset else read_float_matrix(estimator, X)
    if quick is not None:
        return quick
    frame = as_frame(X)
    if reset:
        return _learn(estimator, X, frame, categorical_features, many_levels)
    schema: Schema = estimator.schema_
    if frame is None:
        source: Source = read_array(estimator, X, reset=False, labelled=not schema.is_numeric)
    else:
        _check_rows(frame)
        source = read_frame(frame, find_fitted_order(estimator, frame, schema))
    columns: list[Column] = []
    for j, codes in enumerate(schema.codes):
        place = schema.describe(j)
        columns.append(
            source.numbers(j, place)
            if codes is None
            else encode(source.labels(j, place), codes, place, separate_unseen=separate_unseen)
        )
    return DenseTable(columns, source.n_rows, schema.n_levels)


def _learn(
    estimator: Any, X: Any, frame: Frame | None, categorical_features: Any, many_levels: bool
) -> DenseTable:
    """Return the columns of a table at fit, and set the schema of the estimator."""
    names: tuple[Name, ...] | None = None
    if frame is None:
        labelled = selects_categories(categorical_features)
        source: Source = read_array(estimator, X, reset=True, labelled=labelled)
    else:
        _check_rows(frame)
        validate_data(estimator, frame.to_native(), reset=True, skip_check_array=True)
        source, names = read_frame(frame), get_column_names(frame)
    columns: list[Column] = []
    levels: list[tuple[Label, ...] | None] = []
    for j, categorical in enumerate(find_categorical_columns(categorical_features, source, names)):
        place = repr(names[j]) if names is not None else str(j)
        if categorical:
            labels = source.labels(j, place)
            learned = learn_levels(labels, place, many=many_levels)
            columns.append(encode(labels, {label: c for c, label in enumerate(learned)}, place))
            levels.append(learned)
        else:
            columns.append(source.numbers(j, place))
            levels.append(None)
    estimator.schema_ = Schema(names, tuple(levels))
    return DenseTable(columns, source.n_rows, estimator.schema_.n_levels)


def _of_file(estimator: Any, X: FileTable, reset: bool, categorical_features: Any) -> Any:
    """Set or compare the columns of a table in a file, which is read as it is."""
    if reset:
        X.set_columns(estimator, categorical_features)
    elif X.schema != estimator.schema_:
        raise ValueError("the file has other columns or categories than the table of fit")
    return X


def _sparse(estimator: Any, X: Any, reset: bool, categorical_features: Any) -> SparseTable:
    """Read a sparse matrix, whose columns are all numeric."""
    if selects_categories(categorical_features) if reset else any(estimator.schema_.n_levels):
        raise ValueError(
            "X is sparse, which is not supported for categorical columns: use a dense table, or "
            "encode the categories as numbers"
        )
    table = read_sparse(estimator, X, reset=reset)
    if reset:
        estimator.schema_ = Schema(None, (None,) * table.n_columns)
    return table


def find_fitted_order(estimator: Any, frame: Frame, schema: Schema) -> list[int] | None:
    """Return the positions of the fitted columns in a frame; None if matched by position.

    Raises
    ------
    ValueError
        If the columns are not those of ``fit``.
    """
    names = get_column_names(frame)
    text = names is not None and all(isinstance(name, str) for name in names)
    if names is None or schema.names is None or text != schema.names_are_text:
        # scikit-learn compares the number of columns and warns if only one side has names.
        validate_data(estimator, frame.to_native(), reset=False, skip_check_array=True)
        return None
    if names == schema.names:
        return None
    places = {name: j for j, name in enumerate(names)}
    missing = [name for name in schema.names if name not in places]
    extra = [name for name in names if name not in schema.places]
    if missing or extra:
        faults = [f"lacks {format_names(missing)}"] * bool(missing) + [
            f"has {format_names(extra)}, unseen at fit"
        ] * bool(extra)
        raise ValueError(
            "The feature names should match those that were passed during fit: X "
            f"{' and '.join(faults)}; pass the columns that {type(estimator).__name__} was fitted "
            "on, in any order"
        )
    return [places[name] for name in schema.names]


def _check_rows(frame: Frame) -> None:
    for count, what in zip(frame.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(f"X has 0 {what}(s): at least 1 is required")


def with_columns(X: Any, columns: dict[int, npt.NDArray[Any] | list[Label]]) -> Any:
    """Return a copy of a table with some columns replaced.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
    columns : dict
        Column indices and their new values: numbers or labels.

    Returns
    -------
    table : ndarray, or frame of the same library
        An array of float64, or of objects if X contains objects or text. Label columns of a frame
        keep their type.
    """
    frame = as_frame(X)
    if frame is None:
        array = np.array(X, dtype=object if np.asarray(X).dtype.kind in "OUS" else np.float64)
        for j, values in columns.items():
            array[:, j] = values
        return array
    backend = nw.get_native_namespace(frame)
    series = []
    for j, values in columns.items():
        before = frame.get_column(frame.columns[j])
        # Create with the values' own type first, then cast text labels to categories or enums.
        made = nw.new_series(before.name, values, backend=backend)
        series.append(made.cast(before.dtype) if isinstance(values, list) else made)
    return frame.with_columns(*series).to_native()
