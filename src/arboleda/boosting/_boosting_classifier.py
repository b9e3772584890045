"""Gradient boosting for classification with nothing to set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from arboleda._base.mixins import FixedParameters
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda.boosting._automatic_boosting import Auto, AutomaticBoosting, Effort
from arboleda.boosting._base_estimators import ClassWeight
from arboleda.boosting._boosting import Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._hist_gradient_boosting import (
    FeatureWeights,
    ForcedSplits,
    Growth,
    InteractionCst,
    MonotonicCst,
    MultiStrategy,
    OutputSketch,
)
from arboleda.boosting._hist_gradient_boosting_classifier import HistGradientBoostingClassifier
from arboleda.boosting._losses import CLASSIFICATION, CustomLoss
from arboleda.boosting._round_monitor import Callback
from arboleda.persist import Field


class BoostingClassifier(FixedParameters, AutomaticBoosting, HistGradientBoostingClassifier):
    """Gradient boosting for classification that chooses its parameters from the training rows.

    The model is the mean of several members, each boosted without one fold of the rows until the
    loss of the fold stops improving. Changes of the parameters are tried on held-out rows and kept
    where they are better by more than a standard error; then the leaves of all members are refitted
    on all rows. One fit thus gives a tuned model, honest predictions of the training rows
    (``cv_predictions_``) and a report of what was chosen and why (``report_``).

    Parameters
    ----------
    effort : {"quick", "normal", "high"}, default="normal"
        "quick": three members with a learning rate of 0.1 (one of more than 50,000 rows), and no
        change. "normal": five members (three of more than 50,000 rows, one of more than 500,000);
        linear leaves, cross columns, leaves of 5 rows and trees of 16 leaves are tried. "high": the
        rows are divided into folds twice, with members for both; trees of 127 leaves are tried,
        too, and changes are compared on all folds of the first division.
    time_budget : float, default=None
        Seconds: no change is tried after half of them, and no member is fitted after all of them. A
        member that is not complete by then is left out, except the first. Refitting the leaves
        comes on top. The result then depends on the speed of the machine. None: no limit.
    random_state : int, RandomState or None, default=None
        Seed of the folds, drawn columns and thresholds.
    loss, class_weight
        See `HistGradientBoostingClassifier`.
    learning_rate, max_depth, max_features, subsample, l2_regularization, n_iter_no_change : \
            default="auto"
        See `HistGradientBoostingClassifier`. "auto": 0.05 (0.1 if quick), None, 0.5, 1.0, 0.0, and
        50 (20 if quick, 150 if high). Other values are kept.
    max_leaf_nodes, min_samples_leaf, linear_leaves, extra_trees : default="auto"
        See `HistGradientBoostingClassifier`. "auto": chosen by held-out rows, from 31 leaves (63 if
        the trees are shared), 20 rows, constant leaves, and random thresholds in every second
        member. Other values are kept. With linear leaves there are no Shapley values.
    cross_columns : bool or "auto", default="auto"
        Whether trees may also split on the difference and the product of each pair of the (at most
        six) numeric columns that matter most to the first member. "auto": if held-out rows say so.
        Then there are no Shapley values, and True supports neither constraints, uneven
        ``feature_weights`` nor a sparse X.
    multi_strategy, output_sketch : default="auto"
        See `HistGradientBoostingClassifier`. "auto": with more than two classes and at most 100
        columns all classes share trees, and from ten classes on splits are searched by projections.
        Other values are kept.
    max_bins, categorical_features, category_encoding, cat_smooth, cat_l2, monotonic_cst
        See `HistGradientBoostingClassifier`.
    interaction_cst, growth, l1_regularization, min_split_gain, min_child_weight, max_delta_step
        See `HistGradientBoostingClassifier`.
    sampling, top_rate, other_rate, colsample_bytree, colsample_bylevel, linear_l2, sketch_dim
        See `HistGradientBoostingClassifier`.
    feature_weights, forced_splits, scoring, callbacks, verbose, n_jobs
        See `HistGradientBoostingClassifier`.

    Attributes
    ----------
    report_ : BoostingReport
        What was chosen and why; ``print(model.report_)`` shows it.
    crossed_columns_ : ndarray of int
        The columns whose differences and products the trees may split on; empty if none.
    cv_predictions_ : ndarray of shape (n_samples, n_classes) or (n_samples, n_labels)
        Probabilities of the training rows by members that were not fitted on them; of several
        labels those of the second class of each. NaN for rows that were in no fold: of weight 0,
        the only row of a class, most rows if there is a single member, and all if validation rows
        were passed to `fit` or nothing can be held out. Not in model files.
    classes_, ensemble_, loss_, feature_importances_, n_iter_, schema_, seed_
        See `HistGradientBoostingClassifier`.

    Notes
    -----
    The loss of ``cv_predictions_`` is a little smaller than that of new rows: their members were
    stopped, and changes chosen, by the same rows. And it belongs to single members; the mean of all
    is usually better than that. Where columns of many categories are encoded by ordered statistics
    it is larger: held-out rows have the statistics of the rows before them, new rows those of all.

    Changes are compared by the loss of the fit, whatever ``scoring`` is. None is tried for custom
    losses and Huber's, which have no value for a single row.

    References
    ----------
    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5).

    L. Breiman (1996), "Bagging predictors", Machine Learning 24(2).

    Examples
    --------
    >>> from arboleda import BoostingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostingClassifier(random_state=0).fit(X, y)
    >>> accuracy = float((model.cv_predictions_.argmax(axis=1) == y).mean())
    >>> accuracy > 0.95
    True
    >>> print(model.report_)  # doctest: +ELLIPSIS
    5 members, ... rounds in all
    log_loss on held-out rows: 0.0... (standard error 0.0...)
    ...
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HistGradientBoostingClassifier._parameter_constraints,
        **AutomaticBoosting._automatic_constraints,
        "loss": [StrOptions(set(CLASSIFICATION)), callable],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **HistGradientBoostingClassifier._fitted_attributes,
        **AutomaticBoosting._automatic_attributes,
    }

    def __init__(
        self,
        effort: Effort = "normal",
        *,
        time_budget: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        loss: Literal["log_loss", "exponential"] | CustomLoss = "log_loss",
        class_weight: ClassWeight = None,
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
            class_weight=class_weight,
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
