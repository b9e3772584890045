"""Stages of forests: the first trees of a forest are the smaller forest of the same seed."""

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
from arboleda.forest._forest import Forest

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
    predict_method: ClassVar[str] = "_mean_votes"

    def get_parameter(self, model: Forest) -> str:
        return "n_estimators"

    def is_staged(self, model: Forest, n_rows: int) -> bool:
        """Return whether only the votes of the trees are needed, without progress or OOB scores."""
        del n_rows
        is_number = isinstance(model.n_estimators, Integral)
        return is_number and not (model.warm_start or model.verbose or model.oob_score)

    def keeps_earlier_stages(self, model: Forest) -> bool:
        """Return True: the trees of a forest are independent."""
        return True

    def predict_stages(
        self, model: Forest, table: Table | SparseTable, numbers: Sequence[int], n_threads: int
    ) -> dict[int, Floats]:
        votes = model.forest_.staged_votes(table, numbers, model._voting, n_threads)
        return dict(zip(numbers, votes, strict=True))

    def truncate(self, model: Forest, number: int) -> Any:
        early = copy.copy(model)
        early.set_params(n_estimators=number)
        if number < model.forest_.n_trees:
            early.forest_ = model.forest_.truncated(number)
        return early
