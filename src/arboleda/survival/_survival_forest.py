"""Forests of survival trees: fitting and predictions.

Ishwaran, Kogalur, Blackstone, Lauer (2008), "Random survival forests", Annals of Applied Statistics
2(3).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import LazySequence
from arboleda._base.tree_learner import Array, Floats, Training
from arboleda._engine.fit import ForestOptions, draw_bag, fit_regression_forest
from arboleda._engine.forest import Forest as Trees
from arboleda._engine.forest import Voting
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._utils.concordance import concordance_index
from arboleda._utils.survival_times import SurvivalTimes, read_survival_times
from arboleda.forest import BaseForest
from arboleda.persist import Field, SavedArray
from arboleda.survival._curve_predictions import CurveEvaluator, CurvePredictions
from arboleda.survival._leaf_curves import LeafCurves, LeafCurvesField, make_leaf_curves

SurvivalCriterion = Literal["logrank", "logrank_score"]


class SurvivalForest(BaseForest, CurvePredictions):
    """Base class of survival trees and their forests.

    In the engine, times are signed ranks among the event times: k for an event at the k-th of them,
    -k for a row that was censored then or later, before the next one. Leaves hold the mortality,
    which is what `predict` averages, and `curves_` holds the steps of their survival curves.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseForest._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "criterion": [StrOptions({"logrank", "logrank_score"})],
        "oob_score": ["boolean"],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseForest._fitted_attributes,
        "unique_times_": SavedArray(np.float64),
        "time_range_": SavedArray(np.float64),
        "curves_": LeafCurvesField(),
    }
    _supports_multi_output: ClassVar[bool] = False
    _needs_rows: ClassVar[bool] = True

    # Parameters that only other forests have.
    ccp_alpha = 0.0
    min_impurity_decrease = 0.0
    keep_rows = False

    criterion: SurvivalCriterion
    curves_: LeafCurves
    oob_prediction_: Floats
    oob_score_: float
    time_range_: Floats
    unique_times_: Floats

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees from a table and the times of its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table in any container: NumPy, pandas, polars, Arrow, lists, sparse matrices. Missing
            values and categories are handled natively.
        y : structured ndarray or data frame of n_samples rows
            Two fields or columns: whether the event was observed (bool, 0 and 1, or words such as
            "dead" and "alive"), and the time of the event or of censoring.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; a row of weight 2 counts like two rows. None: every row
            has weight 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, the lengths differ, no row of positive weight has the
            event, it is not clear which field or value is the event, or a time is missing, negative
            or infinite. The estimator is then unchanged.
        """
        self._new_curves: list[LeafCurves] = []
        try:
            super().fit(X, y, sample_weight)
        finally:
            del self._new_curves
        return self

    def _training(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, reader: Any = None
    ) -> Training:
        times = read_survival_times(y)
        training = super()._training(X, times.time, sample_weight, reset=reset, reader=reader)
        used = slice(None) if training.weight is None else training.weight > 0.0
        observed = times.take(used)
        if not observed.event.any():
            raise ValueError(
                "no row of positive weight has the event, so nothing can be learned about the time "
                "to it: give rows with the event a positive weight"
            )
        self.unique_times_ = np.unique(observed.time[observed.event])
        self.time_range_ = np.array([observed.time.min(), observed.time.max()])
        return replace(training, target=self._signed_ranks(times))

    def _signed_ranks(self, times: SurvivalTimes) -> Floats:
        rank = np.searchsorted(self.unique_times_, times.time, side="right").astype(np.float64)
        return np.where(times.event, rank, -rank)

    def _encode_target(self, y: Array) -> Array:
        self.n_outputs_ = 1
        return y

    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        return sample_weight

    def _value_widths(self) -> tuple[int, ...]:
        return (1,)

    def _check_size(self, training: Training, n_trees: int, n_leaves: int) -> None:
        """Do nothing: leaves hold one number, and the sums of mortalities are small."""

    def _grow(self, training: Training, options: ForestOptions, progress: Any) -> Trees:
        return fit_regression_forest(
            training.table,
            training.target,
            training.weight,
            self.criterion,
            options,
            progress=progress,
            n_threads=training.n_threads,
            seed=self.seed_,
        )

    def _fit_trees(self, training: Training, bags: Any, previous: Trees | None) -> Trees:
        parts = [] if previous is None else [self.curves_]
        trees = super()._fit_trees(training, bags, previous)
        self.curves_ = LeafCurves.concatenate([*parts, *self._new_curves])
        return trees

    def _fit_block(self, training: Training, bags: Any, first: int, n_trees: int) -> Trees:
        grown = super()._fit_block(training, bags, first, n_trees)
        options = ForestOptions(n_trees=1, **bags.options)
        n_nodes = np.diff(grown.node_begins())
        for number in range(grown.n_trees):
            draws = draw_bag(
                options, bags.n_rows, first + number, sample_weight=bags.weight, seed=bags.seed
            )
            weight = draws if training.weight is None else draws * training.weight
            self._new_curves.append(
                make_leaf_curves(
                    np.flatnonzero(grown.tree(number).children_right < 0),
                    int(n_nodes[number]),
                    grown.leaf_begins(number).astype(np.int64),
                    grown.rows(number).astype(np.int64),
                    training.target,
                    weight.astype(np.float64),
                    len(self.unique_times_),
                )
            )
        return grown.without_rows()

    def _has_same_target(self, other: Any) -> bool:
        return np.array_equal(self.unique_times_, other.unique_times_)

    def _check_continues(self, previous: Self) -> None:
        if not self._has_same_target(previous):
            raise ValueError(
                "warm_start=True adds trees to those of an earlier fit, whose event times were "
                "others: fit a clone"
            )
        super()._check_continues(previous)

    # Out-of-bag estimates

    def _check_oob_target(self, target: Array) -> None:
        """Do nothing: the score only compares predictions."""

    def _estimate_out_of_bag(self, training: Training) -> None:
        oob = self._make_oob_predictions(self.forest_, training.X, training.target)
        self._keep_out_of_bag(oob, training.target)

    def _keep_out_of_bag(self, oob: Any, target: Array) -> None:
        mortality = oob.mean_votes()[:, 0]
        voted = ~np.isnan(mortality)
        ranks = SurvivalTimes(target > 0.0, np.abs(target)).take(voted)
        self.oob_prediction_ = mortality
        self.oob_score_ = concordance_index(ranks, mortality[voted])

    @property
    def oob_curve(self) -> Any:
        """Not available: the concordance index is not a mean over rows."""
        raise AttributeError(
            f"{type(self).__name__} has no error for each row, so it has no out-of-bag curve: use "
            "oob_score=True, or staged_score on held-out rows"
        )

    @property
    def oob_permutation_importance(self) -> Any:
        """Not available: see `oob_curve`."""
        raise AttributeError(
            f"{type(self).__name__} has no error for each row: use "
            "sklearn.inspection.permutation_importance, which calls its score"
        )

    # Predictions

    @property
    def _voting(self) -> Voting:
        return "soft"

    def _decode_predictions(self, raw: Floats) -> Floats:
        return raw[:, 0]

    def predict(self, X: Any) -> Floats:
        """Predict the risk of each row as its mortality.

        It is the sum of the mean cumulative hazard of the trees over the event times of the
        training rows: the number of events to expect among as many rows like this one. Larger means
        earlier events.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        risk : ndarray of shape (n_samples,)
        """
        return self._decode_predictions(self._mean_votes(X))

    def _make_evaluator(self, table: Any, *, is_survival: bool) -> CurveEvaluator:
        leaves = self.forest_.apply(table, resolve_n_jobs(self.n_jobs))
        nodes = leaves.astype(np.int64) + self.forest_.node_begins()[:-1]
        jumps = self.curves_.compute_drops() if is_survival else self.curves_.hazard

        def evaluate(rows: slice, times: Floats) -> Floats:
            curves = self.curves_.evaluate(nodes[rows], self.unique_times_, times, jumps)
            return np.clip(1.0 - curves, 0.0, 1.0, out=curves) if is_survival else curves

        return evaluate

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute Harrell's concordance index of `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : structured ndarray or data frame of n_samples rows
            As in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair of rows counts the product of their weights.

        Returns
        -------
        score : float
            Share of the comparable pairs that the risk orders like the times; 0.5 for ties.
        """
        return self._compute_score(y, self.predict(X), sample_weight)

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        times = read_survival_times(y, requires_event=False)
        check_consistent_length(times.time, predicted)
        return concordance_index(times, predicted, sample_weight=sample_weight)

    # Members

    @property
    @abstractmethod
    def estimator_(self) -> Any:
        """An unfitted tree with the parameters of the forest's trees."""

    @property
    def estimators_(self) -> Any:
        """The trees as survival trees, created on access."""
        check_is_fitted(self)
        return LazySequence(self._member, self.n_estimators_)

    def _member(self, number: int) -> Any:
        tree = self.estimator_
        names = {*self._fitted_attributes, "schema_", "n_features_in_", "feature_names_in_"}
        for name in sorted(names - {"forest_", "curves_"}):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree._bags = None
        tree.forest_ = Trees.from_trees([self.forest_.tree(number)], "medians", (1,))
        begins = self.forest_.node_begins()
        tree.curves_ = self.curves_.of_nodes(int(begins[number]), int(begins[number + 1]))
        return tree

    def _defect(self) -> str | None:
        curves, times = self.curves_, self.unique_times_
        if len(curves.begins) != self.forest_.node_begins()[-1] + 1:
            return "the survival curves do not belong to the nodes of the trees"
        if not len(times) or not (np.diff(times) > 0.0).all() or not np.isfinite(times).all():
            return "unique_times_ is not ascending"
        if len(curves.time) and curves.time.max() >= len(times):
            return "a survival curve steps at a time that does not exist"
        if self.time_range_.shape != (2,) or not np.isfinite(self.time_range_).all():
            return "time_range_ does not hold two times"
        return super()._defect()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
