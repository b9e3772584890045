"""Sets of classes, one a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._frames import new_frame
from arboleda.explain._conformal import Floats, column_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Codes", "Flags", "Sets", "codes_of"]

Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sets:
    """One set of classes a row.

    Attributes
    ----------
    contains : ndarray of bool, shape (n_rows, n_classes)
        Which classes are in the set of each row.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_rows, n_classes)
        As the classifier says.
    coverage : float
        Share of rows whose class is to be in its set.
    """

    contains: Flags
    classes: Array
    probabilities: Floats
    coverage: float

    @property
    def size(self) -> npt.NDArray[np.int64]:
        """Number of classes in each set; 0 where no class conforms."""
        size: npt.NDArray[np.int64] = self.contains.sum(axis=1)
        return size

    def covers(self, y: Any) -> Flags:
        """Tell whose class is in its set.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            A class that the classifier does not know is in no set.

        Returns
        -------
        inside : ndarray of bool, shape (n_rows,)
        """
        labels = column_of(y, numeric=False)
        if labels.shape != (len(self.contains),):
            raise ValueError(
                f"y has the shape {labels.shape}, but there are {len(self.contains)} sets"
            )
        codes = codes_of(labels, self.classes)
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
        """One row per set, as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``labels``, a tuple with the most probable class first, and ``size``.
        """
        labels = [tuple(found.tolist()) for found in self.labels()]
        return new_frame({"labels": labels, "size": self.size})


def codes_of(labels: Array, classes: Array) -> Codes:
    """Place of each label among the classes; -1 for others."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([places.get(label, -1) for label in labels.tolist()], dtype=np.intp)
