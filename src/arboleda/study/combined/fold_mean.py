"""The mean of the models fitted in the folds, instead of one model fitted to all rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from arboleda.study.artifacts.combined_file import combined_to_bytes
from arboleda.study.artifacts.files import FileList
from arboleda.study.artifacts.model_files import read_model, save_combined
from arboleda.study.combined.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.combined.rules import MeanRule

__all__ = ["FoldMean"]

Floats = npt.NDArray[np.float64]


def _has_classes(model: Any) -> bool:
    return bool(model.n_classes)


class FoldMean(BaseEstimator):  # type: ignore[misc]
    """The mean of saved models; `fit` reads them.

    Parameters
    ----------
    folder : Path
        Folder of the study's models.
    key : str
        Key of the model that the folds fitted.
    files : mapping of str to mapping
        Name and list of files of each saved model.
    n_classes : int
        0 in a regression.
    """

    model_: CombinedClassifier | CombinedRegressor

    def __init__(
        self, folder: Path, key: str, files: Mapping[str, FileList], n_classes: int
    ) -> None:
        self.folder = folder
        self.key = key
        self.files = files
        self.n_classes = n_classes

    def fit(self, X: Floats, y: Any) -> Self:
        """Read the saved models, which were fitted to these rows, each to those of its fold."""
        pipelines = [read_model(self.folder, name, files) for name, files in self.files.items()]
        members, rule, width = [(self.key, pipelines)], MeanRule((1.0,)), X.shape[1]
        if self.n_classes:
            self.model_ = CombinedClassifier.of(members, rule, width, self.n_classes)
            self.classes_ = self.model_.classes_
        else:
            self.model_ = CombinedRegressor.of(members, rule, width)
        self.n_features_in_ = width
        return self

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Predict numbers of the most probable classes, or values."""
        return np.asarray(self.model_.predict(X))

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Floats) -> Floats:
        """Predict the mean probability of each class."""
        return np.asarray(self.model_.predict_proba(X))

    def keep(self, folder: Path, key: str) -> dict[str, Any]:
        """Write the file that combines the saved models, as `save_model` does."""
        content = combined_to_bytes(
            [(self.key, list(self.files))], MeanRule((1.0,)), self.n_features_in_, self.n_classes
        )
        return save_combined(folder, key, content, list(self.files.values()))
