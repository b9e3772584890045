"""Conversion of each kind of model to C."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator

from arboleda._engine.adaboost import WeightedForest
from arboleda._engine.forest import Forest, Voting
from arboleda._engine.tree import Tree
from arboleda.adaboost import BoostedClassifier, BoostedRegressor
from arboleda.bagging import MemberEnsemble, TreeMembers
from arboleda.boosting import BoostedModel
from arboleda.c_export._boosting import (
    add_boosted_classifier,
    add_boosted_model,
    add_boosted_regressor,
)
from arboleda.c_export._source import CSource, ModelCode, TreeTables
from arboleda.combine import Mean, WeightedMean
from arboleda.combine import Voting as VotingModel
from arboleda.forest import ForestModel
from arboleda.onnx_export import compute_votes, refuse_other_than_mean, refuse_several_targets
from arboleda.tree import DecisionTree

Floats = npt.NDArray[np.float64]


def add_model(model: Any, file: CSource) -> ModelCode:
    """Add a fitted model and its members to a file.

    Raises
    ------
    TypeError
        If the model cannot be exported.
    ValueError
        If it uses unsupported options.
    """
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    for kind, make in _KINDS.items():
        if isinstance(inner, kind):
            part = make(inner, file)
            file.parts.append(part)
            return part
    raise TypeError(
        f"{type(inner).__name__} cannot be exported to C: supported are decision trees, forests, "
        "bagged trees, gradient boosting, AdaBoost of trees, and means of these by voting"
    )


def _add_tree(model: DecisionTree, file: CSource) -> ModelCode:
    refuse_several_targets(model)
    return _add_votes([model.tree_], "soft", model, file)


def _add_forest(model: ForestModel, file: CSource) -> ModelCode:
    refuse_several_targets(model)
    refuse_other_than_mean(model)
    return _add_votes(_iter_trees(model.forest_), model._voting, model, file)


def _add_members(model: MemberEnsemble, file: CSource) -> ModelCode:
    members = model._members
    if not isinstance(members, TreeMembers):
        raise ValueError(  # noqa: TRY004 - a model, but not of trees
            f"the members of this {type(model).__name__} are not trees of the engine: only bagged "
            "trees can be exported to C"
        )
    weighted = members.weighted_forest(model._predict_options())
    if weighted is not None:
        return _add_weighted_votes(weighted, model, file)
    return _add_votes(
        _iter_trees(members.forest), model._predict_options().voting_of_trees, model, file
    )


def _iter_trees(forest: Forest) -> Iterable[Tree]:
    return (forest.tree(i) for i in range(forest.n_trees))


def _add_votes(trees: Iterable[Tree], voting: Voting, model: Any, file: CSource) -> ModelCode:
    """Add the mean vote of trees: their sum divided by their number, as in the engine."""
    leaves = ((tree, compute_votes(tree, voting)[tree.children_left < 0]) for tree in trees)
    return _add_leaf_sums(leaves, model, file, is_mean=True)


def _add_weighted_votes(members: WeightedForest, model: Any, file: CSource) -> ModelCode:
    """Add the weighted sum of the trees' votes, whose weights sum to 1."""
    forest = members.forest
    leaves = ((forest.tree(i), members.weighted_leaf_votes(i)) for i in range(forest.n_trees))
    return _add_leaf_sums(leaves, model, file, is_mean=False)


def _add_leaf_sums(
    leaves: Iterable[tuple[Tree, Floats]], model: Any, file: CSource, *, is_mean: bool
) -> ModelCode:
    """Add the sum or the mean of trees, each given with its leaf values."""
    file.check_columns(model)
    tables: TreeTables | None = None
    part = None
    for tree, votes in leaves:
        if tables is None:
            width = votes.shape[1]
            part = file.start_model(width, width, width)
            tables = TreeTables(part.prefix, width, file.dtype)
        tables.add(tree, votes)
    assert part is not None  # a forest has trees
    assert tables is not None
    part.definitions += tables.iter_definitions()
    p, k, n = part.prefix, part.n_state, tables.n_trees
    part.define_state(
        "int tree, k;",
        f"for (k = 0; k < {k}; ++k) out[k] = 0;",
        f"for (tree = 0; tree < {n}; ++tree) {{",
        f"  const number *vote = {p}_value + {k} * (long){p}_leaf(tree, x);",
        f"  for (k = 0; k < {k}; ++k) out[k] += vote[k];",
        "}",
        *([f"for (k = 0; k < {k}; ++k) out[k] /= {n};"] if is_mean else []),
    )
    part.define_scores()
    part.define_outputs()
    return part


def _add_voting(model: VotingModel, file: CSource) -> ModelCode:
    if not isinstance(model._rule, Mean):
        raise ValueError(  # noqa: TRY004 - a model, but not with this rule
            f"this {type(model).__name__} does not take the mean of its members: only means can be "
            "exported: use voting='soft' or rule='mean' in classification, rule='mean' or "
            "'weighted' in regression"
        )
    members = model._fitted_members()
    weights = model._rule._kept_weights()
    kept = model._rule._kept(len(members))
    shares = np.ones(len(kept)) if weights is None else weights
    total = 0.0
    for share in shares.tolist():  # the summation order of the engine
        total += share
    return _add_mean(model, [members[i][1] for i in kept], shares, total, file)


def _add_weighted_mean(model: WeightedMean, file: CSource) -> ModelCode:
    members = model._fitted_members()
    chosen = np.flatnonzero(model.weights_)
    kept = [members[i][1] for i in chosen.tolist()]
    return _add_mean(model, kept, model.weights_[chosen], 1.0, file)


def _add_mean(
    model: Any, members: list[Any], weights: Floats, total: float, file: CSource
) -> ModelCode:
    """Add the weighted sum of the members' outputs, divided by a total."""
    member_codes = [add_model(member, file) for member in members]
    classes = getattr(model, "classes_", None)
    n = 1 if classes is None else len(classes)
    part = file.start_model(n, n, n)
    largest = max(max(one.n_state, one.n_outputs) for one in member_codes)
    body = [
        f"number state[{largest}], member[{largest}];",
        "int k;",
        f"for (k = 0; k < {n}; ++k) out[k] = 0;",
    ]
    for one, member, weight in zip(member_codes, members, weights.tolist(), strict=True):
        if classes is None and one.n_outputs > 1:
            raise ValueError(
                f"a member of type {type(member).__name__} predicts several values: export members "
                "of one target"
            )
        body += [f"{one.prefix}_state(x, state);", f"{one.prefix}_outputs(state, member);"]
        factor = "" if weight == 1.0 else f"{file.format_literal(weight)} * "
        if classes is not None and one.n_outputs < n:
            known = classes if isinstance(member, FrozenEstimator) else np.arange(n)
            places = np.searchsorted(known, member.classes_).tolist()
            body += [f"out[{place}] += {factor}member[{k}];" for k, place in enumerate(places)]
        else:
            body.append(f"for (k = 0; k < {n}; ++k) out[k] += {factor}member[k];")
    if total != 1.0:
        body.append(f"for (k = 0; k < {n}; ++k) out[k] /= {file.format_literal(total)};")
    part.define_state(*body)
    part.define_scores()
    part.define_outputs()
    return part


_KINDS: Mapping[type, Callable[[Any, CSource], ModelCode]] = {
    DecisionTree: _add_tree,
    ForestModel: _add_forest,
    BoostedModel: add_boosted_model,
    BoostedClassifier: add_boosted_classifier,
    BoostedRegressor: add_boosted_regressor,
    MemberEnsemble: _add_members,
    VotingModel: _add_voting,
    WeightedMean: _add_weighted_mean,
}
