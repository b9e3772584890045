"""Stacking of regressors: Wolpert (1992), Breiman (1996)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.linear_model import RidgeCV
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._constrained_weights import Constraint
from arboleda.combine._members import Named
from arboleda.combine._stacking import Stacking, StackMethod
from arboleda.combine._weighted_mean import WeightedMeanRegressor

__all__ = ["StackingRegressor"]

Floats = npt.NDArray[np.float64]


class StackingRegressor(Stacking, WeightedMeanRegressor):
    """Stacking: a final regressor learns from what the members say of rows they have not seen.

    In every fold of a cross-validation the members learn from the other folds and predict its rows,
    so that no prediction for a row comes from a member that has seen its target. The final
    regressor learns from these predictions, side by side; the members are then fitted on all rows.
    With ``weights`` the answer is a linear combination of the members' predictions under a
    constraint (Breiman 1996), and there is no final regressor.

    The names, defaults and meaning of the parameters are scikit-learn's; ``weights`` is added. For
    several levels, let the final estimator be a stack itself: its members learn from the first
    level's predictions, in folds of their own.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    final_estimator : estimator, default=None
        A regressor; None: scikit-learn's ``RidgeCV``.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5 in the order of the rows. "prefit": the members are fitted, and `fit` is
        given rows that they have not seen. Rows that are in no test, as the first ones of
        time-ordered folds, are not learned from by the final regressor.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.
    passthrough : bool, default=False
        Whether the final regressor sees the columns of X too.
    verbose : int, default=0
        Whether to print a line for each member fitted: 0 does not.
    weights : {"simplex", "nonnegative"}, default=None
        Combine the members by the weights with the smallest squared error out of fold:
        "nonnegative" weights of any sum, or those of sum one, "simplex". With a sum of one, the
        answer never leaves the range of the members'.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    final_estimator_ : estimator
        The final regressor. Without ``weights``.
    weights_ : ndarray of shape (n_members,)
        With ``weights``.
    stack_method_ : list of str
        "predict" for each member.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    Notes
    -----
    Differences from scikit-learn: folds need not cover all rows; ``groups`` may be given to `fit`,
    and reach a final estimator that takes them.

    References
    ----------
    D. H. Wolpert (1992), "Stacked generalization", Neural Networks 5.
    L. Breiman (1996), "Stacked regressions", Machine Learning 24.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor, StackingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("ridge", Ridge(0.1)), ("tree", DecisionTreeRegressor(max_depth=3))]
    >>> stack = StackingRegressor(members, weights="simplex").fit(X, y)
    >>> bool(stack.weights_[0] > stack.weights_[1])
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        weights: Constraint | None = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.weights = weights

    def _check_members(self, members: list[Named]) -> None:
        for name, member in members:
            if not is_regressor(member):
                raise ValueError(
                    f"The estimator {type(member).__name__} should be a regressor; the member "
                    f"{name!r} is not"
                )
        super()._check_members(members)

    def _wanted_method(self) -> StackMethod:
        return "predict"

    def _default_final(self) -> Any:
        return RidgeCV()

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Predictions of the final regressor, or the members' by their weights.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        **predict_params : dict
            For the final regressor's ``predict``, as ``return_std``.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            And what else the final regressor returns.
        """
        check_is_fitted(self)
        if self.weights is not None:
            return super().predict(X)
        return self.final_estimator_.predict(self.transform(X), **self._for_final(predict_params))
