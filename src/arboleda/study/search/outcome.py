"""The outcome of a model's search: its candidates' results, the chosen one, and its test."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arboleda.study.catalogue import Model
from arboleda.study.results.scoring import estimate_plus_632
from arboleda.study.search.trial import FULL, Fidelity

__all__ = ["CandidateResult", "Outcome"]

Status = Literal["ok", "failed", "stopped", "unfinished"]
NO_TIME = "Left out: no time was left"


@dataclass(frozen=True)
class CandidateResult:
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


@dataclass(frozen=True)
class Outcome:
    """One model's candidates, the chosen one and its test result.

    ``ensemble`` describes how a combined model is composed; such a model has no estimator that
    could be refitted.
    """

    model: Model
    candidates: tuple[CandidateResult, ...]
    best: int | None
    test: dict[str, Any] | None
    ensemble: dict[str, Any] | None = None

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the chosen candidate; empty for a model that failed."""
        return {} if self.best is None else self.candidates[self.best].params

    @property
    def error(self) -> str | None:
        """The reason why the model failed, or None if it did not."""
        if self.best is None:
            failed = (c.failed for c in self.candidates if c.failed)
            return next(failed, f"{NO_TIME} to score a candidate on all folds")
        return f"{NO_TIME} for its test" if self.test is None else self.test["error"]
