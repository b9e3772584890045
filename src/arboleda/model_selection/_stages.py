"""Models that are built in stages (rounds or trees) and can be truncated to fewer stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.table import SparseTable, Table
from arboleda.model_selection._boosting_stages import BoostingStages
from arboleda.model_selection._forest_stages import ForestStages

Floats = npt.NDArray[np.float64]


class Stages(Protocol):
    """Access to the stages of models of some classes.

    Attributes
    ----------
    kinds : tuple of type
        The classes; subclasses are not supported, since they may override methods.
    predict_method : str
        Name of the method that all predictions of a model are computed from.
    """

    kinds: ClassVar[tuple[type, ...]]
    predict_method: ClassVar[str]

    def get_parameter(self, model: Any) -> str:
        """Return the name of the parameter for the number of stages."""

    def is_staged(self, model: Any, n_rows: int) -> bool:
        """Return whether the fit consists only of a given number of stages."""

    def keeps_earlier_stages(self, model: Any) -> bool:
        """Return whether later stages leave earlier ones unchanged."""

    def predict_stages(
        self, model: Any, table: Table | SparseTable, numbers: Sequence[int], n_threads: int
    ) -> dict[int, Floats]:
        """Return the output of `predict_method` after each of some numbers of stages, ascending."""

    def truncate(self, model: Any, number: int) -> Any:
        """Return a fitted model truncated to a number of stages."""


_ALL: tuple[Stages, ...] = (BoostingStages(), ForestStages())


def find_stages(estimator: Any) -> Stages | None:
    """Return the stages for the class of an estimator; None if it is not supported."""
    return next((stages for stages in _ALL if type(estimator) in stages.kinds), None)
