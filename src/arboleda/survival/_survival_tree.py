"""Survival trees: Segal (1988), LeBlanc and Crowley (1993)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import FixedParameters
from arboleda._base.tree_learner import CategoricalFeatures, MaxFeatures
from arboleda._engine.tree import Tree
from arboleda.survival._survival_forest import SurvivalCriterion, SurvivalForest

__all__ = ["SurvivalTree"]


class SurvivalTree(FixedParameters, SurvivalForest):
    """Survival tree: a decision tree for times to an event, some of them censored.

    Each split maximises the log-rank statistic of its two sides. Each leaf holds the Kaplan-Meier
    and the Nelson-Aalen estimate of its rows.

    Parameters
    ----------
    criterion : {"logrank", "logrank_score"}, default="logrank"
        Statistic of a split. "logrank": the log-rank test of the two sides. "logrank_score": the
        standardised sum of the log-rank scores of one side (Hothorn and Lausen 2003), which is
        faster.
    splitter : {"best", "random"}, default="best"
        "random" draws one threshold per column.
    max_depth : int, default=None
        Largest depth; None: unlimited.
    min_samples_split : int or float, default=6
        Smallest number of rows of a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=3
        Smallest number of rows of a leaf; a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn at each node; a float is a fraction of all columns. None: all.
    max_leaf_nodes : int, default=None
        Largest number of leaves; None: unlimited.
    random_state : int, RandomState or None, default=None
        Seed of the random draws.
    max_bins : int, default=None
        Largest number of bins of a numeric column; None: thresholds between all values.
    categorical_features : sequence, "from_dtype" or None, default="from_dtype"
        See `DecisionTreeClassifier`. Categories are ordered by the mean residual of their rows.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all available cores. The result does not depend on it.

    Attributes
    ----------
    unique_times_ : ndarray of shape (n_event_times,)
        Distinct times of the events in training, ascending.
    time_range_ : ndarray of shape (2,)
        First and last time of the training rows, censored ones included.
    tree_ : Tree
        The nodes.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the columns in the decrease of the negative log-likelihood of the Nelson-Aalen
        estimates.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
        Columns drawn at each node.
    missing_columns_ : ndarray of int
        Indices of the columns with missing values in training.

    References
    ----------
    M. Segal (1988), "Regression trees for censored data", Biometrics 44(1).

    T. Hothorn, B. Lausen (2003), "On the exact distribution of maximally selected rank statistics",
    Computational Statistics and Data Analysis 43(2).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import SurvivalTree
    >>> X = np.arange(40.0)[:, np.newaxis]
    >>> y = np.array([(i % 4 > 0, 80.0 - i) for i in range(40)], dtype="?,f8")
    >>> tree = SurvivalTree(max_depth=1).fit(X, y)
    >>> bool(tree.predict([[39.0]])[0] > tree.predict([[0.0]])[0])
    True
    """

    # Parameters that only forests have.
    n_estimators = 1
    bootstrap = False
    max_samples = None
    oob_score = False
    verbose = 0
    warm_start = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SurvivalForest._parameter_constraints,
        "splitter": [StrOptions({"best", "random"})],
    }

    def __init__(
        self,
        *,
        criterion: SurvivalCriterion = "logrank",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 6,
        min_samples_leaf: int | float = 3,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        max_leaf_nodes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion: SurvivalCriterion = criterion
        self.splitter: Literal["best", "random"] = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features: MaxFeatures = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.random_state = random_state
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.n_jobs = n_jobs

    @classmethod
    def of_forest(cls, forest: Any, *, random_splits: bool) -> Self:
        """Return an unfitted tree with the parameters of a forest's trees."""
        own = cls._get_param_names()
        shared = {name: getattr(forest, name) for name in own if hasattr(forest, name)}
        return cls(**{**shared, "splitter": "random" if random_splits else "best"})

    @property
    def _random_splits(self) -> bool:  # type: ignore[override]
        return self.splitter == "random"

    @property
    def estimator_(self) -> SurvivalTree:
        """An unfitted tree with the same parameters."""
        tree: SurvivalTree = clone(self)
        return tree

    @property
    def tree_(self) -> Tree:
        """The nodes of the tree; created on access."""
        check_is_fitted(self)
        return self.forest_.tree(0)

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the index of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
        """
        return super().apply(X)[:, 0]

    def get_depth(self) -> int:
        """Return the largest number of splits on the way to a leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves
