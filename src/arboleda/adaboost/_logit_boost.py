"""LogitBoost: Friedman, Hastie and Tibshirani (2000)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier

__all__ = ["LogitBoost"]


class LogitBoost(FixedParameters, AdaBoostClassifier):
    """LogitBoost: additive logistic regression, boosting by Newton steps on the deviance.

    Members are regressors. The deviance of badly misclassified rows grows only linearly, so it is
    more robust to wrong labels than the exponential loss of AdaBoost.

    It is `AdaBoostClassifier` with ``algorithm="logit"``.

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: a `DecisionTreeRegressor` of depth 1,
        a stump.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Shrinkage factor of the weights of the votes.
    random_state, weight_trimming, n_iter_no_change, validation_fraction, n_jobs, verbose
        See `AdaBoostClassifier`.

    Attributes
    ----------
    classes_, n_classes_, estimator_, estimators_, estimator_weights_, estimator_errors_, \
            edges_, normalizers_, training_error_bound_, edge_bound_, best_iteration_, \
            validation_errors_, feature_importances_, n_features_in_, feature_names_in_
        See `AdaBoostClassifier`.

    See Also
    --------
    AdaBoostClassifier : All nine algorithms.
    GentleBoost : Newton steps on the exponential loss.

    Notes
    -----
    With two classes, y in {0, 1}, initially F = 0 and p(x) = 1 / (1 + exp(-2 F(x))) ::

        w_i = p(x_i) (1 - p(x_i)),    z_i = (y_i - p(x_i)) / w_i
        f_l = argmin_f sum_i w_i (z_i - f(x_i))^2,    F <- F + f_l / 2

    and the predicted class is the sign of F(x). With K classes, each has a member in every
    round; these are centered, and F_k <- F_k + (K - 1)/K f_k, with p the softmax of F.

    References
    ----------
    J. Friedman, T. Hastie, R. Tibshirani (2000), "Additive logistic regression: a statistical view
    of boosting", Annals of Statistics 28, algorithms 3 and 6.

    Examples
    --------
    >>> from arboleda import LogitBoost
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogitBoost(n_estimators=50).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.93)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        weight_trimming: float | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            algorithm="logit",
            random_state=random_state,
            weight_trimming=weight_trimming,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
