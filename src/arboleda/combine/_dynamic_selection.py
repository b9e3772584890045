"""Dynamic selection: for each row the members answer that are competent near it."""

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
from arboleda.combine._learned import Given, LearnedCombination
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._region import Region

__all__ = ["DynamicSelection"]

Floats = npt.NDArray[np.float64]
# Rows that are answered for at a time: what is known of their neighbours is held for all members.
_BATCH = 2048


class DynamicSelection(LearnedCombination):
    """What both kinds share: judged rows, and an index of them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LearnedCombination._parameter_constraints,
        "n_neighbors": [None, Interval(Integral, 1, None, closed="left")],
    }

    n_neighbors: int | None
    n_judged_: int
    _region: Region

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False  # whatever the members take, distances need numbers
        return tags

    def _judge(self, given: Given) -> MemberOutputs:
        """Index the rows that members answer for without having seen them."""
        found = self._held_out(given)
        X = given.training.X
        rows = X if not found.n_left_out else take_rows(X, found.rows)
        try:
            self._region = Region(rows, self.n_neighbors, self.n_jobs)
        except ValueError as error:
            why = str(error).splitlines()[0].rstrip(".")
            raise ValueError(
                f"distances between rows need columns of finite numbers: {why}. Put this model "
                "behind what makes them so, as scikit-learn's make_pipeline(preparation, model)"
            ) from error
        self.n_judged_ = len(found.rows)
        return found

    def _batches(self, X: Any) -> Iterator[tuple[Floats, npt.NDArray[np.intp], Floats]]:
        """Distances and numbers of neighbours, and what the members say, for a few rows a time."""
        check_sparse(X)
        n_rows = _num_samples(X)
        whole = n_rows <= _BATCH
        for part in gen_batches(max(n_rows, 1), _BATCH):  # none: the members object
            rows = X if whole else take_rows(X, np.arange(part.start, part.stop))
            said = self._ask(rows, range(len(self.estimators_))).outputs
            yield *self._region.around(rows), said
