"""AdaBoost.R: Freund and Schapire (1997)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_regressor import AdaBoostRegressor

__all__ = ["AdaBoostR"]


class AdaBoostR(FixedParameters, AdaBoostRegressor):
    """AdaBoost.R: regression reduced to infinitely many binary problems "is y at least v?".

    Instead of one weight, each row has a piecewise linear density over v. The errors bound the
    training error of the ensemble (``training_error_bound_``).

    It is `AdaBoostRegressor` with ``algorithm="R"``.

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: ``DecisionTreeRegressor(max_depth=3)``.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Shrinkage factor of the weights of the members and of the updates of the row weights.
    random_state, n_iter_no_change, validation_fraction, n_jobs
        See `AdaBoostRegressor`.

    Attributes
    ----------
    estimator_, estimators_, estimator_weights_, estimator_errors_, best_iteration_, \
            training_error_bound_, feature_importances_, n_features_in_, feature_names_in_
        See `AdaBoostRegressor`.

    See Also
    --------
    AdaBoostRegressor : Both algorithms.
    AdaBoostR2 : One weight for each row.

    Notes
    -----
    Targets are rescaled to [0, 1]. The initial density w(i, v) of row i is proportional to
    ``|v - y_i|``. In round l, with the error ::

        e = sum_i |integral of w(i, v) from y_i to h_l(x_i)|,    beta_l = e / (1 - e)

    the density is multiplied by beta_l outside of the interval between y_i and h_l(x_i), where the
    member is right, and normalized. The prediction is the weighted median of the members,
    with weights log(1 / beta_l).

    References
    ----------
    Y. Freund, R. Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55, section 5.3.

    Examples
    --------
    >>> from arboleda import AdaBoostR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostR(n_estimators=20, random_state=0).fit(X, y)
    >>> bool(((model.predict(X) - y) ** 2).mean() <= model.training_error_bound_[-1])
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            algorithm="R",
            random_state=random_state,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
        )
