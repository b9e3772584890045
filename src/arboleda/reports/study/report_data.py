"""The facts of a study, with the values and names that all sections of its report share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arboleda._utils.numbers import NOTHING, confidence_level, number_format
from arboleda.reports.fact_messages import translate
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import get_metric, spell_count

__all__ = ["BASELINES", "ReportData", "describe_scheme", "get_scheme_kind", "name_scheme"]

Facts = Mapping[str, Any]
BASELINES = ("most_frequent", "mean", "kaplan_meier", "unranked")
# By the status of a model.
_STATES = {"ok": N_("fitted and tested"), "failed": N_("failed"), "no_time": N_("no time")}

# Name within a sentence, and what the scheme does, by kind.
_SCHEMES = {
    "kfold": (
        N_("{folds}-fold cross-validation"),
        N_(
            "The training rows were divided into {n} folds. Each candidate was fitted {n} "
            "times, each time scored on the fold left out; ± is the standard deviation of "
            "these scores."
        ),
    ),
    "repeated": (
        N_("{folds}-fold cross-validation, repeated {repeats} times"),
        N_(
            "The training rows were divided into {n} folds, {repeats} times with "
            "different divisions. Each candidate was fitted {fits} times, each time "
            "scored on the fold left out; ± is the standard deviation of these scores."
        ),
    ),
    "group": (
        N_("{folds}-fold cross-validation by groups"),
        N_(
            "The training rows were divided into {n} folds, with all rows of a group in "
            "the same fold. Each candidate was fitted {n} times, each time scored on the "
            "groups left out; ± is the standard deviation of these scores."
        ),
    ),
    "query": (
        N_("{folds}-fold cross-validation by queries"),
        N_(
            "The training rows were divided into {n} folds, with all rows of a query in "
            "the same fold. Each candidate was fitted {n} times, each time scored on the "
            "queries left out; ± is the standard deviation of these scores."
        ),
    ),
    "time": (
        N_("cross-validation forward in time ({n} steps)"),
        N_(
            "The training rows were sorted by time. Each candidate was fitted {n} times "
            "on earlier rows and scored on the rows that followed; ± is the standard "
            "deviation of these scores."
        ),
    ),
    "loo": (
        N_("leave-one-out cross-validation"),
        N_(
            "Each candidate was fitted once per training row, on all other rows, and "
            "predicted that row; all predictions together were scored once."
        ),
    ),
    "bootstrap": (
        N_("the bootstrap (.632+, {n} draws)"),
        N_(
            "Each candidate was fitted on {n} bootstrap samples of the training rows and "
            "scored on the rows that each sample left out; the .632+ estimate combines "
            "these scores with those on the rows used for fitting."
        ),
    ),
}


@dataclass(frozen=True)
class ReportData:
    """The facts of a study and the values derived from them that several sections use.

    Attributes
    ----------
    facts : mapping
        ``results.json`` of a study.
    """

    facts: Facts

    @property
    def study(self) -> Facts:
        """The settings of the study."""
        result: Facts = self.facts["study"]
        return result

    @cached_property
    def models(self) -> Sequence[Facts]:
        """The models that have scores, best first."""
        return [model for model in self.facts["models"] if model["status"] == "ok"]

    @cached_property
    def failed(self) -> Sequence[Facts]:
        """The models without scores."""
        return [model for model in self.facts["models"] if model["status"] != "ok"]

    def get_state(self, model: Facts) -> str:
        """Return the status of a model in words."""
        status = model["status"]
        return _(_STATES[status])

    @property
    def best(self) -> Facts:
        """The best model; at least one model must have scores."""
        return self.models[0]

    @cached_property
    def baseline(self) -> Facts | None:
        """The baseline, which ignores all columns; None if it was not fitted."""
        return next((model for model in self.models if model["key"] in BASELINES), None)

    @property
    def n_candidates(self) -> int:
        """The number of candidates among which the best model was chosen."""
        selection = self.facts.get("selection")
        return selection["n_candidates"] if selection is not None else 1

    @property
    def key(self) -> str:
        """The key of the metric by which models are chosen."""
        return str(self.study["metric"])

    @cached_property
    def label(self) -> str:
        """The name of that metric."""
        return translate(self.study["metric_label"])

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values of that metric are better."""
        return bool(self.study["greater_is_better"])

    @property
    def is_classification(self) -> bool:
        """Whether the study predicts classes rather than a quantity."""
        return self.study["task"] in ("binary", "multiclass")

    @property
    def task(self) -> str:
        """The task, such as "binary" or "survival"."""
        return str(self.study["task"])

    @cached_property
    def format_score(self) -> Callable[[float | None], str]:
        """Format of the main metric, with the same decimals everywhere."""
        return number_format(
            [model["cv"]["mean"] for model in self.models], get_metric(self.key).bounded
        )

    def get_name(self, key: str) -> str:
        """Return the name of the model with this key."""
        result = next((m["name"] for m in self.facts["models"] if m["key"] == key), key)
        return translate(result)

    def get_test_score(self, model: Facts) -> float | None:
        """Return the main metric of a model on the test rows."""
        result: float | None = model["test"]["metrics"].get(self.key)
        return result

    def describe_skipped(self, result: Facts) -> str:
        """State why a part of the facts on a model is empty."""
        name, reason = self.get_name(result["model"]), translate(result["skipped"])
        return _("Not computed for {name}: {reason}.", name=name, reason=reason)

    def format_interval(self, interval: Facts | None) -> str:
        """Format an interval with its level; empty without one."""
        if interval is None or interval["low"] is None or interval["high"] is None:
            return ""
        return _(
            "{level} interval {low} to {high}",
            level=confidence_level(interval["level"]),
            low=self.format_score(interval["low"]),
            high=self.format_score(interval["high"]),
        )

    def format_spread(self, part: Facts) -> str:
        """Format a mean with its standard deviation, if there is one."""
        if part["mean"] is None:
            return NOTHING
        mean = self.format_score(part["mean"])
        return mean if part["sd"] is None else f"{mean} ± {self.format_score(part['sd'])}"


def name_scheme(study: Mapping[str, Any]) -> str:
    """Return the name of the cross-validation scheme, for use within a sentence.

    Examples
    --------
    >>> name_scheme({"folds": 5})
    'five-fold cross-validation'
    """
    return _(_SCHEMES[get_scheme_kind(study)][0], **_get_numbers(study))


def describe_scheme(study: Mapping[str, Any]) -> str:
    """Describe how the scheme uses the training rows."""
    return _(_SCHEMES[get_scheme_kind(study)][1], **_get_numbers(study))


def get_scheme_kind(study: Mapping[str, Any]) -> str:
    """Return the kind of the scheme, for example ``"kfold"``."""
    kind = str(study.get("scheme", {}).get("kind", "kfold"))
    is_by_query = kind == "group" and study.get("settings", {}).get("query") is not None
    return "query" if is_by_query else kind


def _get_numbers(study: Mapping[str, Any]) -> dict[str, Any]:
    result = study.get("scheme", study)
    folds, repeats = result["folds"], result.get("repeats", 1)
    return {"folds": spell_count(folds), "n": folds, "repeats": repeats, "fits": folds * repeats}
