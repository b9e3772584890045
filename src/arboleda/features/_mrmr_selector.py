"""mRMR: Peng, Long, Ding (2005), "Feature selection based on mutual information"."""

from __future__ import annotations

from math import log
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from arboleda.features._greedy_selector import Floats, GreedySelector, Indices
from arboleda.features._measures import Continuous, Measure
from arboleda.features._target import Task

__all__ = ["MRMRSelector"]

Scheme = Literal["difference", "quotient"]

# Added to redundancy before dividing by it, in nats: the 0.01 bits of the program that the authors
# published with the method.
_LEAST_REDUNDANCY = 0.01 * log(2.0)


class MRMRSelector(GreedySelector):
    """Select columns of minimal redundancy and maximal relevance (mRMR).

    The first column is the one that tells most of the target. Each next one maximises what it tells
    of the target, I(x_j; y), against the mean of what it tells of the columns S chosen before:

    - ``scheme="difference"``: I(x_j; y) - mean of I(x_j; x_s) over S, Peng et al. (2005), eq. (7);
    - ``scheme="quotient"``: I(x_j; y) / (mean of I(x_j; x_s) over S + 0.01 bits), Ding and Peng
      (2005), table 1. The constant is that of the authors' program.

    Parameters
    ----------
    n_features_to_select : int, default=10
        Of a table of fewer columns all are selected.
    preselect : int, float or None, default=None
        Rank the columns by I(x_j; y) first and search only among the best: so many, or a share of
        all, rounded up. 0.2 is a usual choice for thousands of columns: the search costs a fifth.
        It loses columns that tell nothing by themselves. None: all columns.
    scheme : {"difference", "quotient"}, default="difference"
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers. "auto": numbers that are not all whole mean regression,
        anything else classification, as scikit-learn's ``type_of_target`` has it. A target of whole
        numbers that are quantities needs "regression".
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        As in `DecisionTreeClassifier`.
    continuous : {"bins", "neighbors"}, default="bins"
        How numbers are measured, those of a regression's target too. "bins": in ``n_bins`` bins of
        equally many rows, counted. "neighbors": by nearest neighbours, which sees finer relations
        and takes milliseconds for every pair of columns.
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
        Value of the criterion of each, when it was chosen; of the first its relevance.
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
    JMISelector : Columns that tell of the target together.
    ForestSelector : Columns whose importance in a forest is beyond chance.

    Notes
    -----
    Categories are counted, and a missing value is a category. Counted information is reduced by its
    expectation under independence, given how many rows each level has (Vinh, Epps, Bailey 2010),
    and negative estimates count as 0: columns of many levels have no advantage. Ties go to the
    first column.

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
        self.task = task
        self.categorical_features = categorical_features
        self.continuous = continuous
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
        return relevance / (mean + _LEAST_REDUNDANCY)
