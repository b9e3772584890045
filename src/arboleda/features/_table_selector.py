"""Base class of selectors, which accept tables of any type, and checks of targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_y, check_is_fitted, column_or_1d

from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.targets import encode_classes
from arboleda._engine.columns import Schema
from arboleda._engine.frames import as_frame
from arboleda._engine.table import find_fitted_order
from arboleda._engine.target import read_target
from arboleda._utils.sparse import check_sparse

__all__ = ["TableSelector", "Task", "read_classes_or_numbers"]

# Conversions that keep the types of the columns.
_CONVERSIONS: dict[str, Callable[[nw.DataFrame[Any]], Any]] = {
    "default": nw.DataFrame.to_native,
    "pandas": nw.DataFrame.to_pandas,
    "polars": nw.DataFrame.to_polars,
}


class TableSelector(NamesOtherParameters, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Selector of the columns in ``support_``."""

    n_features_in_: int
    schema_: Schema
    support_: npt.NDArray[np.bool_]

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected columns, in their order in the table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns of a data frame are matched by name, in any order.

        Returns
        -------
        X_r : ndarray, sparse matrix or frame of shape (n_samples, n_selected_features)
            A data frame stays a data frame, so columns keep their types; ``set_output`` converts it
            to another type of data frame, in which columns keep their types too.

        Raises
        ------
        ValueError
            If the columns are not those of ``fit``.
        """
        check_is_fitted(self)
        check_sparse(X)
        frame = as_frame(X)
        if frame is None or not self.support_.any():
            # Without columns, arrays keep their rows, unlike data frames, and scikit-learn warns.
            return super().transform(X)
        order = find_fitted_order(self, frame, self.schema_)
        chosen = self.get_support(indices=True).tolist()
        places = chosen if order is None else [order[j] for j in chosen]
        container = _get_output_config("transform", estimator=self)["dense"]
        return _CONVERSIONS[container](frame[:, places])

    def inverse_transform(self, X: Any) -> Any:
        """Restore the original columns, with zeros in those that were not selected.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected_features)

        Returns
        -------
        X_r : ndarray or sparse matrix of shape (n_samples, n_features)
        """
        check_sparse(X)
        return super().inverse_transform(X)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


Task = Literal["auto", "classification", "regression"]


def read_classes_or_numbers(
    y: Any, task: Task, estimator: Any
) -> tuple[npt.NDArray[Any], Literal["classification", "regression"]]:
    """Validate a target and infer its task.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    task : {"auto", "classification", "regression"}
        "auto": regression if y has fractional numbers, else classification, as in scikit-learn's
        ``type_of_target``.
    estimator : object
        Estimator named in error messages.

    Returns
    -------
    target : ndarray of shape (n_samples,)
        Class indices, or float64 numbers.
    task : {"classification", "regression"}

    Raises
    ------
    ValueError
        If a value is missing, infinite or invalid for the task, or there are several targets.
    """
    target = read_target(y, numeric=task == "regression")
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums and casts huge values
        if task == "auto":
            task = "regression" if type_of_target(target) == "continuous" else "classification"
        if task == "classification":
            return encode_classes(target, estimator)[1], task
        numbers = _check_y(target, y_numeric=True, estimator=estimator)
    if numbers.dtype.kind in "Mm":
        raise ValueError(
            f"y has values of type {numbers.dtype}: convert dates and durations to numbers first."
        )
    return column_or_1d(numbers, warn=True).astype(np.float64), task
