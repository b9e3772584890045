"""The gradient boosting of arboleda as a model of AutoGluon, and so of TabArena.

TabularPredictor(label="y").fit(table, hyperparameters={ArboledaModel: {}})
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from autogluon.core.models import AbstractModel
from estimators import (
    PROBLEM_TYPES,
    estimate_fit_memory,
    make_estimator,
    replace_infinite_values,
)

# Bytes of the interpreter with its packages, and copies of the table.
_BASE_MEMORY = 300_000_000
_TABLE_COPIES = 3


class ArboledaModel(AbstractModel):
    """`BoostingClassifier` or `BoostingRegressor`, which choose their parameters themselves.

    Hyperparameters are those of the estimators (``effort``, ``learning_rate``, ...) and
    ``own_folds``: whether early stopping and the choice of parameters use folds of the training
    rows, with a member for each, even if AutoGluon passes validation rows. That takes a multiple of
    the time. Without validation rows, as in `refit_full`, folds are always used.
    """

    ag_key = "ARBOLEDA"
    ag_name = "Arboleda"
    ag_priority = 85
    seed_name = "random_state"
    default_resources_physical_cores_only = True

    @classmethod
    def supported_problem_types(cls) -> list[str]:
        """Return the problem types."""
        return list(PROBLEM_TYPES)

    def _set_default_params(self) -> None:
        for name, value in {"effort": "normal", "own_folds": False}.items():
            self._set_default_param_value(name, value)

    def _get_default_auxiliary_params(self) -> dict[str, Any]:
        """Keep categories and missing values as they are; texts become numbers before."""
        parameters: dict[str, Any] = super()._get_default_auxiliary_params()
        return parameters | {"valid_raw_types": ["bool", "int", "float", "category"]}

    def _preprocess(self, X: pd.DataFrame, **kwargs: Any) -> pd.DataFrame:
        return replace_infinite_values(super()._preprocess(X, **kwargs))

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        X_val: pd.DataFrame | None = None,
        y_val: pd.Series | None = None,
        time_limit: float | None = None,
        num_cpus: int | str | None = None,
        sample_weight: np.ndarray | pd.Series | None = None,
        sample_weight_val: np.ndarray | pd.Series | None = None,
        **kwargs: Any,
    ) -> None:
        start = time.monotonic()
        X = self.preprocess(X, y=y, is_train=True)
        parameters = self._get_model_params()
        uses_validation = not parameters.pop("own_folds") and X_val is not None
        validation = {}
        if uses_validation:
            validation = {
                "X_val": self.preprocess(X_val),
                "y_val": y_val,
                "sample_weight_val": sample_weight_val,
            }
        if time_limit is not None:
            time_limit -= time.monotonic() - start
        self.model = make_estimator(
            self.problem_type,
            parameters,
            n_jobs=num_cpus if isinstance(num_cpus, int) else None,
            time_limit=time_limit,
            quantile_levels=self.quantile_levels,
        )
        self.model.fit(X, y, sample_weight, **validation)

    def _more_tags(self) -> dict[str, Any]:
        """Without validation rows a fit holds out its own: `refit_full` can use all rows."""
        return {"can_refit_full": True}

    @classmethod
    def _class_tags(cls) -> dict[str, Any]:
        return {"can_estimate_memory_usage_static": True}

    def _estimate_memory_usage(self, X: pd.DataFrame, **kwargs: Any) -> int:
        n_bytes: int = self.estimate_memory_usage_static(
            X=X,
            problem_type=self.problem_type,
            num_classes=self.num_classes,
            hyperparameters=self._get_model_params(),
            **kwargs,
        )
        return n_bytes

    @classmethod
    def _estimate_memory_usage_static(
        cls,
        *,
        X: pd.DataFrame,
        hyperparameters: dict[str, Any] | None = None,
        num_classes: int | None = 1,
        **kwargs: Any,
    ) -> int:
        table = int(X.memory_usage(index=False, deep=False).sum())
        fit = estimate_fit_memory(*X.shape, num_classes, hyperparameters or {})
        return _BASE_MEMORY + _TABLE_COPIES * table + fit
