"""Weighted majority vote: Shapley and Grofman (1984)."""

from __future__ import annotations

from typing import Any

from arboleda._base.mixins import FixedParameters
from arboleda.combine._members import Named
from arboleda.combine._voting_classifier import VotingClassifier

__all__ = ["WeightedMajorityVote"]


class WeightedMajorityVote(FixedParameters, VotingClassifier):
    """Weighted majority vote: the better a classifier is, the more its vote counts.

    The accuracy of each member is estimated on held-out rows. If the members err independently and
    all errors are equally likely, these weights are optimal.

    It is `VotingClassifier` with ``rule="weighted"``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    cv : int, splitter or iterable, default=None
        Folds for the out-of-fold predictions that the rule learns from; None: 5, stratified.
    n_jobs : int, default=None
        Members fitted in parallel; see `VotingClassifier`.
    verbose : bool, default=False
        Whether to print a line for each fitted member.

    Attributes
    ----------
    vote_weights_ : ndarray of shape (n_members,)
        log(p_l / (1 - p_l)).
    estimators_, named_estimators_, classes_, le_, n_features_in_, feature_names_in_
        See `VotingClassifier`.

    See Also
    --------
    VotingClassifier : All rules by name.

    Notes
    -----
    With p_l the accuracy of member l on out-of-fold predictions, kept away from 0 and 1, and K
    classes, the class predicted is the g with the largest ::

        sum_l w_l I(h_l(x) = g),    w_l = log(p_l / (1 - p_l)) + log(K - 1)

    References
    ----------
    L. Shapley, B. Grofman (1984), "Optimizing group judgmental accuracy in the presence of
    interdependencies", Public Choice 43.
    L. I. Kuncheva (2014), "Combining Pattern Classifiers", section 4.3.
    L. I. Kuncheva, J. J. Rodríguez (2014), "A weighted voting framework for classifiers ensembles",
    Knowledge and Information Systems 38.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, WeightedMajorityVote
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ...     ("bayes", GaussianNB()),
    ...     ("near", KNeighborsClassifier()),
    ... ]
    >>> WeightedMajorityVote(members).fit(X, y).vote_weights_.round(2)
    array([2.64, 3.02, 3.6 ])
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimators,
            rule="weighted",
            cv=cv,
            n_jobs=n_jobs,
            verbose=verbose,
        )
