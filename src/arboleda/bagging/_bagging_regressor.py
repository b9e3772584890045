"""Bagging of regressors: Breiman (1996), "Bagging predictors"."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda._engine.target import check_squares
from arboleda._out_of_bag import judged_values
from arboleda.bagging._bagging import Bagging
from arboleda.bagging._draws import RowsToDraw
from arboleda.bagging._ensemble import Array, Floats
from arboleda.bagging._member_regressor import MemberRegressor


class BaggingRegressor(Bagging, MemberRegressor):
    """Bagging: regressors fitted on bootstrap samples of the rows, whose mean is predicted.

    Each member is a clone of one estimator, any of scikit-learn's kind, fitted on as many rows as
    there are, drawn with replacement. The mean has the members' bias and, the less they are
    correlated, a smaller variance. About 36.8 % of the rows stay out of a bag and judge its member
    without bias (``oob_score``).

    Without replacement this is pasting (Breiman 1999); with ``max_features`` each member also has
    columns of its own: random patches (Louppe & Geurts 2012). The names, defaults and meaning of
    the parameters are scikit-learn's; ``weights`` is added.

    Parameters
    ----------
    estimator : estimator, default=None
        What the members are clones of; None: `DecisionTreeRegressor`.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features
        As in `BaggingClassifier`.
    oob_score, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.
    weights : {"uniform", "oob"}, default="uniform"
        "uniform": all members count the same. "oob": the smaller a member's error is on the rows
        that its bag left out, the more it counts; see the notes.

    Attributes
    ----------
    estimator_ : estimator
        What the members are clones of.
    estimators_ : list of estimators
        The members.
    estimators_samples_ : list of ndarray
        Numbers of the rows in each bag, those drawn twice twice; drawn again when asked for.
    estimators_features_ : list of ndarray
        Numbers of the columns of each member.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the members, of sum 1; with ``weights="uniform"`` all equal.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names that are text.
    oob_score_ : float
        R2 of the out-of-bag predictions, where there are any. Only with ``oob_score=True``.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean of the members that left a row out; NaN where there is none. Only with
        ``oob_score=True``.

    Notes
    -----
    Weights of rows, and the differences from scikit-learn, are those of `BaggingClassifier`.

    With ``weights="oob"`` the weight of a member is in proportion to 1 / MSE_l, its mean squared
    error on the rows that its bag left out, over several targets their mean. If the members' errors
    do not correlate, no other weights of sum 1 have a mean with a smaller squared error (Bates and
    Granger 1969). Members that left no row out, stages, out-of-bag predictions and warm starts are
    treated as in `BaggingClassifier`.

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
        self.oob_score_ = judged_values(means, target)
