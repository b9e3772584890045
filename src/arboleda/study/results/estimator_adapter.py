"""A study's pipeline under the names of its columns and classes, for whoever explains it."""

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
    """A fitted pipeline over the coded matrix; ``classes_`` are labels, not their numbers."""

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
        """Refuse: what is explained is the model that the study has kept."""
        raise TypeError("a study's model is fitted by its study")


class NamedRegressor(RegressorMixin, _Named):  # type: ignore[misc]
    """A model that answers with a quantity."""

    def predict(self, X: Floats) -> Floats:
        """Predict the target's values."""
        return self.subject.predict(X)


class NamedClassifier(ClassifierMixin, _Named):  # type: ignore[misc]
    """A model that names a class."""

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """Labels of the classes, in the order of their numbers."""
        return np.array(self.subject.labels, dtype=object)

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Predict labels."""
        labels: npt.NDArray[Any] = self.classes_[self.subject.predict(X).astype(np.int64)]
        return labels


class NamedProbabilities(NamedClassifier):
    """A model that also tells how probable each class is."""

    def predict_proba(self, X: Floats) -> Floats:
        """Predict the probabilities of the classes."""
        return self.subject.outputs(X)


class _Numbered:
    """Classes by their numbers.

    Scores of scikit-learn take columns of probabilities for those of the sorted classes; labels
    sorted as text ("10" before "9") have another order.
    """

    subject: ExplainedModel

    @property
    def classes_(self) -> npt.NDArray[np.int64]:
        """Numbers of the classes, ascending."""
        return np.arange(len(self.subject.labels))


class NumberedClassifier(_Numbered, NamedClassifier):
    """A model that says the number of a class."""


class NumberedProbabilities(_Numbered, NamedProbabilities):
    """A model that also tells how probable each class is, in the order of their numbers."""


def named_model(subject: ExplainedModel) -> Any:
    """The model as an estimator of scikit-learn's kind that knows names and labels."""
    if not subject.classes:
        return NamedRegressor(subject)
    return (NamedProbabilities if subject.predicts_probabilities else NamedClassifier)(subject)


def numbered_model(subject: ExplainedModel) -> Any:
    """The same, of classes by their numbers: for scores."""
    if not subject.classes:
        return NamedRegressor(subject)
    return (NumberedProbabilities if subject.predicts_probabilities else NumberedClassifier)(
        subject
    )


def named_target(subject: ExplainedModel, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The target as that estimator answers it: labels, or values."""
    if not subject.classes:
        return y
    labels: npt.NDArray[Any] = np.array(subject.labels, dtype=object)[y.astype(np.int64)]
    return labels
