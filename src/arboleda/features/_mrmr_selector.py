"""mRMR: Peng, Long, Ding (2005), "Feature selection based on mutual information"."""

from __future__ import annotations

from math import log
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from arboleda.features._base_selectors import Task
from arboleda.features._measures import Continuous, Measure
from arboleda.features._mutual_information import Floats, GreedySelector, Indices

__all__ = ["MRMRSelector"]

Scheme = Literal["difference", "quotient"]

# Added to the redundancy before dividing by it, in nats: the 0.01 bits of the program published by
# the authors.
_REDUNDANCY_OFFSET = 0.01 * log(2.0)


class MRMRSelector(GreedySelector):
    """Select columns of minimal redundancy and maximal relevance (mRMR).

    The first column has the largest mutual information with the target. Each further column
    maximizes its relevance I(x_j; y) against its redundancy, the mean mutual information with the
    selected columns S:

    - ``scheme="difference"``: I(x_j; y) - mean of I(x_j; x_s) over S, Peng et al. (2005), eq. (7);
    - ``scheme="quotient"``: I(x_j; y) / (mean of I(x_j; x_s) over S + 0.01 bits), Ding and Peng
      (2005), table 1. The constant is that of the authors' program.

    Parameters
    ----------
    n_features_to_select : int, default=10
        Number of columns to select; all if the table has fewer columns.
    preselect : int, float or None, default=None
        Number of columns with the largest I(x_j; y), or a fraction of all, rounded up, to which the
        search is restricted. 0.2 is a usual choice for thousands of columns, which takes a fifth of
        the time. Columns that are not informative by themselves are lost. None: all columns.
    scheme : {"difference", "quotient"}, default="difference"
        How relevance and redundancy are combined; see above.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y contains classes or numbers. "auto": regression if y has fractional numbers, else
        classification, as in scikit-learn's ``type_of_target``. Use "regression" for quantities
        that are whole numbers.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        See `DecisionTreeClassifier`.
    continuous : {"bins", "neighbors"}, default="bins"
        Estimator for numeric columns and regression targets. "bins": counting in ``n_bins``
        quantile bins. "neighbors": nearest neighbors, which detect finer relations and take
        milliseconds per pair of columns.
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
        Criterion of each column at its selection; the relevance for the first.
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
    JMISelector : Selection of columns that are informative together.
    ForestSelector : Columns with a significant importance in a forest.

    Notes
    -----
    Categories are counted, and a missing value is a category. Information from counts is reduced by
    its expectation under independence, given the numbers of rows of the levels (Vinh, Epps, Bailey
    2010), and negative estimates are set to 0. Columns with many levels thus have no advantage.
    Ties go to the first column.

    References
    ----------
    H. Peng, F. Long, C. Ding (2005), "Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy", IEEE Transactions on Pattern Analysis and
    Machine Intelligence 27.

    C. Ding, H. Peng (2005), "Minimum redundancy feature selection from microarray gene expression
    data", Journal of Bioinformatics and Computational Biology 3.

    Examples
    --------
    >>> from arboleda import MRMRSelector
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = MRMRSelector(3).fit(X, y)
    >>> X.columns[selector.order_].tolist()
    ['flavanoids', 'alcohol', 'proline']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedySelector._parameter_constraints,
        "scheme": [StrOptions({"difference", "quotient"})],
    }

    def __init__(
        self,
        n_features_to_select: int = 10,
        *,
        scheme: Scheme = "difference",
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
        self.scheme = scheme
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
        return np.maximum(measure.with_column(last, others), 0.0)

    def _compute_criterion(self, relevance: Floats, mean: Floats) -> Floats:
        if self.scheme == "difference":
            return relevance - mean
        return relevance / (mean + _REDUNDANCY_OFFSET)
