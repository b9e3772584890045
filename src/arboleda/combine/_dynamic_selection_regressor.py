"""Dynamic selection of regressors: Rooney et al. (2004)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda.combine import _dynamic_selection as _competence
from arboleda.combine._combination import FitInputs, ValueCombination
from arboleda.combine._dynamic_selection import DynamicSelection
from arboleda.combine._members import Named

__all__ = ["DynamicSelectionRegressor"]

Floats = npt.NDArray[np.float64]
Method = Literal["ds", "dw", "dws"]


class DynamicSelectionRegressor(DynamicSelection, ValueCombination):
    """Dynamic selection: each row is predicted by the regressors with the least error near it.

    The members are scored on held-out rows, the validation rows. The local error of a member at a
    row is the mean of its absolute errors on the nearest validation rows, weighted by 1/distance.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    method : {"ds", "dw", "dws"}, default="dws"
        "ds", dynamic selection: the member with the least local error. "dw", dynamic weighting: all
        members, weighted by 1/local error. "dws", both: the members whose local error lies in the
        lower half of the range over all members, weighted by 1/local error.
    n_neighbors : int or None, default=7
        Size of the region of competence. None: all rows.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5. "prefit": the
        members are already fitted; `fit` takes rows that they have not seen.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    n_judged_ : int
        Number of validation rows in the index.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

    Notes
    -----
    Distances are Euclidean over the unscaled columns: scale them first, in a pipeline. If there are
    neighbours at distance zero, only these count.

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

    def _learn(self, inputs: FitInputs) -> None:
        held_out = self._index_held_out_rows(inputs)
        self._errors = np.abs(held_out.outputs - inputs.training.y[held_out.rows]).T

    def predict(self, X: Any) -> Floats:
        """Predict by the members with the least error near each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        parts = []
        for distances, neighbors, outputs in self._iter_batches(X):
            weights = _competence.inverse_weights(distances)
            local = np.einsum("qkl,qk->ql", self._errors[neighbors], weights)
            parts.append(np.einsum("ql,lq->q", self._weights(local), outputs))
        return np.concatenate(parts)

    def _weights(self, local: Floats) -> Floats:
        """Compute the weight of each member from its local error, of shape (q, L)."""
        least = local.min(axis=1, keepdims=True)
        if self.method == "ds":
            chosen = local <= least
            return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))
        # If some members have no error near a row, only these get weight.
        weights = _competence.inverse_weights(local)
        if self.method == "dws":
            greatest = local.max(axis=1, keepdims=True)
            weights[local > (least + greatest) / 2] = 0.0
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))
