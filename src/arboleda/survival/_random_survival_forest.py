"""Random survival forests: Ishwaran, Kogalur, Blackstone, Lauer (2008)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda._base.tree_learner import CategoricalFeatures, MaxFeatures
from arboleda.survival._survival_forest import SurvivalCriterion, SurvivalForest
from arboleda.survival._survival_tree import SurvivalTree

__all__ = ["RandomSurvivalForest"]


class RandomSurvivalForest(FixedParameters, SurvivalForest):
    """Random survival forest: predicts risks and survival curves from censored times to an event.

    Each tree is grown on a bootstrap sample. A node draws ``max_features`` columns and takes the
    split with the largest log-rank statistic. The survival curve of a row is the mean, over the
    trees, of the estimate in the leaf that it reaches.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"logrank", "logrank_score"}, default="logrank"
        See `SurvivalTree`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes
        See `SurvivalTree`. Fractions are of all rows, not of a tree's.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns drawn at each node; a float is a fraction of all columns. None: all.
    bootstrap : bool, default=True
        Whether each tree is fitted on as many rows as there are, drawn with replacement. False:
        each tree is fitted on all rows.
    oob_score : bool, default=False
        Whether to compute the out-of-bag concordance index.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all available cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; those of tree i do not depend on the number of trees or threads.
    verbose : int, default=0
        1 prints progress about ten times, 2 after every tree.
    warm_start : bool, default=False
        Keep the trees of the last fit and add trees up to ``n_estimators``.
    max_samples : int, float or None, default=None
        Rows drawn for each tree with ``bootstrap=True``, at most all; a float is a fraction.
        None: as many as there are.
    max_bins, categorical_features
        See `SurvivalTree`.

    Attributes
    ----------
    unique_times_ : ndarray of shape (n_event_times,)
        Distinct times of the events in training, ascending.
    time_range_ : ndarray of shape (2,)
        First and last time of the training rows, censored ones included.
    estimators_ : sequence of SurvivalTree
        The trees, created on access.
    estimators_samples_ : sequence of ndarray of int
        Training rows of each tree, ascending, with repeats.
    n_estimators_ : int
        Number of trees.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the columns in the decrease of the negative log-likelihood of the Nelson-Aalen
        estimates, as a mean over the trees. See the guide for its bias, and prefer permutation.
    oob_score_ : float
        Harrell's concordance index of the out-of-bag predictions. This and the next attribute exist
        only with ``oob_score``.
    oob_prediction_ : ndarray of shape (n_samples,)
        Mean mortality over the trees that were fitted without the row; NaN if there is none.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
        Columns drawn at each node.
    missing_columns_ : ndarray of int
        Indices of the columns with missing values in training.

    Notes
    -----
    The same data, parameters and seed give the same forest, byte for byte, whatever the number of
    threads. Names and defaults of the parameters are those of scikit-survival.

    Differences from scikit-survival: ``unique_times_`` only has the times of events; missing values
    and categories need no preparation; curves come as arrays unless ``return_array=False``, at any
    ``times``; there is no ``low_memory``, as leaves only keep the steps of their curves.

    References
    ----------
    H. Ishwaran, U. Kogalur, E. Blackstone, M. Lauer (2008), "Random survival forests", Annals of
    Applied Statistics 2(3).


    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import RandomSurvivalForest
    >>> X = np.arange(40.0)[:, np.newaxis]
    >>> y = np.array([(i % 4 > 0, 80.0 - i) for i in range(40)], dtype="?,f8")
    >>> forest = RandomSurvivalForest(n_estimators=20, random_state=0).fit(X, y)
    >>> forest.score(X, y) > 0.9
    True
    >>> forest.predict_survival_function(X[:3], times=[40.0, 60.0]).shape
    (3, 2)
    """

    _random_splits: ClassVar[bool] = False

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: SurvivalCriterion = "logrank",
        max_depth: int | None = None,
        min_samples_split: int | float = 6,
        min_samples_leaf: int | float = 3,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "sqrt",
        max_leaf_nodes: int | None = None,
        bootstrap: bool = True,
        oob_score: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        max_samples: int | float | None = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion: SurvivalCriterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features: MaxFeatures = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features

    @property
    def estimator_(self) -> Any:
        """An unfitted tree with the parameters of the forest's trees."""
        return SurvivalTree.of_forest(self, random_splits=False)
