"""Dynamic selection: each row is predicted by the members that are competent near it."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from arboleda._engine.shared_binning import take_rows
from arboleda._sparse import check_sparse
from arboleda.combine._learned import FitInputs, LearnedCombination
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._region import Region

__all__ = ["DynamicSelection"]

Floats = npt.NDArray[np.float64]
# Rows predicted at a time, because data of their neighbours are held in memory for all members.
_BATCH = 2048


class DynamicSelection(LearnedCombination):
    """Base class of dynamic selection: validation rows, and a nearest-neighbour index of them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LearnedCombination._parameter_constraints,
        "n_neighbors": [None, Interval(Integral, 1, None, closed="left")],
    }

    n_neighbors: int | None
    n_judged_: int
    _region: Region

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False  # distances need numbers, even if the members accept NaN
        return tags

    def _index_held_out_rows(self, inputs: FitInputs) -> MemberOutputs:
        """Predict held-out rows with the members, and index these rows."""
        held_out = self._held_out(inputs)
        X = inputs.training.X
        rows = X if not held_out.n_left_out else take_rows(X, held_out.rows)
        try:
            self._region = Region(rows, self.n_neighbors, self.n_jobs)
        except ValueError as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(
                f"distances between rows need columns of finite numbers: {reason}. Preprocess the "
                "columns, for example with scikit-learn's make_pipeline(preprocessing, model)"
            ) from error
        self.n_judged_ = len(held_out.rows)
        return held_out

    def _iter_batches(self, X: Any) -> Iterator[tuple[Floats, npt.NDArray[np.intp], Floats]]:
        """Iterate over batches of rows: distances and indices of neighbours, and member outputs."""
        check_sparse(X)
        n_rows = _num_samples(X)
        is_single_batch = n_rows <= _BATCH
        for batch in gen_batches(max(n_rows, 1), _BATCH):  # without rows, the members raise
            rows = X if is_single_batch else take_rows(X, np.arange(batch.start, batch.stop))
            outputs = self._predict_members(rows, range(len(self.estimators_))).outputs
            yield *self._region.around(rows), outputs
