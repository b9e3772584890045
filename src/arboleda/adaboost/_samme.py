"""SAMME: Zhu, Zou, Rosset and Hastie (2009)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._loop import OnDegenerate

__all__ = ["SAMME"]


class SAMME(FixedParameters, AdaBoostClassifier):
    """SAMME: AdaBoost for many classes, with members better than random guessing.

    Stagewise additive modeling with a multi-class exponential loss. A member must have a weighted
    error below 1 - 1/K. With two classes it is AdaBoost. The predictions are those of
    scikit-learn's ``AdaBoostClassifier``.

    It is `AdaBoostClassifier` with ``algorithm="SAMME"``.

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
    AdaBoostM1 : Without the term log(K - 1).
    RealAdaBoost : SAMME.R, by probabilities.

    Notes
    -----
    All rows have the initial weight 1/N. In round l, with K classes and the weighted error e of the
    member h_l ::

        a_l = log((1 - e) / e) + log(K - 1)
        w_i <- w_i exp(a_l I(h_l(x_i) != y_i)) / Z_l

    and the predicted class is ``argmax_k sum_l a_l I(h_l(x) = k)``.

    References
    ----------
    J. Zhu, H. Zou, S. Rosset, T. Hastie (2009), "Multi-class AdaBoost", Statistics and Its
    Interface 2, algorithm 2.

    Examples
    --------
    >>> from arboleda import SAMME, DecisionTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SAMME(DecisionTreeClassifier(max_depth=2), n_estimators=20).fit(X[::2], y[::2])
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
            algorithm="SAMME",
            random_state=random_state,
            on_degenerate=on_degenerate,
            weight_trimming=weight_trimming,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
