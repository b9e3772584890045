"""Bagging: Breiman (1996), "Bagging predictors"."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda._base.held_out import compute_oob_accuracy, compute_oob_r2
from arboleda._engine.target import check_squares
from arboleda.bagging._bagging import Bagging
from arboleda.bagging._ensemble import Array, Floats
from arboleda.bagging._member_estimators import MemberClassifier, MemberRegressor
from arboleda.bagging._sampling import RowsToDraw
from arboleda.bagging._votes import Voting


class BaggingClassifier(Bagging, MemberClassifier):
    """Bagging: majority vote of classifiers fitted on bootstrap samples of the rows.

    Each member is a clone of one scikit-learn compatible estimator, fitted on n_samples rows drawn
    with replacement. Unstable members such as trees gain much from bagging, stable ones such as
    nearest neighbors little. About 36.8 % of the rows are not in a bag and allow an unbiased
    evaluation of its member (``oob_score``).

    Without replacement this is pasting (Breiman 1999). With ``max_features`` each member also draws
    columns: random patches (Louppe & Geurts 2012). Names, defaults and meaning of the parameters
    are those of scikit-learn; ``voting`` and ``weights`` are additional.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier that the members are clones of; None: `DecisionTreeClassifier`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Number of rows in a bag, or a fraction of the rows of positive weight. None: as many rows as
        have a positive weight.
    max_features : int or float, default=1.0
        Number of columns that each member draws, or a fraction of all.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool, default=False
        Whether to compute out-of-bag predictions and their score.
    warm_start : bool, default=False
        Whether `fit` keeps existing members and adds the missing ones. The result is the same as
        that of fitting all members at once.
    n_jobs : int, default=None
        Number of threads for arboleda trees; None: all available cores. Other members use joblib,
        as in scikit-learn; None: 1 outside of a `joblib.parallel_config`. -1: all cores for both.
        The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the bags and of the members.
    verbose : int, default=0
        Verbosity of joblib.
    voting : {"soft", "hard"}, default="soft"
        "soft": mean of the members' probabilities; members without ``predict_proba`` use hard
        votes. "hard": each member has one vote for its predicted class.
    weights : {"uniform", "oob"}, default="uniform"
        "uniform": all members have the same weight. "oob": weights by the accuracy of the members
        on the rows that their bags left out; see the notes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
        Number of classes.
    estimator_ : estimator
        Classifier that the members are clones of.
    estimators_ : list of estimators
        Fitted members, whose classes are indices into ``classes_``. Trees of arboleda are stored as
        a forest and created on access.
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
        Out-of-bag accuracy, on the rows that some member left out. Only with ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean votes of the members that left out a row; NaN if there are none. Only with
        ``oob_score=True``.

    Notes
    -----
    Trees of arboleda are grown by the engine from one binned table, as forests are. The engine
    supports all their parameters except ``ccp_alpha``. With ``ccp_alpha``, or if a bag draws more
    rows than there are, they are fitted one by one like all other members.

    If the ``fit`` of the members takes ``sample_weight``, bags are passed as weights, without a
    copy of X; otherwise rows are selected by index. In the first case, sample weights of the
    ensemble are multiplied by the counts in the bag; in the second, rows are drawn in proportion to
    them.

    With ``weights="oob"`` and K classes, member l has the weight ::

        w_l = max(0, log(p_l / (1 - p_l)) + log(K - 1)),

    divided by the sum over all members. p_l is its accuracy on the rows that its bag left out,
    clipped to stay half a row away from 0 and 1. For two equally likely classes and members with
    independent errors, these weights give the most accurate vote (Shapley and Grofman 1984). The
    term log(K - 1), which is 0 for two classes, is that of `WeightedMajorityVote` and of SAMME (Zhu
    et al. 2009): a member that guesses uniformly, or is worse, has weight 0. A member whose bag
    left out no row has the mean weight of the others. If all weights are 0, the members get the
    same weight, with a warning.

    All left-out rows count equally, as in ``oob_score_``, except that rows of weight 0 are ignored.
    The weights apply to probabilities, votes and decision functions, also in staged and out-of-bag
    predictions; ``oob_score_`` is then slightly optimistic, because the weights were computed on
    the same rows. A warm start recomputes the weights of all members.

    Differences from scikit-learn: rows of weight 0 are never drawn; data frames are passed on
    to the members as data frames; a ``class_weight`` dict of the member refers to the labels of y;
    a row that no member left out does not count in ``oob_score_``; ``oob_score`` works with
    ``warm_start``, and without replacement if rows are left out.

    References
    ----------
    L. Breiman (1996), "Bagging predictors", Machine Learning 24.
    L. Breiman (1996), "Out-of-bag estimation", technical report, Berkeley.
    L. Breiman (1999), "Pasting small votes for classification in large databases and on-line".
    G. Louppe, P. Geurts (2012), "Ensembles on random patches".
    L. Shapley, B. Grofman (1984), "Optimizing group judgmental accuracy in the presence of
    interdependencies", Public Choice 43.
    L. I. Kuncheva (2014), "Combining Pattern Classifiers", section 4.3.
    J. Zhu, H. Zou, S. Rosset, T. Hastie (2009), "Multi-class AdaBoost", Statistics and Its
    Interface 2.

    Examples
    --------
    >>> from arboleda import BaggingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bag = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(bag.oob_score_ > 0.93)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MemberClassifier._parameter_constraints,
        **Bagging._parameter_constraints,
    }

    oob_decision_function_: Floats

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
        voting: Voting = "soft",
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
        self.voting: Voting = voting
        self.weights = weights

    def _set_out_of_bag(self, means: Floats, target: Array) -> None:
        self.oob_decision_function_ = means
        self.oob_score_: float = compute_oob_accuracy(means, target)


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
        self.oob_score_: float = compute_oob_r2(means, target)
