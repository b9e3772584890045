"""Base class of bagging classifiers and regressors: bags of rows and out-of-bag scores."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._out_of_bag import OobCurve, mean_of_votes
from arboleda.bagging._draws import RowsToDraw
from arboleda.bagging._ensemble import Array, Floats
from arboleda.bagging._sampling_plan import SamplingPlan, n_columns_of_member, n_rows_of_bag
from arboleda.bagging._weighted_ensemble import WeightedEnsemble


class Bagging(WeightedEnsemble):
    """Ensemble with rows and columns drawn for every member, and out-of-bag scores."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_samples": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "bootstrap": ["boolean"],
        "bootstrap_features": ["boolean"],
        "oob_score": ["boolean"],
        "weights": [StrOptions({"uniform", "oob"})],
    }

    max_samples: int | float | None
    max_features: int | float
    bootstrap: bool
    bootstrap_features: bool
    oob_score: bool
    oob_score_: float
    _oob_curve: OobCurve

    @abstractmethod
    def _set_out_of_bag(self, means: Floats, target: Array) -> None:
        """Store the out-of-bag predictions, NaN where there are none, and their score."""

    def _make_plan(self, target: Array, rows: RowsToDraw) -> SamplingPlan:
        n_drawn = n_rows_of_bag(self.max_samples, rows.n_able, bootstrap=self.bootstrap)
        parameter = self._find_oob_parameter()
        if parameter is not None and not self.bootstrap and n_drawn == rows.n_able:
            raise ValueError(
                f"{parameter} needs out-of-bag rows, but bootstrap=False draws all rows: set "
                "bootstrap=True, or lower max_samples."
            )
        return SamplingPlan(
            n_features=self.n_features_in_,
            n_drawn=n_drawn,
            n_columns=n_columns_of_member(self.max_features, self.n_features_in_),
            bag="bootstrap" if self.bootstrap else "without_replacement",
            columns_with_replacement=self.bootstrap_features,
        )

    def _find_oob_parameter(self) -> str | None:
        """Return the setting that needs out-of-bag rows; None if there is none."""
        if self.oob_score:
            return "oob_score=True"
        return "weights='oob'" if self.weights == "oob" else None

    def _format_oob_remedy(self) -> str:
        """Return settings that need no out-of-bag rows, for error messages."""
        settings = [
            *(["oob_score=False"] if self.oob_score else []),
            *(["weights='uniform'"] if self.weights == "oob" else []),
        ]
        return " and ".join(settings)

    def _has_bags_larger_than(self, n_rows: int) -> bool:
        n_drawn = self.max_samples
        return isinstance(n_drawn, int | np.integer) and n_drawn > n_rows

    def _after_fit(self, X: Any, target: Array, rows: RowsToDraw) -> None:
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_", "_oob_curve"):
            self.__dict__.pop(name, None)
        if self._find_oob_parameter() is not None and not self._members.have_drawn_from(
            rows.n_rows
        ):
            raise ValueError(
                "The existing members were trained on other rows, so their out-of-bag rows are "
                f"unknown: set {self._format_oob_remedy()}, or warm_start=False."
            )
        self._members = self._members.with_weights(None)
        if self.weights == "oob":
            self._weigh_members(X, target, self._members.iter_left_out_rows())
        if not self.oob_score:
            return
        out_of_bag = self._members.aggregate_out_of_bag(X, target, self._predict_options())
        self._oob_curve = out_of_bag.curve
        means = np.full(out_of_bag.sums.shape, np.nan)
        able = rows.is_able
        means[able] = mean_of_votes(out_of_bag.sums[able], out_of_bag.counts[able])
        self._set_out_of_bag(means, target)

    def oob_curve(self) -> OobCurve:
        """Return the out-of-bag error after the first member, the first two, ..., all of them.

        Returns
        -------
        curve : OobCurve
            ``n_estimators``, ``error`` (share of misclassified rows, or mean squared error) and
            ``n_rows``: number of rows that some member up to there left out.

        Raises
        ------
        ValueError
            If the ensemble was not fitted with ``oob_score=True``.
        """
        check_is_fitted(self)
        if not hasattr(self, "_oob_curve"):
            raise ValueError("oob_curve() needs oob_score=True in fit: set it and fit again.")
        return self._oob_curve
