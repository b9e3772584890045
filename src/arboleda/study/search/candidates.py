"""The tried candidates of a model and their results."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arboleda.study.results.scoring import estimate_plus_632
from arboleda.study.search import FULL, Fidelity

__all__ = ["Candidate"]

Status = Literal["ok", "failed", "stopped", "unfinished"]


@dataclass(frozen=True)
class Candidate:
    """One configuration of a model with its results by fold, in the folds' order.

    ``fidelity`` is the highest fidelity that was evaluated, and ``is_whole`` whether all its folds
    are done. For bootstrap bags the last result is that of the training rows themselves.
    """

    params: dict[str, Any]
    results: tuple[dict[str, Any], ...]
    fidelity: Fidelity = FULL
    is_whole: bool = True

    @property
    def status(self) -> Status:
        """The status of the candidate; only an "ok" candidate can be chosen.

        "stopped": others scored better at low fidelity; "unfinished": no time was left.
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
        """Return the metric on every fold, or on the out-of-bag rows of each bag."""
        return [r["scores"][metric] for r in self.results if "chance" not in r]

    def mean(self, metric: str) -> float | None:
        """Return the cross-validated metric that compares candidates; None if a fold lacks it.

        It is the mean over the folds, or the .632+ estimate of bootstrap bags.
        """
        scores = [r["scores"][metric] for r in self.results]
        if not scores or any(score is None for score in scores):
            return None
        *bags, last = self.results
        if "chance" not in last:
            return float(np.mean(scores))
        chance = last["chance"][metric]
        weights = [bag["n_scored"] for bag in bags]
        if chance is None:
            return None
        return estimate_plus_632(metric, scores[:-1], weights, scores[-1], chance)
