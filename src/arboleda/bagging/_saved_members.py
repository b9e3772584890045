"""Members in model files: trees of ours, with what their draws are repeated from."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from arboleda._engine.forest import Forest
from arboleda._errors import ModelFormatError
from arboleda.bagging._draws import RowsToDraw
from arboleda.bagging._sampling_plan import SamplingPlan
from arboleda.bagging._tree_members import TreeBatch, TreeMembers
from arboleda.persist import Array as SavedArray
from arboleda.persist import ForestPart
from arboleda.persist._fields import Sections
from arboleda.persist._values import decode, encode
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

_KEYS = {"trees", "seed", "batches", "tree", "tree_parameters"}
_TREES: dict[str, Any] = {
    "DecisionTreeClassifier": DecisionTreeClassifier,
    "DecisionTreeRegressor": DecisionTreeRegressor,
}
_ROUNDING = 1e-9  # by which a sum of weights may differ from 1
_LATER = ("switch_uniformly",)
_TYPES = {"int": int, "float": float, "bool": bool, "BagKind": str}


class SavedMembers:
    """The forest as a section, the plans of the draws in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return what stands in the header."""
        if not isinstance(value, TreeMembers):
            raise TypeError(
                f"the members, of type {type(value.estimators[0]).__name__}, were not grown as a "
                "forest by the engine, and a model file holds no others; use pickle, joblib or "
                "skops for these"
            )
        return {
            "trees": ForestPart().encode(f"{name}.trees", value.forest, sections),
            "seed": value.seed,
            "batches": [
                _encode_batch(f"{name}.able{number}", batch, sections)
                for number, batch in enumerate(value.batches)
            ],
            **encode_tree(value.example),
            **_encode_weights(name, value.weights, sections),
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> TreeMembers:
        """Return the members; `complete` gives their trees the columns of the ensemble."""
        if not isinstance(stored, dict) or stored.keys() - {"weights"} != _KEYS:
            raise ModelFormatError(f"{name} does not say what the members are")
        forest = ForestPart().decode(f"{name}.trees", stored["trees"], sections)
        batches = stored["batches"]
        if not isinstance(batches, list) or type(stored["seed"]) is not int:
            raise ModelFormatError(f"{name} does not say how its members drew")
        found = tuple(
            _decode_batch(f"{name}.able{number}", batch, sections)
            for number, batch in enumerate(batches)
        )
        firsts = np.cumsum([0, *(batch.n_trees for batch in found)]).tolist()
        if firsts[-1] != forest.n_trees or [batch.first for batch in found] != firsts[:-1]:
            raise ModelFormatError(f"{name} says of other trees how they drew than there are")
        if not 0 <= stored["seed"] < 2**63:
            raise ModelFormatError(f"{name} has no seed that can be")
        tree = decode_tree(name, stored["tree"], stored["tree_parameters"])
        weights = None
        if "weights" in stored:
            weights = _decode_weights(name, stored["weights"], forest.n_trees, sections)
        return TreeMembers(forest, tree, stored["seed"], found, weights)


class ShareField:
    """A number from 0 to 1, or NaN."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return the number."""
        return encode(float(value))

    def decode(self, name: str, stored: Any, sections: Sections) -> float:
        """Return the number, checked."""
        value = decode(stored)
        if type(value) is not float or value < 0 or value > 1:
            raise ModelFormatError(f"{name} is no share")
        return value


def complete(members: TreeMembers, ensemble: Any, widths: tuple[int, ...]) -> str | None:
    """Give the trees of a file the columns of their ensemble, or tell why they cannot have them.

    ``widths`` are the numbers that a leaf of each output should hold.
    """
    tree: Any = members.example
    if type(tree) is not type(ensemble._make_default_estimator()):
        return "the members are trees of another kind than the ensemble's"
    tree.n_outputs_ = len(widths)
    if isinstance(tree, DecisionTreeClassifier):
        tree.n_classes_, tree.classes_ = widths[0], np.arange(widths[0])
    n_columns = ensemble.n_features_in_
    if members.weights is not None and "weights" not in ensemble.get_params(deep=False):
        return "the members have weights, which their ensemble does not know"
    if any(batch.plan.n_features != n_columns for batch in members.batches):
        return "the members drew from another number of columns than the header lists"
    return set_columns(ensemble, tree, members.forest, widths)


def set_columns(ensemble: Any, tree: Any, forest: Forest, widths: tuple[int, ...]) -> str | None:
    """Give the trees of a file the columns of their ensemble, or tell why they cannot have them."""
    for name in ("n_features_in_", "feature_names_in_", "schema_"):
        if hasattr(ensemble, name):
            setattr(tree, name, getattr(ensemble, name))
    if tuple(forest.widths) != widths:
        return "the leaves do not hold as many numbers as the header implies"
    if not np.isin(tree.missing_columns_, np.arange(ensemble.n_features_in_)).all():
        return "the trees speak of columns that are not there"
    return forest.defect(ensemble.schema_.n_levels)


def _encode_weights(name: str, weights: Any, sections: Sections) -> dict[str, Any]:
    """Return the entry of the members' weights; none where all count the same."""
    if weights is None:
        return {}
    return {"weights": SavedArray(np.float64).encode(f"{name}.weights", weights, sections)}


def _decode_weights(name: str, stored: Any, n_trees: int, sections: Sections) -> Any:
    weights = SavedArray(np.float64).decode(f"{name}.weights", stored, sections)
    if weights.shape != (n_trees,):
        raise ModelFormatError(f"{name} has {weights.size} weights of {n_trees} trees")
    # Each at most 1 first: a sum of the greatest numbers overflows.
    if not ((weights >= 0) & (weights <= 1)).all() or abs(weights.sum() - 1) > _ROUNDING:
        raise ModelFormatError(f"{name} has weights that are not shares of sum 1")
    return weights


def _encode_batch(name: str, batch: TreeBatch, sections: Sections) -> dict[str, Any]:
    able = batch.rows.able
    return {
        "first": batch.first,
        "n_trees": batch.n_trees,
        "n_rows": batch.rows.n_rows,
        "able": None if able is None else SavedArray(np.int64).encode(name, able, sections),
        "plan": _encode_plan(batch.plan),
    }


def _encode_plan(plan: SamplingPlan) -> dict[str, Any]:
    """Return its fields; those added to the format later only where they say something."""
    stored = asdict(plan)
    return {name: stored[name] for name in stored if name not in _LATER or stored[name]}


def _decode_batch(name: str, stored: Any, sections: Sections) -> TreeBatch:
    match stored:
        case {
            "first": int(first),
            "n_trees": int(n_trees),
            "n_rows": int(n_rows),
            "able": able,
            "plan": dict(plan),
            **rest,
        } if not rest and n_trees > 0 and 0 < n_rows < 2**32:
            rows = None if able is None else SavedArray(np.int64).decode(name, able, sections)
            if rows is not None and not _is_ascending(rows, n_rows):
                raise ModelFormatError(f"{name} lists rows that are not there, or one twice")
            return TreeBatch(_decode_plan(plan), RowsToDraw(n_rows, rows), first, n_trees)
    raise ModelFormatError(f"{name} does not say how members drew")


def _decode_plan(stored: dict[str, Any]) -> SamplingPlan:
    kinds = {field.name: _TYPES[str(field.type)] for field in fields(SamplingPlan)}
    stored = dict.fromkeys(_LATER, False) | stored
    right = stored.keys() == kinds.keys() and all(
        type(stored[name]) is kind for name, kind in kinds.items()
    )
    plan = SamplingPlan(**stored) if right else None
    if (
        plan is None
        or plan.bag not in {"all", "bootstrap", "without_replacement"}
        or not 0 < plan.n_columns <= plan.n_features < 2**31
        or not 0 < plan.n_drawn < 2**32
        or not 0 <= plan.switch_share < 1
    ):
        raise ModelFormatError("a plan of draws is none that can be")
    return plan


def _is_ascending(rows: np.ndarray[Any, Any], n_rows: int) -> bool:
    return bool(rows.size and rows[0] >= 0 and rows[-1] < n_rows and (np.diff(rows) > 0).all())


def _is_column(number: Any) -> bool:
    return type(number) is int and 0 <= number < 2**31


def encode_tree(example: Any) -> dict[str, Any]:
    """Return what stands in the header of a tree with all that the members share."""
    return {
        "tree": {
            "class": type(example).__name__,
            "max_features": int(example.max_features_),
            "missing_columns": example.missing_columns_.tolist(),
        },
        "tree_parameters": {
            parameter: encode(setting)
            for parameter, setting in example.get_params(deep=False).items()
            if parameter != "random_state"
        },
    }


def decode_tree(name: str, stored: Any, parameters: Any) -> Any:
    """Make a tree with the parameters of the file, not yet with columns."""
    match stored:
        case {
            "class": ("DecisionTreeClassifier" | "DecisionTreeRegressor") as kind,
            "max_features": int(max_features),
            "missing_columns": list(missing),
            **rest,
        } if not rest and max_features > 0 and all(map(_is_column, missing)):
            tree: Any = _TREES[kind]()
        case _:
            raise ModelFormatError(f"{name} does not say what its trees are")
    if not isinstance(parameters, dict) or not parameters.keys() <= tree.get_params().keys():
        raise ModelFormatError(f"{name} lists parameters that its trees do not have")
    tree.set_params(**{parameter: decode(value) for parameter, value in parameters.items()})
    try:
        tree._validate_params()
    except InvalidParameterError as error:
        raise ModelFormatError(str(error)) from error
    tree.max_features_ = max_features
    tree.missing_columns_ = np.array(missing, dtype=np.int64)
    return tree
