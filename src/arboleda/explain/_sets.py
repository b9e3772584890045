"""Prediction sets, one per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._frames import new_frame
from arboleda.explain._conformal import Floats, as_target_array

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Codes", "Flags", "Sets", "encode_labels"]

Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of classes, one per row.

    Attributes
    ----------
    contains : ndarray of bool, shape (n_rows, n_classes)
        Which classes are in the set of each row.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_rows, n_classes)
        Probabilities of the classifier.
    coverage : float
        Nominal coverage.
    """

    contains: Flags
    classes: Array
    probabilities: Floats
    coverage: float

    @property
    def size(self) -> npt.NDArray[np.int64]:
        """Number of classes in each set; 0 if no class conforms."""
        size: npt.NDArray[np.int64] = self.contains.sum(axis=1)
        return size

    def covers(self, y: Any) -> Flags:
        """Return which rows have their class in their set.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            A class that is unknown to the classifier is in no set.

        Returns
        -------
        inside : ndarray of bool, shape (n_rows,)
        """
        labels = as_target_array(y, numeric=False)
        if labels.shape != (len(self.contains),):
            raise ValueError(f"y has shape {labels.shape}, but there are {len(self.contains)} sets")
        codes = encode_labels(labels, self.classes)
        inside: Flags = self.contains[np.arange(len(codes)), codes] & (codes >= 0)
        return inside

    def labels(self) -> list[Array]:
        """Return the classes of each set, the most probable first.

        Returns
        -------
        labels : list of ndarray
        """
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        return [
            self.classes[ranked[inside[ranked]]]
            for ranked, inside in zip(order, self.contains, strict=True)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per set as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``labels``, a tuple with the most probable class first, and ``size``.
        """
        labels = [tuple(found.tolist()) for found in self.labels()]
        return new_frame({"labels": labels, "size": self.size})


def encode_labels(labels: Array, classes: Array) -> Codes:
    """Return the index of each label among the classes; -1 for others."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([places.get(label, -1) for label in labels.tolist()], dtype=np.intp)
