"""Median rule: Kittler, Hatef, Duin and Matas (1998)."""

from __future__ import annotations

from arboleda._base.mixins import FixedParameters
from arboleda.combine._members import Named
from arboleda.combine._voting_classifier import VotingClassifier

__all__ = ["MedianRule"]


class MedianRule(FixedParameters, VotingClassifier):
    """Median rule: the class with the largest median of the members' probabilities.

    Unlike the mean, the median is robust to a few outlying members.

    It is `VotingClassifier` with ``rule="median"``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    n_jobs : int, default=None
        Members fitted in parallel; see `VotingClassifier`.
    flatten_transform : bool, default=True
        Whether `transform` returns the probabilities of all members side by side.
    verbose : bool, default=False
        Whether to print a line for each fitted member.

    Attributes
    ----------
    estimators_, named_estimators_, classes_, le_, n_features_in_, feature_names_in_
        See `VotingClassifier`.

    See Also
    --------
    VotingClassifier : All rules by name.

    Notes
    -----
    With P_l(k) the probabilities of member l ::

        P(k) = median_l P_l(k) / sum_j median_l P_l(j)

    References
    ----------
    J. Kittler, M. Hatef, R. P. W. Duin, J. Matas (1998), "On combining classifiers", IEEE TPAMI
    20(3), section 3.3.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, MedianRule
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ...     ("bayes", GaussianNB()),
    ...     ("near", KNeighborsClassifier()),
    ... ]
    >>> vote = MedianRule(members).fit(X[::2], y[::2])
    >>> bool(vote.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimators,
            rule="median",
            n_jobs=n_jobs,
            flatten_transform=flatten_transform,
            verbose=verbose,
        )
