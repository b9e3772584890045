"""Classification by gradient boosting with exact trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions

from arboleda._base.tree_learner import CategoricalFeatures, MaxFeatures
from arboleda.boosting._base_estimators import BaseBoostingClassifier, ClassWeight
from arboleda.boosting._boosting import Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._gradient_boosting import GradientBoosting
from arboleda.boosting._losses import CustomLoss
from arboleda.boosting._round_monitor import Callback
from arboleda.persist import Field


class GradientBoostingClassifier(BaseBoostingClassifier, GradientBoosting):
    """Classification by gradient boosting with exact trees: Friedman's own algorithm.

    In each round a regression tree (CART, exact thresholds) is fitted to the negative gradient of
    the loss at the current scores. Each leaf then gets the optimal step for the loss, and the step
    times ``learning_rate`` is added to the scores. With K > 2 classes a round grows K trees. The
    names, defaults and meaning of the parameters up to ``ccp_alpha`` are scikit-learn's. The same
    data and parameters give the same model, byte for byte, for any number of threads. With many
    rows `HistGradientBoostingClassifier` is faster.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or callable, default="log_loss"
        "log_loss": minus the logarithm of the probability of the true class. "exponential":
        AdaBoost's loss, for two classes. A callable takes classes as 0, 1, .. and raw scores of
        shape (n,), or (n, n_classes) for more than two classes, and returns the gradient and the
        hessian in the shape of the scores; scores start from 0.
    learning_rate : float, default=0.1
        Shrinkage: factor of each tree's contribution. Friedman (2001), section 5.
    n_estimators : int or "auto", default=100
        Maximum number of rounds. "auto": chosen by early stopping. If ``learning_rate``,
        ``n_iter_no_change`` and ``tol`` are left at their defaults, they are then chosen too, and
        the model is the mean of several models: see `HistGradientBoostingClassifier`.
    subsample : float, default=1.0
        Share of the rows drawn for each round, without replacement: Friedman (2002).
    criterion : {"deprecated", "friedman_mse", "squared_error"}, default="deprecated"
        Has no effect, as in scikit-learn: all values select the squared error.
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeRegressor`.
    max_depth : int or None, default=3
        Maximum depth of a tree. None: no limit.
    min_impurity_decrease : float, default=0.0
        See `DecisionTreeRegressor`.
    init : estimator, "zero" or None, default=None
        Initial scores: from the class priors (None), 0, or from the probabilities of an estimator
        that is fitted to the same rows with classes as 0, 1, ..
    random_state : int, RandomState or None, default=None
        Seed of the held-out and drawn rows, drawn columns and dropped trees.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns drawn at each node; a float is a fraction of all columns. None: all.
    verbose : int, default=0
        1: print losses and time after rounds 1 to 10, 20 to 100, ..; 2: after every round.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of a tree, which is then grown best first.
    warm_start : bool, default=False
        Let a further `fit` add rounds to the fitted model, up to ``n_estimators``. On the same data
        the result equals a single fit, byte for byte.
    validation_fraction : float or int, default=0.1
        Share or number of the rows held out for early stopping, stratified by class; used if
        ``n_iter_no_change`` is set.
    n_iter_no_change : int or None, default=None
        Stop when a round is not better by ``tol`` than any of this many rounds before it, and keep
        the rounds up to the best one. None: no early stopping.
    tol : float, default=1e-4
        Tolerance for early stopping.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning of each tree.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" gives all classes the same total weight.
    scoring : "loss", str, callable or None, default="loss"
        Score for early stopping: the loss, the name of a scikit-learn scorer, a callable
        ``scorer(estimator, X, y)``, or the accuracy (None).
    sampling : {"uniform", "goss", "gradient"}, default="uniform"
    top_rate, other_rate : float, default=0.2, 0.1
    drop_rate, skip_drop, max_drop : default=0.0, 0.5, 50
        See `HistGradientBoostingClassifier`.
    max_bins : int or None, default=None
        Maximum number of bins of a numeric column. None: no binning.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Categorical columns. "from_dtype": the columns of a data frame with a categorical or text
        type. None: no column. Otherwise a list of names or indices, or a boolean mask; the values
        may then be text, numbers or dates.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        See `HistGradientBoostingClassifier`.
    callbacks : list of callables, default=None
        Each is called with a `BoostingRound` after every round; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None and -1: all available cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
    n_estimators_, best_iteration_ : int
        Number of rounds of the fitted model.
    n_trees_per_iteration_ : int
        1 for two classes, otherwise the number of classes.
    estimators_ : ndarray of shape ``(n_estimators_, n_trees_per_iteration_)``
        The trees as regressors; leaves hold the step times ``learning_rate``.
    init_ : estimator, "zero" or None
    train_score_ : ndarray of shape ``(n_estimators_,)``
        Training loss after each round (the deviance: with two classes twice the log loss, as in
        scikit-learn), on the rows drawn for the round if ``subsample < 1``.
    oob_improvement_, oob_scores_ : ndarray of shape ``(n_estimators_,)``
        Decrease of the out-of-bag loss by each round, and the out-of-bag loss after it; only with
        ``subsample < 1``.
    oob_score_ : float
        Last value of ``oob_scores_``.
    history_ : dict of ndarray
        Mean losses ``train_loss``, ``validation_loss``, ``in_bag_loss``, ``out_of_bag_loss`` and
        ``validation_score`` after 0, 1, .. rounds, if they are computed, including the rounds that
        early stopping discarded.
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of impurity by each column.
    ensemble_ : Ensemble
        Initial scores and trees.
    loss_ : Loss
    max_features_ : int
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
    The step of a leaf is a Newton step, the sum of negative gradients over the sum of hessians,
    times (K - 1)/K with K > 2 classes: Friedman (2001), algorithms 5 and 6.

    Differences from scikit-learn: early stopping keeps the rounds up to the best one; X is compared
    as float64 (not float32); ties between splits are not broken at random; rows of weight 0 are
    ignored throughout; ``init`` is cloned; a single class gives a constant model. Missing values
    and categories are treated as in `DecisionTreeClassifier`.

    References
    ----------
    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5).

    J. Friedman (2002), "Stochastic gradient boosting", Computational Statistics & Data Analysis
    38(4).

    Examples
    --------
    >>> from arboleda import GradientBoostingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = GradientBoostingClassifier(random_state=0).fit(X_train, y_train)
    >>> model.score(X_train, y_train), round(model.score(X_test, y_test), 3)
    (1.0, 0.965)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostingClassifier._parameter_constraints,
        **GradientBoosting._parameter_constraints,
        "init": [StrOptions({"zero"}), None, HasMethods(["fit", "predict_proba"])],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseBoostingClassifier._fitted_attributes,
        **GradientBoosting._fitted_attributes,
    }

    def __init__(
        self,
        *,
        loss: Literal["log_loss", "exponential"] | CustomLoss = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int | Literal["auto"] = 100,
        subsample: float = 1.0,
        criterion: Literal["deprecated", "friedman_mse", "squared_error"] = "deprecated",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: int | np.random.RandomState | None = None,
        max_features: MaxFeatures = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float | int = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        class_weight: ClassWeight = None,
        scoring: str | Callable[..., float] | None = "loss",
        sampling: Sampling = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        drop_rate: float = 0.0,
        skip_drop: float = 0.5,
        max_drop: int = 50,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        category_encoding: CategoryEncoding = "auto",
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators: int | Literal["auto"] = n_estimators
        self.subsample = subsample
        self.criterion: Literal["deprecated", "friedman_mse", "squared_error"] = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features: MaxFeatures = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.class_weight: ClassWeight = class_weight
        self.scoring = scoring
        self.sampling: Sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.drop_rate = drop_rate
        self.skip_drop = skip_drop
        self.max_drop = max_drop
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.category_encoding: CategoryEncoding = category_encoding
        self.callbacks = callbacks
        self.n_jobs = n_jobs
