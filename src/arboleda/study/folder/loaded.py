"""A study read back from its folder: its facts, its fitted models and its rows."""

import json
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import arboleda
from arboleda.study.errors import StudyError
from arboleda.study.features import Features
from arboleda.study.folder.estimators import StudyClassifier, StudyRegressor
from arboleda.study.folder.files import MODELS, read_text
from arboleda.study.folder.held_out import HeldOut, read_held_out
from arboleda.study.folder.index import Index, read_index
from arboleda.study.folder.model_files import read_model
from arboleda.study.folder.rows import Rows, read_rows

__all__ = ["LoadedStudy", "load_study"]

RESULTS = "results.json"
SCHEMA_VERSION = 2


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
        ranked = [m["key"] for m in facts["models"] if m["status"] == "ok"]
        self.keys = tuple(k for k in ranked if not isinstance(index.models.get(k, ""), str))
        self._best: str | None = ranked[0] if ranked else None

    def __repr__(self) -> str:
        return f"LoadedStudy of {self.target!r} in {str(self.folder)!r}: {len(self.keys)} models"

    @property
    def best_key(self) -> str:
        """The key of the best model, kept or not."""
        if self._best is None:
            raise StudyError(f"Every model of the study in {self.folder} failed.")
        return self._best

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
            If there is no such model, it was not kept, or its files are damaged.
        """
        if key not in self._models:
            self._models[key] = self._read(key)
        return self._models[key]

    def _read(self, key: str) -> StudyClassifier | StudyRegressor:
        files = self._index.models.get(key)
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
            _predict_one_row(pipeline, len(self.layout.names))
        except MemoryError:
            raise
        except Exception as error:  # parts that do not fit together fail in ways beyond a list
            raise StudyError(
                f"The model {key} in {self.folder} does not fit the study's columns "
                f"({_first_line(error)}); run the study's command in a new folder."
            ) from error
        if self._index.classes is None:
            regressor = StudyRegressor(pipeline, self.layout)
            regressor.pipeline_ = pipeline
            return regressor
        classifier = StudyClassifier(pipeline, self.layout)
        classifier.pipeline_, classifier.classes_ = pipeline, self._index.classes
        return classifier

    def _check_fit(self, pipeline: Any) -> None:
        """Refuse a model of other columns or classes than the list's, as another study's is."""
        width = len(self.layout.names)
        first = next(step for _, step in pipeline.steps if step != "passthrough")
        # An answer that ignores all columns does not tell their number.
        taken = getattr(first, "n_features_in_", width)
        if taken != width:
            raise ValueError(f"it takes {taken} of them, not {width}")
        if self._index.classes is not None:
            places = np.asarray(pipeline.classes_)
            n = len(self._index.classes)
            if places.dtype.kind != "i" or places.min() < 0 or places.max() >= n:
                raise ValueError("its classes are others")

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
            If they were not kept, or their files are damaged.
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
            If they were not kept, or their files are damaged.
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
        StudyError
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


def _predict_one_row(pipeline: Any, n_columns: int) -> None:
    """Fail now if the model cannot predict, and not at the first table."""
    row = np.zeros((1, n_columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.predict(row)
        if hasattr(pipeline, "predict_proba"):
            pipeline.predict_proba(row)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")[:200] or type(error).__name__


def load_study(folder: str | Path) -> LoadedStudy:
    """Read a study's folder; see `arboleda.Study.load`."""
    path = Path(folder)
    facts = _facts(path)
    index = read_index(path)
    told = facts["study"]
    if (told["data_sha256"], told["target"], told["task"]) != (
        index.sha256,
        index.target,
        index.task,
    ):
        raise StudyError(
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


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / RESULTS
    try:
        facts = json.loads(read_text(path))
        version = facts["schema_version"]
        sound = version == SCHEMA_VERSION and _is_sound(facts)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StudyError(
            f"There is no study in {folder}; name the folder that `arboleda study` wrote its "
            "report to."
        ) from error
    except OSError as error:
        raise StudyError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise StudyError(
            f"The file {path} is damaged ({type(error).__name__}); run the study's command again: "
            "what is done is kept."
        ) from error
    if type(version) is int and 0 < version < SCHEMA_VERSION:
        raise StudyError(
            f"The study in {folder} was written by an older version of arboleda, "
            f"{str(facts.get('arboleda_version'))[:40]}; this one, {arboleda.__version__}, reads "
            "its own: install that one, or run the study again in a new folder."
        )
    if not sound:
        raise StudyError(
            f"The file {path} is not what this version of arboleda writes; run the study's command "
            "again."
        )
    return dict(facts)


def _is_sound(facts: Any) -> bool:
    """Whether what is read of the facts is there; KeyError and its like tell what is not."""
    data, split = facts["data"], facts["split"]
    texts = [facts["study"][key] for key in ("table", "target", "task", "metric", "data_sha256")]
    texts += [column["name"] for column in data["columns"]]
    whole = [data["n_rows"], split["n_train"], split["n_test"]]
    mappings = []
    for model in facts["models"]:
        texts += [model["key"], model["name"]]
        if model["status"] == "ok":
            mappings += [model["cv"], model["test"]["metrics"], model["test"]["interval"]]
            mappings.append(model["candidates"][model["best"]]["params"])
        elif model["status"] != "failed":
            return False
    kinds = ((texts, str), (whole, int), (mappings, dict))
    return all(isinstance(value, kind) for values, kind in kinds for value in values)
