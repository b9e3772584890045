"""Randomised reference classifier: Woloszynski and Kurzynski (2011)."""

from __future__ import annotations

from typing import Any, Literal

from arboleda._base.mixins import FixedParameters
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._members import Named

__all__ = ["RRC"]


class RRC(FixedParameters, DynamicSelectionClassifier):
    """Randomised reference classifier: the members that beat random guessing near a row vote.

    The competence of a member on a validation row is the probability that a random classifier with
    the same mean class probabilities is right there; near rows count most. If no member is better
    than guessing, all members vote.

    It is `DynamicSelectionClassifier` with ``method="rrc"``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    n_neighbors : int or None, default=None
        Neighbours that count; None: all rows, as in the paper.
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
    DESP : Compares with random guessing by hits on the neighbours.

    Notes
    -----
    The random classifier's supports D_k of the K classes are beta variables with parameters
    ``K p_k`` and ``K (1 - p_k)`` and mean p_k, where p_k are the member's probabilities. On a
    validation row of class j the competence is ::

        C_l(x_i) = P(D_j > D_k for all k != j)

    computed by the trapezoidal rule on 20 points. For a row x it is averaged over the validation
    rows, or over the ``n_neighbors`` nearest of them, with weights ``exp(-d(x, x_i)^2)`` and the
    Euclidean distance d ::

        c_l(x) = sum_i C_l(x_i) exp(-d(x, x_i)^2) / sum_i exp(-d(x, x_i)^2)

    Member l is selected if ``c_l(x) > 1/K``.

    References
    ----------
    T. Woloszynski, M. Kurzynski (2011), "A probabilistic model of classifier competence for dynamic
    ensemble selection", Pattern Recognition 44(10-11).

    Examples
    --------
    >>> from arboleda import RRC, DecisionTreeClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = RRC(members).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.85)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        n_neighbors: int | None = None,
        voting: Literal["hard", "soft"] = "hard",
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimators,
            method="rrc",
            n_neighbors=n_neighbors,
            voting=voting,
            cv=cv,
            n_jobs=n_jobs,
        )
