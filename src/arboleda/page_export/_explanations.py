"""The sums of trees of a model, as a page's Shapley values need them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explain import AveragedModels, TreeModel, as_explainable
from arboleda.forest import IsolationForest
from arboleda.page_export._graph import PageGraph
from arboleda.page_export._owners import find_owners
from arboleda.survival import HistGradientBoostingSurvival, SurvivalForest


def describe_explanation(model: Any, graph: PageGraph, owners: list[int]) -> dict[str, Any] | None:
    """Describe how Shapley values of a model are computed; None if it is not a sum of trees.

    They are those of `arboleda.explain.shap_values` without background, of the columns of the form:
    what a preparation makes of one column counts as that column.

    Parameters
    ----------
    model : estimator
        A fitted model.
    graph : PageGraph
        Its operators: the sums of trees, in the order in which the model has them.
    owners : list of int
        For each column of the graph's input, the column of the form that it comes from.
    """
    try:
        explained = as_explainable(model)
    except (TypeError, ValueError):
        return None
    parts: list[dict[str, Any]] = []
    n = len(explained.output_names)
    if n > 1 and isinstance(model, HistGradientBoostingSurvival):
        return None  # log-odds of periods, but the page shows risk and survival
    scale: str = explained.scale
    if isinstance(model, IsolationForest):
        scale = "path"
    elif isinstance(model, SurvivalForest | HistGradientBoostingSurvival):
        scale = "risk"
    _add(explained, 1.0, np.arange(n), parts)
    if len(parts) != len(graph.tree_steps):
        return None
    for part, step in zip(parts, graph.tree_steps, strict=True):
        # Sums that follow those of the model, as of curves, are not explained.
        n_more = graph.steps[step]["columns"] - len(part["matrix"])
        part["matrix"] += [[0.0] * len(part["outputs"])] * n_more
        players = find_owners(graph, graph.steps[step]["of"][0], owners)
        if players is None:
            return None
        part |= {"step": step, "players": players}
    return {"scale": scale, "outputs": list(explained.output_names), "parts": parts}


def _add(
    explained: TreeModel | AveragedModels,
    weight: float,
    outputs: npt.NDArray[np.intp],
    parts: list[dict[str, Any]],
) -> None:
    """Add the sums of a model, which count with a weight and have some outputs."""
    if isinstance(explained, AveragedModels):
        for member in explained.members:
            _add(member.model, weight * member.weight, outputs[member.outputs], parts)
        return
    n_scores = explained.trees.n_outputs
    matrix, offset = np.eye(n_scores), np.zeros(n_scores)
    if explained.finish is not None:
        offset = explained.finish(np.zeros((1, n_scores))).reshape(-1)
        matrix = explained.finish(np.eye(n_scores)).reshape(n_scores, -1) - offset
    parts.append(
        {
            "weight": weight,
            "matrix": matrix.tolist(),
            "offset": offset.tolist(),
            "outputs": outputs.tolist(),
        }
    )
