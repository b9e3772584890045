"""What the members of an ensemble say of the training rows that they did not see."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explain._conformal import Floats, without_steps
from arboleda.forest._forest_model import ForestModel

__all__ = ["out_of_bag"]

Array = npt.NDArray[Any]


def out_of_bag(estimator: Any, X: Any, y: Array) -> tuple[Floats, Array]:
    """Probabilities by the members that left a row out, and its label, of rows that have them."""
    last, table = without_steps(estimator, X)
    if isinstance(last, ForestModel):
        found = last._training_rows(table, y).mean_votes()
    else:
        kept = getattr(last, "oob_decision_function_", None)
        if kept is None:
            raise ValueError(
                f"{type(last).__name__} does not tell what its members say of rows that they left "
                "out: fit a forest or bagging with oob_score=True, or give calibration=(X, y)"
            )
        found = np.asarray(kept, dtype=np.float64)
        if len(found) != len(y):
            raise ValueError(
                f"training has {len(y)} rows, but {type(last).__name__} was fitted on "
                f"{len(found)}: give its training rows, in their order"
            )
    judged = found.sum(axis=1) > 0.5  # scikit-learn's forests answer 0 where there is none
    if not judged.any():
        raise ValueError("no member left a row out: use more members")
    return found[judged], y[judged]
