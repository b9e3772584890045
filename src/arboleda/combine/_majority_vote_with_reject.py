"""Majority vote with rejection."""

from __future__ import annotations

from typing import Any

from arboleda._base.mixins import FixedParameters
from arboleda.combine._members import Named
from arboleda.combine._voting_classifier import VotingClassifier

__all__ = ["MajorityVoteWithReject"]


class MajorityVoteWithReject(FixedParameters, VotingClassifier):
    """Majority vote with rejection: a class is predicted if more than half of the members agree.

    Rows without a majority get the reject label. `score` counts them as errors.

    It is `VotingClassifier` with ``rule="majority"``, ``reject=True``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    weights : array-like of shape (n_members,), default=None
        Weights of the members; a member of weight 0 is left out.
    reject_label : label, default=None
        Label of rows without a majority; None: -1 where labels are numbers, "reject" where they are
        text.
    n_jobs : int, default=None
        Members fitted in parallel; see `VotingClassifier`.
    verbose : bool, default=False
        Whether to print a line for each fitted member.

    Attributes
    ----------
    reject_label_ : label
        Label of rows without a majority.
    estimators_, named_estimators_, classes_, le_, n_features_in_, feature_names_in_
        See `VotingClassifier`.

    See Also
    --------
    VotingClassifier : All rules by name.

    Notes
    -----
    With L members the class g is predicted if ::

        sum_l I(h_l(x) = g) >= floor(L / 2) + 1

    and the reject label if there is no such class. With ``weights``, a class needs more than half
    of their sum.

    References
    ----------
    L. I. Kuncheva (2014), "Combining Pattern Classifiers", section 4.2.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, MajorityVoteWithReject
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ...     ("bayes", GaussianNB()),
    ...     ("near", KNeighborsClassifier()),
    ... ]
    >>> vote = MajorityVoteWithReject(members[:2]).fit(X[::2], y[::2])
    >>> vote.reject_label_, int((vote.predict(X[1::2]) == vote.reject_label_).sum())
    (np.int64(-1), 1)
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        weights: Any = None,
        reject_label: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimators,
            rule="majority",
            reject=True,
            weights=weights,
            reject_label=reject_label,
            n_jobs=n_jobs,
            verbose=verbose,
        )
