"""AdaBoost.M1: Freund and Schapire (1997)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._loop import OnDegenerate

__all__ = ["AdaBoostM1"]


class AdaBoostM1(FixedParameters, AdaBoostClassifier):
    """AdaBoost.M1: boosting for any number of classes, with members of error below 1/2.

    Each member is fitted on weighted rows, and the rows that it classifies correctly lose weight. A
    member must have a weighted error below 1/2, whatever the number of classes, which is hard for
    weak members if there are many classes.

    It is `AdaBoostClassifier` with ``algorithm="M1"``.

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
    AdaBoostM2 : Works with weaker members.
    SAMME : Needs an error below 1 - 1/K.

    Notes
    -----
    All rows have the initial weight 1/N. In round l, with the weighted error e of the member h_l ::

        e = sum_i w_i I(h_l(x_i) != y_i),    beta_l = e / (1 - e)
        w_i <- w_i beta_l^I(h_l(x_i) = y_i) / Z_l

    and the predicted class is ``argmax_g sum_l log(1 / beta_l) I(h_l(x) = g)``.

    References
    ----------
    Y. Freund, R. Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55, section 4.1.

    Examples
    --------
    >>> from arboleda import AdaBoostM1, DecisionTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostM1(DecisionTreeClassifier(max_depth=2), n_estimators=20).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
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
            algorithm="M1",
            random_state=random_state,
            on_degenerate=on_degenerate,
            weight_trimming=weight_trimming,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
