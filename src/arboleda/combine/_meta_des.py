"""META-DES: Cruz, Sabourin, Cavalcanti and Ren (2015)."""

from __future__ import annotations

from typing import Any, Literal

from arboleda._base.mixins import FixedParameters
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._members import Named

__all__ = ["METADES"]


class METADES(FixedParameters, DynamicSelectionClassifier):
    """META-DES: the classifiers that a meta-classifier expects to be right on a row vote.

    The meta-classifier is fitted on pairs of a row and a member, and predicts whether the member
    classifies the row correctly. If it expects no member to be right, all members vote.

    It is `DynamicSelectionClassifier` with ``method="meta_des"``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out.
    n_neighbors : int or None, default=7
        Neighbours in the region of competence; None: all rows.
    voting : {"hard", "soft"}, default="hard"
        Whether the selected members vote for one class each, or with their probabilities.
    meta_classifier : estimator, default=None
        A classifier with ``predict_proba``; None: scikit-learn's ``LogisticRegression``.
    consensus_threshold : float or None, default=None
        The meta-classifier is fitted only on validation rows on which the members' consensus is
        below this threshold: the difference of the vote shares of the first and the second class.
        None: on all rows.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5, stratified.
        "prefit": the members are already fitted; `fit` takes rows that they have not seen.
    n_jobs : int, default=None
        Members fitted in parallel; see `DynamicSelectionClassifier`.

    Attributes
    ----------
    estimators_, named_estimators_, meta_classifier_, n_judged_, classes_, \
            n_features_in_, feature_names_in_
        See `DynamicSelectionClassifier`.

    See Also
    --------
    DynamicSelectionClassifier : All eight methods by name, and the notes on distances.

    Notes
    -----
    For a row and a member the meta-features are, in this order:

    1. whether the member is right on each of the k neighbours;
    2. its probability of the true class of each neighbour;
    3. the share of the neighbours that it is right on (overall local accuracy);
    4. whether it is right on each of the 5 rows with the most similar output profiles, an output
       profile being the probabilities that all members give;
    5. its largest probability for the row.

    Member l is selected if the meta-classifier gives a probability above 1/2 that it is right.

    References
    ----------
    R. M. O. Cruz, R. Sabourin, G. D. C. Cavalcanti, T. I. Ren (2015), "META-DES: a dynamic ensemble
    selection framework using meta-learning", Pattern Recognition 48(5), section 3.

    Examples
    --------
    >>> from arboleda import METADES, DecisionTreeClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = METADES(members).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.85)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        n_neighbors: int | None = 7,
        voting: Literal["hard", "soft"] = "hard",
        meta_classifier: Any = None,
        consensus_threshold: float | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimators,
            method="meta_des",
            n_neighbors=n_neighbors,
            voting=voting,
            meta_classifier=meta_classifier,
            consensus_threshold=consensus_threshold,
            cv=cv,
            n_jobs=n_jobs,
        )
