"""Boosted regression trees in model files."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._errors import ModelFormatError
from arboleda.adaboost._boosted_trees import BoostedTrees
from arboleda.adaboost._saved_votes import are_valid_weights
from arboleda.bagging._saved_members import decode_tree, encode_tree, set_columns
from arboleda.persist import Array as SavedArray
from arboleda.persist import ForestPart
from arboleda.persist._fields import Sections
from arboleda.tree import DecisionTreeRegressor

_KEYS = {"trees", "weights", "seeds", "tree", "tree_parameters"}


class SavedTrees:
    """Field of boosted trees: the forest, the weights and the seeds as sections."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Store the arrays as sections and return the entry of the header."""
        if not isinstance(value, BoostedTrees):
            raise TypeError(
                f"the members, of type {type(value.estimators[0]).__name__}, were not grown by the "
                "engine, so they cannot be stored in a model file; use pickle, joblib or skops"
            )
        seeds = np.array(value.seeds, dtype=np.int64)
        return {
            "trees": ForestPart().encode(f"{name}.trees", value.forest, sections),
            "weights": SavedArray(np.float64).encode(f"{name}.weights", value.weights, sections),
            "seeds": SavedArray(np.int64).encode(f"{name}.seeds", seeds, sections),
            **encode_tree(value.example),
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> BoostedTrees:
        """Load the members; `complete` sets the columns of their trees."""
        if not isinstance(stored, dict) or stored.keys() != _KEYS:
            raise ModelFormatError(f"{name} does not describe the members")
        forest = ForestPart().decode(f"{name}.trees", stored["trees"], sections)
        weights = SavedArray(np.float64).decode(f"{name}.weights", stored["weights"], sections)
        seeds = SavedArray(np.int64).decode(f"{name}.seeds", stored["seeds"], sections)
        if not len(weights) == len(seeds) == forest.n_trees > 0:
            raise ModelFormatError(f"{name} has more or fewer weights or seeds than trees")
        if not are_valid_weights(weights):
            raise ModelFormatError(f"{name} has negative, infinite or missing weights")
        if not ((seeds >= 0) & (seeds < 2**32)).all():
            raise ModelFormatError(f"{name} has seeds outside [0, 2**32)")
        tree = decode_tree(name, stored["tree"], stored["tree_parameters"])
        if not isinstance(tree, DecisionTreeRegressor):
            raise ModelFormatError(f"{name} has no regression trees")
        return BoostedTrees(forest, tree, tuple(seeds.tolist()), weights)


def complete(members: BoostedTrees, model: Any) -> str | None:
    """Set the columns of the loaded trees, or return why they do not fit the model."""
    members.example.n_outputs_ = 1
    return set_columns(model, members.example, members.forest, (1,))
