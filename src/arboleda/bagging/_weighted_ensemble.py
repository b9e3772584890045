"""What ensembles share whose members may vote with weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from arboleda.bagging._ensemble import Array, Floats, Indices, MemberEnsemble
from arboleda.bagging._member_quality import compute_quality_weights


class WeightedEnsemble(MemberEnsemble):
    """Members that count the same, or by their quality on rows that they did not learn from."""

    weights: str

    @property
    def estimator_weights_(self) -> Floats:
        """Weights of the members, of sum 1."""
        members = self._fitted_members()
        if members.weights is None:
            return np.full(len(members), 1.0 / len(members))
        return members.weights.copy()

    def _weigh_members(self, X: Any, target: Array, rows_of_members: Iterable[Indices]) -> None:
        """Measure each member on rows that it did not learn from, and weigh its vote by that."""
        options = self._predict_options()
        outputs = self._members.iter_outputs_on_rows(X, rows_of_members, options)
        weights = compute_quality_weights(outputs, target, options.n_classes)
        self._members = self._members.with_weights(weights)
