"""Models that only pages convert: isolation forests, and models of the time to an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._engine.forest import Forest
from arboleda._engine.isolation import mean_path_length
from arboleda._utils.survival_times import choose_times
from arboleda.forest import IsolationForest
from arboleda.onnx_export import Graph, ModelContext, TreeEnsembleBuilder, add_model
from arboleda.survival import CoxRegression, HistGradientBoostingSurvival, SurvivalForest

Floats = npt.NDArray[np.float64]


class OutputNames(NamedTuple):
    """Names of the outputs: a text of the page with a value, and the column of a CSV file."""

    texts: list[tuple[str, str]]
    header: list[str]


def name_outputs(model: Any, times: Sequence[float] | None = None) -> OutputNames | None:
    """Return the names of what `make_converters` adds for a model; None for other models."""
    if isinstance(model, IsolationForest):
        names = ["anomaly score", "outlier"]
        return OutputNames([(name.replace(" ", "_"), "") for name in names], names)
    if not isinstance(model, _TIMED):
        return None
    shown = [f"{time:g}" for time in _find_times(model, times)]
    return OutputNames(
        [("risk", ""), *(("survival_at", time) for time in shown)],
        ["risk", *(f"survival at {time}" for time in shown)],
    )


def make_converters(
    times: Sequence[float] | None = None,
) -> Mapping[type, Callable[[Any, ModelContext], str]]:
    """Make the converters of these models, by class.

    The outputs of an isolation forest are the anomaly score and whether it is above the threshold;
    those of a model of times, the risk and the probability of no event by each time.

    Parameters
    ----------
    times : sequence of float, default=None
        Ascending; None: a few times of the model.
    """
    timed: dict[type, Callable[[Any, ModelContext, Floats], str]] = {
        SurvivalForest: _add_survival_forest,
        HistGradientBoostingSurvival: _add_survival_boosting,
        CoxRegression: _add_cox_regression,
    }
    return {
        IsolationForest: _add_isolation_forest,
        **{kind: partial(_add_timed, add=add, times=times) for kind, add in timed.items()},
    }


def _add_timed(model: Any, context: ModelContext, *, add: Any, times: Any) -> str:
    chosen = np.array(_find_times(model, times))
    if len(chosen) and model._ends_at_last_time():
        # Curves keep the value at the last chosen time that is known.
        known = chosen[chosen <= model.time_range_[1]]
        chosen = np.minimum(chosen, known[-1] if len(known) else 0.0)
    return str(add(model, context, chosen))


def _find_times(model: Any, times: Sequence[float] | None) -> Sequence[float]:
    """Return the times with a survival; none if the page lacks the distribution."""
    if getattr(getattr(model, "loss_", None), "name", "") == "aft_normal":
        return ()
    return choose_times(model.unique_times_) if times is None else times


def _add_isolation_forest(model: IsolationForest, context: ModelContext) -> str:
    graph, length = context.graph, mean_path_length(model.max_samples_)
    if model.forest_ is None:
        raise ValueError(
            "trees that split by hyperplanes (extension_level > 0) cannot be exported: fit with "
            "extension_level=0"
        )
    if not length:
        raise ValueError("its trees have one row each, which isolate nothing")
    path = _add_means(model.forest_, model, context)
    exponent = graph.times(path, -float(np.log(2.0)) / length)
    score = graph.add("Exp", exponent)
    is_outlier = graph.add("Greater", score, graph.number(-model.offset_))
    return graph.concat_columns([score, is_outlier])


def _add_means(
    forest: Forest, model: Any, context: ModelContext, more: Floats | None = None
) -> str:
    """Add the means of the trees' values, and of ``more`` values (n_nodes, k) of their nodes."""
    begins = forest.node_begins()
    nodes = TreeEnsembleBuilder(1 if more is None else 1 + more.shape[1])
    for i in range(forest.n_trees):
        tree = forest.tree(i)
        values = tree.value_rows
        if more is not None:
            values = np.column_stack([values, more[begins[i] : begins[i + 1]]])
        nodes.add(tree, values)
    matrix = context.inputs.matrix(model.schema_, None, context.columns)
    return nodes.into(context.graph, matrix, 0.0, divisor=float(forest.n_trees))


def _add_survival_forest(model: SurvivalForest, context: ModelContext, times: Floats) -> str:
    graph, curves = context.graph, model.curves_
    nodes = np.arange(len(curves.begins) - 1)[:, np.newaxis]
    falls = curves.evaluate(nodes, model.unique_times_, times, curves.compute_drops())
    found = _add_means(model.forest_, model, context, falls)
    fallen = graph.columns(found, np.arange(1, 1 + len(times)))
    left = graph.add("Sub", graph.number(1.0), fallen)
    survival = graph.add("Min", graph.add("Max", left, graph.number(0.0)), graph.number(1.0))
    return graph.concat_columns([graph.columns(found, [0]), survival])


def _add_survival_boosting(
    model: HistGradientBoostingSurvival, context: ModelContext, times: Floats
) -> str:
    graph, loss = context.graph, model.loss_
    raw = add_model(model, replace(context, extra_converters={}))
    if loss.name == "discrete_time":
        n = len(model.unique_times_)
        ended = np.searchsorted(model.unique_times_, times, side="right")
        is_over = np.arange(n)[:, np.newaxis] < ended
        weights = graph.constant(np.column_stack([np.arange(n, 0, -1), is_over]))
        sums = graph.add("MatMul", _add_softplus(raw, graph), weights)
        hazard = graph.columns(sums, np.arange(1, 1 + len(times)))
        return graph.concat_columns([graph.columns(sums, [0]), _add_survival(hazard, graph)])
    if not len(times):
        return raw
    if loss.name.startswith("aft_"):
        with np.errstate(divide="ignore"):
            logs = graph.constant(np.log(times)[np.newaxis])
        z = graph.times(graph.add("Add", logs, raw), 1.0 / float(loss.scale))
        is_logistic = loss.name == "aft_logistic"
        hazard = _add_softplus(z, graph) if is_logistic else graph.add("Exp", z)
    else:
        hazard = _add_proportional_hazard(raw, model, times, graph)
    return graph.concat_columns([raw, _add_survival(hazard, graph)])


def _add_cox_regression(model: CoxRegression, context: ModelContext, times: Floats) -> str:
    graph = context.graph
    centred = graph.add(
        "Sub", context.inputs.numbers(context.columns), graph.constant(model.mean_[np.newaxis])
    )
    risk = graph.add("MatMul", centred, graph.constant(model.coef_[:, np.newaxis]))
    hazard = _add_proportional_hazard(risk, model, times, graph)
    return graph.concat_columns([risk, _add_survival(hazard, graph)])


def _add_proportional_hazard(risk: str, model: Any, times: Floats, graph: Graph) -> str:
    """Add cumulative hazards of Cox's model at some times."""
    at = np.searchsorted(model.unique_times_, times, side="right")
    steps = np.append(0.0, model.baseline_hazard_)[at][np.newaxis]
    hazard = graph.add("Mul", graph.add("Exp", risk), graph.constant(steps))
    return graph.add("Where", graph.constant(steps > 0.0), hazard, graph.number(0.0))


def _add_softplus(value: str, graph: Graph) -> str:
    """Add log(1 + exp(value))."""
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", value)))
    grown = graph.add("Log", graph.add("Add", graph.number(1.0), small))
    return graph.add("Add", graph.add("Relu", value), grown)


def _add_survival(hazard: str, graph: Graph) -> str:
    return graph.add("Exp", graph.add("Neg", hazard))


_TIMED = (SurvivalForest, HistGradientBoostingSurvival, CoxRegression)
