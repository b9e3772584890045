"""Dynamic selection of classifiers: OLA, LCA, MCB, KNORA, DES-P, META-DES, RRC."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda.combine import _competence
from arboleda.combine._dynamic_selection import DynamicSelection
from arboleda.combine._learned import ClassCombination, Given
from arboleda.combine._members import Named
from arboleda.combine._region import Region

__all__ = ["DynamicSelectionClassifier"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Method = Literal["ola", "lca", "mcb", "knora_e", "knora_u", "des_p", "meta_des", "rrc"]
# Rows whose answers by all members are most alike, for META-DES (Cruz et al. 2015).
_PROFILES = 5


class DynamicSelectionClassifier(DynamicSelection, ClassCombination):
    """Dynamic selection: for each row, only the classifiers that are right near it answer.

    The members are judged on rows that they have not seen. Around a row asked for, its nearest
    judged ones tell which members are competent there; these vote. No member need be good
    everywhere.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    method : str, default="knora_e"
        Which members answer, with what weight:

        - "ola": those right on most neighbours (overall local accuracy);
        - "lca": those right on most neighbours of the class that they predict now;
        - "mcb": those right on most neighbours on which all members behave much as now;
        - "knora_e": those right on the longest run of neighbours from the nearest on;
        - "knora_u": all, each with as many votes as neighbours it is right on;
        - "des_p": those right on more neighbours than one in n_classes;
        - "meta_des": those that a second model finds likelier right than wrong, from what they did
          on the neighbours, on rows with answers like those now, and how sure they are;
        - "rrc": those likelier right than one in n_classes, by the randomised reference classifier
          of their probabilities on neighbours that weigh exp(-distance^2).

        Where nobody passes, all vote; equally competent ones vote together.
    n_neighbors : int or None, default=7
        Size of the region of competence. None: all rows, for "rrc".
    voting : {"hard", "soft"}, default="hard"
        Whether the chosen members vote for one class each, or with their probabilities.
    similarity : float, default=0.7
        For "mcb": the share of members that have to behave as now.
    meta_classifier : estimator, default=None
        For "meta_des": what learns when a member is right; None: scikit-learn's
        ``LogisticRegression``.
    consensus_threshold : float or None, default=None
        For "meta_des": the second model learns only from the judged rows on which the members'
        consensus is below it, the threshold h_c of Cruz et al. (2015), who took 0.7. The consensus
        is the share of the members that vote for the most voted class less that of the second most
        voted: 1 where all agree, and 1 leaves out just these rows. From all rows where it leaves
        none. None: from all rows.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the answers that members are judged by; None: 5, stratified. "prefit": the
        members are fitted, and `fit` is given rows that they have not seen.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows. They know the classes by their numbers, but with
        ``cv="prefit"``.
    named_estimators_ : Bunch
    meta_classifier_ : estimator
        For "meta_des"; None if all members are right on all rows, or all wrong.
    n_judged_ : int
        Rows in the index.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    Notes
    -----
    Distances are Euclidean over the columns as they are: scale them first, in a pipeline. The index
    is scikit-learn's, a tree where the columns are few. ``sample_weight`` reaches the members; a
    judged row counts once.

    References
    ----------
    K. Woods, W. P. Kegelmeyer, K. Bowyer (1997), "Combination of multiple classifiers using local
    accuracy estimates", IEEE TPAMI 19 ("ola", "lca").
    G. Giacinto, F. Roli (2001), "Dynamic classifier selection based on multiple classifier
    behaviour", Pattern Recognition 34 ("mcb").
    A. H. R. Ko, R. Sabourin, A. S. Britto (2008), "From dynamic classifier selection to dynamic
    ensemble selection", Pattern Recognition 41 ("knora_e", "knora_u").
    T. Woloszynski, M. Kurzynski, P. Podsiadlo, G. W. Stachowiak (2012), "A measure of competence
    based on random classification for dynamic ensemble selection", Information Fusion 13 ("des_p").
    R. M. O. Cruz, R. Sabourin, G. D. C. Cavalcanti, T. I. Ren (2015), "META-DES: a dynamic ensemble
    selection framework using meta-learning", Pattern Recognition 48 ("meta_des").
    T. Woloszynski, M. Kurzynski (2011), "A probabilistic model of classifier competence for dynamic
    ensemble selection", Pattern Recognition 44 ("rrc").

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, DynamicSelectionClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [
    ...     ("line", LogisticRegression()),
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ... ]
    >>> model = DynamicSelectionClassifier(members, method="ola").fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.85)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DynamicSelection._parameter_constraints,
        "method": [
            StrOptions({"ola", "lca", "mcb", "knora_e", "knora_u", "des_p", "meta_des", "rrc"})
        ],
        "voting": [StrOptions({"hard", "soft"})],
        "similarity": [Interval(Real, 0, 1, closed="both")],
        "meta_classifier": [None, HasMethods(["fit", "predict_proba"])],
        "consensus_threshold": [None, Interval(Real, 0, 1, closed="right")],
    }

    meta_classifier_: Any

    def __init__(
        self,
        estimators: list[Named],
        *,
        method: Method = "knora_e",
        n_neighbors: int | None = 7,
        voting: Literal["hard", "soft"] = "hard",
        similarity: float = 0.7,
        meta_classifier: Any = None,
        consensus_threshold: float | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.n_neighbors = n_neighbors
        self.voting = voting
        self.similarity = similarity
        self.meta_classifier = meta_classifier
        self.consensus_threshold = consensus_threshold
        self.cv = cv
        self.n_jobs = n_jobs

    def _learn(self, given: Given) -> None:
        found = self._judge(given)
        self._target = given.training.y[found.rows]
        self._behaviour = found.choices().T
        self._hits = self._behaviour == self._target[:, None]
        for name in ("meta_classifier_", "_competence_of_rows", "_right", "_profiles"):
            self.__dict__.pop(name, None)
        if self.method == "rrc":
            outputs = found.outputs
            self._competence_of_rows = _competence.randomised_reference(outputs, self._target)
        elif self.method == "meta_des":
            self._learn_when_members_are_right(found.outputs)

    def _learn_when_members_are_right(self, outputs: Floats) -> None:
        """Fit the second model of META-DES; each judged row is asked for as if it were new."""
        self._right = outputs[:, np.arange(len(self._target)), self._target].T
        self._profiles = Region(_profiles_of(outputs), _PROFILES, self.n_jobs)
        self.meta_classifier_ = None
        if self._hits.all() or not self._hits.any():
            return
        near, alike = self._region.around_itself()[1], self._profiles.around_itself()[1]
        self._n_near, self._n_alike = near.shape[1], alike.shape[1]
        rows = self._rows_of_low_consensus()
        hits = self._hits[rows]
        if hits.all() or not hits.any():
            return
        columns = self._meta_columns(outputs[:, rows], near[rows], alike[rows])
        given = self.meta_classifier
        second = LogisticRegression(max_iter=1000) if given is None else clone(given)
        self.meta_classifier_ = second.fit(columns, hits.ravel().astype(np.intp))

    def _rows_of_low_consensus(self) -> Indices | slice:
        """Judged rows that the second model of META-DES learns from."""
        if self.consensus_threshold is None:
            return slice(None)
        consensus = _competence.consensus(self._behaviour, len(self.classes_))
        rows = np.flatnonzero(consensus < self.consensus_threshold)
        return rows if rows.size else slice(None)

    def _meta_columns(self, outputs: Floats, neighbors: Indices, alike: Indices) -> Floats:
        """What META-DES looks at for each row and member, in the order of the article.

        Right or wrong on each neighbour; probability of each neighbour's class; share of the
        neighbours it is right on; right or wrong on each row with answers alike; greatest
        probability now.

        Returns
        -------
        columns : ndarray of shape (q * L, 2 k + k' + 2)
        """
        near = self._hits[neighbors].swapaxes(1, 2)
        right = self._right[neighbors].swapaxes(1, 2)
        profile = self._hits[alike].swapaxes(1, 2)
        sure = outputs.max(axis=2).T[:, :, None]
        share = near.mean(axis=2, keepdims=True)
        columns = np.concatenate([near, right, share, profile, sure], axis=2)
        return np.asarray(columns.reshape(-1, columns.shape[2]))

    def _weights(self, distances: Floats, neighbors: Indices, said: Floats) -> Floats:
        """Weight of each member for each row, shape (q, L)."""
        competence = self._competence_near(distances, neighbors, said)
        if self.method in {"ola", "lca", "mcb", "knora_e"}:
            return _competence.best(competence).astype(np.float64)
        if self.method == "knora_u":
            return np.where(competence.any(axis=1, keepdims=True), competence, 1.0)
        least = 0.5 if self.method == "meta_des" else 1.0 / len(self.classes_)
        return _competence.above(competence, least).astype(np.float64)

    def _competence_near(self, distances: Floats, neighbors: Indices, said: Floats) -> Floats:
        """Competence of each member for each row, shape (q, L)."""
        hits, choices = self._hits, said.argmax(axis=2).T
        if self.method == "lca":
            return _competence.local_class_accuracy(hits, neighbors, self._target, choices)
        if self.method == "mcb":
            return _competence.similar_behaviour_accuracy(
                hits, neighbors, self._behaviour, choices, self.similarity
            )
        if self.method == "knora_e":
            return _competence.consecutive_hits(hits, neighbors)
        if self.method == "knora_u":
            return _competence.local_hits(hits, neighbors)
        if self.method == "rrc":
            return _competence.potential_mean(self._competence_of_rows, neighbors, distances)
        if self.method == "meta_des":
            return self._meta_competence(neighbors, said)
        return _competence.local_accuracy(hits, neighbors)

    def _meta_competence(self, neighbors: Indices, said: Floats) -> Floats:
        if self.meta_classifier_ is None:
            return np.ones((len(neighbors), len(said)))
        alike = self._profiles.around(_profiles_of(said))[1]
        # Of few rows all are neighbours; a judged one had one less, without itself.
        near, alike = neighbors[:, : self._n_near], alike[:, : self._n_alike]
        columns = self._meta_columns(said, near, alike)
        competence = self.meta_classifier_.predict_proba(columns)[:, 1]
        return np.asarray(competence.reshape(len(neighbors), -1))

    def predict_proba(self, X: Any) -> Floats:
        """Share of the votes of the members chosen for each row, or mean of their probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        parts = []
        for distances, neighbors, said in self._batches(X):
            weights = self._weights(distances, neighbors, said)
            votes = said
            if self.voting == "hard":
                votes = (said.argmax(axis=2)[:, :, None] == np.arange(said.shape[2])).astype(float)
            # Whole votes are divided when they are counted, so that equal counts stay equal.
            counts = np.einsum("ql,lqk->qk", weights, votes)
            parts.append(counts / weights.sum(axis=1, keepdims=True))
        return np.concatenate(parts)

    def predict(self, X: Any) -> Array:
        """Label that the members chosen for each row agree on most, the first of equals.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _profiles_of(outputs: Floats) -> Floats:
    """What all members say of a row, in a line; of two classes one tells all."""
    said = outputs[:, :, :1] if outputs.shape[2] == 2 else outputs
    return np.ascontiguousarray(said.transpose(1, 0, 2).reshape(outputs.shape[1], -1))
