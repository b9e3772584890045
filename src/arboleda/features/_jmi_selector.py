"""JMI: Yang, Moody (1999), "Data visualization and feature selection"."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda.features._base_selectors import Task
from arboleda.features._measures import Continuous, Measure
from arboleda.features._mutual_information import Floats, GreedySelector, Indices

__all__ = ["JMISelector"]


class JMISelector(GreedySelector):
    """Select columns by joint mutual information (JMI).

    The first column has the largest mutual information with the target. Each further column
    maximizes the mean of I(x_j, x_s; y), its joint information about the target with each selected
    column x_s. Columns that are only informative together are found once one of them is selected,
    and redundant columns add little. Brown et al. (2012) find that it has the best balance of
    accuracy and stability among the criteria of its kind; they use the sum, which gives the same
    order.

    Parameters
    ----------
    n_features_to_select : int, default=10
        Number of columns to select; all if the table has fewer columns.
    preselect : int, float or None, default=None
        Number or fraction of the columns with the largest I(x_j; y), to which the search is
        restricted; see `MRMRSelector`. Columns that are only informative together may be lost.
        None: all columns.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y contains classes or numbers; see `MRMRSelector`.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        See `DecisionTreeClassifier`.
    continuous : {"bins", "neighbors"}, default="bins"
        Estimator for numeric columns; see `MRMRSelector`.
    n_bins : int, default=5
        Number of bins. Columns with no more values than this are not binned, but counted in both
        modes.
    n_neighbors : int, default=3
        Number of neighbors of ``continuous="neighbors"``: more neighbors reduce the variance and
        increase the bias.
    random_state : int, RandomState or None, default=None
        Seed of the noise that breaks ties of ``continuous="neighbors"``.
    verbose : int, default=0
        1: print each column when it is selected.
    n_jobs : int, default=None
        Number of threads that read X; None and -1: all available cores. The result does not depend
        on it.

    Attributes
    ----------
    order_ : ndarray of shape (n_selected_features,)
        Indices of the selected columns, in the order of selection.
    order_scores_ : ndarray of shape (n_selected_features,)
        Criterion of each column at its selection; I(x_j; y) for the first.
    candidates_ : ndarray of shape (n_candidates,)
        Indices of the columns that were searched.
    scores_ : ndarray of shape (n_features,)
        I(x_j; y) of every column, in nats.
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    task_ : {"classification", "regression"}
        Task of the target.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.
    schema_ : Schema
        Names, types and categories of the columns.

    See Also
    --------
    MRMRSelector : Selection of columns with low redundancy.
    ForestSelector : Columns with a significant importance in a forest.

    Notes
    -----
    See `MRMRSelector` for the estimation of information. The information of two columns about the
    target is I(x_s; y) + I(x_j; x_s, y) - I(x_j; x_s), each corrected for chance.

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
        self.task: Task = task
        self.categorical_features = categorical_features
        self.continuous: Continuous = continuous
        self.n_bins = n_bins
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _compute_term(self, measure: Measure, last: int, others: Indices) -> Floats:
        return measure.pairs_with_target(last, others)

    def _compute_criterion(self, relevance: Floats, mean: Floats) -> Floats:
        del relevance  # included in the joint information
        return mean
