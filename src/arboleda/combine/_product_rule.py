"""Product rule: Kittler, Hatef, Duin and Matas (1998)."""

from __future__ import annotations

from typing import Any

from arboleda._base.mixins import FixedParameters
from arboleda.combine._members import Named
from arboleda.combine._voting_classifier import VotingClassifier

__all__ = ["ProductRule"]


class ProductRule(FixedParameters, VotingClassifier):
    """Product rule: the class with the largest product of the members' probabilities.

    A member that gives a class a probability near 0 practically vetoes it. The predicted
    probabilities are the normalised geometric mean of the members' probabilities, which minimises
    the mean Kullback-Leibler divergence KL(P || P_l).

    It is `VotingClassifier` with ``rule="geometric"``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    weights : array-like of shape (n_members,), default=None
        Weights of the members; a member of weight 0 is left out.
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
    With P_l(k) the probabilities of member l of L, and a uniform prior of the classes ::

        P(k) = prod_l P_l(k)^(1/L) / sum_j prod_l P_l(j)^(1/L)

    which is largest for the class with the largest product. With ``weights`` w_l the exponents are
    w_l / sum_l w_l. If the product is 0 for all classes, the mean is used.

    References
    ----------
    J. Kittler, M. Hatef, R. P. W. Duin, J. Matas (1998), "On combining classifiers", IEEE TPAMI
    20(3), section 2.1.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, ProductRule
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ...     ("bayes", GaussianNB()),
    ...     ("near", KNeighborsClassifier()),
    ... ]
    >>> vote = ProductRule(members).fit(X[::2], y[::2])
    >>> bool(vote.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimators,
            rule="geometric",
            weights=weights,
            n_jobs=n_jobs,
            flatten_transform=flatten_transform,
            verbose=verbose,
        )
