"""Class switching: Breiman (2000); Martinez-Munoz & Suarez (2005)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda.bagging._draws import RowsToDraw, limit_of_switching
from arboleda.bagging._ensemble import Array
from arboleda.bagging._member_classifier import MemberClassifier
from arboleda.bagging._plan import Plan
from arboleda.bagging._saved_members import Share
from arboleda.bagging._votes import Voting
from arboleda.persist import Field

# Share of the limit at which the authors' ensembles did best on most tables.
_USUAL = 0.6


class ClassSwitchingClassifier(MemberClassifier):
    """Class switching: classifiers fitted on all rows, each with other labels falsified at random.

    For each member a share p of the labels is switched, such that the classes keep their numbers of
    rows. Members that fit their own labels without error, as whole trees do, then disagree almost
    independently of each other, and the vote of many of them is right where the labels are. It
    takes more members than bagging: hundreds.

    Parameters
    ----------
    estimator : estimator, default=None
        What the members are clones of; None: `DecisionTreeClassifier`.
    n_estimators : int, default=100
        Number of members.
    p : float or "auto", default="auto"
        Share of the labels that become others, below a limit: above it the majority of many members
        no longer has the training labels. With two classes the limit is the share of the smaller
        one; with K classes of equal size it is (K - 1) / K. "auto": 0.6 of the limit.
    warm_start, n_jobs, random_state, verbose, voting
        As in `BaggingClassifier`.

    Attributes
    ----------
    p_ : float
        Share of the labels that was switched.
    p_limit_ : float
        What ``p`` has to be below, for the classes of y; NaN for one class.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
    estimator_ : estimator
        What the members are clones of.
    estimators_ : list of estimators
        The members. They know the classes by their numbers in ``classes_``.
    estimators_features_ : list of ndarray
        Numbers of the columns of each member: all.
    estimators_samples_ : list of ndarray
        Numbers of the rows of each member: all of positive weight.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names that are text.

    Notes
    -----
    Class j becomes i with probability w P_i, where P are the shares of the classes and
    w = p / (1 - sum P^2). A class stays itself more often than it becomes any other one if
    p < (1 - sum P^2) / (1 - P_i + P_j) for all i and j: the limit.

    References
    ----------
    L. Breiman (2000), "Randomizing outputs to increase prediction accuracy", Machine Learning 40.
    G. Martinez-Munoz, A. Suarez (2005), "Switching class labels to generate classification
    ensembles", Pattern Recognition 38.

    Examples
    --------
    >>> from arboleda import ClassSwitchingClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ClassSwitchingClassifier(n_estimators=200, random_state=0).fit(X, y)
    >>> round(forest.p_limit_, 3), round(forest.p_, 3), bool(forest.score(X, y) > 0.97)
    (0.667, 0.4, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MemberClassifier._parameter_constraints,
        "p": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    }

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **MemberClassifier._fitted_attributes,
        "p_": Share(),
        "p_limit_": Share(),
    }

    p: float | Literal["auto"]
    p_: float
    p_limit_: float

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        p: float | Literal["auto"] = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: Voting = "soft",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.p = p
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting

    def _plan(self, target: Array, rows: RowsToDraw) -> Plan:
        labels = target if rows.able is None else target[rows.able]
        self.p_, self.p_limit_ = self._share(np.bincount(labels, minlength=self.n_classes_))
        return Plan(
            n_features=self.n_features_in_,
            n_drawn=rows.n_able,
            n_columns=self.n_features_in_,
            switch_share=self.p_,
        )

    def _share(self, class_sizes: Array) -> tuple[float, float]:
        """Share of the labels to switch, and its limit."""
        present = np.flatnonzero(class_sizes)
        if len(present) < 2:  # there is nothing that a label could become
            return 0.0, float("nan")
        limit = limit_of_switching(class_sizes[present])
        if self.p == "auto":
            return _USUAL * limit, limit
        if self.p > limit * (1 - 1e-9):  # the limit itself, however it was rounded, is too much
            smallest = present[class_sizes[present].argmin()]
            share = class_sizes[smallest] / class_sizes.sum()
            raise ValueError(
                f"p={self.p} is not below {limit:.4g}, the limit for the {len(present)} classes of "
                f"y, of which {self.classes_[smallest].item()!r} is the rarest with {share:.2%} of "
                "the rows: above it the vote of many members is wrong on the training rows. Lower "
                "p, or set p='auto'"
            )
        return float(self.p), limit
