"""AdaBoost.R2: Drucker (1997)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_regressor import AdaBoostRegressor
from arboleda.adaboost._regressor_rounds import Loss

__all__ = ["AdaBoostR2"]


class AdaBoostR2(FixedParameters, AdaBoostRegressor):
    """AdaBoost.R2: boosted regression that draws badly predicted rows more often.

    The predictions are those of scikit-learn's ``AdaBoostRegressor``: the weighted median of the
    members.

    It is `AdaBoostRegressor` with ``algorithm="R2"``.

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: ``DecisionTreeRegressor(max_depth=3)``.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Shrinkage factor of the weights of the members and of the updates of the row weights.
    loss : {"linear", "square", "exponential"}, default="linear"
        Loss of a row as a function of its absolute error; see the notes.
    random_state, n_iter_no_change, validation_fraction, n_jobs
        See `AdaBoostRegressor`.

    Attributes
    ----------
    estimator_, estimators_, estimator_weights_, estimator_errors_, best_iteration_, \
            feature_importances_, n_features_in_, feature_names_in_
        See `AdaBoostRegressor`.

    See Also
    --------
    AdaBoostRegressor : Both algorithms.
    AdaBoostR : The original algorithm, with a bound of its training error.

    Notes
    -----
    In round l, the member h_l is fitted on N rows drawn with the weights w_i, initially 1/N. With
    the largest absolute error E of a row and ``r_i = |y_i - h_l(x_i)| / E``, the loss L_i of row i
    is r_i, r_i^2 or 1 - exp(-r_i) ("linear", "square", "exponential") ::

        e = sum_i w_i L_i,    beta_l = e / (1 - e)
        w_i <- w_i beta_l^(1 - L_i) / Z_l

    and the weights of the members in the median are log(1 / beta_l).

    References
    ----------
    H. Drucker (1997), "Improving regressors using boosting techniques", ICML.

    Examples
    --------
    >>> from arboleda import AdaBoostR2
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostR2(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.3)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: Loss = "linear",
        random_state: int | np.random.RandomState | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            algorithm="R2",
            loss=loss,
            random_state=random_state,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
        )
