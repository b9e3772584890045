"""Members in model files: arboleda trees, with the batches that reproduce their samples."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from arboleda._engine.forest import Forest
from arboleda._utils.errors import ModelFormatError
from arboleda.bagging._sampling import RowsToDraw, SamplingPlan
from arboleda.bagging._tree_members import TreeBatch, TreeMembers
from arboleda.persist import ForestPart, SavedArray
from arboleda.persist.fields import Sections
from arboleda.persist.values import decode, encode
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

_KEYS = {"trees", "seed", "batches", "tree", "tree_parameters"}
_TREES: dict[str, Any] = {
    "DecisionTreeClassifier": DecisionTreeClassifier,
    "DecisionTreeRegressor": DecisionTreeRegressor,
}
_ROUNDING = 1e-9  # tolerance of the sum of weights
_OPTIONAL = ("switch_uniformly",)
_TYPES = {"int": int, "float": float, "bool": bool, "BagKind": str}


class SavedMembers:
    """Field of members: the forest as a section, the sampling plans in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Store the forest as a section and return the entry of the header."""
        if not isinstance(value, TreeMembers):
            raise TypeError(
                f"the members, of type {type(value.estimators[0]).__name__}, were not grown as a "
                "forest by the engine, so they cannot be stored in a model file; use pickle, "
                "joblib or skops"
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
        """Load the members; `complete` sets the columns of their trees."""
        if not isinstance(stored, dict) or stored.keys() - {"weights"} != _KEYS:
            raise ModelFormatError(f"{name} does not describe the members")
        forest = ForestPart().decode(f"{name}.trees", stored["trees"], sections)
        batches = stored["batches"]
        if not isinstance(batches, list) or type(stored["seed"]) is not int:
            raise ModelFormatError(f"{name} does not describe the samples of its members")
        loaded = tuple(
            _decode_batch(f"{name}.able{number}", batch, sections)
            for number, batch in enumerate(batches)
        )
        firsts = np.cumsum([0, *(batch.n_trees for batch in loaded)]).tolist()
        if firsts[-1] != forest.n_trees or [batch.first for batch in loaded] != firsts[:-1]:
            raise ModelFormatError(
                f"{name} describes the samples of more or fewer trees than there are"
            )
        if not 0 <= stored["seed"] < 2**63:
            raise ModelFormatError(f"{name} has a seed outside [0, 2**63)")
        tree = decode_tree(name, stored["tree"], stored["tree_parameters"])
        weights = None
        if "weights" in stored:
            weights = _decode_weights(name, stored["weights"], forest.n_trees, sections)
        return TreeMembers(forest, tree, stored["seed"], loaded, weights)


class ShareField:
    """Field of a number from 0 to 1, or NaN."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return the number."""
        return encode(float(value))

    def decode(self, name: str, stored: Any, sections: Sections) -> float:
        """Return the validated number."""
        value = decode(stored)
        if type(value) is not float or value < 0 or value > 1:
            raise ModelFormatError(f"{name} is not a number from 0 to 1")
        return value


def complete(members: TreeMembers, ensemble: Any, widths: tuple[int, ...]) -> str | None:
    """Set the columns of the loaded trees, or return why they do not fit the ensemble.

    ``widths`` are the numbers of values that leaves should have for each output.
    """
    tree: Any = members.example
    if type(tree) is not type(ensemble._make_default_estimator()):
        return "the members have another tree type than the ensemble"
    tree.n_outputs_ = len(widths)
    if isinstance(tree, DecisionTreeClassifier):
        tree.n_classes_, tree.classes_ = widths[0], np.arange(widths[0])
    n_columns = ensemble.n_features_in_
    if members.weights is not None and "weights" not in ensemble.get_params(deep=False):
        return "the members have weights, which the ensemble does not support"
    if any(batch.plan.n_features != n_columns for batch in members.batches):
        return "the number of columns of the members differs from the header"
    return set_columns(ensemble, tree, members.forest, widths)


def set_columns(ensemble: Any, tree: Any, forest: Forest, widths: tuple[int, ...]) -> str | None:
    """Set the columns of the loaded trees, or return why they do not fit the ensemble."""
    for name in ("n_features_in_", "feature_names_in_", "schema_"):
        if hasattr(ensemble, name):
            setattr(tree, name, getattr(ensemble, name))
    if tuple(forest.widths) != widths:
        return "the number of values of the leaves differs from the header"
    if not np.isin(tree.missing_columns_, np.arange(ensemble.n_features_in_)).all():
        return "the trees refer to columns that do not exist"
    return forest.defect(ensemble.schema_.n_levels)


def _encode_weights(name: str, weights: Any, sections: Sections) -> dict[str, Any]:
    """Return the entry of the weights; empty if all members have the same weight."""
    if weights is None:
        return {}
    return {"weights": SavedArray(np.float64).encode(f"{name}.weights", weights, sections)}


def _decode_weights(name: str, stored: Any, n_trees: int, sections: Sections) -> Any:
    weights = SavedArray(np.float64).decode(f"{name}.weights", stored, sections)
    if weights.shape != (n_trees,):
        raise ModelFormatError(f"{name} has {weights.size} weights for {n_trees} trees")
    # Check the upper bound of 1 first: the sum of huge weights would overflow.
    if not ((weights >= 0) & (weights <= 1)).all() or abs(weights.sum() - 1) > _ROUNDING:
        raise ModelFormatError(f"{name} has weights that are not in [0, 1] with sum 1")
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
    """Return the fields; those added to the format later only if they are set."""
    stored = asdict(plan)
    return {name: stored[name] for name in stored if name not in _OPTIONAL or stored[name]}


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
                raise ModelFormatError(f"{name} lists rows that do not exist, or repeats rows")
            return TreeBatch(_decode_plan(plan), RowsToDraw(n_rows, rows), first, n_trees)
    raise ModelFormatError(f"{name} does not describe the samples of members")


def _decode_plan(stored: dict[str, Any]) -> SamplingPlan:
    kinds = {field.name: _TYPES[str(field.type)] for field in fields(SamplingPlan)}
    stored = dict.fromkeys(_OPTIONAL, False) | stored
    is_valid = stored.keys() == kinds.keys() and all(
        type(stored[name]) is kind for name, kind in kinds.items()
    )
    plan = SamplingPlan(**stored) if is_valid else None
    if (
        plan is None
        or plan.bag not in {"all", "bootstrap", "without_replacement"}
        or not 0 < plan.n_columns <= plan.n_features < 2**31
        or not 0 < plan.n_drawn < 2**32
        or not 0 <= plan.switch_share < 1
    ):
        raise ModelFormatError("a sampling plan is invalid")
    return plan


def _is_ascending(rows: np.ndarray[Any, Any], n_rows: int) -> bool:
    return bool(rows.size and rows[0] >= 0 and rows[-1] < n_rows and (np.diff(rows) > 0).all())


def _is_column(number: Any) -> bool:
    return type(number) is int and 0 <= number < 2**31


def encode_tree(example: Any) -> dict[str, Any]:
    """Return the header entry of the tree with the shared properties."""
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
    """Create a tree with the parameters of the file, without columns."""
    match stored:
        case {
            "class": ("DecisionTreeClassifier" | "DecisionTreeRegressor") as kind,
            "max_features": int(max_features),
            "missing_columns": list(missing),
            **rest,
        } if not rest and max_features > 0 and all(map(_is_column, missing)):
            tree: Any = _TREES[kind]()
        case _:
            raise ModelFormatError(f"{name} does not describe its trees")
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
