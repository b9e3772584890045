"""The models of a study as estimators that take tables with the study's columns."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from arboleda.tables.layout import Layout

__all__ = [
    "StudyClassifier",
    "StudyRegressor",
    "TableModel",
    "predict_class_probabilities",
]


def _check_pipeline_has(method: str) -> Any:
    def check(model: Any) -> bool:
        return hasattr(getattr(model, "pipeline_", model.pipeline), method)

    return check


def predict_class_probabilities(
    pipeline: Pipeline, x: npt.NDArray[np.float64], n_classes: int
) -> npt.NDArray[np.float64]:
    """Predict the probability of each class; 0 for those that the model was not fitted on."""
    p = np.zeros((len(x), n_classes))
    p[:, pipeline.classes_] = pipeline.predict_proba(x)
    return p


class TableModel(BaseEstimator):  # type: ignore[misc]
    """A pipeline on the encoded matrix, with the layout that encodes tables."""

    pipeline_: Pipeline

    def __init__(self, pipeline: Pipeline, layout: Layout) -> None:
        self.pipeline = pipeline
        self.layout = layout

    @property
    def n_features_in_(self) -> int:
        """The number of the table's columns that are used."""
        return len(self.layout.source_names)

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The names of the table's columns that are used."""
        return np.array(self.layout.source_names, dtype=object)

    def _encode(self, X: Any) -> npt.NDArray[np.float64]:
        check_is_fitted(self, "pipeline_")
        return self.layout.encode(X).x

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class StudyClassifier(ClassifierMixin, TableModel):  # type: ignore[misc]
    """A classifier of a study, on the columns of the study's table.

    `arboleda.Study.load` creates it. It takes pandas, polars and Arrow tables; columns are found by
    name, in any order, and others are ignored. Missing values and unknown categories are handled by
    the study's preparation.

    Parameters
    ----------
    pipeline : Pipeline
        Preparation and model, on the encoded matrix.
    layout : Layout
        Encodes a table as that matrix: ``layout.encode(table).x``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The target's values: strings, Booleans or numbers, as in the table.
    pipeline_ : Pipeline
        Fitted; it predicts indices into ``classes_``.
    feature_names_in_ : ndarray of str
        The columns that are used.
    n_features_in_ : int
        Their number.
    """

    classes_: npt.NDArray[Any]

    def fit(self, X: Any, y: Any) -> Self:
        """Fit preparation and model anew, with the study's columns, kinds and categories.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.
        y : array-like of shape (n_samples,)
            The classes.

        Returns
        -------
        self : StudyClassifier

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        x = self.layout.encode(X).x
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.pipeline_: Pipeline = clone(self.pipeline).fit(x, codes)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Values of ``classes_``.

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        places = self.pipeline_.predict(self._encode(X))
        return np.asarray(self.classes_[places])

    @available_if(_check_pipeline_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to 1.

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        return predict_class_probabilities(self.pipeline_, self._encode(X), len(self.classes_))

    @available_if(_check_pipeline_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Compute the confidence scores of each row, for models that have them.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.

        Returns
        -------
        d : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one column, positive for the second class.

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        return np.asarray(self.pipeline_.decision_function(self._encode(X)))


class StudyRegressor(RegressorMixin, TableModel):  # type: ignore[misc]
    """A regressor of a study, on the columns of the study's table.

    `arboleda.Study.load` creates it. It takes pandas, polars and Arrow tables; columns are found by
    name, in any order, and others are ignored. Missing values and unknown categories are handled by
    the study's preparation.

    Parameters
    ----------
    pipeline : Pipeline
        Preparation and model, on the encoded matrix.
    layout : Layout
        Encodes a table as that matrix: ``layout.encode(table).x``.

    Attributes
    ----------
    pipeline_ : Pipeline
        Fitted.
    feature_names_in_ : ndarray of str
        The columns that are used.
    n_features_in_ : int
        Their number.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit preparation and model anew, with the study's columns, kinds and categories.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.
        y : array-like of shape (n_samples,)
            The values.

        Returns
        -------
        self : StudyRegressor

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        x = self.layout.encode(X).x
        self.pipeline_: Pipeline = clone(self.pipeline).fit(x, np.asarray(y, dtype=np.float64))
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the value of each row, in the target's units.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.

        Returns
        -------
        y : ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        return np.asarray(self.pipeline_.predict(self._encode(X)), dtype=np.float64)
