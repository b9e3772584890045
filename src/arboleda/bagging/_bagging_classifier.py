"""Bagging of classifiers: Breiman (1996), "Bagging predictors"."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda._out_of_bag import judged_classes
from arboleda.bagging._bagging import Bagging
from arboleda.bagging._ensemble import Array, Floats
from arboleda.bagging._member_classifier import MemberClassifier
from arboleda.bagging._votes import Voting


class BaggingClassifier(Bagging, MemberClassifier):
    """Bagging: classifiers fitted on bootstrap samples of the rows, which vote.

    Each member is a clone of one estimator, any of scikit-learn's kind, fitted on as many rows as
    there are, drawn with replacement. A member that changes much with its sample, as a tree does,
    gains much by the vote; a stable one, as nearest neighbours, little. About 36.8 % of the rows
    stay out of a bag and judge its member without bias (``oob_score``).

    Without replacement this is pasting (Breiman 1999); with ``max_features`` each member also has
    columns of its own: random patches (Louppe & Geurts 2012). The names, defaults and meaning of
    the parameters are scikit-learn's; ``voting`` and ``weights`` are added.

    Parameters
    ----------
    estimator : estimator, default=None
        What the members are clones of; None: `DecisionTreeClassifier`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Rows that a bag draws; a float is a fraction of those of positive weight. None: as many as
        these.
    max_features : int or float, default=1.0
        Columns that each member draws; a float is a fraction of all.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool, default=False
        Whether to judge every row by the members that left it out.
    warm_start : bool, default=False
        Whether `fit` keeps the members it has and adds the missing ones: the same as all at once.
    n_jobs : int, default=None
        Trees of ours are grown and asked in threads: None all available cores. Other members by
        joblib, as in scikit-learn: None means 1 outside of a `joblib.parallel_config`. -1 is all
        cores for both. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the bags and of the members.
    verbose : int, default=0
        How much joblib tells of its progress.
    voting : {"soft", "hard"}, default="soft"
        "soft": the mean of the members' probabilities; members without ``predict_proba`` vote.
        "hard": each member has one vote for the class it predicts.
    weights : {"uniform", "oob"}, default="uniform"
        "uniform": all members count the same. "oob": the better a member classifies the rows that
        its bag left out, the more it counts; see the notes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
    estimator_ : estimator
        What the members are clones of.
    estimators_ : list of estimators
        The members. They know the classes by their numbers in ``classes_``. Trees of ours are
        kept as a forest; each is made when it is asked for.
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
        Share of the rows left out by some member that these members classify rightly. Only with
        ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Votes of the members that left a row out; NaN where there is none. Only with
        ``oob_score=True``.

    Notes
    -----
    Trees of ours are grown by the engine from one table of codes, as forests are; all parameters of
    theirs but ``ccp_alpha`` are known to it. With ``ccp_alpha``, and if a bag draws more rows than
    there are, they are fitted one by one as all other members.

    Rows count by weight in members whose ``fit`` takes ``sample_weight`` (no copy of X is made),
    else by index. With weights of rows, the first kind of member learns from the count in the bag
    times the weight; for the second kind rows are drawn in proportion to their weight.

    With ``weights="oob"`` and K classes, member l has the weight ::

        w_l = max(0, log(p_l / (1 - p_l)) + log(K - 1)),

    divided by the sum over all members. p_l is its accuracy on the rows that its bag left out, kept
    half a row away from 0 and 1. For two equally likely classes and members that err independently
    of each other these are the weights of the most accurate vote (Shapley and Grofman 1984).
    log(K - 1), which is 0 for two classes, is the term of `WeightedMajorityVote` and of SAMME (Zhu
    et al. 2009): a member that guesses evenly has weight 0. One that is worse counts for nothing. A
    member whose bag left no row out has the mean weight of the others; if all weights are 0, the
    members count the same, with a warning.

    Rows left out count evenly, as in ``oob_score_``, those of weight 0 not at all. The weights
    multiply probabilities, votes and decision functions, also those of stages and of the out-of-bag
    answers; ``oob_score_`` is then slightly optimistic, for the weights were measured on the same
    rows. A warm start measures all members anew.

    Differences from scikit-learn: rows of weight 0 are never drawn; frames reach the members as
    frames; a ``class_weight`` of the member that is a dict speaks of the labels in y; a row that no
    member left out does not count in ``oob_score_``; ``oob_score`` works with ``warm_start``, and
    without replacement if rows are left out.

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
        self.voting = voting
        self.weights = weights

    def _set_out_of_bag(self, means: Floats, target: Array) -> None:
        self.oob_decision_function_ = means
        self.oob_score_ = judged_classes(means, target)
