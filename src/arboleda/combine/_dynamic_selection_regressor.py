"""Dynamic selection of regressors: Rooney et al. (2004)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda.combine import _competence
from arboleda.combine._dynamic_selection import DynamicSelection
from arboleda.combine._learned import Given, ValueCombination
from arboleda.combine._members import Named

__all__ = ["DynamicSelectionRegressor"]

Floats = npt.NDArray[np.float64]
Method = Literal["ds", "dw", "dws"]


class DynamicSelectionRegressor(DynamicSelection, ValueCombination):
    """Dynamic selection: for each row, the regressors that err least near it answer.

    The members are judged on rows that they have not seen. A member's local error at a row is the
    mean of its absolute errors on the nearest judged rows, each weighing 1/distance.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    method : {"ds", "dw", "dws"}, default="dws"
        "ds", dynamic selection: the member with the least local error answers. "dw", dynamic
        weighting: all do, with weights in proportion to 1/local error. "dws", both: those whose
        local error lies in the lower half of its range over the members, weighted so.
    n_neighbors : int or None, default=7
        Size of the region of competence. None: all rows.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the answers that members are judged by; None: 5. "prefit": the members are
        fitted, and `fit` is given rows that they have not seen.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    n_judged_ : int
        Rows in the index.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    Notes
    -----
    Distances are Euclidean over the columns as they are: scale them first, in a pipeline.
    Neighbours at distance zero, if there are any, count alone.

    References
    ----------
    N. Rooney, D. Patterson, S. Anand, A. Tsymbal (2004), "Dynamic integration of regression
    models", Multiple Classifier Systems, LNCS 3077.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor, DynamicSelectionRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import Ridge
    >>> X, y = make_friedman1(500, random_state=0)
    >>> members = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=5))]
    >>> model = DynamicSelectionRegressor(members).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.7)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DynamicSelection._parameter_constraints,
        "method": [StrOptions({"ds", "dw", "dws"})],
    }

    def __init__(
        self,
        estimators: list[Named],
        *,
        method: Method = "dws",
        n_neighbors: int | None = 7,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.n_jobs = n_jobs

    def _learn(self, given: Given) -> None:
        found = self._judge(given)
        self._errors = np.abs(found.outputs - given.training.y[found.rows]).T

    def predict(self, X: Any) -> Floats:
        """Answers of the members that err least near each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        parts = []
        for distances, neighbors, said in self._batches(X):
            weights = _competence.inverse_weights(distances)
            local = np.einsum("qkl,qk->ql", self._errors[neighbors], weights)
            parts.append(np.einsum("ql,lq->q", self._weights(local), said))
        return np.concatenate(parts)

    def _weights(self, local: Floats) -> Floats:
        """Weight of each member from its local error, shape (q, L)."""
        least = local.min(axis=1, keepdims=True)
        if self.method == "ds":
            chosen = local <= least
            return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))
        # Members without any error near a row, if there are any, answer alone.
        weights = _competence.inverse_weights(local)
        if self.method == "dws":
            greatest = local.max(axis=1, keepdims=True)
            weights[local > (least + greatest) / 2] = 0.0
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))
