"""The results of a study: facts, leaderboard, fitted models and rows."""

import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sklearn

from arboleda._utils.errors import StudyError, StudyFormatError
from arboleda._utils.frames import new_frame
from arboleda._utils.results import Result
from arboleda.study.artifacts.estimators import StudyClassifier, StudyRegressor
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.index import INDEX, Index, read_facts, read_index
from arboleda.study.artifacts.model_files import check_model, read_model
from arboleda.study.artifacts.rows import HeldOut, Rows, read_held_out, read_rows
from arboleda.study.artifacts.timed_estimators import StudyRanker, StudySurvivalModel
from arboleda.study.execution.job import error_sentence
from arboleda.study.results.leaderboard import (
    make_leaderboard_columns,
    make_leaderboard_frame,
    plot_leaderboard,
    summarize_facts,
    summarize_html,
)
from arboleda.tables.features import Features
from arboleda.tables.layout import Layout

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from arboleda.study import Explanation

__all__ = ["PAGE", "REPORT", "StudyModel", "StudyResult", "load_study"]

StudyModel = StudyClassifier | StudyRegressor | StudySurvivalModel | StudyRanker

REPORT = "report.html"
PAGE = "page.html"


class StudyResult(Result):
    """The results of a study, which `arboleda.Study.run` and `arboleda.Study.load` return.

    Models and rows are read from the study's folder when they are needed. In a notebook, a result
    shows as a short summary.

    Attributes
    ----------
    folder : Path
        The study's folder.
    facts : dict
        The content of ``results.json``.
    task : {"binary", "multiclass", "regression", "survival", "ranking"}
        The task.
    target : str
        The column that is predicted.
    class_names : tuple of str
        The labels of the classes, in the order of the models' ``classes_``; empty in a regression.
    layout : Layout
        The columns that the models take; it encodes tables as matrices.
    times : tuple of float
        The times at which survival curves were compared; empty unless times to an event were
        predicted.
    keys : tuple of str
        The keys of the saved models, best first, for `model`.
    best_model_ : StudyClassifier, StudyRegressor, StudySurvivalModel or StudyRanker
        The model with the best cross-validated mean, fitted on all training rows.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> from sklearn.datasets import load_iris
    >>> flowers = load_iris(as_frame=True).data
    >>> with TemporaryDirectory() as folder:
    ...     result = Study("iris", target="target", output_dir=folder, models="lda").run()
    ...     predicted = result.predict(flowers[:2])
    ...     explanation = result.explain(7)
    >>> predicted.tolist(), explanation.facts["row"]["truth"]
    (['setosa', 'setosa'], 'setosa')
    >>> result.leaderboard["model"].tolist()
    ['Linear discriminant analysis']
    """

    def __init__(self, folder: Path, facts: dict[str, Any], index: Index) -> None:
        self.folder = folder
        self.facts = facts
        self.task: str = index.task
        self.target: str = index.target
        self.class_names: tuple[str, ...] = index.class_names
        self.layout: Layout = index.layout
        self.times: tuple[float, ...] = index.times
        self._index = index
        self._models: dict[str, StudyModel] = {}
        self._ranked: list[str] = [m["key"] for m in facts["models"] if m["status"] == "ok"]
        self.keys: tuple[str, ...] = tuple(
            k for k in self._ranked if not isinstance(index.models.get(k, ""), str)
        )

    def _summarize(self) -> dict[str, Any]:
        return summarize_facts(self.facts) | {"folder": str(self.folder)}

    def _make_table(self) -> str:
        return summarize_html(self.facts, self.report)

    @property
    def report(self) -> Path:
        """The report, one HTML file that opens offline."""
        return self.folder / REPORT

    @property
    def leaderboard(self) -> Any:
        """The models with their scores, best first.

        It is a pandas data frame, or an Arrow table if pandas is not installed.
        """
        return make_leaderboard_frame(self.facts)

    def to_frame(self) -> "pd.DataFrame":
        """Return the leaderboard as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each model, best first: scores on the folds and on the test rows, and times.
        """
        return new_frame(make_leaderboard_columns(self.facts))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the mean ± standard deviation of each model over the folds, and its test score.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        return plot_leaderboard(self.facts, ax)

    @property
    def best_key(self) -> str:
        """The key of the best model, saved or not."""
        if not self._ranked:
            raise StudyError(f"Every model of the study in {self.folder} failed.")
        return self._ranked[0]

    @property
    def best_model_(self) -> StudyModel:
        """The model with the best cross-validated mean, fitted on all training rows."""
        return self.model(self.best_key)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict with the best model.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns; others are ignored.

        Returns
        -------
        y : ndarray of shape (n_samples,)

        Raises
        ------
        StudyError
            If the best model was not saved; a `StudyFormatError` if its files are damaged.
        ValueError
            If a column is missing or holds another kind of values.
        """
        return self.best_model_.predict(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the probability of each class with the best model.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A pandas, polars or Arrow table with the study's columns; others are ignored.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of ``best_model_.classes_``; rows sum to 1.

        Raises
        ------
        AttributeError
            If the best model predicts no probabilities.
        StudyError
            If the best model was not saved; a `StudyFormatError` if its files are damaged.
        ValueError
            If a column is missing or holds another kind of values.
        """
        model = self.best_model_
        if not hasattr(model, "predict_proba"):
            raise AttributeError(f"The best model, {self.best_key}, predicts no probabilities.")
        return np.asarray(model.predict_proba(X))

    def explain(self, row: int | None = None, **options: Any) -> "Explanation":
        """Explain the best model as a whole, or its prediction for one row of the study's table.

        Parameters
        ----------
        row : int, optional
            The number of a data row, counted from 1. By default, the model is explained.
        **options
            Those of `arboleda.study.explain`: ``seed``, ``progress``, ``lang``.

        Returns
        -------
        Explanation
            With ``facts`` and ``save(path)``, which writes the page.

        Raises
        ------
        StudyError
            If the models or the rows were not saved, or the table has no such row.
        """
        from arboleda.study import explain

        return explain(self.folder, row, **options)

    def find_key(self, name: str | None) -> str:
        """Return the key of a saved model by its key or its name; None: the best model's.

        Raises
        ------
        StudyError
            If the study saved no such model.
        """
        if name is None:
            return self.best_key
        names = {m["name"].lower(): m["key"] for m in self.facts["models"] if m["key"] in self.keys}
        key = name if name in self._ranked else names.get(name.lower())
        if key is None:
            raise StudyError(
                f"The study in {self.folder} has no model {name!r}; it saved "
                f"{', '.join(self.keys) or 'none'}."
            )
        return key

    def model(self, key: str) -> StudyModel:
        """Return a fitted model of the study.

        Parameters
        ----------
        key : str
            One of ``keys``.

        Returns
        -------
        model : StudyClassifier, StudyRegressor, StudySurvivalModel or StudyRanker
            Fitted on all training rows and no test rows.

        Raises
        ------
        StudyError
            If there is no such model, or it was not saved; a `StudyFormatError` if its files are
            damaged.
        """
        if key not in self._models:
            self._models[key] = self._read_model(key)
        return self._models[key]

    def _read_model(self, key: str) -> StudyModel:
        files = self._index.models.get(key)
        if files is None and key in self._ranked:
            raise StudyFormatError(
                f"The model {key} is in the leaderboard of {self.folder}, but not in the index of "
                f"its models, {MODELS}/{INDEX}; run the study's command again: completed work is "
                "reused."
            )
        if files is None:
            raise StudyError(
                f"The study in {self.folder} has no model {key!r}; it saved "
                f"{', '.join(self.keys) or 'none'}."
            )
        if isinstance(files, str):
            raise StudyError(
                f"The model {key} was not saved in {self.folder} ({files}); run the study's "
                "command again: completed work is reused."
            )
        pipeline = read_model(self.folder / MODELS, key, files)
        try:
            has_curves = self.task == "survival"
            check_model(
                pipeline, len(self.layout.names), self._index.classes, has_curves=has_curves
            )
        except MemoryError:
            raise
        except Exception as error:  # an inconsistent model can fail in any way
            raise StudyFormatError(
                f"The model {key} in {self.folder} is of an older version of arboleda, or does not "
                f"match the study's columns ({error_sentence(error)}); run it in a new folder."
            ) from error
        if self._index.classes is None:
            return self._wrap_pipeline(pipeline)
        classifier = StudyClassifier(pipeline, self.layout)
        classifier.pipeline_, classifier.classes_ = pipeline, self._index.classes
        return classifier

    def _wrap_pipeline(self, pipeline: Any) -> StudyModel:
        model: StudyRegressor | StudySurvivalModel | StudyRanker
        if self.task == "survival":
            model = StudySurvivalModel(pipeline, self.layout, self._index.times)
        else:
            kind = StudyRanker if self.task == "ranking" else StudyRegressor
            model = kind(pipeline, self.layout)
        model.pipeline_ = pipeline
        return model

    @cached_property
    def _training(self) -> Rows:
        return self._read_rows(test=False)

    @cached_property
    def _test(self) -> Rows:
        return self._read_rows(test=True)

    def training_rows(self) -> Rows:
        """Return the rows that the models were fitted on.

        Returns
        -------
        Rows

        Raises
        ------
        StudyError
            If they were not saved; a `StudyFormatError` if their files are damaged.
        """
        return self._training

    def test_rows(self) -> Rows:
        """Return the rows that were held out for the test.

        Returns
        -------
        Rows

        Raises
        ------
        StudyError
            If they were not saved; a `StudyFormatError` if their files are damaged.
        """
        return self._test

    def held_out(self) -> HeldOut | None:
        """Return the best model's out-of-fold predictions of training rows, with the targets.

        Returns
        -------
        (y, predictions) : (ndarray of shape (n,), Predictions) or None
            In a classification, ``y`` has indices of classes. None if they were not saved.

        Raises
        ------
        StudyFormatError
            If their file is damaged.
        """
        files = self._index.held_out
        if isinstance(files, str):
            return None
        return read_held_out(self.folder / MODELS, files, len(self.class_names))

    def _read_rows(self, *, test: bool) -> Rows:
        files = self._index.rows
        if isinstance(files, str):
            raise StudyError(
                f"The rows were not saved in {self.folder} ({files}); run the study's command "
                "again."
            )
        return read_rows(
            self.folder / MODELS,
            files,
            self.layout,
            self.target,
            self._index.classes,
            test=test,
            task=self.task,
            second=self._index.second,
        )

    def encode(self, source: Any) -> Features:
        """Encode a table as ``layout.encode`` does."""
        return self.layout.encode(source)


def load_study(folder: str | Path) -> StudyResult:
    """Read a study's folder; see `arboleda.Study.load`."""
    path = Path(folder)
    facts = read_facts(path)
    index = read_index(path)
    study = facts["study"]
    if (study["data_sha256"], study["target"], study["task"]) != (
        index.sha256,
        index.target,
        index.task,
    ):
        raise StudyFormatError(
            f"The facts and the models in {path} are of different studies; run the study's command "
            "again: completed work is reused."
        )
    if index.scikit_learn != sklearn.__version__:
        warnings.warn(
            f"The models in {path} were fitted with scikit-learn {index.scikit_learn[:40]}, and "
            f"this is {sklearn.__version__}: predictions may differ, or fail. Install that "
            "version, or run the study in a new folder.",
            UserWarning,
            stacklevel=3,
        )
    return StudyResult(path, facts, index)
