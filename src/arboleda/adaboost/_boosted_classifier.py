"""Base class of boosted classifiers: classes, scores, margins, and bounds of the training error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import StagedScores
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.predictor import RowPredictorMixin
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.target import read_target
from arboleda.adaboost._algorithms import ALGORITHMS, Algorithm, Floats, Indices
from arboleda.adaboost._loop import EstimatorMembers
from arboleda.adaboost._tree_members import BoostedTreeMembers, SavedVotes, complete_votes
from arboleda.persist import Field, Labels, SavedModel

Array = npt.NDArray[Any]


class BoostedClassifier(
    NamesOtherParameters,
    SavedModel,
    RowPredictorMixin,
    StagedScores,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of classifiers that sum the weighted votes of their members."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "classes_": Labels(),
        "_members": SavedVotes(),
    }

    algorithm: Any
    learning_rate: float
    n_jobs: int | None
    estimator_: Any
    classes_: Array
    _members: EstimatorMembers | BoostedTreeMembers

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def _algorithm(self) -> Algorithm:
        return ALGORITHMS[self.algorithm](self.n_classes_, self.learning_rate)

    # Scores and classes

    def _row_predictor(self) -> RowPredictor:
        if not isinstance(self._members, BoostedTreeMembers):
            raise ValueError(  # noqa: TRY004 - a matter of state
                f"The members of this {type(self).__name__} are not arboleda trees, so it has no "
                "row predictor: call predict."
            )
        return self._members.row_predictor()

    def _decode_predictions(self, raw: Floats) -> Array:
        return self._decode_classes(self._compute_decision(raw, self._total_weight()))

    def _decode_probabilities(self, raw: Floats) -> Floats:
        return self._compute_shares(raw, self._total_weight())

    def _compute_sums(self, X: Any) -> Floats:
        check_is_fitted(self)
        table = self._members.checked(self, X)
        return self._members.sums(table, resolve_threads(table, self.n_jobs))

    def _staged_sums(self, X: Any) -> Iterator[tuple[Floats, float]]:
        """Return an iterator of the summed votes after each round and the total weight."""
        check_is_fitted(self)
        table = self._members.checked(self, X)
        totals = np.cumsum(self.estimator_weights_)
        stages = self._members.staged_sums(table, resolve_n_jobs(self.n_jobs))
        return zip(stages, totals.tolist(), strict=True)

    def _total_weight(self) -> float:
        return float(self.estimator_weights_.sum())

    def _compute_decision(self, sums: Floats, total: float) -> Floats:
        if self.n_classes_ == 1:
            return np.zeros((len(sums), 1))
        return self._algorithm.compute_decision(sums, total)

    def _compute_shares(self, sums: Floats, total: float) -> Floats:
        if self.n_classes_ == 1:
            return np.ones((len(sums), 1))
        return self._algorithm.compute_probabilities(sums, total)

    def _decode_classes(self, decision: Floats) -> Array:
        numbers = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        labels: Array = self.classes_[numbers.astype(np.intp)]
        return labels

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision function: weighted votes for the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes a single score, positive for the second. "SAMME": votes of 1 for a
            class and -1 / (K - 1) for the others, divided by the total weight, as in scikit-learn.
            "discrete", "real", "MH", "gentle", and "logit" with two classes: F, half the log-odds.
            Others: the sums of the votes.
        """
        return self._compute_decision(self._compute_sums(X), self._total_weight())

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield `decision_function` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for sums, total in self._staged_sums(X):
            yield self._compute_decision(sums, total)

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest weighted vote; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._decode_predictions(self._compute_sums(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for decision in self.staged_decision_function(X):
            yield self._decode_classes(decision)

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities, derived from the loss that the algorithm minimizes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. Many rounds of boosting drive them towards 0 and
            1, except for "SAMME", whose scores are shares of the total weight.
        """
        return self._decode_probabilities(self._compute_sums(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield `predict_proba` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        p : ndarray of shape (n_samples, n_classes)
        """
        for sums, total in self._staged_sums(X):
            yield self._compute_shares(sums, total)

    def predict_log_proba(self, X: Any) -> Floats:
        """Predict the logarithm of `predict_proba`; minus infinity for a probability of 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    # Margins

    def margins(self, X: Any, y: Any) -> Floats:
        """Compute the margins of rows, from -1 to 1.

        The margin is the vote for the class of a row minus the largest vote for another class,
        divided by the largest possible difference. It is positive if the row is classified
        correctly, and 1 if all members are right. With two classes it is ``y sum a h / sum a``.
        Schapire, Freund, Bartlett and Lee (1998), "Boosting the margin", Annals of Statistics
        26(5).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their classes, all of which `fit` has seen.

        Returns
        -------
        margin : ndarray of shape (n_samples,)
            Members with real-valued votes ("real", "MH", "gentle", "logit") are scaled by their
            largest vote for a training row.
        """
        sums = self._compute_sums(X)
        return self._margins(sums, self._encode_classes(y, sums), len(self._members))

    def staged_margins(self, X: Any, y: Any) -> Iterator[Floats]:
        """Yield `margins` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Yields
        ------
        margin : ndarray of shape (n_samples,)
        """
        target = None
        for number, (sums, _) in enumerate(self._staged_sums(X), start=1):
            target = self._encode_classes(y, sums) if target is None else target
            yield self._margins(sums, target, number)

    def margin_bound_term(self, X: Any, y: Any, theta: float) -> float:
        """Compute the share of rows whose margin is at most ``theta``.

        This is the first term of a bound on the test error, which with high probability is at most
        this share plus a term of order sqrt(d / (N theta^2)), where d is the VC dimension of the
        members. The bound holds for every theta > 0 and any number of rounds. Schapire et al.
        (1998), theorem 2.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
        theta : float

        Returns
        -------
        share : float
        """
        return float(np.mean(self.margins(X, y) <= theta))

    def _margins(self, sums: Floats, target: Indices, n_rounds: int) -> Floats:
        if self.n_classes_ == 1:
            return np.ones(len(target))
        max_votes = float(self._members.max_votes[:n_rounds].sum())
        if max_votes == 0.0:  # all votes are 0
            return np.zeros(len(target))
        return self._algorithm.compute_margins(self._algorithm.center(sums), target, max_votes)

    def _encode_classes(self, y: Any, sums: Floats) -> Indices:
        labels = np.asarray(read_target(y, numeric=False))
        check_consistent_length(sums, labels)
        numbers = np.searchsorted(self.classes_, labels)
        known = np.take(self.classes_, numbers, mode="clip") == labels
        if not known.all():
            row = int(np.flatnonzero(~known)[0])
            raise ValueError(
                f"y is {labels.tolist()[row]!r} in row {row}, which is not a class seen in fit: "
                "margins need known classes."
            )
        return numbers

    # The rounds

    @property
    def estimators_(self) -> Any:
        """Fitted members."""
        return self._fitted().estimators(self._algorithm)

    @property
    def estimator_weights_(self) -> Floats:
        """Weight of each round's votes."""
        return self._fitted().rounds.weight

    @property
    def estimator_errors_(self) -> Floats:
        """Error of the members of each round under their training weights."""
        return self._fitted().rounds.error

    @property
    def edges_(self) -> Floats:
        """Edge of each round: error of random guessing minus error of the members."""
        return self._algorithm.worst_error - self.estimator_errors_

    @property
    def normalizers_(self) -> Floats:
        """Z of each round: sum of the new row weights before normalization."""
        return self._fitted().rounds.normalizer

    @property
    def best_iteration_(self) -> int:
        """Number of rounds of the fitted model: with early stopping, those up to the best."""
        return len(self._fitted())

    @property
    def training_error_bound_(self) -> Floats:
        """Upper bound of the training error after each round: product of the Z up to it.

        The product is multiplied by K - 1 for "M2" and "MR", and by K / 2 for "MH" and "gentle".
        With ``learning_rate=1``, Z is ``2 sqrt(e (1 - e))`` for "discrete" and "M1", and at most
        that for "M2" and "MR". For "logit" the bound is the deviance in bits. NaN from the first
        round with redrawn weights on.
        """
        factor = self._algorithm.compute_bound_factor()
        if factor is None:
            raise AttributeError(
                f"algorithm={self.algorithm!r} has no bound of the training error for "
                f"{self.n_classes_} classes: use algorithm='MH'."
            )
        return np.float64(factor) * np.cumprod(self._mask_reset_rounds(self.normalizers_))

    @property
    def edge_bound_(self) -> Floats:
        """Edge bound of the training error after each round: ``exp(-2 sum of squared edges)``.

        It is multiplied by K - 1 for "M2" and "MR". It is never below `training_error_bound_`.
        """
        algorithm = self._algorithm
        if not algorithm.has_edge_bound or self.learning_rate != 1.0:
            raise AttributeError(
                "edge_bound_ needs learning_rate=1 and algorithm 'discrete', 'M1', 'M2', 'MR', or "
                "'SAMME' with two classes: use training_error_bound_."
            )
        factor = algorithm.compute_bound_factor()
        assert factor is not None
        squares = np.cumsum(self._mask_reset_rounds(self.edges_**2))
        return np.float64(factor) * np.exp(-2.0 * squares)

    def _mask_reset_rounds(self, values: Floats) -> Floats:
        """Set the values of rounds with redrawn weights to NaN."""
        return np.where(self._fitted().rounds.reset > 0.0, np.nan, values)

    @property
    def feature_importances_(self) -> Floats:
        """Mean feature importances of the members, weighted as their votes."""
        if not len(self._fitted()):
            return np.zeros(self.n_features_in_)
        return self._members.importances

    def _defect(self) -> str | None:
        members = self._members
        assert isinstance(members, BoostedTreeMembers)  # a file holds no others
        self.estimator_ = clone(members.example)
        return complete_votes(members, self)

    def _fitted(self) -> EstimatorMembers | BoostedTreeMembers:
        if not hasattr(self, "_members"):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: call fit first.")
        return self._members

    def __len__(self) -> int:
        return len(self._fitted())

    def __getitem__(self, number: int) -> Any:
        return self.estimators_[number]
