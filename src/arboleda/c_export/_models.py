"""What each kind of model is in C."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator

from arboleda._engine.adaboost import WeightedForest
from arboleda._engine.forest import Forest, Voting
from arboleda._engine.tree import Tree
from arboleda.adaboost._boosted_classifier import BoostedClassifier
from arboleda.adaboost._boosted_regressor import BoostedRegressor
from arboleda.bagging._ensemble import MemberEnsemble
from arboleda.bagging._tree_members import TreeMembers
from arboleda.boosting._boosted_model import BoostedModel
from arboleda.c_export._adaboost import of_boosted_classifier, of_boosted_regressor
from arboleda.c_export._file import File
from arboleda.c_export._gradient_boosting import of_boosted_model
from arboleda.c_export._parts import Part
from arboleda.c_export._trees import TreeTables
from arboleda.combine._share_rules import Mean
from arboleda.combine._voting import Voting as VotingModel
from arboleda.combine._weighted_mean import WeightedMean
from arboleda.forest._forest_model import ForestModel
from arboleda.onnx_export._models import (
    refuse_other_than_mean,
    refuse_several_targets,
    vote_of,
)
from arboleda.tree._decision_tree import DecisionTree

Floats = npt.NDArray[np.float64]


def add_model(model: Any, file: File) -> Part:
    """Add a fitted model, and those that it asks, to a file.

    Raises
    ------
    TypeError
        If it is no model that can be exported.
    ValueError
        If it is one with options that are not.
    """
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    for kind, make in _KINDS.items():
        if isinstance(inner, kind):
            part = make(inner, file)
            file.parts.append(part)
            return part
    raise TypeError(
        f"{type(inner).__name__} cannot be exported to C: what can are decision trees, forests, "
        "bagged trees, gradient boosting, AdaBoost of trees, and means of such by voting"
    )


def _of_tree(model: DecisionTree, file: File) -> Part:
    refuse_several_targets(model)
    return _votes([model.tree_], "soft", model, file)


def _of_forest(model: ForestModel, file: File) -> Part:
    refuse_several_targets(model)
    refuse_other_than_mean(model)
    return _votes(_trees_of(model.forest_), model._voting, model, file)


def _of_members(model: MemberEnsemble, file: File) -> Part:
    members = model._members
    if not isinstance(members, TreeMembers):
        raise ValueError(  # noqa: TRY004 - it is a model, if not of trees
            f"the members of this {type(model).__name__} are no trees of the engine: only bagged "
            "trees can be exported to C"
        )
    weighted = members.weighted_forest(model._predict_options())
    if weighted is not None:
        return _weighted_votes(weighted, model, file)
    return _votes(_trees_of(members.forest), model._predict_options().voting_of_trees, model, file)


def _trees_of(forest: Forest) -> Iterable[Tree]:
    return (forest.tree(i) for i in range(forest.n_trees))


def _votes(trees: Iterable[Tree], voting: Voting, model: Any, file: File) -> Part:
    """Mean vote of trees: their sum, divided by their number, as the engine has it."""
    leaves = ((tree, vote_of(tree, voting)[tree.children_left < 0]) for tree in trees)
    return _sum_of_leaves(leaves, model, file, is_mean=True)


def _weighted_votes(members: WeightedForest, model: Any, file: File) -> Part:
    """Sum of the trees' votes times their weights, which sum to 1."""
    forest = members.forest
    leaves = ((forest.tree(i), members.said(i)) for i in range(forest.n_trees))
    return _sum_of_leaves(leaves, model, file, is_mean=False)


def _sum_of_leaves(
    leaves: Iterable[tuple[Tree, Floats]], model: Any, file: File, *, is_mean: bool
) -> Part:
    """Trees, each with the values of its leaves, added up or averaged."""
    file.check_columns(model)
    tables: TreeTables | None = None
    part = None
    for tree, votes in leaves:
        if tables is None:
            width = votes.shape[1]
            part = file.part(width, width, width)
            tables = TreeTables(part.prefix, width, file.dtype)
        tables.add(tree, votes)
    assert part is not None  # a forest has trees
    assert tables is not None
    part.definitions += tables.definitions()
    p, k, n = part.prefix, part.n_state, tables.n_trees
    part.state(
        "int tree, k;",
        f"for (k = 0; k < {k}; ++k) out[k] = 0;",
        f"for (tree = 0; tree < {n}; ++tree) {{",
        f"  const number *vote = {p}_value + {k} * (long){p}_leaf(tree, x);",
        f"  for (k = 0; k < {k}; ++k) out[k] += vote[k];",
        "}",
        *([f"for (k = 0; k < {k}; ++k) out[k] /= {n};"] if is_mean else []),
    )
    part.scores()
    part.outputs()
    return part


def _of_voting(model: VotingModel, file: File) -> Part:
    if not isinstance(model._rule, Mean):
        raise ValueError(  # noqa: TRY004 - it is a model, if not by this rule
            f"this {type(model).__name__} does not take the mean of its members: only means can be "
            "exported, so use voting='soft' or rule='mean', of values rule='mean' or 'weighted'"
        )
    members = model._fitted_members()
    weights = model._rule._kept_weights()
    kept = model._rule._kept(len(members))
    shares = np.ones(len(kept)) if weights is None else weights
    total = 0.0
    for share in shares.tolist():  # in the order of the engine
        total += share
    return _mean(model, [members[i][1] for i in kept], shares, total, file)


def _of_weighted_mean(model: WeightedMean, file: File) -> Part:
    members = model._fitted_members()
    chosen = np.flatnonzero(model.weights_)
    kept = [members[i][1] for i in chosen.tolist()]
    return _mean(model, kept, model.weights_[chosen], 1.0, file)


def _mean(model: Any, members: list[Any], weights: Floats, total: float, file: File) -> Part:
    """Sum of members' answers by their weights, divided by a total."""
    asked = [add_model(member, file) for member in members]
    classes = getattr(model, "classes_", None)
    n = 1 if classes is None else len(classes)
    part = file.part(n, n, n)
    largest = max(max(one.n_state, one.n_outputs) for one in asked)
    body = [
        f"number state[{largest}], said[{largest}];",
        "int k;",
        f"for (k = 0; k < {n}; ++k) out[k] = 0;",
    ]
    for one, member, weight in zip(asked, members, weights.tolist(), strict=True):
        if classes is None and one.n_outputs > 1:
            raise ValueError(
                f"a member of type {type(member).__name__} predicts several values: export members "
                "of one target"
            )
        body += [f"{one.prefix}_state(x, state);", f"{one.prefix}_outputs(state, said);"]
        factor = "" if weight == 1.0 else f"{file.literal(weight)} * "
        if classes is not None and one.n_outputs < n:
            known = classes if isinstance(member, FrozenEstimator) else np.arange(n)
            places = np.searchsorted(known, member.classes_).tolist()
            body += [f"out[{place}] += {factor}said[{k}];" for k, place in enumerate(places)]
        else:
            body.append(f"for (k = 0; k < {n}; ++k) out[k] += {factor}said[k];")
    if total != 1.0:
        body.append(f"for (k = 0; k < {n}; ++k) out[k] /= {file.literal(total)};")
    part.state(*body)
    part.scores()
    part.outputs()
    return part


_KINDS: Mapping[type, Callable[[Any, File], Part]] = {
    DecisionTree: _of_tree,
    ForestModel: _of_forest,
    BoostedModel: of_boosted_model,
    BoostedClassifier: of_boosted_classifier,
    BoostedRegressor: of_boosted_regressor,
    MemberEnsemble: _of_members,
    VotingModel: _of_voting,
    WeightedMean: _of_weighted_mean,
}
