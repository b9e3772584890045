"""What was tried of a model, and what became of it."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arboleda.study.results.bag_estimate import plus_632
from arboleda.study.search import FULL, Fidelity

__all__ = ["Candidate"]

Status = Literal["ok", "failed", "stopped", "unfinished"]


@dataclass(frozen=True)
class Candidate:
    """One setting of a model with its results by fold, in the folds' order.

    ``stage`` is the closest look that was taken, and ``is_whole`` tells whether all its folds
    were done. With bags of a bootstrap the last result is that of the training rows themselves.
    """

    params: dict[str, Any]
    results: tuple[dict[str, Any], ...]
    fidelity: Fidelity = FULL
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
        return "ok" if self.fidelity.is_full else "stopped"

    @property
    def failed(self) -> str | None:
        """The first error of a fold, if any."""
        return next((r["error"] for r in self.results if r["error"]), None)

    def scores(self, metric: str) -> list[float | None]:
        """The metric on every fold, or on what each bag left out."""
        return [r["scores"][metric] for r in self.results if "chance" not in r]

    def mean(self, metric: str) -> float | None:
        """The cross-validated metric, by which candidates are compared; None if a fold lacks it.

        It is the mean of the folds, or of bags the .632+ estimate.
        """
        found = [r["scores"][metric] for r in self.results]
        if not found or any(score is None for score in found):
            return None
        *bags, last = self.results
        if "chance" not in last:
            return float(np.mean(found))
        chance = last["chance"][metric]
        weights = [bag["n_scored"] for bag in bags]
        return None if chance is None else plus_632(metric, found[:-1], weights, found[-1], chance)
