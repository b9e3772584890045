"""Real AdaBoost: Friedman, Hastie and Tibshirani (2000)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._loop import OnDegenerate

__all__ = ["RealAdaBoost"]


class RealAdaBoost(FixedParameters, AdaBoostClassifier):
    """Real AdaBoost: members vote with the logarithms of their probabilities; SAMME.R.

    All members have the same weight; the size of their votes depends on their confidence. Members
    need ``predict_proba``.

    It is `AdaBoostClassifier` with ``algorithm="real"``.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier that the members are clones of; None: a `DecisionTreeClassifier` of depth 1, a
        stump.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Shrinkage factor of the weights of the votes.
    random_state, on_degenerate, weight_trimming, n_iter_no_change, validation_fraction, n_jobs, \
verbose
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
    SAMME : Members vote for one class.

    Notes
    -----
    With the weighted class probabilities p_l(x) of two classes, y in {-1, 1} ::

        f_l(x) = 1/2 log(p_l(y = 1 | x) / p_l(y = -1 | x))
        w_i <- w_i exp(-y_i f_l(x_i)) / Z_l

    and the predicted class is the sign of ``sum_l f_l(x)``. With K classes (SAMME.R) the votes are
    ``(K - 1) (log p_k - mean_j log p_j)`` and the exponent is minus the vote for the true class
    divided by K - 1.

    References
    ----------
    J. Friedman, T. Hastie, R. Tibshirani (2000), "Additive logistic regression: a statistical view
    of boosting", Annals of Statistics 28, algorithm 2.
    J. Zhu, H. Zou, S. Rosset, T. Hastie (2009), "Multi-class AdaBoost", Statistics and Its
    Interface 2, algorithm 4.

    Examples
    --------
    >>> from arboleda import RealAdaBoost
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RealAdaBoost(n_estimators=50).fit(X[::2], y[::2])
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
        on_degenerate: OnDegenerate = "stop",
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
            algorithm="real",
            random_state=random_state,
            on_degenerate=on_degenerate,
            weight_trimming=weight_trimming,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
