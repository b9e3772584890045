"""What was tried of a model, and what became of it."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arboleda.study.search import FULL, Stage

__all__ = ["Candidate"]

Status = Literal["ok", "failed", "stopped", "unfinished"]


@dataclass(frozen=True)
class Candidate:
    """One setting of a model with its results by fold, in the folds' order.

    ``stage`` is the closest look that was taken, and ``is_whole`` tells whether all its folds
    were done.
    """

    params: dict[str, Any]
    results: tuple[dict[str, Any], ...]
    stage: Stage = FULL
    is_whole: bool = True

    @property
    def status(self) -> Status:
        """Only what is "ok" may be chosen.

        "stopped": others did better at a first look; "unfinished": the time was over.
        """
        if self.failed:
            return "failed"
        if not self.is_whole:
            return "unfinished"
        return "ok" if self.stage.is_full else "stopped"

    @property
    def failed(self) -> str | None:
        """The first error of a fold, if any."""
        return next((r["error"] for r in self.results if r["error"]), None)

    def scores(self, metric: str) -> list[float | None]:
        """The metric on every fold."""
        return [r["scores"][metric] for r in self.results]

    def mean(self, metric: str) -> float | None:
        """The cross-validated metric, by which candidates are compared; None if a fold lacks it."""
        scores = [s for s in self.scores(metric) if s is not None]
        return float(np.mean(scores)) if scores and len(scores) == len(self.results) else None
