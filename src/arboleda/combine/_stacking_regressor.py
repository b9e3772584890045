"""Stacking of regressors: Wolpert (1992), Breiman (1996)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.linear_model import RidgeCV
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._members import Named
from arboleda.combine._stacking import Stacking, StackMethod
from arboleda.combine._weighted_mean import Constraint, WeightedMeanRegressor

__all__ = ["StackingRegressor"]

Floats = npt.NDArray[np.float64]


class StackingRegressor(Stacking, WeightedMeanRegressor):
    """Stacking: a final regressor learns from out-of-fold predictions of the members.

    For each fold of a cross-validation, the members are fitted on the other folds and predict its
    rows, so every prediction comes from a member that has not seen the row's target. The final
    regressor is fitted on these predictions; the members are then fitted on all rows. With
    ``weights`` the prediction is a linear combination of the members' predictions under a
    constraint (Breiman 1996), and there is no final regressor.

    The names, defaults and meaning of the parameters are those of scikit-learn; ``weights`` is an
    addition. For several levels, use a stack as the final estimator: its members learn from the
    first level's predictions, with their own folds.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    final_estimator : estimator, default=None
        A regressor; None: scikit-learn's ``RidgeCV``.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5 in the order of the rows. "prefit": the members are already fitted; `fit`
        takes rows that they have not seen. The final regressor is not fitted on rows that are in no
        test set, such as the first of time-ordered folds.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.
    passthrough : bool, default=False
        Whether the final regressor also gets the columns of X.
    verbose : int, default=0
        Whether to print a line for each fitted member; 0: no.
    weights : {"simplex", "nonnegative"}, default=None
        Combine the members by the weights with the smallest out-of-fold squared error:
        "nonnegative" weights of any sum, or weights of sum one, "simplex". With a sum of one, the
        prediction lies within the range of the members' predictions.

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
        Defined only if a member has it.

    Notes
    -----
    Differences from scikit-learn: folds need not cover all rows; `fit` accepts ``groups``, and
    passes them to a final estimator that accepts them.

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
        self.weights: Constraint | None = weights

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
        """Predict by the final regressor, or by the weighted sum of the members' predictions.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        **predict_params : dict
            Passed to ``predict`` of the final regressor, such as ``return_std``.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            With any further return values of the final regressor.
        """
        check_is_fitted(self)
        if self.weights is not None:
            return super().predict(X)
        return self.final_estimator_.predict(
            self.transform(X), **self._route_predict_params(predict_params)
        )
