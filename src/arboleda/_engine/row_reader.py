"""One row of any form becomes the numbers that trees ask, and is answered."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Table
from arboleda._engine.labels import Label
from arboleda._engine.names import listed
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.schema import Schema, missing_code
from arboleda._engine.table import check_table

Floats = npt.NDArray[np.float64]


class _Categories(NamedTuple):
    """Of one column: the code of each label, and the numbers of each code, the last for none."""

    place: int
    codes: Mapping[Label, int]
    numbers: list[list[float]]


class RowReader:
    """Reads rows for a fitted model, and has them answered.

    Parameters
    ----------
    model : estimator
        A fitted one.
    answers : RowPredictor
        Of its trees.
    category_numbers : mapping of int to ndarray of shape (n_levels + 1, n_numbers)
        Categorical columns whose levels the trees know by other numbers than their codes; the last
        line is for a missing or unknown level. The first number stands in the place of the column,
        the others follow after all columns.
    """

    def __init__(
        self, model: Any, answers: RowPredictor, category_numbers: Mapping[int, Floats]
    ) -> None:
        self._answers = answers
        self._model = copy.copy(model)
        # Values are put in order here; scikit-learn would warn that they have no names.
        vars(self._model).pop("feature_names_in_", None)
        self._schema: Schema = model.schema_
        self._categories = [
            _Categories(j, codes, _numbers_of(codes, category_numbers.get(j)))
            for j, codes in enumerate(self._schema.codes)
            if codes is not None
        ]

    def raw(self, row: Any) -> Floats:
        """Raw answer for a row, of shape (1, n_outputs).

        Raises
        ------
        ValueError, TypeError
            If the row has other columns than the model, or a value that no table may have.
        """
        found = None if self._categories else self._answers.of_row(row)
        if found is not None:
            return found
        values = self._in_order(row)
        numbers = self._at_a_glance(values)
        found = None if numbers is None else self._answers.of_row(numbers)
        if found is None:
            found = self._answers.of_row(self._as_table(values))
        assert found is not None  # a table's numbers are finite
        return found

    def _in_order(self, row: Any) -> Any:
        """Values of the columns: a list or tuple, or an array where it is one."""
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
                "without: give the values in their order"
            )
        lacking = [name for name in names if name not in row]
        extra = [name for name in row if name not in self._schema.places]
        if lacking or extra:
            faults = [f"lacks {listed(lacking)}"] * bool(lacking)
            faults += [f"has {listed(extra)}, unseen at fit"] * bool(extra)
            raise ValueError(
                "The feature names should match those that were passed during fit: the row "
                f"{' and '.join(faults)}"
            )
        return [row[name] for name in names]

    def _at_a_glance(self, values: Any) -> list[Any] | None:
        """Put numbers in the place of texts that the model knows; None where others are."""
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
        """Numbers of a row that is checked as a table of one row."""
        if np.ndim(values) != 1:
            raise ValueError(
                f"a predictor takes one row: give {self._schema.n_columns} values, not an array of "
                f"shape {np.shape(values)}; predict of the model takes many"
            )
        rows = values[np.newaxis] if isinstance(values, np.ndarray) else [list(values)]
        table = check_table(self._model, rows, reset=False)
        assert isinstance(table, Table)
        numbers = [float(column[0]) for column in table.columns]
        for place, codes, known in self._categories:
            code = int(numbers[place])
            missing = code == missing_code(len(codes))
            first, *more = known[len(known) - 1 if missing else code]
            numbers[place] = first
            numbers += more
        return numbers


def _numbers_of(codes: Mapping[Label, int], numbers: Floats | None) -> list[list[float]]:
    if numbers is None:
        return [*([float(code)] for code in range(len(codes))), [float(missing_code(len(codes)))]]
    found: list[list[float]] = numbers.tolist()
    return found
