"""Histogram-based gradient boosting for classification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._base.tree_learner import CategoricalFeatures
from arboleda.boosting._base_estimators import BaseBoostingClassifier, ClassWeight
from arboleda.boosting._boosting import Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._hist_gradient_boosting import (
    FeatureWeights,
    ForcedSplits,
    Growth,
    HistGradientBoosting,
    InteractionCst,
    MonotonicCst,
    MultiStrategy,
    OutputSketch,
)
from arboleda.boosting._losses import HIST_CLASSIFICATION, CustomLoss, Loss
from arboleda.boosting._round_monitor import Callback
from arboleda.persist import Field


class HistGradientBoostingClassifier(BaseBoostingClassifier, HistGradientBoosting):
    """Histogram-based gradient boosting for classification, fast with many rows.

    Columns are first binned into at most ``max_bins`` bins. In each round a tree is grown on
    histograms of the derivatives of the loss at the current scores, and a Newton step times
    ``learning_rate`` is added to the scores of each leaf. With K > 2 classes a round grows K trees,
    each by itself or all with the same splits (``multi_strategy``). So it does for several labels
    of each row: y of shape (n_samples, n_labels).
    The names, defaults and meaning of the parameters up to ``class_weight`` are scikit-learn's. The
    same data and parameters give the same model, byte for byte, for any number of threads; without
    subsampling the model does not depend on the order of the rows either.

    Parameters
    ----------
    loss : {"log_loss", "exponential", "focal"} or callable, default="log_loss"
        "log_loss": minus the logarithm of the probability of the true class. "exponential":
        AdaBoost's loss, for two classes. "focal": log-loss in which rows count less, the better
        they are predicted, for two classes or several labels. A callable takes classes as 0, 1, ..
        and raw scores of shape (n,), or (n, n_classes) for more than two classes, and returns the
        gradient and the hessian in the shape of the scores; scores start from 0. For several
        labels, both have the shape (n, n_labels).
    learning_rate : float, default=0.1
        Shrinkage: factor of each tree's contribution. Friedman (2001), section 5.
    max_iter : int or "auto", default=100
        Maximum number of rounds. "auto": chosen by early stopping. If ``learning_rate``,
        ``max_features``, ``extra_trees``, ``n_iter_no_change`` and ``tol`` are left at their
        defaults, they are then chosen too, and the model is the mean of five models, each validated
        on a different fifth of the rows (three models with more than 50,000 rows; one with more
        than 500,000 or with validation rows).
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of a tree. None: no limit.
    max_depth : int or None, default=None
        Maximum depth of a tree. None: no limit.
    min_samples_leaf : int, default=20
        Minimum number of rows of a leaf.
    l2_regularization : float, default=0.0
        ``lambda``: added to the hessian of a leaf, ``-G / (H + lambda)``. Chen and Guestrin (2016).
    max_features : float, default=1.0
        Share of the columns drawn at each node.
    max_bins : int, default=255
        Maximum number of bins of a numeric column, in addition to the one for missing values; at
        most 255. A column with no more distinct values than this is split exactly.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Categorical columns. "from_dtype": the columns of a data frame with a categorical or text
        type. None: no column. Otherwise a list of names or indices, or a boolean mask; the values
        may then be text, numbers or dates.
    monotonic_cst : array-like of int, dict of str to int, or None, default=None
        Constraint of each column, or of the named columns. 1: the score of the second class does
        not decrease as the column increases; -1: it does not increase; 0: unconstrained. For two
        classes, and labels, only.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets, or None, default=None
        Sets of columns, by index or name, that may interact on a path of a tree; the columns in
        none of them form one more set. "no_interactions": no two columns interact, and the model
        is a sum of functions of single columns (see `shape_functions`). "pairwise": every pair.
    warm_start : bool, default=False
        Let a further `fit` add rounds to the fitted model, up to ``max_iter``. On the same data the
        result equals a single fit, byte for byte.
    early_stopping : "auto" or bool, default="auto"
        Hold out validation rows, stop when their score stops improving, and keep the rounds up to
        the best one. "auto": if there are more than 10,000 rows or validation rows are passed to
        `fit`.
    scoring : "loss", str, callable or None, default="loss"
        Score for early stopping: the loss, the name of a scikit-learn scorer, a callable
        ``scorer(estimator, X, y)``, or the accuracy (None).
    validation_fraction : float, int or None, default=0.1
        Share or number of the rows held out, stratified by class. None: the training rows are
        scored.
    validation_folds : int or None, default=None
        Choose the number of rounds by cross-validation with this number of folds, instead of
        ``validation_fraction``. For each fold a model is boosted on the other rows until the score
        of the fold stops improving. The final model is boosted on all rows with the number of
        rounds that has the best mean score. The fit takes slightly longer than one fit per fold,
        but no row is lost to validation; it pays off with few rows. Callbacks are called for the
        rounds of the folds. Not supported with ``warm_start``.
    n_iter_no_change : int, default=10
        Number of rounds without improvement after which to stop.
    tol : float, default=1e-7
        Tolerance for early stopping.
    verbose : int, default=0
        1: print losses and time after rounds 1 to 10, 20 to 100, ..; 2: after every round.
    random_state : int, RandomState or None, default=None
        Seed of the held-out and drawn rows, drawn columns and thresholds, and dropped trees.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" gives all classes the same total weight. Not supported for
        several labels.
    growth : {"leaf_wise", "level_wise", "symmetric"}, default="leaf_wise"
        Order of splits: the leaf with the largest gain first (LightGBM), level by level (XGBoost),
        or level by level with the same split for all nodes of a level (CatBoost).
    l1_regularization : float, default=0.0
        ``alpha``: L1 penalty on the value of a leaf; small steps become 0. As in XGBoost.
    min_split_gain : float, default=0.0
        Split a node only if the gain is larger: ``gamma`` of Chen and Guestrin (2016).
    min_child_weight : float, default=0.001
        Minimum sum of hessians in a leaf.
    max_delta_step : float, default=0.0
        Maximum step of a leaf before ``learning_rate``; 0: no limit. As in XGBoost.
    subsample : float, default=1.0
        Share of the rows drawn for each round, without replacement: Friedman (2002).
    sampling : {"uniform", "goss", "gradient", "auto"}, default="uniform"
        Method for drawing rows. "goss": the share ``top_rate`` with the largest gradients, and a
        random share ``other_rate`` of all rows from the rest, weighted up (Ke et al. 2017).
        "gradient": with probabilities proportional to the gradients, and inverse weights (Ibragimov
        and Gusev 2019). "auto": as "gradient", with 800 rows for each leaf of a tree, but at least
        50,000 and a twentieth of all; all rows where that is more than half of them. Meant for
        classification: with squared errors all rows reach a lower loss in as many rounds.
    top_rate, other_rate : float, default=0.2, 0.1
        Shares of the rows for "goss".
    colsample_bytree, colsample_bylevel : float, default=1.0
        Shares of the columns drawn for each tree, and of these for each level. As in XGBoost.
    feature_weights : array-like of shape (n_features,), dict of str to float, or None, default=None
        Draw columns unevenly for ``max_features``, ``colsample_bytree`` and ``colsample_bylevel``,
        at least one of which must be below 1: each draw is without replacement, with probabilities
        proportional to these weights (Efraimidis and Spirakis 2006). Columns that a dict does not
        name have weight 1. A column of weight 0 is never drawn; if fewer columns have a weight
        than are to be drawn, these are. Gains do not change. As in XGBoost.
    forced_splits : dict or None, default=None
        Splits that every tree begins with, in the nested form of LightGBM: the keys "feature" (name
        or index of a numeric column) and "threshold" (smaller and equal values go left), and
        optionally "left" and "right" with further such dicts. A threshold within a bin moves to its
        nearer edge. A split that leaves too few rows on a side, or violates ``monotonic_cst``, is
        skipped together with those below it. Columns need not be drawn for it. Not supported with
        ``growth="symmetric"`` or ``interaction_cst``.
    extra_trees : bool, default=False
        Consider a single random threshold per column and node: Geurts, Ernst and Wehenkel (2006).
    drop_rate : float, default=0.0
        DART: probability of dropping each earlier tree in a round; the new trees and the dropped
        ones are then rescaled. Rashmi and Gilad-Bachrach (2015). Not supported with early stopping.
    skip_drop : float, default=0.5
        Probability of dropping no tree in a round.
    max_drop : int, default=50
        Maximum number of trees dropped in a round.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        "native": a split divides the categories into two sets. "ordered": a category is encoded by
        the smoothed share of each class among its rows, where a training row uses only the rows
        before it in a random order; columns of two categories stay native. "auto": "ordered" for
        columns with more than 255 categories, or with more than 50 and fewer than 50 rows per
        category on average; otherwise "native". Prokhorenkova et al. (2018), section 3.2.
    cat_smooth : float, default=10.0
        Added to the hessian of each category when the categories of a node are sorted; this moves
        rare ones to the middle. As in LightGBM.
    cat_l2 : float, default=3.0
        Added to ``l2_regularization`` in categorical splits, once for every category of the node
        beyond two: the more categories, the larger the gain by chance.
    linear_leaves : bool, default=False
        Fit a linear function of the numeric columns on its path (the three nearest) in each leaf,
        to gradients and hessians (Shi, Li and Li 2019). The function is constant outside the range
        of the training rows; rows with a missing value in one of the columns get the constant step.
        Not supported with sparse training tables, ``monotonic_cst``, ``drop_rate``,
        ``l1_regularization`` or ``max_delta_step``. The guide describes when it helps.
    linear_l2 : float, default=1.0
        Penalty on the slopes of linear leaves, where a slope is measured as the change over the
        leaf's range of the column.
    multi_strategy : {"one_output_per_tree", "multi_output_tree"}, default="one_output_per_tree"
        How a round grows trees for more than two classes, or several labels. "multi_output_tree":
        all trees of the round have the same splits, the best for all of them together, and each
        leaf has a step for every class or label; a round is much faster than K separate trees, and
        needs more leaves for the same loss. Not supported with ``growth="symmetric"``,
        ``linear_leaves`` or ``monotonic_cst``; ``min_child_weight`` is then about the sum over
        classes or labels, or over the columns of ``output_sketch``. As in XGBoost.
    output_sketch : {"top", "sampling", "projection"} or None, default=None
        Search the splits of "multi_output_tree" by fewer columns than there are classes: those with
        the largest gradients, random ones in proportion to their gradients, or random projections
        of all. Steps of the leaves come from all classes. Iosipoi and Vakhrushev (2022).
    sketch_dim : int, default=5
        Number of columns of ``output_sketch``.
    focal_gamma : float, default=2.0
        For ``loss="focal"``: a row whose class has the probability p counts ``(1 - p) **
        focal_gamma`` times its log-loss. 0 is the log-loss. The larger, the closer to 0.5 are the
        probabilities. Lin et al. (2017).
    callbacks : list of callables, default=None
        Each is called with a `BoostingRound` after every round; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None and -1: all available cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted; for several labels a list with an array of one or two for each.
    n_classes_ : int
        Number of classes; for several labels a list.
    n_outputs_ : int
        Number of labels of a row.
    n_iter_, best_iteration_ : int
        Number of rounds of the fitted model.
    n_trees_per_iteration_ : int
        1 for two classes, otherwise the number of classes; or the number of labels.
    do_early_stopping_ : bool
    train_score_, validation_score_ : ndarray of shape ``(n_iter_ + 1,)``
        Scores after 0, 1, .. rounds, higher is better: the negative loss, or the score of
        ``scoring`` (on at most 10,000 training rows). Empty without early stopping or validation
        rows.
    history_ : dict of ndarray
        ``train_loss``, ``validation_loss`` and ``validation_score`` after 0, 1, .. rounds,
        including the rounds that early stopping discarded. Empty without early stopping, callbacks
        and verbose.
    evals_result_ : dict of str to dict of str to ndarray of shape ``(n_iter_,)``
        Only if `fit` was given ``eval_set``: scores after 1, 2, .. rounds by set and metric. Not in
        model files.
    ensemble_ : Ensemble
        Initial scores and trees.
    loss_ : Loss
    feature_importances_ : ndarray of shape (n_features,)
        Normalized total gain of the splits on each column.
    is_categorical_ : ndarray of bool, or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    missing_columns_ : ndarray of int
        Indices of the columns with missing values in the training data.
    statistics_ : TargetStatistics
        Target statistics of the columns that ``category_encoding`` selected.
    seed_ : int
        Seed drawn from ``random_state``, which ``warm_start`` reuses.

    Notes
    -----
    Missing values (NaN) are supported: each split chooses the better side for them. If a column has
    missing values only at prediction, they go to the child with more training rows. Unseen
    categories are treated like missing values.

    Differences from scikit-learn: early stopping keeps the rounds up to the best one; with
    validation rows "auto" stops early for any number of rows; ``cat_l2`` is added to
    ``l2_regularization`` in categorical splits; held-out rows are not used for binning; rows of
    weight 0 are ignored throughout; a single class gives a constant model; several labels are
    supported.

    References
    ----------
    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5).

    T.-Y. Lin, P. Goyal, R. Girshick, K. He, P. Dollar (2017), "Focal loss for dense object
    detection", ICCV.

    T. Chen, C. Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD.

    L. Prokhorenkova, G. Gusev, A. Vorobev, A. V. Dorogush, A. Gulin (2018), "CatBoost: unbiased
    boosting with categorical features", NeurIPS.

    Y. Shi, J. Li, Z. Li (2019), "Gradient boosting with piece-wise linear regression trees", IJCAI.

    P. Efraimidis, P. Spirakis (2006), "Weighted random sampling with a reservoir", Information
    Processing Letters 97(5).

    L. Iosipoi, A. Vakhrushev (2022), "SketchBoost: fast gradient boosted decision tree for
    multioutput problems", NeurIPS.

    G. Ke et al. (2017), "LightGBM: a highly efficient gradient boosting decision tree", NIPS.

    Examples
    --------
    >>> from arboleda import HistGradientBoostingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = HistGradientBoostingClassifier().fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.95
    True

    Several labels per row:

    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_classes=3, random_state=0)
    >>> model = HistGradientBoostingClassifier(multi_strategy="multi_output_tree").fit(X, Y)
    >>> model.predict(X).shape, [p.shape for p in model.predict_proba(X)]
    ((100, 3), [(100, 2), (100, 2), (100, 2)])
    """

    _supports_multilabel: ClassVar[bool] = True
    _fits_shards: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostingClassifier._parameter_constraints,
        **HistGradientBoosting._parameter_constraints,
        "loss": [StrOptions(set(HIST_CLASSIFICATION)), callable],
        "focal_gamma": [Interval(Real, 0.0, None, closed="left")],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseBoostingClassifier._fitted_attributes,
        **HistGradientBoosting._fitted_attributes,
    }

    def __init__(
        self,
        loss: Literal["log_loss", "exponential", "focal"] | CustomLoss = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int | Literal["auto"] = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotonicCst = None,
        interaction_cst: InteractionCst = None,
        warm_start: bool = False,
        early_stopping: Literal["auto"] | bool = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | int | None = 0.1,
        validation_folds: int | None = None,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        class_weight: ClassWeight = None,
        growth: Growth = "leaf_wise",
        l1_regularization: float = 0.0,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling: Sampling = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        feature_weights: FeatureWeights = None,
        forced_splits: ForcedSplits = None,
        extra_trees: bool = False,
        drop_rate: float = 0.0,
        skip_drop: float = 0.5,
        max_drop: int = 50,
        category_encoding: CategoryEncoding = "auto",
        cat_smooth: float = 10.0,
        cat_l2: float = 3.0,
        linear_leaves: bool = False,
        linear_l2: float = 1.0,
        multi_strategy: MultiStrategy = "one_output_per_tree",
        output_sketch: OutputSketch = None,
        sketch_dim: int = 5,
        focal_gamma: float = 2.0,
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter: int | Literal["auto"] = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins: int | None = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst: InteractionCst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping: Literal["auto"] | bool = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.validation_folds = validation_folds
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight: ClassWeight = class_weight
        self.growth: Growth = growth
        self.l1_regularization = l1_regularization
        self.min_split_gain = min_split_gain
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling: Sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.feature_weights: FeatureWeights = feature_weights
        self.forced_splits: ForcedSplits = forced_splits
        self.extra_trees = extra_trees
        self.drop_rate = drop_rate
        self.skip_drop = skip_drop
        self.max_drop = max_drop
        self.category_encoding: CategoryEncoding = category_encoding
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.linear_leaves = linear_leaves
        self.linear_l2 = linear_l2
        self.multi_strategy: MultiStrategy = multi_strategy
        self.output_sketch: OutputSketch = output_sketch
        self.sketch_dim = sketch_dim
        self.focal_gamma = focal_gamma
        self.callbacks = callbacks
        self.n_jobs = n_jobs

    def _make_loss(self, n_targets: int = 1) -> Loss:
        return replace(super()._make_loss(n_targets), focal_gamma=float(self.focal_gamma))
