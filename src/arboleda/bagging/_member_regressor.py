"""Base class of ensembles of regressors, which average predictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags, column_or_1d, get_tags
from sklearn.utils.validation import _check_y

from arboleda._engine.target import check_sums, read_target
from arboleda.bagging._draws import RowsToDraw
from arboleda.bagging._ensemble import Array, Floats, MemberEnsemble
from arboleda.bagging._tree_members import TreeMembers
from arboleda.bagging._votes import PredictOptions
from arboleda.tree import DecisionTreeRegressor


class MemberRegressor(RegressorMixin, MemberEnsemble):  # type: ignore[misc]
    """Ensemble of regressors, which averages their predictions."""

    def _widths(self, members: TreeMembers) -> tuple[int, ...]:
        return (1,) * members.forest.n_outputs

    def _make_default_estimator(self) -> Any:
        return DecisionTreeRegressor()

    def _encode_target(self, y: Any) -> Floats:
        y = read_target(y, numeric=True)
        shape: tuple[int, ...] = getattr(y, "shape", ())
        several = len(shape) == 2 and shape[1] > 1
        with np.errstate(over="ignore", invalid="ignore"):  # sums of huge values may overflow
            y = _check_y(y, multi_output=several, y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: convert dates and durations to numbers first."
            )
        target: Floats = (y if several else column_or_1d(y, warn=True)).astype(np.float64)
        return target

    def _check_size(self, target: Array, rows: RowsToDraw) -> None:
        check_sums(target, self.n_estimators, rows.is_able)

    def _get_member_method(self, caller: str) -> str:
        return "predict"

    def _predict_options(self, params: dict[str, Any] | None = None) -> PredictOptions:
        return PredictOptions(0, "hard", self.n_jobs, self.verbose, params or {})

    def _decode_predictions(self, raw: Floats) -> Floats:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict(self, X: Any, **params: Any) -> Floats:
        """Predict the mean of the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            Passed to the members by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        table = self._checked(X)
        routed = self._route_params("predict", params)
        return self._members.average_outputs(table, self._predict_options(routed))

    def staged_predict(self, X: Any, **params: Any) -> Iterator[Floats]:
        """Yield `predict` of the first member, the first two, ..., all members.

        Every member predicts once, and one stage at a time is held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            As in `predict`.

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        table = self._checked(X)
        routed = self._route_params("predict", params)
        return self._members.iter_output_stages(table, self._predict_options(routed))

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        member = get_tags(self._resolve_estimator())
        tags.target_tags.multi_output = member.target_tags.multi_output
        return tags
