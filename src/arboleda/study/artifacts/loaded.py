"""A study read back from its folder: its facts, its fitted models and its rows."""

import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from arboleda.study.artifacts.estimators import StudyClassifier, StudyRegressor
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.index import INDEX, Index, read_facts, read_index
from arboleda.study.artifacts.model_files import read_model
from arboleda.study.artifacts.rows import HeldOut, Rows, read_held_out, read_rows
from arboleda.study.data.features import Features
from arboleda.study.errors import StudyError, StudyFormatError
from arboleda.study.execution.job import error_sentence

__all__ = ["LoadedStudy", "load_study"]


class LoadedStudy:
    """A study that was run before; `arboleda.Study.load` makes it.

    Attributes
    ----------
    folder : Path
        Where it was read from.
    facts : dict
        As in ``results.json``.
    task : {"binary", "multiclass", "regression"}
        What was predicted.
    target : str
        The column that was predicted.
    class_names : tuple of str
        The classes' texts, in the order of the models' ``classes_``; empty in a regression.
    layout : Layout
        The columns that the models take, and how a table becomes their matrix.
    keys : tuple of str
        The models that were kept, best first: what `model` takes.
    best_model_ : StudyClassifier or StudyRegressor
        The model with the best cross-validated mean, fitted on all training rows.
    """

    def __init__(self, folder: Path, facts: dict[str, Any], index: Index) -> None:
        self.folder = folder
        self.facts = facts
        self.task = index.task
        self.target = index.target
        self.class_names = index.class_names
        self.layout = index.layout
        self._index = index
        self._models: dict[str, StudyClassifier | StudyRegressor] = {}
        self._ranked: list[str] = [m["key"] for m in facts["models"] if m["status"] == "ok"]
        self.keys = tuple(k for k in self._ranked if not isinstance(index.models.get(k, ""), str))

    def __repr__(self) -> str:
        return f"LoadedStudy of {self.target!r} in {str(self.folder)!r}: {len(self.keys)} models"

    @property
    def best_key(self) -> str:
        """The key of the best model, kept or not."""
        if not self._ranked:
            raise StudyError(f"Every model of the study in {self.folder} failed.")
        return self._ranked[0]

    @property
    def best_model_(self) -> StudyClassifier | StudyRegressor:
        """The model with the best cross-validated mean, fitted on all training rows."""
        return self.model(self.best_key)

    def model(self, key: str) -> StudyClassifier | StudyRegressor:
        """A fitted model of the study.

        Parameters
        ----------
        key : str
            One of ``keys``.

        Returns
        -------
        model : StudyClassifier or StudyRegressor
            Fitted on all training rows, and on no test row.

        Raises
        ------
        StudyError
            If there is no such model, or it was not kept; a `StudyFormatError` if its files are
            damaged.
        """
        if key not in self._models:
            self._models[key] = self._read(key)
        return self._models[key]

    def _read(self, key: str) -> StudyClassifier | StudyRegressor:
        files = self._index.models.get(key)
        if files is None and key in self._ranked:
            raise StudyFormatError(
                f"The model {key} is in the leaderboard of {self.folder}, but not in the list of "
                f"its models, {MODELS}/{INDEX}; run the study's command again: what is done is "
                "kept."
            )
        if files is None:
            raise StudyError(
                f"The study in {self.folder} has no model {key!r}; it kept "
                f"{', '.join(self.keys) or 'none'}."
            )
        if isinstance(files, str):
            raise StudyError(
                f"The model {key} was not kept in {self.folder} ({files}); run the study's command "
                "again: what is done is kept."
            )
        pipeline = read_model(self.folder / MODELS, key, files)
        try:
            self._check_fit(pipeline)
        except MemoryError:
            raise
        except Exception as error:  # how a model fails that is not whole cannot be listed
            raise StudyFormatError(
                f"The model {key} in {self.folder} does not fit the study's columns "
                f"({error_sentence(error)}); run the study's command in a new folder."
            ) from error
        if self._index.classes is None:
            regressor = StudyRegressor(pipeline, self.layout)
            regressor.pipeline_ = pipeline
            return regressor
        classifier = StudyClassifier(pipeline, self.layout)
        classifier.pipeline_, classifier.classes_ = pipeline, self._index.classes
        return classifier

    def _check_fit(self, pipeline: Any) -> None:
        """Refuse a model of other columns or classes than the list's, or one that cannot predict.

        The files of a model may be whole, each of them, and not belong together: it predicts a row.
        """
        width = len(self.layout.names)
        first = next(step for _, step in pipeline.steps if step != "passthrough")
        # An answer that ignores all columns does not tell their number.
        taken = getattr(first, "n_features_in_", width)
        if taken != width:
            raise ValueError(f"it takes {taken} of them, not {width}")
        row = np.zeros((1, width))
        with warnings.catch_warnings():
            # What a package remarks is told where rows of the user's are predicted.
            warnings.simplefilter("ignore")
            predicted = np.asarray(pipeline.predict(row))
            if self._index.classes is None:
                sound = predicted.shape == (1,) and predicted.dtype.kind in "fiu"
            else:
                n = len(self._index.classes)
                places = np.asarray(pipeline.classes_)
                if places.dtype.kind != "i" or places.min() < 0 or places.max() >= n:
                    raise ValueError("its classes are others")
                sound = predicted.shape == (1,) and predicted[0] in places
                if hasattr(pipeline, "predict_proba"):
                    p = np.asarray(pipeline.predict_proba(row))
                    sound &= p.shape == (1, len(places)) and bool(np.all(p >= 0.0))
        if not sound:
            raise ValueError("what it predicts is none of what the study predicts")

    @cached_property
    def _training(self) -> Rows:
        return self._rows(test=False)

    @cached_property
    def _test(self) -> Rows:
        return self._rows(test=True)

    def training_rows(self) -> Rows:
        """The rows that the models were fitted on.

        Returns
        -------
        Rows

        Raises
        ------
        StudyError
            If they were not kept; a `StudyFormatError` if their files are damaged.
        """
        return self._training

    def test_rows(self) -> Rows:
        """The rows that were set aside for the test.

        Returns
        -------
        Rows

        Raises
        ------
        StudyError
            If they were not kept; a `StudyFormatError` if their files are damaged.
        """
        return self._test

    def held_out(self) -> HeldOut | None:
        """What the best model said of the folds' rows, each time without having learned from them.

        Returns
        -------
        y, said : ndarray of shape (n,), Said
            Targets (of classes their places) and answers; None if they were not kept.

        Raises
        ------
        StudyFormatError
            If their file is damaged.
        """
        files = self._index.held_out
        if isinstance(files, str):
            return None
        return read_held_out(self.folder / MODELS, files, len(self.class_names))

    def _rows(self, *, test: bool) -> Rows:
        files = self._index.rows
        if isinstance(files, str):
            raise StudyError(
                f"The rows were not kept in {self.folder} ({files}); run the study's command again."
            )
        return read_rows(
            self.folder / MODELS,
            files,
            self.layout,
            self.target,
            self._index.classes,
            test=test,
        )

    def encode(self, source: Any) -> Features:
        """The matrix of a table, as ``layout.encode`` gives it."""
        return self.layout.encode(source)


def load_study(folder: str | Path) -> LoadedStudy:
    """Read a study's folder; see `arboleda.Study.load`."""
    path = Path(folder)
    facts = read_facts(path)
    index = read_index(path)
    told = facts["study"]
    if (told["data_sha256"], told["target"], told["task"]) != (
        index.sha256,
        index.target,
        index.task,
    ):
        raise StudyFormatError(
            f"The facts and the models in {path} are of different studies; run the study's command "
            "again: what is done is kept."
        )
    if index.scikit_learn != sklearn.__version__:
        warnings.warn(
            f"The models in {path} were fitted with scikit-learn {index.scikit_learn[:40]}, and "
            f"this is {sklearn.__version__}: predictions may differ, or fail. Install that "
            "version, or run the study in a new folder.",
            UserWarning,
            stacklevel=3,
        )
    return LoadedStudy(path, facts, index)
