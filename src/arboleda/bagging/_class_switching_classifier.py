"""Class switching: Breiman (2000); Martinez-Munoz & Suarez (2005)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda.bagging._ensemble import Array
from arboleda.bagging._member_estimators import MemberClassifier
from arboleda.bagging._sampling import RowsToDraw, SamplingPlan, compute_switching_limit
from arboleda.bagging._saved_members import ShareField
from arboleda.bagging._votes import Voting
from arboleda.persist import Field

Scheme = Literal["proportional", "uniform"]

# Share of the limit at which the ensembles of the authors were best on most data sets.
_AUTO_SHARE_OF_LIMIT = 0.6


class ClassSwitchingClassifier(MemberClassifier):
    """Class switching: classifiers fitted on all rows, each with other random wrong labels.

    For each member, a share p of the labels is switched to other classes. Members that fit their
    labels without error, such as fully grown trees, then have almost independent errors, and the
    vote of many members recovers the true labels. It needs more members than bagging: hundreds.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier that the members are clones of; None: `DecisionTreeClassifier`.
    n_estimators : int, default=100
        Number of members.
    p : float or "auto", default="auto"
        Share of the labels that are switched. It must be below ``p_limit_``, which depends on
        ``scheme``: above it, the majority of many members no longer recovers the training labels.
        "auto": 0.6 times the limit.
    scheme : {"proportional", "uniform"}, default="proportional"
        How the new classes are chosen.

        - "proportional": in proportion to the class sizes, such that the classes keep their numbers
          of rows (Breiman 2000). With two classes the limit of ``p`` is the share of the smaller
          one; with K classes of equal size it is (K - 1) / K.
        - "uniform": any other class, each with probability p / (K - 1) (Martínez-Muñoz and Suárez
          2005). The limit is (K - 1) / K for any class sizes, so many labels can be switched even
          if one class is rare. The labels of the members are then more balanced than y, and so are
          the predicted probabilities of the ensemble.
    warm_start, n_jobs, random_state, verbose, voting
        See `BaggingClassifier`.

    Attributes
    ----------
    p_ : float
        Share of the labels that were switched.
    p_limit_ : float
        Upper limit of ``p`` for the classes of y and ``scheme``; NaN for a single class.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
        Number of classes.
    estimator_ : estimator
        Classifier that the members are clones of.
    estimators_ : list of estimators
        Fitted members, whose classes are indices into ``classes_``.
    estimators_features_ : list of ndarray
        Column indices of each member: all columns.
    estimators_samples_ : list of ndarray
        Row indices of each member: all of positive weight.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if all of them are strings.

    Notes
    -----
    "proportional": class j becomes i with probability w P_i, where P are the shares of the classes
    and w = p / (1 - sum P^2). A class is kept more often than it becomes any other one if
    p < (1 - sum P^2) / (1 - P_i + P_j) for all i and j: the limit.

    "uniform": class j becomes i with probability p / (K - 1) and is kept with probability 1 - p,
    which is larger if p < (K - 1) / K. A class of share P has a share of
    (1 - p) P + p (1 - P) / (K - 1) after switching, which is 1 / K at the limit. Below the limit it
    increases with P, so the majority class of many members is the true one.

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
        "scheme": [StrOptions({"proportional", "uniform"})],
    }

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **MemberClassifier._fitted_attributes,
        "p_": ShareField(),
        "p_limit_": ShareField(),
    }

    p: float | Literal["auto"]
    p_: float
    p_limit_: float
    scheme: Scheme

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        p: float | Literal["auto"] = "auto",
        scheme: Scheme = "proportional",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: Voting = "soft",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.p = p
        self.scheme = scheme
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting: Voting = voting

    def _make_plan(self, target: Array, rows: RowsToDraw) -> SamplingPlan:
        labels = target if rows.able is None else target[rows.able]
        self.p_, self.p_limit_ = self._compute_share(np.bincount(labels, minlength=self.n_classes_))
        return SamplingPlan(
            n_features=self.n_features_in_,
            n_drawn=rows.n_able,
            n_columns=self.n_features_in_,
            switch_share=self.p_,
            switch_uniformly=self.scheme == "uniform",
        )

    def _compute_share(self, class_sizes: Array) -> tuple[float, float]:
        """Return the share of labels to switch, and its limit."""
        present = np.flatnonzero(class_sizes)
        if len(present) < 2:  # no other class to switch to
            return 0.0, float("nan")
        sizes = class_sizes[present]
        limit = (
            _compute_uniform_limit(sizes)
            if self.scheme == "uniform"
            else compute_switching_limit(sizes)
        )
        if self.p == "auto":
            return _AUTO_SHARE_OF_LIMIT * limit, limit
        if self.p > limit * (1 - 1e-9):  # the limit itself, up to rounding, is too large
            rarest = self.classes_[present[sizes.argmin()]].item()
            raise ValueError(self._format_p_error(float(self.p), limit, rarest, sizes))
        return float(self.p), limit

    def _format_p_error(self, p: float, limit: float, rarest: Any, sizes: Array) -> str:
        remedy = "Lower p, or set p='auto'"
        if self.scheme == "uniform":
            classes = f"the {len(sizes)} classes of y with scheme='uniform', (K - 1) / K"
        else:
            classes = (
                f"the {len(sizes)} classes of y, of which {rarest!r} is the rarest with "
                f"{sizes.min() / sizes.sum():.2%} of the rows"
            )
            if p < _compute_uniform_limit(sizes):
                remedy = (
                    "Lower p, set p='auto', or set scheme='uniform', whose limit is "
                    f"{_compute_uniform_limit(sizes):.4g}"
                )
        return (
            f"p must be below {limit:.4g}, got {p}. This is the limit for {classes}: above it, the "
            f"vote of many members is wrong on the training rows. {remedy}."
        )


def _compute_uniform_limit(class_sizes: Array) -> float:
    """Compute the share at which a class becomes another one as often as it is kept."""
    return (len(class_sizes) - 1) / len(class_sizes)
