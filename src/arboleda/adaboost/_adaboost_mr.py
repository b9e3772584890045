"""AdaBoost.MR: Schapire and Singer (1999)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._loop import OnDegenerate

__all__ = ["AdaBoostMR"]


class AdaBoostMR(FixedParameters, AdaBoostClassifier):
    """AdaBoost.MR: boosting by the ranking loss, which counts wrong classes above the true one.

    Pairs of a row and a wrong class have weights, as in AdaBoost.M2; a pair gains weight if the
    member ranks the wrong class above the true one.

    It is `AdaBoostClassifier` with ``algorithm="MR"``.

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
    AdaBoostM2 : The same weights, with vote weights from the pseudo-loss.
    AdaBoostMH : Boosting by the Hamming loss.

    Notes
    -----
    With votes h_l(x, k) in [-1, 1] and weights D(i, k) of row i and wrong class k, which are all
    equal initially ::

        D(i, k) <- D(i, k) exp(a_l (h_l(x_i, k) - h_l(x_i, y_i)) / 2) / Z_l

    where a_l minimizes Z_l, and the predicted class is ``argmax_k sum_l a_l h_l(x, k)``.
    The product of the Z_l bounds the ranking loss of the training rows.

    References
    ----------
    R. Schapire, Y. Singer (1999), "Improved boosting algorithms using confidence-rated
    predictions", Machine Learning 37, figure 4 and section 8.

    Examples
    --------
    >>> from arboleda import AdaBoostMR, DecisionTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostMR(DecisionTreeClassifier(max_depth=2), n_estimators=20).fit(X[::2], y[::2])
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
            algorithm="MR",
            random_state=random_state,
            on_degenerate=on_degenerate,
            weight_trimming=weight_trimming,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
