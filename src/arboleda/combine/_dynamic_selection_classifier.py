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

from arboleda.combine import _dynamic_selection as _competence
from arboleda.combine._combination import ClassCombination, FitInputs
from arboleda.combine._dynamic_selection import DynamicSelection, Region
from arboleda.combine._members import Named

__all__ = ["DynamicSelectionClassifier"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Method = Literal["ola", "lca", "mcb", "knora_e", "knora_u", "des_p", "meta_des", "rrc"]
# Number of rows with the most similar output profiles, for META-DES (Cruz et al. 2015).
_PROFILES = 5


class DynamicSelectionClassifier(DynamicSelection, ClassCombination):
    """Dynamic selection: each row is classified by the classifiers that are right near it.

    The members are scored on held-out rows, the validation rows. The validation rows nearest to a
    new row determine which members are competent there, and these members vote. No member needs to
    be good everywhere.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    method : str, default="knora_e"
        The members that vote, and their weights:

        - "ola": those right on most neighbours (overall local accuracy);
        - "lca": those right on most neighbours of the class that they predict for the row;
        - "mcb": those right on most neighbours on which the members behave as on the row;
        - "knora_e": those right on the longest run of neighbours, from the nearest on;
        - "knora_u": all members, each with one vote for every neighbour that it is right on;
        - "des_p": those right on a larger share of the neighbours than 1 / n_classes;
        - "meta_des": those that a meta-classifier expects to be right, from their results on the
          neighbours and on rows with similar outputs, and from their confidence;
        - "rrc": those whose probability of being right exceeds 1 / n_classes, by the randomised
          reference classifier, with neighbours weighted by exp(-distance^2).

        If no member passes, all members vote; equally competent members vote together.
    n_neighbors : int or None, default=7
        Size of the region of competence. None: all rows, for "rrc".
    voting : {"hard", "soft"}, default="hard"
        Whether the selected members vote for one class each, or with their probabilities.
    similarity : float, default=0.7
        For "mcb": the share of members that must behave as on the row.
    meta_classifier : estimator, default=None
        For "meta_des": a classifier of whether a member is right; None: scikit-learn's
        ``LogisticRegression``.
    consensus_threshold : float or None, default=None
        For "meta_des": the meta-classifier is fitted only on validation rows on which the members'
        consensus is below this, the threshold h_c of Cruz et al. (2015), who used 0.7. The
        consensus is the difference of the vote shares of the first and the second class, so it is 1
        where all members agree, and the threshold 1 removes only those rows. If no row remains, all
        rows are used. None: all rows.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5, stratified.
        "prefit": the members are already fitted; `fit` takes rows that they have not seen.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows. They are fitted on class numbers, except with
        ``cv="prefit"``.
    named_estimators_ : Bunch
    meta_classifier_ : estimator
        For "meta_des"; None if all members are right on all rows, or all wrong.
    n_judged_ : int
        Number of validation rows in the index.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

    Notes
    -----
    Distances are Euclidean over the unscaled columns: scale them first, in a pipeline. The index is
    scikit-learn's ``NearestNeighbors``. ``sample_weight`` is passed to the members; every
    validation row counts once.

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

    def _learn(self, inputs: FitInputs) -> None:
        held_out = self._index_held_out_rows(inputs)
        self._target = inputs.training.y[held_out.rows]
        self._behaviour = held_out.choices().T
        self._hits = self._behaviour == self._target[:, None]
        for name in ("meta_classifier_", "_competence_of_rows", "_right", "_profiles"):
            self.__dict__.pop(name, None)
        if self.method == "rrc":
            outputs = held_out.outputs
            self._competence_of_rows = _competence.randomised_reference(outputs, self._target)
        elif self.method == "meta_des":
            self._fit_meta_classifier(held_out.outputs)

    def _fit_meta_classifier(self, outputs: Floats) -> None:
        """Fit the meta-classifier of META-DES, treating each validation row as a new row."""
        self._right = outputs[:, np.arange(len(self._target)), self._target].T
        self._profiles = Region(_make_profiles(outputs), _PROFILES, self.n_jobs)
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
        template = self.meta_classifier
        model = LogisticRegression(max_iter=1000) if template is None else clone(template)
        self.meta_classifier_ = model.fit(columns, hits.ravel().astype(np.intp))

    def _rows_of_low_consensus(self) -> Indices | slice:
        """Select the validation rows that the meta-classifier of META-DES is fitted on."""
        if self.consensus_threshold is None:
            return slice(None)
        consensus = _competence.consensus(self._behaviour, len(self.classes_))
        rows = np.flatnonzero(consensus < self.consensus_threshold)
        return rows if rows.size else slice(None)

    def _meta_columns(self, outputs: Floats, neighbors: Indices, alike: Indices) -> Floats:
        """Compute the meta-features of each row and member, in the order of the paper.

        Whether the member is right on each neighbour; its probability of each neighbour's class;
        its accuracy on the neighbours; whether it is right on each row with a similar output
        profile; its largest probability for the row.

        Returns
        -------
        columns : ndarray of shape (q * L, 2 k + k' + 2)
        """
        near = self._hits[neighbors].swapaxes(1, 2)
        right = self._right[neighbors].swapaxes(1, 2)
        profile = self._hits[alike].swapaxes(1, 2)
        confidence = outputs.max(axis=2).T[:, :, None]
        share = near.mean(axis=2, keepdims=True)
        columns = np.concatenate([near, right, share, profile, confidence], axis=2)
        return np.asarray(columns.reshape(-1, columns.shape[2]))

    def _weights(self, distances: Floats, neighbors: Indices, outputs: Floats) -> Floats:
        """Compute the weight of each member for each row, of shape (q, L)."""
        competence = self._competence_near(distances, neighbors, outputs)
        if self.method in {"ola", "lca", "mcb", "knora_e"}:
            return _competence.best(competence).astype(np.float64)
        if self.method == "knora_u":
            return np.where(competence.any(axis=1, keepdims=True), competence, 1.0)
        least = 0.5 if self.method == "meta_des" else 1.0 / len(self.classes_)
        return _competence.above(competence, least).astype(np.float64)

    def _competence_near(self, distances: Floats, neighbors: Indices, outputs: Floats) -> Floats:
        """Compute the competence of each member for each row, of shape (q, L)."""
        hits, choices = self._hits, outputs.argmax(axis=2).T
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
            return self._meta_competence(neighbors, outputs)
        return _competence.local_accuracy(hits, neighbors)

    def _meta_competence(self, neighbors: Indices, outputs: Floats) -> Floats:
        if self.meta_classifier_ is None:
            return np.ones((len(neighbors), len(outputs)))
        alike = self._profiles.around(_make_profiles(outputs))[1]
        # With few rows, all are neighbours; a validation row has one fewer, as it excludes itself.
        near, alike = neighbors[:, : self._n_near], alike[:, : self._n_alike]
        columns = self._meta_columns(outputs, near, alike)
        competence = self.meta_classifier_.predict_proba(columns)[:, 1]
        return np.asarray(competence.reshape(len(neighbors), -1))

    def predict_proba(self, X: Any) -> Floats:
        """Predict the vote shares of the selected members, or the mean of their probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        parts = []
        for distances, neighbors, outputs in self._iter_batches(X):
            weights = self._weights(distances, neighbors, outputs)
            votes = outputs
            if self.voting == "hard":
                votes = (outputs.argmax(axis=2)[:, :, None] == np.arange(outputs.shape[2])).astype(
                    float
                )
            # Dividing after counting keeps equal counts exactly equal.
            counts = np.einsum("ql,lqk->qk", weights, votes)
            parts.append(counts / weights.sum(axis=1, keepdims=True))
        return np.concatenate(parts)

    def predict(self, X: Any) -> Array:
        """Predict the label with the most votes of the selected members; ties go to the first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _make_profiles(outputs: Floats) -> Floats:
    """Join the outputs of all members for each row; one of two classes is enough."""
    shares = outputs[:, :, :1] if outputs.shape[2] == 2 else outputs
    return np.ascontiguousarray(shares.transpose(1, 0, 2).reshape(outputs.shape[1], -1))
