"""Base class of random subspace ensembles, which draw columns for every member."""

from __future__ import annotations

from itertools import repeat
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from arboleda.bagging._bagged_estimators import BaggedEstimators
from arboleda.bagging._draws import RowsToDraw
from arboleda.bagging._ensemble import Array, Floats, Indices
from arboleda.bagging._sampling_plan import SamplingPlan, n_columns_of_member
from arboleda.bagging._tree_members import TreeMembers
from arboleda.bagging._weighted_ensemble import WeightedEnsemble
from arboleda.tree._folds import hold_out, keep_every_class


class RandomSubspace(WeightedEnsemble):
    """Ensemble of members fitted on random columns and all rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "bootstrap_features": ["boolean"],
        "random_n_features": ["boolean"],
        "weights": [StrOptions({"uniform", "validation"})],
        "validation_fraction": [Interval(RealNotInt, 0, 1, closed="neither")],
    }

    max_features: int | float
    bootstrap_features: bool
    random_n_features: bool
    validation_fraction: float

    def _make_plan(self, target: Array, rows: RowsToDraw) -> SamplingPlan:
        return SamplingPlan(
            n_features=self.n_features_in_,
            n_drawn=rows.n_able,
            n_columns=n_columns_of_member(self.max_features, self.n_features_in_),
            columns_with_replacement=self.bootstrap_features,
            random_n_columns=self.random_n_features,
        )

    def _choose_held_out_rows(
        self, target: Array, weight: Floats | None, before: BaggedEstimators | TreeMembers | None
    ) -> Indices | None:
        if self.weights == "uniform":
            return None
        able = np.arange(len(target)) if weight is None else np.flatnonzero(weight)
        if before is not None:
            return self._find_unlearned_rows(before, able, len(target))
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        stratify = is_classifier(self)
        training_rows, validation_rows = hold_out(
            self.validation_fraction, target, able, stratify=stratify, seed=seed
        )
        if stratify:
            training_rows, validation_rows = keep_every_class(
                training_rows, validation_rows, target
            )
        if not validation_rows.size:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of n_samples={able.size} leaves "
                "no row to evaluate the members: raise it, use more rows, or set weights='uniform'."
            )
        return validation_rows

    def _find_unlearned_rows(
        self, before: BaggedEstimators | TreeMembers, able: Indices, n_rows: int
    ) -> Indices:
        """Return the rows that a warm start holds out again, on which no member was trained."""
        held_out = able[~before.find_learned_rows(n_rows)[able]]
        if not held_out.size:
            raise ValueError(
                "The existing members were trained on all rows, so no row is left to evaluate "
                "them: set weights='uniform', or warm_start=False."
            )
        return held_out

    def _after_fit(self, X: Any, target: Array, rows: RowsToDraw) -> None:
        if rows.held_out is None:
            self._members = self._members.with_weights(None)
        else:
            self._weigh_members(X, target, repeat(rows.held_out, len(self._members)))
