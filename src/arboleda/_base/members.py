"""Tables and metadata for members of any kind."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter, validate_data

from arboleda._engine.frames import as_frame
from arboleda._utils.sparse import check_sparse

__all__ = [
    "checked_table",
    "columns_of",
    "resolve_row_count",
    "route_params",
    "rows_of",
    "takes_weight",
]

Indices = npt.NDArray[np.intp]


def checked_table(estimator: Any, X: Any, *, reset: bool, as_array: bool = False) -> Any:
    """Validate a table; return a data frame unchanged, else an array, CSR or CSC matrix.

    Members see the names and types of a data frame. Values are not checked: members may support
    missing values, text or infinity.

    Parameters
    ----------
    estimator : estimator
        Estimator that stores the number and names of the columns.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
    reset : bool
        True in ``fit``: store the columns. False: compare with the stored columns.
    as_array : bool, default=False
        Whether to convert data frames to arrays, because columns may be drawn twice.
    """
    check_sparse(X)
    frame = as_frame(X)
    if frame is not None and not as_array:
        for count, what in zip(frame.shape, ("sample", "feature"), strict=True):
            if count == 0:
                raise ValueError(f"X has 0 {what}(s): at least 1 is needed")
        return validate_data(estimator, frame.to_native(), reset=reset, skip_check_array=True)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"],
        dtype=None,
        ensure_all_finite=False,
    )


def resolve_row_count(X: Any) -> int:
    """Return the number of rows of a validated table."""
    return int(X.shape[0])


def rows_of(X: Any, rows: Indices) -> Any:
    """Take rows of a validated table by index, with repeats."""
    if isinstance(X, np.ndarray):
        return X[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows, :].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


def columns_of(X: Any, columns: Indices) -> Any:
    """Take columns of a validated table by index."""
    if isinstance(X, np.ndarray):
        return X[:, columns]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[:, columns.tolist()].to_native()
    return X[:, columns]


def route_params(owner: Any, caller: str, callee: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call that are passed to a method of the members.

    Raises
    ------
    ValueError
        If parameters are given but metadata routing is not enabled.
    """
    if not params:
        return {}
    if not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"{type(owner).__name__}.{caller} got {', '.join(sorted(params))}, which are only "
            "passed to the members with metadata routing: call "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    routed: dict[str, Any] = process_routing(owner, caller, **params).estimator[callee]
    return routed


def takes_weight(estimator: Any) -> bool:
    """Return whether to pass ``sample_weight`` to the ``fit`` of a member."""
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        return bool(routing.consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(estimator, "sample_weight"))
