"""Boosted trees with vote weights in model files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.adaboost import WeightedForest
from arboleda._errors import ModelFormatError
from arboleda.adaboost._rounds import RoundRecords
from arboleda.adaboost._tree_members import VOTES, BoostedTreeMembers
from arboleda.bagging._saved_members import decode_tree, encode_tree, set_columns
from arboleda.persist import Array as SavedArray
from arboleda.persist import ForestPart
from arboleda.persist._fields import Sections
from arboleda.tree import DecisionTreeClassifier

_ROUNDS = ("weight", "error", "normalizer", "reset")
_KEYS = {"trees", "vote", "trees_a_round", "rounds", "tree", "tree_parameters"}


class SavedVotes:
    """Field of boosted trees: forest and rounds as sections, the rest in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Store the arrays as sections and return the entry of the header."""
        if not isinstance(value, BoostedTreeMembers):
            raise TypeError(
                "the members were not boosted by the engine, which only supports arboleda trees; "
                "they cannot be stored in a model file: use pickle, joblib or skops"
            )
        array = SavedArray(np.float64)
        return {
            "trees": ForestPart().encode(f"{name}.trees", value.weighted.forest, sections),
            "vote": value.weighted.vote,
            "trees_a_round": value.weighted.trees_a_member,
            "rounds": {
                part: array.encode(f"{name}.{part}", getattr(value.rounds, part), sections)
                for part in _ROUNDS
            },
            **encode_tree(value.example),
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> BoostedTreeMembers:
        """Load the members; `complete` sets the columns of their trees."""
        if not isinstance(stored, dict) or stored.keys() != _KEYS:
            raise ModelFormatError(f"{name} does not describe the members")
        forest = ForestPart().decode(f"{name}.trees", stored["trees"], sections)
        rounds = _decode_rounds(name, stored["rounds"], sections)
        vote, trees_per_round = stored["vote"], stored["trees_a_round"]
        if not isinstance(vote, str) or vote not in VOTES.values():
            raise ModelFormatError(f"{name} has no valid vote type")
        if type(trees_per_round) is not int or not 0 < trees_per_round <= forest.n_trees:
            raise ModelFormatError(f"{name} has no valid number of trees per round")
        tree = decode_tree(name, stored["tree"], stored["tree_parameters"])
        try:
            weighted = WeightedForest(forest, vote, rounds.weight, trees_per_round)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error
        return BoostedTreeMembers(weighted, tree, rounds)


def complete(members: BoostedTreeMembers, model: Any) -> str | None:
    """Set the columns of the loaded trees, or return why they do not fit the model."""
    tree: Any = members.example
    n_classes = len(model.classes_)
    name = "SAMME" if n_classes == 1 else model.algorithm
    if members.weighted.vote != VOTES.get(name):
        return "the votes of the members do not match the algorithm"
    tree.n_outputs_ = 1
    if isinstance(tree, DecisionTreeClassifier):
        if members.weighted.n_outputs != n_classes:
            return "the number of classes of the members differs from the header"
        tree.n_classes_, tree.classes_ = n_classes, model.classes_
        return set_columns(model, tree, members.weighted.forest, (n_classes,))
    if members.weighted.n_outputs != (1 if n_classes == 2 else n_classes):
        return "the number of classes of the members differs from the header"
    return set_columns(model, tree, members.weighted.forest, (1,))


def are_valid_weights(weights: npt.NDArray[np.float64]) -> bool:
    """Return whether weights are non-negative and sums of weighted votes stay finite."""
    return bool((weights >= 0.0).all() and weights.max(initial=0.0) < 1e300 / len(weights))


def _decode_rounds(name: str, stored: Any, sections: Sections) -> RoundRecords:
    if not isinstance(stored, dict) or stored.keys() != set(_ROUNDS):
        raise ModelFormatError(f"{name} does not describe its rounds")
    array = SavedArray(np.float64)
    parts = {part: array.decode(f"{name}.{part}", stored[part], sections) for part in _ROUNDS}
    if len({len(part) for part in parts.values()}) != 1 or not len(parts["weight"]):
        raise ModelFormatError(f"{name} needs one number of each kind per round")
    if not (are_valid_weights(parts["weight"]) and parts["weight"].all()):
        raise ModelFormatError(f"{name} has weights that are not positive and finite")
    return RoundRecords(**parts)
