"""KNORA-Eliminate: Ko, Sabourin and Britto (2008)."""

from __future__ import annotations

from typing import Any, Literal

from arboleda._base.mixins import FixedParameters
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._members import Named

__all__ = ["KNORAE"]


class KNORAE(FixedParameters, DynamicSelectionClassifier):
    """KNORA-Eliminate: the classifiers that are right on all neighbours of a row vote.

    K nearest oracles: if no member is right on all k neighbours, the farthest neighbour is removed,
    repeatedly, until some member is right on all that remain. If no member is right on the nearest
    neighbour, all members vote.

    It is `DynamicSelectionClassifier` with ``method="knora_e"``.

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
    KNORAU : All members that are right on some neighbour vote.

    Notes
    -----
    With ``x_(1), x_(2), ...`` the neighbours of x, nearest first, the competence of member l is the
    number of them that it classifies correctly before its first error ::

        c_l(x) = max { j <= k : h_l(x_(i)) = y_(i) for all i <= j }

    and the members with the largest competence are selected.

    References
    ----------
    A. H. R. Ko, R. Sabourin, A. S. Britto (2008), "From dynamic classifier selection to dynamic
    ensemble selection", Pattern Recognition 41(5), section 3.

    Examples
    --------
    >>> from arboleda import KNORAE, DecisionTreeClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = KNORAE(members).fit(X[:300], y[:300])
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
            method="knora_e",
            n_neighbors=n_neighbors,
            voting=voting,
            cv=cv,
            n_jobs=n_jobs,
        )
