"""DES-P: Woloszynski, Kurzynski, Podsiadlo and Stachowiak (2012)."""

from __future__ import annotations

from typing import Any, Literal

from arboleda._base.mixins import FixedParameters
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._members import Named

__all__ = ["DESP"]


class DESP(FixedParameters, DynamicSelectionClassifier):
    """DES-P: the classifiers that do better than random guessing on the neighbours of a row vote.

    P stands for performance. If no member is better than guessing, all members vote.

    It is `DynamicSelectionClassifier` with ``method="des_p"``.

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
    RRC : Compares with random guessing by probabilities instead of hits.

    Notes
    -----
    With N(x) the k nearest neighbours of x and K classes, member l is selected if ::

        1/k sum_{i in N(x)} I(h_l(x_i) = y_i) > 1/K.

    References
    ----------
    T. Woloszynski, M. Kurzynski, P. Podsiadlo, G. W. Stachowiak (2012), "A measure of competence
    based on random classification for dynamic ensemble selection", Information Fusion 13(3).

    Examples
    --------
    >>> from arboleda import DESP, DecisionTreeClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = DESP(members).fit(X[:300], y[:300])
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
            method="des_p",
            n_neighbors=n_neighbors,
            voting=voting,
            cv=cv,
            n_jobs=n_jobs,
        )
