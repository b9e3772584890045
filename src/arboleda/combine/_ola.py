"""Overall local accuracy: Woods, Kegelmeyer and Bowyer (1997)."""

from __future__ import annotations

from typing import Any, Literal

from arboleda._base.mixins import FixedParameters
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._members import Named

__all__ = ["OLA"]


class OLA(FixedParameters, DynamicSelectionClassifier):
    """Overall local accuracy: the classifier that is right on most neighbours predicts a row.

    For each row the nearest rows with known classes are found, and the member with the largest
    share of correct predictions on them is selected. Members that are equally accurate vote.

    It is `DynamicSelectionClassifier` with ``method="ola"``.

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
    LCA : Accuracy within the class that the member predicts.
    MCB : Accuracy on neighbours on which the members behave alike.

    Notes
    -----
    With N(x) the k nearest neighbours of x, the competence of member l is ::

        c_l(x) = 1/k sum_{i in N(x)} I(h_l(x_i) = y_i)

    and the members with the largest competence are selected.

    References
    ----------
    K. Woods, W. P. Kegelmeyer, K. Bowyer (1997), "Combination of multiple classifiers using local
    accuracy estimates", IEEE TPAMI 19(4), section 2.

    Examples
    --------
    >>> from arboleda import OLA, DecisionTreeClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = OLA(members).fit(X[:300], y[:300])
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
            method="ola",
            n_neighbors=n_neighbors,
            voting=voting,
            cv=cv,
            n_jobs=n_jobs,
        )
