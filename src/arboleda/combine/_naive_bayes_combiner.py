"""Naive Bayes combination: Titterington et al. (1981)."""

from __future__ import annotations

from typing import Any

from arboleda._base.mixins import FixedParameters
from arboleda.combine._members import Named
from arboleda.combine._voting_classifier import VotingClassifier

__all__ = ["NaiveBayesCombiner"]


class NaiveBayesCombiner(FixedParameters, VotingClassifier):
    """Naive Bayes combination: Bayes' rule over the classes that the members predict.

    The likelihood of a member's prediction given the true class comes from its confusion matrix.
    The errors of the members are assumed to be independent given the class.

    It is `VotingClassifier` with ``rule="naive_bayes"``.

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
    confusion_ : ndarray of shape (n_members, n_classes, n_classes)
        Number of rows, or their weight, by true and by predicted class.
    estimators_, named_estimators_, classes_, le_, n_features_in_, feature_names_in_
        See `VotingClassifier`.

    See Also
    --------
    VotingClassifier : All rules by name.

    Notes
    -----
    The class predicted is ::

        argmax_k P(k) prod_l P(h_l(x) | k)

    where P(h_l(x) | k) is estimated from the confusion matrix of member l on out-of-fold
    predictions, with Laplace's correction.

    References
    ----------
    D. M. Titterington et al. (1981), "Comparison of discrimination techniques applied to a complex
    data set of head injured patients", Journal of the Royal Statistical Society A 144(2). L. I.
    Kuncheva (2014), "Combining Pattern Classifiers", section 4.4.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, NaiveBayesCombiner
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ...     ("bayes", GaussianNB()),
    ...     ("near", KNeighborsClassifier()),
    ... ]
    >>> NaiveBayesCombiner(members).fit(X, y).confusion_.shape
    (3, 3, 3)
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
            rule="naive_bayes",
            cv=cv,
            n_jobs=n_jobs,
            verbose=verbose,
        )
