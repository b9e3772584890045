"""The choice of a metric: its name, its direction and how it is computed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arboleda._utils.errors import OptionError, StudyError
from arboleda.reports.fact_messages import Number, write_message
from arboleda.reports.metric_names import (
    METRIC_NAMES,
    PARAMETER_LABELS,
    list_metric_names,
    resolve_metric_key,
    split_metric_key,
)
from arboleda.scoring.measures import (
    FunctionMetric,
    RankMetric,
    RowMean,
    ScoredOutputs,
    ScoreMeasure,
    make_measure,
)
from arboleda.scoring.user_function import (
    MetricFunction,
    is_function_name,
    load_function,
    make_metric_function,
)
from arboleda.tables.target import StudyTarget

__all__ = [
    "COST",
    "StudyMetric",
    "check_metric",
    "choose_metric",
    "find_metric",
    "is_metric_of",
    "parse_metric",
]

# The metric that needs a matrix of costs.
COST = "cost"
# Default metrics of tasks other than classification. The integrated Brier score is proper: it
# judges whole survival curves, and censoring does not bias it.
DEFAULTS = {"regression": "rmse", "survival": "integrated_brier", "ranking": "ndcg:10"}
# Their measures depend on the training rows, or have their own rows.
_BOUND = ("survival", "ranking")
# Metrics of probabilities; those of other scores are areas and the accuracy of the first k classes.
_OF_PROBABILITIES = ("log_loss", "brier")
# Rows on which a function of the user is tried before the first fit.
TRIED_ROWS = 10_000
# Targets for which a metric is undefined: a test, and what it needs.
_NEEDS_VALUES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "mape": (lambda y: np.all(y != 0), "no target of 0"),
    "poisson": (lambda y: np.all(y >= 0), "targets of at least 0"),
    "gamma": (lambda y: np.all(y > 0), "targets above 0"),
    "msle": (lambda y: np.all(y > -1), "targets above -1"),
    "rmsle": (lambda y: np.all(y > -1), "targets above -1"),
}


@dataclass(frozen=True)
class StudyMetric:
    """A metric: its key in the facts, its name, its direction, its range and its computation.

    ``measure`` is None for the cost, whose matrix belongs to the study, and for metrics of times
    and rankings before the split (see `arboleda.scoring.bind_metric`), which then have
    ``all_measures``, by key those of every metric to report. ``source_sha256`` is the hash of a
    function of the user.
    """

    key: str
    label: str
    greater_is_better: bool
    task: str
    range: tuple[float, float] = (0.0, 1.0)
    measure: ScoreMeasure | None = field(default=None, repr=False)
    source_sha256: str | None = None
    all_measures: Mapping[str, ScoreMeasure] = field(default_factory=dict, repr=False)

    @property
    def is_root(self) -> bool:
        """Whether the metric is the square root of a mean."""
        return isinstance(self.measure, RowMean) and self.measure.root

    @property
    def needs_probabilities(self) -> bool:
        """Whether only models with probabilities can be scored."""
        if isinstance(self.measure, FunctionMetric):
            return self.measure.function.needs_probabilities
        return self.key in _OF_PROBABILITIES

    @property
    def needs_scores(self) -> bool:
        """Whether the metric is computed from scores of the classes, such as probabilities."""
        if isinstance(self.measure, RowMean):
            return self.measure.takes == "scores"
        return isinstance(self.measure, RankMetric) or self.needs_probabilities


def parse_metric(value: Any) -> str | MetricFunction:
    """Return the canonical key of a metric, or the function that the user names or passes.

    Raises
    ------
    OptionError
        If there is no such metric, or the function cannot be used.
    ValueError
        If it is neither a name nor a function.
    """
    if callable(value):
        return make_metric_function(value)
    if not isinstance(value, str):
        raise ValueError("neither a name nor a function")  # noqa: TRY004 - pydantic expects it
    name = value.strip()
    if name.partition(":")[0] not in METRIC_NAMES and is_function_name(name):
        try:
            return resolve_metric_key(name)
        except ValueError:
            return load_function(name)
    try:
        return resolve_metric_key(name)
    except ValueError as error:
        raise OptionError(str(error)) from error


def choose_metric(
    metric: str | MetricFunction | None,
    task: str,
    labels: tuple[str, ...] = (),
    class_metric: str = "log_loss",
) -> StudyMetric:
    """Return the metric of a canonical key or function, or the default: class_metric, or RMSE.

    Raises
    ------
    StudyError
        If the task has no such metric.
    """
    kind = _name_kind(task)
    if isinstance(metric, MetricFunction):
        if kind in DEFAULTS and kind != "regression":
            raise StudyError(
                f"The metric {metric.text} is a function of predicted values or classes, which "
                f"{kind} does not have; choose one of {', '.join(list_metric_names(kind))}."
            )
        if kind == "regression" and metric.needs_probabilities:
            raise StudyError(
                f"The metric {metric.text} needs probabilities, which a regression does not have."
            )
        return StudyMetric(
            metric.text,
            metric.label,
            metric.greater_is_better,
            kind,
            (-np.inf, np.inf),
            FunctionMetric(metric, labels),
            metric.source_sha256,
        )
    default = DEFAULTS.get(kind, class_metric)
    key = default if metric is None else metric
    if split_metric_key(key)[0] not in list_metric_names(kind):
        raise StudyError(
            f"There is no metric {key!r} for {kind}; choose one of "
            f"{', '.join(list_metric_names(kind))}."
        )
    return find_metric(key)


def is_metric_of(key: str, task: str) -> bool:
    """Return whether a key in facts is that of a metric of the task, or names a function."""
    base = key.partition(":")[0]
    if base not in METRIC_NAMES:
        return is_function_name(key)
    kind = _name_kind(task)
    try:
        return resolve_metric_key(key) == key and base in list_metric_names(kind)
    except ValueError:
        return False


def find_metric(key: str) -> StudyMetric:
    """Return the metric of a canonical key of the table."""
    base, parameter = split_metric_key(key)
    name = METRIC_NAMES[base]
    label = name.full_label
    if parameter is not None:
        label = write_message(base, value=Number(f"{parameter:g}"))
    return StudyMetric(
        key,
        label,
        name.greater_is_better,
        name.task or "",
        name.range,
        None if name.task in _BOUND or base == COST else make_measure(base, parameter),
    )


def _name_kind(task: str) -> str:
    """Return the kind of metrics that a task has."""
    return task if task in DEFAULTS else "classification"


def check_metric(metric: StudyMetric, target: StudyTarget) -> None:
    """Check that a metric is defined for a target.

    Raises
    ------
    StudyError
        If it is not; the message names metrics that are.
    """
    base, parameter = split_metric_key(metric.key)
    known, n_classes = METRIC_NAMES.get(base), len(target.labels)
    if known is None:
        _try_function(metric, target)
        return
    if known.two_classes and n_classes > 2:
        others = [key for key in METRIC_NAMES if key.startswith(f"{base}_")]
        raise StudyError(
            f"The metric {base} is of the positive class of two, and the target {target.name!r} "
            f"has {n_classes} classes; choose {' or '.join(others)}."
        )
    if base in PARAMETER_LABELS and parameter is not None and 0 < n_classes <= parameter:
        raise StudyError(
            f"The metric {metric.key} is always 1, as the target {target.name!r} has {n_classes} "
            f"classes; choose a smaller k, or {'log_loss' if n_classes < 3 else 'accuracy'}."
        )
    needed = _NEEDS_VALUES.get(base)
    if needed is not None and not needed[0](target.y):
        raise StudyError(
            f"The metric {base} needs {needed[1]}, and the target {target.name!r} has values down "
            f"to {target.y.min():g}; choose mae or rmse."
        )


def _try_function(metric: StudyMetric, target: StudyTarget) -> None:
    """Call a function of the user for correct and for constant predictions, before any fit.

    A function that compares the classes with values that they do not have is constant.
    """
    measure, n_classes = metric.measure, len(target.labels)
    assert isinstance(measure, FunctionMetric)
    rows = np.unique(np.linspace(0, len(target.y) - 1, TRIED_ROWS).round().astype(np.int64))
    y = target.y[rows]
    values = []
    for predicted in (y, np.full_like(y, y.min()), np.full_like(y, y.max())):
        score = np.eye(n_classes)[predicted] if n_classes else None
        try:
            value = measure.call(ScoredOutputs(y, predicted, score, n_classes), np.arange(len(y)))
        except Exception as error:
            raise StudyError(
                f"The metric {metric.key} raises {type(error).__name__} ({error}); correct it, or "
                "choose another metric."
            ) from error
        values.append(value)
    if values[0] is None:
        raise StudyError(
            f"The metric {metric.key} is not a finite number for correct predictions; correct it, "
            "or choose another metric."
        )
    if len(set(values)) == 1:
        shown = f"; the classes are {', '.join(map(repr, target.labels[:4]))}" if n_classes else ""
        raise StudyError(
            f"The metric {metric.key} has the same value, {values[0]:g}, for correct and for "
            f"constant predictions{shown}."
        )
