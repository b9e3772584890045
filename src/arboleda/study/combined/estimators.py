"""A combination of fitted models as one estimator."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline

from arboleda.study.combined.rules import Rule
from arboleda.study.execution.prediction_store import Predictions
from arboleda.study.results.scoring import class_scores

__all__ = ["CombinedClassifier", "CombinedRegressor", "Named"]

Floats = npt.NDArray[np.float64]
# A member's key, and its pipelines (one, or one per fold), whose mean is its output.
Named = tuple[str, list[Pipeline]]


class _Combined(BaseEstimator):  # type: ignore[misc]
    """Members and the rule that combines their outputs."""

    members_: list[Named]
    n_features_in_: int

    def __init__(self, members: Sequence[Named], rule: Rule) -> None:
        self.members = members
        self.rule = rule

    def _fit_members(self, X: Floats, y: npt.NDArray[Any]) -> None:
        """Refit all members; the rule is unchanged."""
        self.members_ = [
            (name, [clone(pipeline).fit(X, y) for pipeline in bag]) for name, bag in self.members
        ]
        self.n_features_in_ = X.shape[1]

    def outputs(self, X: Floats) -> Floats:
        """Compute the outputs of each member.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)

        Returns
        -------
        outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
        """
        return np.stack([self._bag_output(bag, X) for _, bag in self.members_])

    def _bag_output(self, bag: Sequence[Pipeline], X: Floats) -> Floats:
        return np.asarray(np.mean([self._pipeline_output(pipeline, X) for pipeline in bag], axis=0))

    @abstractmethod
    def _pipeline_output(self, pipeline: Pipeline, X: Floats) -> Floats:
        """Compute the output of a fitted pipeline."""


class CombinedClassifier(ClassifierMixin, _Combined):  # type: ignore[misc]
    """Classifiers of a study, and the rule that combines their outputs.

    Parameters
    ----------
    members : list of (str, list of Pipeline)
        Key and fitted pipelines of each member, whose mean is its output. They predict numbers of
        classes.
    rule : Rule
        Fitted to the members' out-of-fold predictions.

    Attributes
    ----------
    members_ : list of (str, list of Pipeline)
        Fitted.
    classes_ : ndarray of shape (n_classes,)
        The numbers from 0.
    n_features_in_ : int
    """

    classes_: npt.NDArray[np.int64]

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Refit all members; the rule is unchanged.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        y : ndarray of int, shape (n_rows,)
            Numbers of classes.
        """
        self._fit_members(X, y)
        self.classes_ = np.arange(int(np.max(y)) + 1)
        return self

    @classmethod
    def of(
        cls, members: Sequence[Named], rule: Rule, n_columns: int, n_classes: int
    ) -> "CombinedClassifier":
        """Create the combination of fitted members."""
        model = cls(members, rule)
        model.members_, model.n_features_in_ = list(members), n_columns
        model.classes_ = np.arange(n_classes)
        return model

    def predict_proba(self, X: Floats) -> Floats:
        """Predict the probabilities of the classes, of shape (n_rows, n_classes)."""
        return self.rule(self.outputs(X))

    def predict(self, X: Floats) -> npt.NDArray[np.int64]:
        """Predict the number of the most probable class; the first wins ties."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def _pipeline_output(self, pipeline: Pipeline, X: Floats) -> Floats:
        n_classes = len(self.classes_)
        score = class_scores(pipeline, X, n_classes)
        predicted = pipeline.predict(X) if score is None else np.empty(0)
        return Predictions(predicted, score).probabilities(n_classes)


class CombinedRegressor(RegressorMixin, _Combined):  # type: ignore[misc]
    """Regressors of a study, and the rule that combines their outputs.

    Parameters
    ----------
    members : list of (str, list of Pipeline)
        Key and fitted pipelines of each member, whose mean is its output.
    rule : Rule
        Fitted to the members' out-of-fold predictions.

    Attributes
    ----------
    members_ : list of (str, list of Pipeline)
        Fitted.
    n_features_in_ : int
    """

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Refit all members; the rule is unchanged.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        y : ndarray of shape (n_rows,)
            Values.
        """
        self._fit_members(X, y)
        return self

    @classmethod
    def of(cls, members: Sequence[Named], rule: Rule, n_columns: int) -> "CombinedRegressor":
        """Create the combination of fitted members."""
        model = cls(members, rule)
        model.members_, model.n_features_in_ = list(members), n_columns
        return model

    def predict(self, X: Floats) -> Floats:
        """Predict the values, of shape (n_rows,)."""
        return self.rule(self.outputs(X))

    def _pipeline_output(self, pipeline: Pipeline, X: Floats) -> Floats:
        return np.asarray(pipeline.predict(X), dtype=np.float64)
