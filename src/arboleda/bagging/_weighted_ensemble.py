"""Base class of ensembles with weighted members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from arboleda.bagging._ensemble import Array, Floats, Indices, MemberEnsemble
from arboleda.bagging._member_quality import compute_quality_weights


class WeightedEnsemble(MemberEnsemble):
    """Ensemble whose members may be weighted by their quality on rows they were not trained on."""

    weights: str

    @property
    def estimator_weights_(self) -> Floats:
        """Weights of the members, which sum to 1."""
        members = self._fitted_members()
        if members.weights is None:
            return np.full(len(members), 1.0 / len(members))
        return members.weights.copy()

    def _weigh_members(self, X: Any, target: Array, rows_of_members: Iterable[Indices]) -> None:
        """Set the weights of the members by their quality on rows they were not trained on."""
        options = self._predict_options()
        outputs = self._members.iter_outputs_on_rows(X, rows_of_members, options)
        weights = compute_quality_weights(outputs, target, options.n_classes)
        self._members = self._members.with_weights(weights)
