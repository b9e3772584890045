"""Fast reading of common tables: float arrays, and few rows of pandas frames of floats.

Tables read here pass all checks of the general code; all others are left to the general code, which
raises detailed errors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Table
from arboleda._engine.numbers import has_infinity
from arboleda._engine.schema import Schema

_FEW_ROWS = 1000  # of a frame, whose numbers may have to be copied into one array


def read_float_matrix(estimator: Any, X: Any) -> Table | None:
    """Return the columns of a table; None if it is not one of the common cases.

    Parameters
    ----------
    estimator : object
        A fitted estimator.
    X : object
    """
    schema: Schema = estimator.schema_
    if not schema.is_numeric:
        return None
    if type(X) is np.ndarray:
        # scikit-learn warns if a model has feature names and a table does not.
        matrix = None if hasattr(estimator, "feature_names_in_") else X
    else:
        matrix = _matrix_of_frame(X, schema)
    if matrix is None or matrix.ndim != 2 or matrix.dtype.char not in "fd":
        return None
    if matrix.shape[1] != schema.n_columns or not matrix.shape[0] or not matrix.dtype.isnative:
        return None
    if has_infinity(matrix):
        return None
    return Table(list(matrix.T), len(matrix), schema.n_levels, matrix)


def _matrix_of_frame(X: Any, schema: Schema) -> npt.NDArray[Any] | None:
    """Return the values of a small pandas frame with the names of ``fit`` in their order."""
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or len(X) > _FEW_ROWS:
        return None
    if not schema.names_are_text or tuple(X.columns) != schema.names:
        return None
    matrix: npt.NDArray[Any] = X.to_numpy()
    return matrix
