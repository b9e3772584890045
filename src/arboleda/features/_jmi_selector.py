"""JMI: Yang, Moody (1999), "Data visualization and feature selection"."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda.features._greedy_selector import Floats, GreedySelector, Indices
from arboleda.features._measures import Continuous, Measure
from arboleda.features._target import Task

__all__ = ["JMISelector"]


class JMISelector(GreedySelector):
    """Select columns by joint mutual information (JMI).

    The first column is the one that tells most of the target. Each next one maximises the mean of
    I(x_j, x_s; y), what it tells of the target together with each column x_s chosen before: so
    columns that only together tell something are found once one of them is chosen, and repetitions
    add little. Brown et al. (2012) find it the best balance of accuracy and stability
    among the criteria of its kind; theirs is the sum, which orders columns alike.

    Parameters
    ----------
    n_features_to_select : int, default=10
        Of a table of fewer columns all are selected.
    preselect : int, float or None, default=None
        Search only among the columns of the largest I(x_j; y): so many, or a share of all; see
        `MRMRSelector`. It loses columns that only together tell something. None: all columns.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers; see `MRMRSelector`.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        As in `DecisionTreeClassifier`.
    continuous : {"bins", "neighbors"}, default="bins"
        How numbers are measured; see `MRMRSelector`.
    n_bins : int, default=5
        A column with no more values than this keeps each, and is counted either way.
    n_neighbors : int, default=3
        Neighbours of ``continuous="neighbors"``: more scatter less and blur more.
    random_state : int, RandomState or None, default=None
        For the noise that breaks ties of ``continuous="neighbors"``.
    verbose : int, default=0
        1 tells each column as it is chosen.
    n_jobs : int, default=None
        Threads that read X: None all available cores, -1 likewise. The result does not depend on
        it.

    Attributes
    ----------
    order_ : ndarray of shape (n_selected_features,)
        Numbers of the selected columns, in the order in which they were chosen.
    order_scores_ : ndarray of shape (n_selected_features,)
        Value of the criterion of each, when it was chosen; of the first I(x_j; y).
    candidates_ : ndarray of shape (n_candidates,)
        Numbers of the columns that were searched.
    scores_ : ndarray of shape (n_features,)
        I(x_j; y) of every column, in nats.
    support_ : ndarray of shape (n_features,)
        Whether a column is selected.
    task_ : {"classification", "regression"}
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.

    See Also
    --------
    MRMRSelector : Columns that repeat each other little.
    ForestSelector : Columns whose importance in a forest is beyond chance.

    Notes
    -----
    How information is estimated stands at `MRMRSelector`. That of two columns with the target is
    I(x_s; y) + I(x_j; x_s, y) - I(x_j; x_s), each reduced by what chance shows.

    References
    ----------
    H. H. Yang, J. Moody (1999), "Data visualization and feature selection: new algorithms for
    nongaussian data", Advances in Neural Information Processing Systems 12.

    G. Brown, A. Pocock, M.-J. Zhao, M. Luján (2012), "Conditional likelihood maximisation: a
    unifying framework for information theoretic feature selection", Journal of Machine Learning
    Research 13.

    Examples
    --------
    >>> from arboleda import JMISelector
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = JMISelector(3).fit(X, y)
    >>> X.columns[selector.order_].tolist()
    ['flavanoids', 'alcohol', 'od280/od315_of_diluted_wines']
    """

    def __init__(
        self,
        n_features_to_select: int = 10,
        *,
        preselect: int | float | None = None,
        task: Task = "auto",
        categorical_features: Any = "from_dtype",
        continuous: Continuous = "bins",
        n_bins: int = 5,
        n_neighbors: int = 3,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.preselect = preselect
        self.task = task
        self.categorical_features = categorical_features
        self.continuous = continuous
        self.n_bins = n_bins
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _compute_term(self, measure: Measure, last: int, others: Indices) -> Floats:
        return measure.pairs_with_target(last, others)

    def _compute_criterion(self, relevance: Floats, mean: Floats) -> Floats:
        del relevance  # it is part of every pair's
        return mean
