"""Classification by gradient boosting on histograms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from arboleda.boosting._boosting import CategoricalFeatures, Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._classifier import BoostingClassifier, ClassWeight
from arboleda.boosting._hist_gradient_boosting import (
    Growth,
    HistGradientBoosting,
    InteractionCst,
    MonotonicCst,
)
from arboleda.boosting._losses import CustomLoss
from arboleda.boosting._watch import Callback
from arboleda.persist import Field


class HistGradientBoostingClassifier(BoostingClassifier, HistGradientBoosting):
    """Classification by gradient boosting on histograms: fast on many rows.

    Columns are put into at most ``max_bins`` bins once; then round after round a tree is grown on
    the derivatives of the loss at the present scores, by sums over the bins, and its leaves move
    the scores by a Newton step times ``learning_rate``. With K > 2 classes a round grows K trees.
    The names, defaults and meaning of the parameters down to ``class_weight`` are scikit-learn's.
    The same data and parameters give the same model, byte for byte, whatever the number of threads;
    without subsampling the order of the rows does not matter either.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or callable, default="log_loss"
        "log_loss": minus the logarithm of the probability of the right class. "exponential": two
        classes, AdaBoost's loss. A callable takes classes as 0, 1, .. and raw scores, (n,) or
        (n, n_classes) for more than two classes, and returns gradient and hessian in the shape of
        the scores; scores start from 0.
    learning_rate : float, default=0.1
        Share of each tree's step that is taken: shrinkage. Friedman (2001), section 5.
    max_iter : int or "auto", default=100
        Rounds at most. "auto": found by early stopping, as many as help; then ``learning_rate``,
        ``max_features``, ``extra_trees``, ``n_iter_no_change`` and ``tol``, where they are left at
        their defaults, are chosen too, and the model is the mean of five, each judged by another
        fifth of the rows (three with more than 50,000 rows, one with more than 500,000, or with
        validation rows).
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree. None: no limit.
    max_depth : int or None, default=None
        Most edges from the root to a leaf. None: no limit.
    min_samples_leaf : int, default=20
        Fewest rows of a leaf.
    l2_regularization : float, default=0.0
        ``lambda``: added to the hessian of a leaf, ``-G / (H + lambda)``. Chen and Guestrin (2016).
    max_features : float, default=1.0
        Share of the columns drawn at each node.
    max_bins : int, default=255
        Most bins of a numeric column, besides the one for missing values; at most 255. A column of
        no more distinct values is treated exactly.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Columns whose values are categories. "from_dtype": those of a frame that have a categorical
        type or hold text. None: no column. Otherwise a list of names, of indices, or a mask of
        booleans; the values may then be text, numbers or dates.
    monotonic_cst : array-like of int, dict of str to int, or None, default=None
        For each column, or for the columns named: 1 the score of the second class never falls as
        the column rises, -1 it never rises, 0 free. For two classes only.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets, or None, default=None
        Sets of columns, by index or name, that may meet on a path of a tree; columns in none of
        them form one more. "no_interactions": each column by itself, so that the model is a sum of
        curves (see `shape_functions`). "pairwise": every pair.
    warm_start : bool, default=False
        A further `fit` adds rounds up to ``max_iter`` to those there are: on the same data the
        model is the one that had been fitted at once, byte for byte.
    early_stopping : "auto" or bool, default="auto"
        Set rows aside, judge each round by them, stop when they no longer improve, and go back to
        the best round. "auto": with more than 10,000 rows, or when `fit` is given validation rows.
    scoring : "loss", str, callable or None, default="loss"
        By what rounds are judged: the loss, a scorer of scikit-learn by name, a callable
        ``scorer(estimator, X, y)``, or the accuracy (None).
    validation_fraction : float, int or None, default=0.1
        Share or number of the rows set aside, of every class alike. None: the training rows judge.
    validation_folds : int or None, default=None
        Deal the rows out to so many folds, in the place of ``validation_fraction``: for each a
        model is boosted on the other rows and judged by the fold, until it no longer improves. The
        model is then boosted on all rows, with the rounds that were best in the mean of the folds.
        It takes about as many times as long and a little more, and no row is lost to learning or to
        judging; it pays where rows are few. Callbacks are told of the folds' rounds. Not with
        ``warm_start``.
    n_iter_no_change : int, default=10
        Rounds without an improvement after which to stop.
    tol : float, default=1e-7
        What is no improvement.
    verbose : int, default=0
        1: a line with losses and time after rounds 1 to 10, 20 to 100, ..; 2: after every round.
    random_state : int, RandomState or None, default=None
        Seed of everything drawn: rows set aside or sampled, columns, thresholds, dropped trees.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes all classes weigh the same.
    growth : {"leaf_wise", "level_wise", "symmetric"}, default="leaf_wise"
        Which leaf is split next: the one that gains most (LightGBM), level by level (XGBoost), or
        level by level with one split for all nodes of a level (CatBoost).
    l1_regularization : float, default=0.0
        ``alpha``: the price of a leaf's absolute value; small steps become 0. XGBoost's.
    min_split_gain : float, default=0.0
        A node is split only if that gains more: ``gamma`` of Chen and Guestrin (2016).
    min_child_weight : float, default=0.001
        Smallest sum of hessians in a leaf.
    max_delta_step : float, default=0.0
        Largest step of a leaf before ``learning_rate``; 0: no limit. XGBoost's.
    subsample : float, default=1.0
        Share of the rows that a round draws, without replacement: Friedman (2002).
    sampling : {"uniform", "goss", "gradient"}, default="uniform"
        How rows are drawn. "goss": the share ``top_rate`` with the largest gradients, and of the
        rest ``other_rate`` of all rows at random, weighted up (Ke et al. 2017). "gradient": with
        chances in proportion to the gradients, weighted accordingly (Ibragimov and Gusev 2019).
    top_rate, other_rate : float, default=0.2, 0.1
        Shares of the rows for "goss".
    colsample_bytree, colsample_bylevel : float, default=1.0
        Shares of the columns drawn for each tree, and of these for each level. XGBoost's.
    extra_trees : bool, default=False
        Try one threshold a column and node, drawn at random: Geurts, Ernst and Wehenkel (2006).
    drop_rate : float, default=0.0
        DART: chance of each earlier tree to be left out while a round grows; the new trees and
        those left out are then scaled to share the room. Rashmi and Gilad-Bachrach (2015). Not
        together with early stopping.
    skip_drop : float, default=0.5
        Chance of a round to leave none out.
    max_drop : int, default=50
        Most trees left out of a round.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        "native": a split parts the categories in two sets. "ordered": a category becomes a number,
        the share of each class among its rows, smoothed, of which a row sees those before it in a
        random order alone; columns of two categories stay. "auto": "ordered" for columns of more
        than 255 categories, or of more than 50 with fewer than 50 rows each in the mean, "native"
        for the others. Prokhorenkova et al. (2018), section 3.2.
    cat_smooth : float, default=10.0
        Where the categories of a node are put in order, this is added to the hessian of each, so
        that rare ones stand in the middle. LightGBM's.
    cat_l2 : float, default=3.0
        Added to ``l2_regularization`` in splits by category, for every category of the node beyond
        two: the more there are to choose from, the more a choice gains by chance.
    linear_leaves : bool, default=False
        Let each leaf answer with a linear function of the numeric columns on its path (the three
        nearest), fitted to gradients and hessians (Shi, Li and Li 2019). Beyond the values of its
        training rows the function stays what it is at their edge; a row that lacks one of them gets
        the constant step. Not with sparse tables to learn from, ``monotonic_cst``, ``drop_rate``,
        ``l1_regularization`` or ``max_delta_step``. See the guide for when it helps.
    linear_l2 : float, default=1.0
        Penalty on the slopes of linear leaves, each counted as the change across the leaf's range
        of its column.
    callbacks : list of callables, default=None
        Each is told of every round (see `BoostingRound`); one that returns True stops the fit.
    n_jobs : int, default=None
        Threads: None all available cores, -1 likewise. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_iter_, best_iteration_ : int
        Rounds of the fitted model.
    n_trees_per_iteration_ : int
        1 for two classes, else their number.
    do_early_stopping_ : bool
    train_score_, validation_score_ : ndarray of shape ``(n_iter_ + 1,)``
        Scores after 0, 1, .. rounds, higher is better: the negative loss, or what ``scoring`` says
        (of at most 10,000 training rows). Empty without early stopping or validation rows.
    history_ : dict of ndarray
        ``train_loss``, ``validation_loss`` and ``validation_score`` after 0, 1, .. rounds, those
        that early stopping took back included. Empty where nobody asked: without early stopping,
        callbacks and verbose.
    ensemble_ : Ensemble
        Start values and trees.
    loss_ : Loss
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the columns in what all splits gained.
    is_categorical_ : ndarray of bool, or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    missing_columns_ : ndarray of int
        Numbers of the columns that missed values in training.
    statistics_ : TargetStatistics
        Numbers of the categories of the columns that ``category_encoding`` made statistics of.
    seed_ : int
        What ``random_state`` gave; ``warm_start`` goes on with it.

    Notes
    -----
    Missing values (NaN) are learned from: each split also finds the better side for them. A value
    missing only at prediction goes to the child with more training rows. A category that `fit` did
    not see goes where missing values go.

    Differences from scikit-learn: early stopping goes back to the best round; with validation rows
    "auto" stops early however few rows there are; ``l2_regularization`` alone is in splits by
    number, ``cat_l2`` comes in addition in splits by category; rows set aside take no part in
    binning; zero-weight rows are ignored throughout; one class makes a constant model.

    References
    ----------
    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5).

    T. Chen, C. Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD.

    L. Prokhorenkova, G. Gusev, A. Vorobev, A. V. Dorogush, A. Gulin (2018), "CatBoost: unbiased
    boosting with categorical features", NeurIPS.

    Y. Shi, J. Li, Z. Li (2019), "Gradient boosting with piece-wise linear regression trees", IJCAI.

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
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostingClassifier._parameter_constraints,
        **HistGradientBoosting._parameter_constraints,
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BoostingClassifier._fitted_attributes,
        **HistGradientBoosting._fitted_attributes,
    }

    def __init__(
        self,
        loss: Literal["log_loss", "exponential"] | CustomLoss = "log_loss",
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
        extra_trees: bool = False,
        drop_rate: float = 0.0,
        skip_drop: float = 0.5,
        max_drop: int = 50,
        category_encoding: CategoryEncoding = "auto",
        cat_smooth: float = 10.0,
        cat_l2: float = 3.0,
        linear_leaves: bool = False,
        linear_l2: float = 1.0,
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.validation_folds = validation_folds
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.growth = growth
        self.l1_regularization = l1_regularization
        self.min_split_gain = min_split_gain
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.extra_trees = extra_trees
        self.drop_rate = drop_rate
        self.skip_drop = skip_drop
        self.max_drop = max_drop
        self.category_encoding = category_encoding
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.linear_leaves = linear_leaves
        self.linear_l2 = linear_l2
        self.callbacks = callbacks
        self.n_jobs = n_jobs
