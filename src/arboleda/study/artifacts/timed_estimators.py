"""The models of times to an event and of rankings as estimators that take tables."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from arboleda._utils.concordance import concordance_index
from arboleda._utils.survival_times import read_survival_times
from arboleda.study.artifacts.estimators import TableModel
from arboleda.study.execution.fitting import fit_pipeline, predict_curves
from arboleda.tables.layout import Layout
from arboleda.tables.timed_target import join_relevance, join_times

__all__ = ["StudyRanker", "StudySurvivalModel"]


class StudySurvivalModel(TableModel):
    """A model of the time to an event of a study, on the columns of the study's table.

    `arboleda.Study.load` creates it. It takes pandas, polars and Arrow tables; columns are found by
    name, in any order, and others are ignored.

    Parameters
    ----------
    pipeline : Pipeline
        Preparation and model, on the encoded matrix.
    layout : Layout
        Encodes a table as that matrix: ``layout.encode(table).x``.
    times : sequence of float, default=()
        The times at which the study compared survival curves.

    Attributes
    ----------
    pipeline_ : Pipeline
        Fitted.
    feature_names_in_ : ndarray of str
        The columns that are used.
    n_features_in_ : int
        Their number.
    """

    def __init__(self, pipeline: Pipeline, layout: Layout, times: Sequence[float] = ()) -> None:
        super().__init__(pipeline, layout)
        self.times = times

    def fit(self, X: Any, y: Any) -> Self:
        """Fit preparation and model anew, with the study's columns, kinds and categories.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.
        y : structured ndarray or data frame of n_samples rows
            Two fields or columns: whether the event was observed, and its time or that of
            censoring.

        Returns
        -------
        self : StudySurvivalModel

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values, or no row has the event.
        """
        rows = read_survival_times(y)
        pipeline = clone(self.pipeline)
        fit_pipeline(pipeline, self.layout.encode(X).x, join_times(rows.event, rows.time))
        self.pipeline_: Pipeline = pipeline
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the risk of each row; larger means an earlier event.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            Its scale depends on the model: log-hazards of Cox regression, mortality of forests.

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        return np.asarray(self.pipeline_.predict(self._encode(X)), dtype=np.float64)

    def predict_survival_function(
        self, X: Any, times: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.float64]:
        """Predict the probability of no event up to each time.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.
        times : array-like of shape (n_times,), default=None
            Ascending; None: the times of the study.

        Returns
        -------
        survival : ndarray of shape (n_samples, n_times)
            After the last training time, the value at it.

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values, or a time is negative.
        """
        pipeline = self.pipeline_
        x = pipeline[:-1].transform(self._encode(X))
        return predict_curves(pipeline[-1], x, self.times if times is None else times)

    def score(self, X: Any, y: Any) -> float:
        """Compute Harrell's concordance index of `predict`.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.
        y : structured ndarray or data frame of n_samples rows
            As in `fit`.

        Returns
        -------
        score : float
            Share of the comparable pairs that the risk orders like the times; 0.5 for ties.
        """
        return concordance_index(read_survival_times(y, requires_event=False), self.predict(X))


class StudyRanker(TableModel):
    """A model that ranks rows within queries, on the columns of a study's table.

    `arboleda.Study.load` creates it. It takes pandas, polars and Arrow tables; columns are found by
    name, in any order, and others are ignored.

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

    def fit(self, X: Any, y: Any, qid: Any) -> Self:
        """Fit preparation and model anew, with the study's columns, kinds and categories.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.
        y : array-like of shape (n_samples,)
            Relevance: integers from 0 on.
        qid : array-like of shape (n_samples,)
            The query of each row.

        Returns
        -------
        self : StudyRanker

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values, or a relevance is negative.
        """
        queries = np.unique(np.asarray(qid), return_inverse=True)[1]
        pipeline = clone(self.pipeline)
        y = join_relevance(np.asarray(y, dtype=np.float64), queries)
        fit_pipeline(pipeline, self.layout.encode(X).x, y)
        self.pipeline_: Pipeline = pipeline
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the score of each row; rows of a query rank by descending scores.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns.

        Returns
        -------
        score : ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If a column is missing or holds another kind of values.
        """
        return np.asarray(self.pipeline_.predict(self._encode(X)), dtype=np.float64)
