"""AdaBoost.M2: Freund and Schapire (1997)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._loop import OnDegenerate

__all__ = ["AdaBoostM2"]


class AdaBoostM2(FixedParameters, AdaBoostClassifier):
    """AdaBoost.M2: boosting for many classes by weights of pairs of a row and a wrong class.

    Members give each class a plausibility, which is their predicted probability. A member only
    needs a pseudo-loss below 1/2: on weighted average over the pairs, the true class must be more
    plausible than the wrong one.

    It is `AdaBoostClassifier` with ``algorithm="M2"``.

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
    AdaBoostMR : The same weights, with vote weights that minimize the normalizer.

    Notes
    -----
    With the plausibilities h_l(x, k) in [0, 1] and weights D(i, k) of row i and wrong class k,
    which are all equal initially ::

        e = 1/2 sum_{i, k} D(i, k) (1 - h_l(x_i, y_i) + h_l(x_i, k)),    beta_l = e / (1 - e)
        D(i, k) <- D(i, k) beta_l^((1 + h_l(x_i, y_i) - h_l(x_i, k)) / 2) / Z_l

    and the predicted class is ``argmax_k sum_l log(1 / beta_l) h_l(x, k)``.

    References
    ----------
    Y. Freund, R. Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55, section 4.2.

    Examples
    --------
    >>> from arboleda import AdaBoostM2, DecisionTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostM2(DecisionTreeClassifier(max_depth=2), n_estimators=20).fit(X[::2], y[::2])
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
            algorithm="M2",
            random_state=random_state,
            on_degenerate=on_degenerate,
            weight_trimming=weight_trimming,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
