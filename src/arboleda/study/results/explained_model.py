"""The model to explain: a study's best model, its rows, and its views as estimators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline

from arboleda.scoring.scores import class_scores
from arboleda.study.combination.estimators import CombinedClassifier, CombinedRegressor
from arboleda.tables.timed_target import RELEVANCE

__all__ = [
    "ExplainedModel",
    "Floats",
    "Kind",
    "NamedClassifier",
    "NamedProbabilities",
    "NamedRegressor",
    "RowSubset",
    "Rows",
    "make_estimator_adapter",
    "named_target",
    "numbered_model",
    "with_column",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Kind = Literal["numeric", "categorical", "boolean"]


@dataclass(frozen=True)
class RowSubset:
    """A subset of the study's rows: the matrix, the target's codes or values, row numbers.

    ``numbers`` count the data rows of the table from 0.
    """

    x: Floats
    y: npt.NDArray[Any]
    numbers: Rows

    def some(self, rows: Rows) -> "RowSubset":
        """Select rows by index."""
        return RowSubset(self.x[rows], self.y[rows], self.numbers[rows])


@dataclass(frozen=True)
class ExplainedModel:
    """A study's best model, its training rows (``train``) and the test rows (``test``).

    The pipeline takes a matrix of numbers and of codes of categories: ``levels`` names the codes
    of each categorical column (-1 if missing, one past the last if unknown), the columns in
    ``binary`` hold booleans. ``labels`` are the classes; empty without classes, where ``task``
    names the kind of the values.
    """

    folder: str
    facts: Mapping[str, Any]
    key: str
    pipeline: Pipeline
    names: tuple[str, ...]
    levels: Mapping[int, tuple[str, ...]]
    binary: tuple[int, ...]
    labels: tuple[str, ...]
    train: RowSubset
    test: RowSubset
    seed: int
    task: str = "regression"

    @property
    def is_timed(self) -> bool:
        """Whether the model predicts risks or ranks, which have no errors of single rows."""
        return self.task in ("survival", "ranking")

    @property
    def classes(self) -> bool:
        """Whether the model is a classifier."""
        return bool(self.labels)

    @property
    def predicts_probabilities(self) -> bool:
        """Whether the model predicts probabilities."""
        return self.classes and hasattr(self.pipeline, "predict_proba")

    def kind(self, column: int) -> Kind:
        """Return the kind of a column of the matrix."""
        if column in self.levels:
            return "categorical"
        return "boolean" if column in self.binary else "numeric"

    def text(self, column: int, value: float) -> str | float | None:
        """Return a value of the matrix as in the table; None if it is missing."""
        kind = self.kind(column)
        if kind == "categorical":
            known = self.levels[column]
            return None if value < 0 else known[int(value)] if value < len(known) else "(unknown)"
        if np.isnan(value):
            return None
        return ("true" if value else "false") if kind == "boolean" else float(value)

    @property
    def n_models(self) -> int:
        """Number of fitted models in a combined model; 1 for others."""
        model = self.pipeline[-1]
        if not isinstance(model, CombinedClassifier | CombinedRegressor):
            return 1
        return sum(len(bag) for _, bag in model.members_)

    def outputs(self, x: Floats) -> Floats:
        """Predict probabilities of the classes, or one column of values.

        For a model without probabilities, the predicted class has 1 and the others 0.
        """
        if not self.classes:
            return self.predict(x).reshape(-1, 1)
        if self.predicts_probabilities:
            p = class_scores(self.pipeline, x, len(self.labels))
            assert p is not None
            return p
        return np.eye(len(self.labels))[self.predict(x).astype(np.int64)]

    def predict(self, x: Floats) -> Floats:
        """Predict class numbers, or values."""
        return np.asarray(self.pipeline.predict(x), dtype=np.float64)

    def prediction_text(self, value: float) -> str | float:
        """Return a prediction as the table's value: a class label or a number."""
        return self.labels[int(value)] if self.classes else float(value)

    def draw(self, part: RowSubset, most: int, stream: int) -> RowSubset:
        """Draw at most ``most`` rows without replacement, in their order.

        ``stream`` separates the random draws of different figures.
        """
        n_rows = len(part.x)
        if n_rows <= most:
            return part
        if part.y.dtype == RELEVANCE:
            return self._draw_queries(part, most, stream)
        drawn = np.random.default_rng([self.seed, stream]).choice(n_rows, most, replace=False)
        return part.some(np.sort(drawn))

    def _draw_queries(self, part: RowSubset, most: int, stream: int) -> RowSubset:
        """Draw whole queries, at least one, while they have at most ``most`` rows together."""
        queries, sizes = np.unique(part.y["query"], return_counts=True)
        order = np.random.default_rng([self.seed, stream]).permutation(len(queries))
        n_drawn = max(1, int(np.sum(np.cumsum(sizes[order]) <= most)))
        drawn = queries[order[:n_drawn]]
        return part.some(np.flatnonzero(np.isin(part.y["query"], drawn)))


def with_column(row: Floats, column: int, values: Sequence[float] | Floats) -> Floats:
    """Return copies of one row with these values in a column."""
    stacked = np.repeat(row[None, :], len(values), axis=0)
    stacked[:, column] = values
    return stacked


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


def make_estimator_adapter(subject: ExplainedModel) -> Any:
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
