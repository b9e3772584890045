"""Stages of boosting: a model of few rounds is a truncated model of many rounds."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arboleda._engine.table import SparseTable, Table
from arboleda.boosting._boosting import Boosting
from arboleda.boosting._category_encoding import replaced_table
from arboleda.boosting._gradient_boosting_classifier import GradientBoostingClassifier
from arboleda.boosting._gradient_boosting_regressor import GradientBoostingRegressor
from arboleda.boosting._hist_gradient_boosting_classifier import HistGradientBoostingClassifier
from arboleda.boosting._hist_gradient_boosting_regressor import HistGradientBoostingRegressor

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
        if not isinstance(getattr(model, model._rounds_parameter), Integral):
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
        self, model: Boosting, table: Table | SparseTable, numbers: Sequence[int], n_threads: int
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
