"""Forests by trees: the first trees of a forest are the smaller forest of the same seed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arboleda._engine.table import SparseTable, Table
from arboleda.forest import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.forest._base_forest import BaseForest

Floats = npt.NDArray[np.float64]


class ForestStages:
    """The trees of a forest; see `Stages`."""

    kinds: ClassVar[tuple[type, ...]] = (
        BalancedRandomForestClassifier,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    asked: ClassVar[str] = "_mean_votes"

    def parameter(self, model: BaseForest) -> str:
        return "n_estimators"

    def are_all(self, model: BaseForest, n_rows: int) -> bool:
        """Nothing is told of the trees, and nothing asked of them but their votes."""
        del n_rows
        is_number = isinstance(model.n_estimators, Integral)
        return is_number and not (model.warm_start or model.verbose or model.oob_score)

    def are_kept(self, model: BaseForest) -> bool:
        """A tree knows nothing of the others."""
        return True

    def answers(
        self, model: BaseForest, table: Table | SparseTable, numbers: Sequence[int], n_threads: int
    ) -> dict[int, Floats]:
        votes = model.forest_.staged_votes(table, numbers, model._voting, n_threads)
        return dict(zip(numbers, votes, strict=True))

    def after(self, model: BaseForest, number: int) -> Any:
        early = copy.copy(model)
        early.set_params(n_estimators=number)
        if number < model.forest_.n_trees:
            early.forest_ = model.forest_.truncated(number)
        return early
