"""Models that are built in stages and can be truncated to fewer stages."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.table import DenseTable, SparseTable
from arboleda._utils.number_types import is_integer
from arboleda.boosting import (
    Boosting,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    replaced_table,
)
from arboleda.forest import (
    BalancedRandomForestClassifier,
    BaseForest,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

Floats = npt.NDArray[np.float64]


class BoostingStages:
    """The rounds of gradient boosting; see `Stages`."""

    kinds: ClassVar[tuple[type, ...]] = (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )
    predict_method: ClassVar[str] = "_raw_scores"

    def get_parameter(self, model: Boosting) -> str:
        return model._rounds_parameter

    def is_staged(self, model: Boosting, n_rows: int) -> bool:
        """Return whether there is no early stopping, callback or initial model."""
        if not is_integer(getattr(model, model._rounds_parameter)):
            return False
        if model.warm_start or model.callbacks or model.verbose:
            return False
        if getattr(model, "init", None) not in (None, "zero"):
            return False
        try:
            return model._make_stopping(n_rows, validation_given=False) is None
        except ValueError:  # invalid parameters, for which `fit` raises the error
            return False

    def keeps_earlier_stages(self, model: Boosting) -> bool:
        """Return whether DART is off, which rescales the trees of earlier rounds."""
        return model.drop_rate == 0.0

    def predict_stages(
        self,
        model: Boosting,
        table: DenseTable | SparseTable,
        numbers: Sequence[int],
        n_threads: int,
    ) -> dict[int, Floats]:
        replaced = replaced_table(model.statistics_, table)
        stages = model.ensemble_.staged_scores(replaced, n_threads, rounds=numbers)
        return dict(zip(numbers, stages, strict=True))

    def truncate(self, model: Boosting, number: int) -> Any:
        early = copy.copy(model)
        early.set_params(**{model._rounds_parameter: number})
        if number < model.ensemble_.n_rounds:
            early.ensemble_ = model.ensemble_.truncated(number)
            seen = model.history_.items()
            early.history_ = {name: losses[: number + 1] for name, losses in seen}
        return early


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

    def get_parameter(self, model: BaseForest) -> str:
        return "n_estimators"

    def is_staged(self, model: BaseForest, n_rows: int) -> bool:
        """Return whether only the votes of the trees are needed, without progress or OOB scores."""
        del n_rows
        is_number = is_integer(model.n_estimators)
        return is_number and not (model.warm_start or model.verbose or model.oob_score)

    def keeps_earlier_stages(self, model: BaseForest) -> bool:
        """Return True: the trees of a forest are independent."""
        return True

    def predict_stages(
        self,
        model: BaseForest,
        table: DenseTable | SparseTable,
        numbers: Sequence[int],
        n_threads: int,
    ) -> dict[int, Floats]:
        votes = model.forest_.staged_votes(table, numbers, model._voting, n_threads)
        return dict(zip(numbers, votes, strict=True))

    def truncate(self, model: BaseForest, number: int) -> Any:
        early = copy.copy(model)
        early.set_params(n_estimators=number)
        if number < model.forest_.n_trees:
            early.forest_ = model.forest_.truncated(number)
        return early


class Stages(Protocol):
    """Access to the stages of models of some classes.

    Attributes
    ----------
    kinds : tuple of type
        The classes; subclasses are not supported, since they may override methods.
    predict_method : str
        Name of the method that all predictions of a model are computed from.
    """

    kinds: ClassVar[tuple[type, ...]]
    predict_method: ClassVar[str]

    def get_parameter(self, model: Any) -> str:
        """Return the name of the parameter for the number of stages."""

    def is_staged(self, model: Any, n_rows: int) -> bool:
        """Return whether the fit consists only of a given number of stages."""

    def keeps_earlier_stages(self, model: Any) -> bool:
        """Return whether later stages leave earlier ones unchanged."""

    def predict_stages(
        self, model: Any, table: DenseTable | SparseTable, numbers: Sequence[int], n_threads: int
    ) -> dict[int, Floats]:
        """Return the output of `predict_method` after each of some numbers of stages, ascending."""

    def truncate(self, model: Any, number: int) -> Any:
        """Return a fitted model truncated to a number of stages."""


_ALL: tuple[Stages, ...] = (BoostingStages(), ForestStages())


def find_stages(estimator: Any) -> Stages | None:
    """Return the stages for the class of an estimator; None if it is not supported."""
    return next((stages for stages in _ALL if type(estimator) in stages.kinds), None)
