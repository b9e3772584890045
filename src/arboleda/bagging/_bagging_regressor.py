"""Bagging of regressors: Breiman (1996), "Bagging predictors"."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda._engine.target import check_squares
from arboleda._out_of_bag import compute_oob_r2
from arboleda.bagging._bagging import Bagging
from arboleda.bagging._draws import RowsToDraw
from arboleda.bagging._ensemble import Array, Floats
from arboleda.bagging._member_regressor import MemberRegressor


class BaggingRegressor(Bagging, MemberRegressor):
    """Bagging: mean of regressors fitted on bootstrap samples of the rows.

    Each member is a clone of one scikit-learn compatible estimator, fitted on n_samples rows drawn
    with replacement. The mean has the bias of the members, and a variance that is smaller the less
    they are correlated. About 36.8 % of the rows are not in a bag and allow an unbiased evaluation
    of its member (``oob_score``).

    Without replacement this is pasting (Breiman 1999). With ``max_features`` each member also draws
    columns: random patches (Louppe & Geurts 2012). Names, defaults and meaning of the parameters
    are those of scikit-learn; ``weights`` is additional.

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: `DecisionTreeRegressor`.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features
        See `BaggingClassifier`.
    oob_score, warm_start, n_jobs, random_state, verbose
        See `BaggingClassifier`.
    weights : {"uniform", "oob"}, default="uniform"
        "uniform": all members have the same weight. "oob": weights by the error of the members on
        the rows that their bags left out; see the notes.

    Attributes
    ----------
    estimator_ : estimator
        Regressor that the members are clones of.
    estimators_ : list of estimators
        Fitted members.
    estimators_samples_ : list of ndarray
        Row indices of each bag, with repeats; drawn again on access.
    estimators_features_ : list of ndarray
        Column indices of each member.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the members, which sum to 1; all equal with ``weights="uniform"``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if all of them are strings.
    oob_score_ : float
        R2 of the out-of-bag predictions. Only with ``oob_score=True``.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the members that left out a row; NaN if there are none. Only with
        ``oob_score=True``.

    Notes
    -----
    See `BaggingClassifier` for sample weights and the differences from scikit-learn.

    With ``weights="oob"`` the weight of a member is proportional to 1 / MSE_l, where MSE_l is its
    mean squared error on the rows that its bag left out, averaged over several targets. If the
    errors of the members are uncorrelated, these weights minimize the squared error of the weighted
    mean (Bates and Granger 1969). Members that left out no row, staged and out-of-bag predictions
    and warm starts are treated as in `BaggingClassifier`.

    References
    ----------
    L. Breiman (1996), "Bagging predictors", Machine Learning 24.
    L. Breiman (1996), "Out-of-bag estimation", technical report, Berkeley.
    G. Louppe, P. Geurts (2012), "Ensembles on random patches".
    J. M. Bates, C. W. J. Granger (1969), "The combination of forecasts", Operational Research
    Quarterly 20.

    Examples
    --------
    >>> from arboleda import BaggingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bag = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(0.35 < bag.oob_score_ < 0.5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MemberRegressor._parameter_constraints,
        **Bagging._parameter_constraints,
    }

    oob_prediction_: Floats

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        weights: Literal["uniform", "oob"] = "uniform",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.weights = weights

    def _check_size(self, target: Array, rows: RowsToDraw) -> None:
        super()._check_size(target, rows)
        if self.oob_score:
            check_squares(target[rows.is_able])

    def _set_out_of_bag(self, means: Floats, target: Array) -> None:
        self.oob_prediction_ = means[:, 0] if target.ndim == 1 else means
        self.oob_score_ = compute_oob_r2(means, target)
