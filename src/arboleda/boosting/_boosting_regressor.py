"""Gradient boosting for regression with nothing to set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from arboleda._base.fitted import check_fitted
from arboleda._base.mixins import FixedParameters
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.parallel import resolve_threads
from arboleda._utils.coverage import check_coverage
from arboleda.boosting._automatic_boosting import Auto, AutomaticBoosting, Candidate, Effort
from arboleda.boosting._base_estimators import RegressionLoss
from arboleda.boosting._boosting import Floats, Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._held_out import compute_plus_bounds, get_columns
from arboleda.boosting._hist_gradient_boosting import (
    FeatureWeights,
    ForcedSplits,
    Growth,
    InteractionCst,
    MonotonicCst,
    MultiStrategy,
    OutputSketch,
)
from arboleda.boosting._hist_gradient_boosting_regressor import HistGradientBoostingRegressor
from arboleda.boosting._losses import REGRESSION, CustomLoss
from arboleda.boosting._round_monitor import Callback
from arboleda.boosting._rows import FitProblem, TrainingRows
from arboleda.persist import EnsemblePart, Field, ListOf, SavedArray


class BoostingRegressor(FixedParameters, AutomaticBoosting, HistGradientBoostingRegressor):
    """Gradient boosting for regression that chooses its parameters from the training rows.

    As `BoostingClassifier`, for a numeric target, or several. One fit also gives prediction
    intervals: see `predict_interval`.

    Parameters
    ----------
    effort, time_budget, random_state
        See `BoostingClassifier`.
    loss, quantile, alpha, power
        See `HistGradientBoostingRegressor`.
    learning_rate, max_depth, max_features, subsample, l2_regularization, n_iter_no_change : \
            default="auto"
        See `BoostingClassifier`.
    max_leaf_nodes, min_samples_leaf, linear_leaves, extra_trees, cross_columns : default="auto"
        See `BoostingClassifier`. With several targets, changes are compared by the sum of their
        losses: bring them to similar scales.
    multi_strategy, output_sketch : default="auto"
        See `HistGradientBoostingRegressor`. "auto": a tree for each target.
    max_bins, categorical_features, category_encoding, cat_smooth, cat_l2, monotonic_cst
        See `HistGradientBoostingRegressor`.
    interaction_cst, growth, l1_regularization, min_split_gain, min_child_weight, max_delta_step
        See `HistGradientBoostingRegressor`.
    sampling, top_rate, other_rate, colsample_bytree, colsample_bylevel, linear_l2, sketch_dim
        See `HistGradientBoostingRegressor`.
    feature_weights, forced_splits, scoring, callbacks, verbose, n_jobs
        See `HistGradientBoostingRegressor`.

    Attributes
    ----------
    report_ : BoostingReport
        What was chosen and why; ``print(model.report_)`` shows it.
    crossed_columns_ : ndarray of int
        The columns whose differences and products the trees may split on; empty if none.
    cv_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Predictions of the training rows by members that were not fitted on them. NaN for rows that
        were in no fold. Not in model files.
    cv_residuals_ : ndarray of shape (n_held_out, n_outputs)
        Absolute errors of held-out rows, sorted within each fold.
    fold_sizes_ : ndarray of shape (n_folds,)
        Number of held-out rows of each fold.
    members_ : list of Ensemble
        The member of each fold of the first division, before its leaves were refitted.
    ensemble_, loss_, feature_importances_, n_iter_, schema_, seed_
        See `HistGradientBoostingRegressor`.

    References
    ----------
    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5).

    R. F. Barber, E. J. Candes, A. Ramdas, R. J. Tibshirani (2021), "Predictive inference with the
    jackknife+", Annals of Statistics 49(1).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import BoostingRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.uniform(0, 10, size=(500, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * random.normal(size=500)
    >>> model = BoostingRegressor(random_state=0).fit(X, y)
    >>> lower, upper = model.predict_interval([[3.0]], coverage=0.9)[0]
    >>> bool(lower < np.sin(3.0) < upper)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HistGradientBoostingRegressor._parameter_constraints,
        **AutomaticBoosting._automatic_constraints,
        "loss": [StrOptions(set(REGRESSION)), callable],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **HistGradientBoostingRegressor._fitted_attributes,
        **AutomaticBoosting._automatic_attributes,
        "cv_residuals_": SavedArray(np.float64, 2),
        "fold_sizes_": SavedArray(np.int64),
        "members_": ListOf(EnsemblePart()),
    }

    cv_residuals_: Floats
    fold_sizes_: npt.NDArray[np.int64]
    members_: list[Ensemble]

    def __init__(
        self,
        effort: Effort = "normal",
        *,
        time_budget: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        loss: RegressionLoss | CustomLoss = "squared_error",
        quantile: float | Sequence[float] | None = None,
        alpha: float = 0.9,
        power: float = 1.5,
        learning_rate: float | Auto = "auto",
        max_leaf_nodes: int | Auto | None = "auto",
        max_depth: int | Auto | None = "auto",
        min_samples_leaf: int | Auto = "auto",
        l2_regularization: float | Auto = "auto",
        max_features: float | Auto = "auto",
        subsample: float | Auto = "auto",
        extra_trees: bool | Auto = "auto",
        linear_leaves: bool | Auto = "auto",
        cross_columns: bool | Auto = "auto",
        multi_strategy: MultiStrategy | Auto = "auto",
        output_sketch: OutputSketch | Auto = "auto",
        n_iter_no_change: int | Auto = "auto",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        category_encoding: CategoryEncoding = "auto",
        cat_smooth: float = 10.0,
        cat_l2: float = 3.0,
        monotonic_cst: MonotonicCst = None,
        interaction_cst: InteractionCst = None,
        growth: Growth = "leaf_wise",
        l1_regularization: float = 0.0,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        max_delta_step: float = 0.0,
        sampling: Sampling = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        feature_weights: FeatureWeights = None,
        forced_splits: ForcedSplits = None,
        linear_l2: float = 1.0,
        sketch_dim: int = 5,
        scoring: str | Callable[..., float] | None = "loss",
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        chosen: dict[str, Any] = {
            "learning_rate": learning_rate,
            "max_leaf_nodes": max_leaf_nodes,
            "max_depth": max_depth,
            "min_samples_leaf": min_samples_leaf,
            "l2_regularization": l2_regularization,
            "max_features": max_features,
            "subsample": subsample,
            "extra_trees": extra_trees,
            "linear_leaves": linear_leaves,
            "multi_strategy": multi_strategy,
            "output_sketch": output_sketch,
            "n_iter_no_change": n_iter_no_change,
        }
        super().__init__(
            max_iter="auto",
            early_stopping=True,
            tol=0.0,
            random_state=random_state,
            loss=loss,
            quantile=quantile,
            alpha=alpha,
            power=power,
            max_bins=max_bins,
            categorical_features=categorical_features,
            category_encoding=category_encoding,
            cat_smooth=cat_smooth,
            cat_l2=cat_l2,
            monotonic_cst=monotonic_cst,
            interaction_cst=interaction_cst,
            growth=growth,
            l1_regularization=l1_regularization,
            min_split_gain=min_split_gain,
            min_child_weight=min_child_weight,
            max_delta_step=max_delta_step,
            sampling=sampling,
            top_rate=top_rate,
            other_rate=other_rate,
            colsample_bytree=colsample_bytree,
            colsample_bylevel=colsample_bylevel,
            feature_weights=feature_weights,
            forced_splits=forced_splits,
            linear_l2=linear_l2,
            sketch_dim=sketch_dim,
            scoring=scoring,
            callbacks=callbacks,
            verbose=verbose,
            n_jobs=n_jobs,
            **chosen,
        )
        del self.max_iter  # members choose their rounds
        self.effort: Effort = effort
        self.cross_columns: bool | Auto = cross_columns
        self.time_budget = time_budget

    def _keep_held_out(
        self, rows: TrainingRows, problems: Sequence[FitProblem], candidate: Candidate
    ) -> None:
        super()._keep_held_out(rows, problems, candidate)
        if self.cv_predictions_.shape[1] == 1:
            self.cv_predictions_ = self.cv_predictions_[:, 0]
        residuals = []
        n_folds = min(len(problems), candidate.data.n_folds)  # each row once
        for member_problem, scores in zip(
            problems[:n_folds], candidate.scores[:n_folds], strict=True
        ):
            scored = member_problem.scored_rows
            errors = np.abs(get_columns(scored.targets) - self.loss_.predictions(scores))
            errors = rows.shards.join(errors)
            is_held_out = scored is not member_problem.rows
            residuals.append(np.sort(errors, axis=0) if is_held_out else errors[:0])
        self.cv_residuals_ = np.concatenate(residuals)
        self.fold_sizes_ = np.array([len(errors) for errors in residuals])
        self.members_ = [member.ensemble_ for member in candidate.members[:n_folds]]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Predict an interval that contains the target with a given probability.

        The errors of held-out training rows around the predictions of all members: the CV+ method
        of Barber, Candes, Ramdas and Tibshirani (2021). For members that are independent of the
        held-out rows they prove a coverage of 2 coverage - 1, less a small excess; in practice it
        is close to ``coverage``. Here members were stopped, and parameters chosen, by these rows,
        which makes the intervals of small tables a little too narrow. Where columns of many
        categories are encoded by ordered statistics, they are too wide: held-out rows have the
        statistics of the rows before them, new rows those of all. Sample weights are not used.
        With a single member, or validation rows given to `fit`, these are the intervals of split
        conformal prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Strictly between 0 and 1.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2), or (n_samples, n_targets, 2)
            Lower and upper bounds; infinite if there are too few rows for the coverage.

        Raises
        ------
        ValueError
            If ``coverage`` is not between 0 and 1, or with ``loss="quantile"``.

        Examples
        --------
        >>> from arboleda import BoostingRegressor
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BoostingRegressor("quick", random_state=0).fit(X[:300], y[:300])
        >>> bounds = model.predict_interval(X[300:], coverage=0.8)
        >>> bounds.shape
        (142, 2)
        """
        check_fitted(self)
        check_coverage(coverage)
        if self.loss_.levels:
            raise ValueError(
                "predict_interval needs predictions of a mean or median, and loss='quantile' "
                "predicts quantiles: use them as bounds, or fit with another loss, such as "
                "loss='absolute_error' for the median"
            )
        table = self._check_input(X)
        n_threads = resolve_threads(table, self.n_jobs)
        predictions = np.stack(
            [self.loss_.predictions(each.scores(table, n_threads)) for each in self.members_]
        )
        ends = np.cumsum(self.fold_sizes_)[:-1]
        intervals = np.stack(
            [
                compute_plus_bounds(predictions[:, :, k], np.split(of_output, ends), coverage)
                for k, of_output in enumerate(self.cv_residuals_.T)
            ],
            axis=1,
        )
        return intervals[:, 0] if intervals.shape[1] == 1 else intervals

    def _defect(self) -> str | None:
        if (defect := super()._defect()) is not None:
            return defect
        n_outputs, sizes, residuals = self.loss_.n_outputs, self.fold_sizes_, self.cv_residuals_
        if len(sizes) != len(self.members_) or not len(sizes):
            return "there is not one fold for each member"
        if not ((sizes >= 0) & (sizes <= len(residuals))).all():
            return "a fold has an impossible size"
        if residuals.shape != (sizes.sum(), n_outputs):
            return "the residuals do not fit the sizes of the folds"
        if not (np.isfinite(residuals) & (residuals >= 0.0)).all():
            return "a residual is negative or not finite"
        folds = np.split(residuals, np.cumsum(sizes)[:-1])
        if any((np.diff(fold, axis=0) < 0.0).any() for fold in folds):
            return "residuals are not sorted"
        for member in self.members_:
            if member.n_outputs != n_outputs:
                return "a member and the loss have different numbers of scores"
            if (defect := member.defect(self._tree_levels)) is not None:
                return defect
        return None
