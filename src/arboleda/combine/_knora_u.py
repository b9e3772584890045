"""KNORA-Union: Ko, Sabourin and Britto (2008)."""

from __future__ import annotations

from typing import Any, Literal

from arboleda._base.mixins import FixedParameters
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._members import Named

__all__ = ["KNORAU"]


class KNORAU(FixedParameters, DynamicSelectionClassifier):
    """KNORA-Union: each classifier has one vote for every neighbour that it is right on.

    K nearest oracles: every member that is right on at least one of the k neighbours votes. If
    there is none, all members vote with equal weight.

    It is `DynamicSelectionClassifier` with ``method="knora_u"``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    n_neighbors : int or None, default=7
        Neighbours in the region of competence; None: all rows.
    voting : {"hard", "soft"}, default="hard"
        Whether the selected members vote for one class each, or with their probabilities.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5, stratified.
        "prefit": the members are already fitted; `fit` takes rows that they have not seen.
    n_jobs : int, default=None
        Members fitted in parallel; see `DynamicSelectionClassifier`.

    Attributes
    ----------
    estimators_, named_estimators_, n_judged_, classes_, n_features_in_, feature_names_in_
        See `DynamicSelectionClassifier`.

    See Also
    --------
    DynamicSelectionClassifier : All eight methods by name, and the notes on distances.
    KNORAE : Only the members that are right on all neighbours vote.

    Notes
    -----
    With N(x) the k nearest neighbours of x, the weight of the vote of member l is ::

        w_l(x) = sum_{i in N(x)} I(h_l(x_i) = y_i).

    References
    ----------
    A. H. R. Ko, R. Sabourin, A. S. Britto (2008), "From dynamic classifier selection to dynamic
    ensemble selection", Pattern Recognition 41(5), section 3.

    Examples
    --------
    >>> from arboleda import KNORAU, DecisionTreeClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = KNORAU(members).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.85)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        n_neighbors: int | None = 7,
        voting: Literal["hard", "soft"] = "hard",
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimators,
            method="knora_u",
            n_neighbors=n_neighbors,
            voting=voting,
            cv=cv,
            n_jobs=n_jobs,
        )
