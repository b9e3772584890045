"""Multiple classifier behaviour: Giacinto and Roli (2001)."""

from __future__ import annotations

from typing import Any, Literal

from arboleda._base.mixins import FixedParameters
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._members import Named

__all__ = ["MCB"]


class MCB(FixedParameters, DynamicSelectionClassifier):
    """Multiple classifier behaviour: local accuracy on neighbours that the members treat alike.

    Only those neighbours count for which most members predict the same class as for the row itself.
    The member with the most correct predictions on them is selected; in a tie, the tied members
    vote.

    It is `DynamicSelectionClassifier` with ``method="mcb"``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    n_neighbors : int or None, default=7
        Neighbours in the region of competence; None: all rows.
    voting : {"hard", "soft"}, default="hard"
        Whether the selected members vote for one class each, or with their probabilities.
    similarity : float, default=0.7
        A neighbour counts if more than this share of the members predict the same class for it as
        for the row.
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
    OLA : Accuracy on all neighbours.

    Notes
    -----
    The similarity of a neighbour is the share of the L members that predict the same class for it
    as for x ::

        S(x, x_i) = 1/L sum_l I(h_l(x) = h_l(x_i)).

    With M(x) the neighbours with ``S(x, x_i) > similarity`` (all neighbours if there is none) ::

        c_l(x) = sum_{i in M(x)} I(h_l(x_i) = y_i) / |M(x)|

    and the members with the largest competence are selected. The paper selects the best member only
    if it is clearly better than the others, and otherwise lets all vote; here it is always
    selected.

    References
    ----------
    G. Giacinto, F. Roli (2001), "Dynamic classifier selection based on multiple classifier
    behaviour", Pattern Recognition 34(9), section 2.

    Examples
    --------
    >>> from arboleda import MCB, DecisionTreeClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = MCB(members).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.85)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        n_neighbors: int | None = 7,
        voting: Literal["hard", "soft"] = "hard",
        similarity: float = 0.7,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimators,
            method="mcb",
            n_neighbors=n_neighbors,
            voting=voting,
            similarity=similarity,
            cv=cv,
            n_jobs=n_jobs,
        )
