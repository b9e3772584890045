"""Models that grow by stages, rounds or trees, so that one of many holds all those of fewer."""

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
    """What a search has to know of models of some kinds.

    Attributes
    ----------
    kinds : tuple of type
        Exactly these: what is derived from them may do something else.
    asked : str
        Name of the method, of a table, that all answers of a model are made from.
    """

    kinds: ClassVar[tuple[type, ...]]
    asked: ClassVar[str]

    def parameter(self, model: Any) -> str:
        """Name of the parameter that counts the stages."""

    def are_all(self, model: Any, n_rows: int) -> bool:
        """Whether fitting on so many rows is stages, of a given number, and nothing else."""

    def are_kept(self, model: Any) -> bool:
        """Whether later stages leave those before as they are."""

    def answers(
        self, model: Any, table: Table | SparseTable, numbers: Sequence[int], n_threads: int
    ) -> dict[int, Floats]:
        """What the method `asked` says after each of some numbers of stages, ascending."""

    def after(self, model: Any, number: int) -> Any:
        """Return a fitted model as it was after so many stages."""


_ALL: tuple[Stages, ...] = (BoostingStages(), ForestStages())


def stages_of(estimator: Any) -> Stages | None:
    """Return the stages of an estimator's kind; None where there are none."""
    return next((stages for stages in _ALL if type(estimator) in stages.kinds), None)
