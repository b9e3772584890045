"""The model to explain: the best model of a study, its columns' meanings, and the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from arboleda.study.combination.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.results.scoring import class_scores

__all__ = ["ExplainedModel", "Floats", "Kind", "RowSubset", "Rows", "with_column"]

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
    ``binary`` hold booleans. ``labels`` are the classes; empty in a regression.
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
        drawn = np.random.default_rng([self.seed, stream]).choice(n_rows, most, replace=False)
        return part.some(np.sort(drawn))


def with_column(row: Floats, column: int, values: Sequence[float] | Floats) -> Floats:
    """Return copies of one row with these values in a column."""
    stacked = np.repeat(row[None, :], len(values), axis=0)
    stacked[:, column] = values
    return stacked
