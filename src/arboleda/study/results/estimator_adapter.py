"""A study's pipeline as an estimator with named columns and classes, for explanations."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from arboleda.study.results.explained_model import ExplainedModel, Floats

__all__ = [
    "NamedClassifier",
    "NamedProbabilities",
    "NamedRegressor",
    "named_model",
    "named_target",
    "numbered_model",
]


class _Named(BaseEstimator):  # type: ignore[misc]
    """A fitted pipeline over the encoded matrix; ``classes_`` are labels, not numbers."""

    def __init__(self, subject: ExplainedModel) -> None:
        self.subject = subject

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """Names of the matrix's columns."""
        return np.array(self.subject.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of the matrix's columns."""
        return len(self.subject.names)

    def fit(self, X: Any, y: Any) -> "_Named":
        """Raise TypeError: the model to explain is the study's saved one."""
        raise TypeError("a study's model cannot be refitted outside its study")


class NamedRegressor(RegressorMixin, _Named):  # type: ignore[misc]
    """A regression model."""

    def predict(self, X: Floats) -> Floats:
        """Predict the target's values."""
        return self.subject.predict(X)


class NamedClassifier(ClassifierMixin, _Named):  # type: ignore[misc]
    """A classifier without probabilities."""

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """Labels of the classes, in the order of their numbers."""
        return np.array(self.subject.labels, dtype=object)

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Predict labels."""
        labels: npt.NDArray[Any] = self.classes_[self.subject.predict(X).astype(np.int64)]
        return labels


class NamedProbabilities(NamedClassifier):
    """A classifier with probabilities."""

    def predict_proba(self, X: Floats) -> Floats:
        """Predict the probabilities of the classes."""
        return self.subject.outputs(X)


class _Numbered:
    """Classes by their numbers.

    Scorers of scikit-learn expect columns of probabilities in the order of the sorted classes;
    labels sorted as text ("10" before "9") have another order.
    """

    subject: ExplainedModel

    @property
    def classes_(self) -> npt.NDArray[np.int64]:
        """Numbers of the classes, ascending."""
        return np.arange(len(self.subject.labels))


class NumberedClassifier(_Numbered, NamedClassifier):
    """A classifier that predicts numbers of classes."""


class NumberedProbabilities(_Numbered, NamedProbabilities):
    """A classifier of numbers with probabilities in their order."""


def named_model(subject: ExplainedModel) -> Any:
    """Return the model as a scikit-learn estimator with names of columns and labels."""
    if not subject.classes:
        return NamedRegressor(subject)
    return (NamedProbabilities if subject.predicts_probabilities else NamedClassifier)(subject)


def numbered_model(subject: ExplainedModel) -> Any:
    """Return the model as a scikit-learn estimator with numbers of classes, for scorers."""
    if not subject.classes:
        return NamedRegressor(subject)
    return (NumberedProbabilities if subject.predicts_probabilities else NumberedClassifier)(
        subject
    )


def named_target(subject: ExplainedModel, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the target as that estimator predicts it: labels, or values."""
    if not subject.classes:
        return y
    labels: npt.NDArray[Any] = np.array(subject.labels, dtype=object)[y.astype(np.int64)]
    return labels
