"""Base classes of bagging and random subspaces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from itertools import repeat
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.folds import hold_out, keep_every_class
from arboleda._base.held_out import OobCurve, mean_of_votes
from arboleda.bagging._bagged_estimators import BaggedEstimators
from arboleda.bagging._ensemble import Array, Floats, Indices, MemberEnsemble
from arboleda.bagging._sampling import RowsToDraw, SamplingPlan, n_columns_of_member, n_rows_of_bag
from arboleda.bagging._tree_members import TreeMembers
from arboleda.bagging._votes import compute_quality_weights


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
