"""What all sections of the report ask of a study's facts, in one place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arboleda._numbers import NOTHING, number_format
from arboleda.report._metrics import metric
from arboleda.report._texts import told

__all__ = ["BASELINES", "About"]

Facts = Mapping[str, Any]
BASELINES = ("most_frequent", "mean")


@dataclass(frozen=True)
class About:
    """The facts of a study, and what sections share that is drawn from them.

    Attributes
    ----------
    facts : mapping
        ``results.json`` of a study.
    """

    facts: Facts

    @property
    def study(self) -> Facts:
        """What was asked for."""
        found: Facts = self.facts["study"]
        return found

    @cached_property
    def models(self) -> Sequence[Facts]:
        """The models that have scores, best first."""
        return [model for model in self.facts["models"] if model["status"] == "ok"]

    @cached_property
    def failed(self) -> Sequence[Facts]:
        """The models that have none."""
        return [model for model in self.facts["models"] if model["status"] != "ok"]

    def had_no_time(self, model: Facts) -> bool:
        """Whether a model has no scores for want of time alone."""
        return model["status"] != "ok" and (model["error"] or "").startswith("Left out: no time")

    @property
    def best(self) -> Facts:
        """The model that did best; there must be one."""
        return self.models[0]

    @cached_property
    def baseline(self) -> Facts | None:
        """The model that ignores all columns, if it was fitted."""
        return next((model for model in self.models if model["key"] in BASELINES), None)

    @property
    def key(self) -> str:
        """The metric that models are chosen by."""
        return str(self.study["metric"])

    @cached_property
    def label(self) -> str:
        """Its name."""
        return told(self.study["metric_label"])

    @property
    def up(self) -> bool:
        """Whether more of it is better."""
        return bool(self.study["greater_is_better"])

    @property
    def classes(self) -> bool:
        """Whether classes are predicted, not a quantity."""
        return bool(self.study["task"] != "regression")

    @cached_property
    def write(self) -> Callable[[float | None], str]:
        """Writes a score of the main metric with the same decimals everywhere."""
        return number_format(
            [model["cv"]["mean"] for model in self.models], metric(self.key).bounded
        )

    def name(self, key: str) -> str:
        """The name of the model with this key."""
        found = next((m["name"] for m in self.facts["models"] if m["key"] == key), key)
        return told(found)

    def score(self, model: Facts) -> float | None:
        """The main metric of a model on the test rows."""
        found: float | None = model["test"]["metrics"].get(self.key)
        return found

    def spread(self, part: Facts) -> str:
        """A mean with its standard deviation, or alone where there is none."""
        if part["mean"] is None:
            return NOTHING
        mean = self.write(part["mean"])
        return mean if part["sd"] is None else f"{mean} ± {self.write(part['sd'])}"
