"""Prediction of single rows, without the overhead of the code for many rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import DenseTable, Schema, get_missing_code
from arboleda._engine.labels import Label
from arboleda._engine.table import check_table
from arboleda._utils.text import format_names

Floats = npt.NDArray[np.float64]

# Maximum number of rows that are predicted one by one.
FEW_ROWS = 16


def has_few_rows(table: Any) -> TypeGuard[DenseTable]:
    """Return whether the rows of a table are predicted one by one, with identical results."""
    return isinstance(table, DenseTable) and table.n_rows <= FEW_ROWS


class RowPredictor:
    """Predictor of single rows, bitwise identical to predictions for tables."""

    def __init__(self, native: _native.OneRow) -> None:
        self._native = native

    @classmethod
    def of_tree(cls, tree: _native.Tree) -> RowPredictor:
        """Create a predictor of the values of the leaf."""
        return cls(_native.OneRow.of_tree(tree))

    @classmethod
    def of_sums(cls, ensemble: _native.TreeEnsemble, n_columns: int) -> RowPredictor:
        """Create a predictor of the sums of the initial scores and the leaves of all trees."""
        return cls(_native.OneRow.of_sums(ensemble, n_columns))

    @classmethod
    def of_votes(
        cls, forest: _native.Forest, voting: str, n_classes: Sequence[int]
    ) -> RowPredictor:
        """Create a predictor of the mean vote of the trees."""
        return cls(_native.OneRow.of_votes(forest, voting, list(n_classes)))

    @classmethod
    def of_weighted_votes(cls, members: _native.WeightedForest) -> RowPredictor:
        """Create a predictor of the sums of the weighted votes."""
        return cls(_native.OneRow.of_weighted_votes(members))

    @classmethod
    def of_medians(cls, forest: _native.Forest, weights: Floats) -> RowPredictor:
        """Create a predictor of the weighted median of the trees' values."""
        return cls(_native.OneRow.of_medians(forest, weights.tolist()))

    @property
    def n_columns(self) -> int:
        """Number of columns of a row."""
        return self._native.n_columns

    def of_row(self, row: Any) -> Floats | None:
        """Predict a row; the result has the shape (1, n_outputs).

        None if the row is not a list, tuple or array of ``n_columns`` non-infinite numbers.
        """
        return self._native.of_row(row)

    def of_table(self, table: DenseTable) -> Floats:
        """Predict the rows of a table; the result has the shape (n_rows, n_outputs)."""
        if table.matrix is not None:
            return self._native.of_rows(table.matrix)
        return self._native.of_columns(table.columns, table.n_rows)


class _Categories(NamedTuple):
    """Codes of the labels of a column, and the numbers of each code; the last is for missing."""

    place: int
    codes: Mapping[Label, int]
    numbers: list[list[float]]


class RowReader:
    """Reader and predictor of single rows for a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    predictor : RowPredictor
        Predictor of its trees.
    category_numbers : mapping of int to ndarray of shape (n_levels + 1, n_numbers)
        Categorical columns whose levels are encoded for the trees by numbers instead of codes; the
        last row is for missing and unknown levels. The first number replaces the column, the others
        are appended after all columns.
    extend : callable or None
        Appends further numbers to those of a row, if the trees read more than these.
    """

    def __init__(
        self,
        model: Any,
        predictor: RowPredictor,
        category_numbers: Mapping[int, Floats],
        extend: Callable[[list[float]], list[float]] | None = None,
    ) -> None:
        self._extend = extend
        self._predictor = predictor
        self._model = copy.copy(model)
        # Values are ordered here; scikit-learn would warn about missing names.
        vars(self._model).pop("feature_names_in_", None)
        self._schema: Schema = model.schema_
        self._categories = [
            _Categories(j, codes, _tabulate_numbers(codes, category_numbers.get(j)))
            for j, codes in enumerate(self._schema.codes)
            if codes is not None
        ]

    def raw(self, row: Any) -> Floats:
        """Compute the raw outputs for a row, of shape (1, n_outputs).

        Raises
        ------
        ValueError, TypeError
            If the columns of the row differ from those of the model, or a value is invalid.
        """
        if self._extend is not None:
            extended = self._extend(self._as_table(self._order_values(row)))
            found = self._predictor.of_row(extended)
            assert found is not None  # numbers of a table are finite
            return found
        found = None if self._categories else self._predictor.of_row(row)
        if found is not None:
            return found
        values = self._order_values(row)
        numbers = self._read_known_values(values)
        found = None if numbers is None else self._predictor.of_row(numbers)
        if found is None:
            found = self._predictor.of_row(self._as_table(values))
        assert found is not None  # numbers of a table are finite
        return found

    def _order_values(self, row: Any) -> Any:
        """Return the values of the columns in order, as a list, tuple or array."""
        if isinstance(row, list | tuple | np.ndarray):
            return row
        if not isinstance(row, Mapping) and hasattr(row, "to_dict"):  # a Series
            row = row.to_dict()
        if not isinstance(row, Mapping):
            return np.asarray(row)
        names = self._schema.names
        if names is None:
            raise ValueError(
                f"the row has names, but {type(self._model).__name__} was fitted on columns "
                "without names: pass the values in their order"
            )
        lacking = [name for name in names if name not in row]
        extra = [name for name in row if name not in self._schema.places]
        if lacking or extra:
            faults = [f"lacks {format_names(lacking)}"] * bool(lacking)
            faults += [f"has {format_names(extra)}, unseen at fit"] * bool(extra)
            raise ValueError(
                "The feature names should match those that were passed during fit: the row "
                f"{' and '.join(faults)}"
            )
        return [row[name] for name in names]

    def _read_known_values(self, values: Any) -> list[Any] | None:
        """Replace known text labels by numbers; None if there are other values."""
        if not isinstance(values, list | tuple) or len(values) != self._schema.n_columns:
            return None
        numbers = list(values)
        for place, codes, known in self._categories:
            label = values[place]
            if not (label is None or (isinstance(label, str) and label in codes)):
                return None
            first, *more = known[len(known) - 1 if label is None else codes[label]]
            numbers[place] = first
            numbers += more
        return numbers

    def _as_table(self, values: Any) -> list[float]:
        """Return the numbers of a row, validated as a table of one row."""
        if np.ndim(values) != 1:
            raise ValueError(
                f"a predictor takes one row: pass {self._schema.n_columns} values, not an array of "
                f"shape {np.shape(values)}; use predict of the model for several rows"
            )
        rows = values[np.newaxis] if isinstance(values, np.ndarray) else [list(values)]
        table = check_table(self._model, rows, reset=False)
        assert isinstance(table, DenseTable)
        numbers = [float(column[0]) for column in table.columns]
        for place, codes, known in self._categories:
            code = int(numbers[place])
            missing = code == get_missing_code(len(codes))
            first, *more = known[len(known) - 1 if missing else code]
            numbers[place] = first
            numbers += more
        return numbers


def _tabulate_numbers(codes: Mapping[Label, int], numbers: Floats | None) -> list[list[float]]:
    if numbers is None:
        return [
            *([float(code)] for code in range(len(codes))),
            [float(get_missing_code(len(codes)))],
        ]
    found: list[list[float]] = numbers.tolist()
    return found
