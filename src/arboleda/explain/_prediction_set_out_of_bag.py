"""Out-of-bag probabilities of an ensemble's training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explain._conformal import Floats, unwrap_pipeline
from arboleda.forest._forest_model import ForestModel

__all__ = ["compute_oob_probabilities"]

Array = npt.NDArray[Any]


def compute_oob_probabilities(estimator: Any, X: Any, y: Array) -> tuple[Floats, Array]:
    """Return out-of-bag probabilities and labels of the training rows that have them."""
    last, table = unwrap_pipeline(estimator, X)
    if isinstance(last, ForestModel):
        found = last._training_rows(table, y).mean_votes()
    else:
        kept = getattr(last, "oob_decision_function_", None)
        if kept is None:
            raise ValueError(
                f"{type(last).__name__} has no out-of-bag predictions: fit a forest or bagging "
                "with oob_score=True, or give calibration=(X, y)"
            )
        found = np.asarray(kept, dtype=np.float64)
        if len(found) != len(y):
            raise ValueError(
                f"training has {len(y)} rows, but {type(last).__name__} was fitted on "
                f"{len(found)}: give its training rows in their original order"
            )
    is_out_of_bag = found.sum(axis=1) > 0.5  # scikit-learn's forests store 0 for other rows
    if not is_out_of_bag.any():
        raise ValueError("no row is out of bag for any member: use more members")
    return found[is_out_of_bag], y[is_out_of_bag]
