"""Checks that several attributes of an object agree, and the rule for lists of transformers."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from arboleda.persist.object_rules.attribute_rules import (
    IntegerRule,
    ListOf,
    SettingRule,
    TextRule,
)
from arboleda.persist.object_rules.context import BrokenRuleError, Context

__all__ = [
    "TransformersRule",
    "check_bayesian_network",
    "check_columns",
    "check_encodings",
    "check_graph",
    "check_group_column",
    "check_groups",
    "check_layers",
    "check_lookup_tables",
    "check_made_columns",
    "check_n_neighbors",
    "check_number_column",
    "check_one_hot",
    "check_probabilities",
    "check_rotations",
    "check_schema",
    "check_steps",
    "check_vector_counts",
    "make_length_check",
]

Attributes = Mapping[str, Any]
# Parents of a node of a Bayesian network: the class and, in a tree of columns, another column.
_MAX_PARENTS = 2


def _require(is_valid: bool, what: str) -> None:
    if not is_valid:
        raise BrokenRuleError(f"has {what} that do not agree")


def make_length_check(*names: str) -> Callable[[Attributes], None]:
    """Return a check that the arrays of several lists have equal lengths, entry by entry."""

    def check(attributes: Attributes) -> None:
        lengths = [[len(array) for array in attributes[name]] for name in names]
        _require(all(one == lengths[0] for one in lengths), " and ".join(names))

    return check


def check_one_hot(attributes: Attributes) -> None:
    """Check that the widths of a one-hot encoder's output match its categories.

    SciPy writes one value for each code into a matrix of the stated width without checking it; a
    code is the index of a category, or of the group of rare categories that it is mapped to.
    """
    n_columns = len(attributes["categories_"])
    no_groups = [None] * n_columns
    rare = attributes.get("_infrequent_indices", no_groups)
    mappings = attributes.get("_default_to_infrequent_mappings", no_groups)
    for categories, pooled, mapping, width in zip(
        attributes["categories_"], rare, mappings, attributes["_n_features_outs"], strict=True
    ):
        n = len(categories)
        if pooled is None or mapping is None:
            _require(pooled is mapping and width == n, "categories and numbers of columns")
            continue
        _require(0 < len(pooled) <= n and int(pooled[-1]) < n, "categories and rare ones")
        frequent = np.setdiff1d(np.arange(n), pooled)
        expected = np.full(n, len(frequent))
        expected[frequent] = np.arange(len(frequent))
        _require(np.array_equal(mapping, expected), "rare categories and their mapping")
        _require(width == len(frequent) + 1, "categories and numbers of columns")


def check_encodings(attributes: Attributes) -> None:
    """Check that each category has an encoding, for each class if there are more than two."""
    of_each = len(attributes["classes_"]) if attributes["target_type_"] == "multiclass" else 1
    lengths = [len(categories) for categories in attributes["categories_"] for _ in range(of_each)]
    _require([len(one) for one in attributes["encodings_"]] == lengths, "categories and encodings")
    _require(np.size(attributes["target_mean_"]) == of_each, "classes and means")


def check_layers(attributes: Attributes) -> None:
    """Check that each layer of a neural network takes the outputs of the layer before it."""
    weights, offsets = attributes["coefs_"], attributes["intercepts_"]
    widths = [attributes["n_features_in_"], *(len(one) for one in offsets)]
    shapes = list(pairwise(widths))
    _require([one.shape for one in weights] == shapes, "layers")
    _require(attributes["n_layers_"] == len(widths), "layers and their number")
    _require(attributes["n_outputs_"] == widths[-1], "layers and outputs")
    if "classes_" in attributes:
        n_classes = len(attributes["classes_"])
        _require(widths[-1] == (1 if n_classes == 2 else n_classes), "layers and classes")
        own = attributes["_label_binarizer"].__dict__["classes_"]
        _require(np.array_equal(own, attributes["classes_"]), "classes")


def check_vector_counts(attributes: Attributes) -> None:
    """Check that the support vectors of a regression machine match their stated number."""
    _require(
        int(attributes["_n_support"][0]) == len(attributes["support_vectors_"]),
        "support vectors and counts",
    )


def check_probabilities(attributes: Attributes) -> None:
    """Check that each pair of classes has two parameters of its probabilities, or none has."""
    sizes = {len(attributes["_probA"]), len(attributes["_probB"])}
    _require(sizes in ({0}, {len(attributes["_intercept_"])}), "probabilities and classes")


def check_n_neighbors(attributes: Attributes) -> None:
    """Check that there are at least as many rows as neighbors are searched for."""
    _require(
        attributes["n_neighbors"] <= len(attributes["_fit_X"]), "rows and numbers of neighbours"
    )


def check_rotations(attributes: Attributes) -> None:
    """Check that each class has a variance for each of its axes."""
    widths = [one.shape[1] for one in attributes["rotations_"]]
    _require(widths == [len(one) for one in attributes["scalings_"]], "rotations and scalings")


def check_steps(attributes: Attributes) -> None:
    """Check that a pipeline has steps."""
    _require(len(attributes["steps"]) > 0, "no steps, or steps")


def check_columns(attributes: Attributes) -> None:
    """Check that the transformers take the columns that are listed for them."""
    listed = [list(columns) for _, _, columns in attributes["transformers_"]]
    own = [list(columns) for columns in attributes["_columns"]]
    _require(listed[: len(own)] == own, "columns and transformers")


def check_graph(attributes: Attributes) -> None:
    """Check that the graph's look-up tables match its edges and that it has no cycle."""
    nodes, parents = attributes["nodes"], attributes["parent_places"]
    _require(attributes["_places"] == {node: place for place, node in enumerate(nodes)}, "nodes")
    _require(sorted(attributes["order"]) == list(range(len(nodes))), "nodes and their order")
    at = {node: place for place, node in enumerate(attributes["order"])}
    is_valid = all(
        list(own) == sorted(set(own)) and all(at[parent] < at[child] for parent in own)
        for child, own in enumerate(parents)
    )
    _require(is_valid, "parents and their order")


def check_bayesian_network(attributes: Attributes) -> None:
    """Check that the network's tables have an entry for each state of a node and its parents."""
    network, n_columns = attributes["_network"].__dict__, len(attributes["_columns"])
    graph = network["graph"].__dict__
    sizes, columns = network["sizes"], attributes["_columns"]
    _require(len(sizes) == len(graph["nodes"]) == n_columns + 1, "nodes and columns")
    states = [max(1, len(column.values)) for column in columns]
    _require(
        list(sizes) == [*states, len(attributes["_known_classes"])], "states and their numbers"
    )
    _require(graph["nodes"] == attributes["graph_"].__dict__["nodes"], "nodes")
    # This bounds the tables made by summing variables out to about the size of those in the file.
    _require(max(map(len, graph["parent_places"])) <= _MAX_PARENTS, "too many parents, or nodes")
    shapes = [
        tuple(sizes[member] for member in sorted((node, *graph["parent_places"][node])))
        for node in range(len(sizes))
    ]
    _require([table.shape for table in attributes["_log_tables"]] == shapes, "states and tables")
    levels = attributes["schema_"].levels
    _require(len(levels) == len(columns), "columns and levels")
    for column, own in zip(columns, levels, strict=True):
        codes = column.__dict__.get("state_of_code")
        _require((codes is None) == (own is None), "columns and their kinds")
        if codes is not None:
            _require(len(codes) == len(own) + 1, "levels and their states")
            _require(int(codes.max()) < max(1, len(column.values)), "states")


def check_lookup_tables(attributes: Attributes) -> None:
    """Check that categorical columns have a table with a row for each level and two more."""
    kinds, levels = attributes["column_kinds_"], attributes["schema_"].levels
    _require(len(kinds) == len(levels), "columns and levels")
    for j, (log_p, impossible) in attributes["_looked_up"].items():
        own = 2 if kinds[j] == "bernoulli" else len(levels[j] or ())
        _require(len(log_p) == len(impossible) == own + 2, "levels and their tables")
    own_tables = {j for j, kind in enumerate(kinds) if kind != "gaussian"}
    _require(own_tables == set(attributes["_looked_up"]), "columns and their tables")


def check_schema(attributes: Attributes) -> None:
    """Check that there is a name for each entry of levels."""
    names = attributes["names"]
    _require(names is None or len(names) == len(attributes["levels"]), "names and levels")


def check_made_columns(attributes: Attributes) -> None:
    """Check that the source columns of generated columns exist."""
    n_columns = attributes["n_features_in_"]
    places = [place for made in attributes["made_"] for place in made.idea.sources]
    places += [
        place
        for made in attributes["made_"]
        if hasattr(made, "groups")
        for place in made.groups.columns
    ]
    _require(all(place < n_columns for place in places), "columns and generated columns")


def check_number_column(attributes: Attributes) -> None:
    """Check that an arithmetic column has two source columns."""
    idea = attributes["idea"]
    _require(idea.is_arithmetic and len(idea.numbers) == 2, "numbers and their operation")


def check_groups(attributes: Attributes) -> None:
    """Check that the keys of groups are indices into the product of their columns' levels."""
    _require(
        len(attributes["levels"]) == len(attributes["columns"]) in (1, 2), "columns and levels"
    )
    n_keys = math.prod(len(levels) for levels in attributes["levels"])
    keys = attributes["keys"]
    _require(len(keys) > 0 and int(keys[-1]) < n_keys, "levels and groups")


def check_group_column(attributes: Attributes) -> None:
    """Check that a column made of groups has a number for each group."""
    groups, idea = attributes["groups"], attributes["idea"]
    _require(len(attributes["table"]) == len(groups.keys), "groups and their numbers")
    _require(not idea.is_arithmetic, "groups and their operation")
    _require(idea.kind != "distance" or len(idea.numbers) == 1, "numbers")


@dataclass(frozen=True)
class TransformersRule:
    """A list of tuples of a name, a transformer and columns.

    With ``is_template`` they are a parameter, else the fitted attribute; there, a transformer
    without columns is not fitted.
    """

    is_template: bool = False

    def check(self, value: Any, context: Context) -> None:
        """Check each transformer."""
        if type(value) is not list:
            raise BrokenRuleError("is not a list")
        for entry in value:
            if type(entry) is not tuple or len(entry) != 3 or type(entry[0]) is not str:
                raise BrokenRuleError("has an entry that is not a transformer")
            _, transformer, columns = entry
            if self.is_template:
                SettingRule().check(columns, context)
            else:
                ListOf(IntegerRule(0, below="n_features")).check(columns, context)
            if type(transformer) is str:
                TextRule("passthrough", "drop").check(transformer, context)
            else:
                is_fitted = context.is_fitted and not self.is_template and len(columns) > 0
                context.check_object(transformer, is_fitted)
