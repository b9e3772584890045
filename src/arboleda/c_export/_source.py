"""A C source file under construction: its functions, numbers and texts, and the tables of trees.

Nodes are in preorder: the left child of node i is i + 1. `feature` is -1 in a leaf, whose number is
in `right`. The threshold of a categorical split is the number of its list of categories.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Schema
from arboleda._engine.tree import Tree
from arboleda._utils.float32 import at_most_float32
from arboleda._utils.text import visible

NumberType = Literal["float64", "float32"]

_WIDTH = 96
_INTEGERS = (("int8_t", np.int8), ("int16_t", np.int16), ("int32_t", np.int32))


def format_number(value: float, dtype: NumberType) -> str:
    """Format a number as a literal that a compiler reads exactly.

    Raises
    ------
    ValueError
        If the number overflows float32.
    """
    if np.isinf(value):
        return "INFINITY" if value > 0.0 else "-INFINITY"
    if dtype == "float64":
        return repr(float(value))
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if np.isinf(single):
        raise ValueError(
            f"the model contains the number {value:g}, which overflows float32: export it with "
            "number_type='float64'"
        )
    return f"{single!s}f"


def define_numbers(name: str, values: Iterable[float], dtype: NumberType) -> str:
    """Define a constant array of numbers."""
    return _define_array("number", name, [format_number(value, dtype) for value in values])


def define_integers(name: str, values: npt.NDArray[Any]) -> str:
    """Define a constant array of the smallest integer type that holds the values."""
    low, high = int(values.min()), int(values.max())
    for kind, numpy_kind in _INTEGERS:
        limits = np.iinfo(numpy_kind)
        if limits.min <= low and high <= limits.max:
            return _define_array(kind, name, [str(value) for value in values.tolist()])
    raise ValueError("the model has too many nodes for 32-bit indices: export fewer trees")


def format_string(value: str) -> str:
    """Format a string literal in ASCII."""
    found = []
    for byte in value.encode("utf-8", "backslashreplace"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        found.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(found)}"'


def format_comment(value: Any) -> str:
    """Format a value as one line of text within a comment."""
    shown = visible(str(value))[:80].encode("ascii", "backslashreplace").decode()
    return " ".join(shown.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").split())


def _define_array(kind: str, name: str, items: list[str]) -> str:
    lines, line = [], " "
    for item in items:
        if len(line) + len(item) + 2 > _WIDTH:
            lines.append(line)
            line = " "
        line += f" {item},"
    lines.append(line)
    return "\n".join([f"static const {kind} {name}[{len(items)}] = {{", *lines, "};"])


@dataclass
class ModelCode:
    """A model as C code, which computes a state from a row, and all outputs from the state.

    Parameters
    ----------
    prefix : str
        Prefix of the names of its functions and tables.
    n_state, n_scores, n_outputs : int
        Sizes of the state, of the scores, and of probabilities or values. A single score of a
        classifier is positive for the second class; otherwise the largest score decides.
    definitions : list of str
        Tables and functions.
    score_function : str
    needs : set of str
        Shared functions that it calls.
    """

    prefix: str
    n_state: int
    n_scores: int
    n_outputs: int
    definitions: list[str] = field(default_factory=list)
    score_function: str = ""
    needs: set[str] = field(default_factory=set)

    def define_state(self, *body: str) -> None:
        """Add the function that fills the state from a row ``x``."""
        self.definitions.append(self._write_function("state", "x", body))

    def define_scores(self, *body: str) -> None:
        """Make the function that fills the scores from the state; no body: a copy of the state.

        It is in the file only for the outermost model.
        """
        self.score_function = self._write_function(
            "scores", "state", body or _write_copy(self.n_scores)
        )

    def define_outputs(self, *body: str) -> None:
        """Add the function that fills probabilities or values; no body: a copy of the state."""
        copied = body or _write_copy(self.n_outputs)
        self.definitions.append(self._write_function("outputs", "state", copied))

    def _write_function(self, what: str, given: str, body: tuple[str, ...]) -> str:
        head = f"static void {self.prefix}_{what}(const number *{given}, number *out) {{"
        return "\n".join([head, *(f"  {line}" for line in body), "}"])


def _write_copy(n: int) -> tuple[str, ...]:
    return "int k;", f"for (k = 0; k < {n}; ++k) out[k] = state[k];"


# Shared functions by name; each is in a file only if a model calls it.
SHARED = {
    "logistic": """\
/* 1 / (1 + exp(-z)). */
static number logistic(number z) {
  return z < 0 ? EXP(z) / (1 + EXP(z)) : 1 / (1 + EXP(-z));
}""",
    "softmax": """\
/* exp(z[k]) divided by their sum. */
static void softmax(const number *z, int n, number *out) {
  number largest = z[0], sum = 0;
  int k;
  for (k = 1; k < n; ++k) largest = z[k] > largest ? z[k] : largest;
  for (k = 0; k < n; ++k) sum += out[k] = EXP(z[k] - largest);
  for (k = 0; k < n; ++k) out[k] /= sum;
}""",
    "one_against_rest": """\
/* 1 / (1 + exp(-2 z[k])), divided by their sum. */
static void one_against_rest(const number *z, int n, number *out) {
  number sum = 0;
  int k;
  for (k = 0; k < n; ++k) {
    out[k] = logistic(2 * z[k]);
    if (out[k] < LEAST) out[k] = LEAST;
    sum += out[k];
  }
  for (k = 0; k < n; ++k) out[k] /= sum;
}""",
}


@dataclass
class CSource:
    """State shared by the models of a file.

    Parameters
    ----------
    schema : Schema
        Schema of the table, common to all models.
    dtype : {"float64", "float32"}
        Type of all numbers.
    """

    schema: Schema
    dtype: NumberType
    parts: list[ModelCode] = field(default_factory=list)

    def start_model(self, n_state: int, n_scores: int, n_outputs: int) -> ModelCode:
        """Start a model."""
        self._n_begun = getattr(self, "_n_begun", 0) + 1
        return ModelCode(f"m{self._n_begun}", n_state, n_scores, n_outputs)

    def format_literal(self, value: float) -> str:
        """Format a number as a literal of the file's number type."""
        return format_number(float(value), self.dtype)

    def check_columns(self, model: Any) -> None:
        """Check that a model has the schema of the other models."""
        if model.schema_.levels != self.schema.levels:
            raise ValueError(
                f"a member of type {type(model).__name__} was fitted on different columns or "
                "categories than the others: fit all members on the same table"
            )


Floats = npt.NDArray[np.float64]

_MISSING_LEFT, _CATEGORIES = 1, 2


class TreeTables:
    """Tables of the trees of one model, whose leaves have ``width`` values."""

    def __init__(self, prefix: str, width: int, dtype: NumberType) -> None:
        self.prefix = prefix
        self.width = width
        self._dtype: NumberType = dtype
        self._roots: list[int] = []
        self._n_nodes = self._n_leaves = 0
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._categories: list[npt.NDArray[np.int64]] = []

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self._roots)

    @property
    def has_categories(self) -> bool:
        """Whether there are categorical splits."""
        return bool(self._categories)

    def add(self, tree: Tree, leaf_values: Floats) -> None:
        """Add a tree; ``leaf_values`` (n_leaves, width), in the order of the leaves."""
        is_leaf = tree.children_left < 0
        n_leaves = int(is_leaf.sum())
        right = tree.children_right + self._n_nodes
        right[is_leaf] = self._n_leaves + np.arange(n_leaves)
        threshold = np.where(is_leaf, 0.0, tree.threshold)
        ways = np.where(is_leaf, 0, _MISSING_LEFT * tree.missing_go_to_left.astype(np.int64))
        for node in np.flatnonzero(~is_leaf).tolist():
            listed = tree.categories(node)
            if listed.size:
                threshold[node] = len(self._categories)
                ways[node] += _CATEGORIES
                self._categories.append(listed.astype(np.int64))
        if self._dtype == "float32":
            threshold = np.where(ways < _CATEGORIES, at_most_float32(threshold), threshold)
        self._keep("threshold", threshold)
        self._keep("feature", np.where(is_leaf, -1, tree.feature))
        self._keep("right", right)
        self._keep("ways", ways)
        self._keep("value", leaf_values.ravel())
        self._roots.append(self._n_nodes)
        self._n_nodes += tree.node_count
        self._n_leaves += n_leaves

    def iter_definitions(self) -> Iterable[str]:
        """Yield the tables, and the function that finds the leaf of a row in a tree."""
        if not self._roots:
            return
        p = self.prefix
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        for name in ("threshold", "value"):
            yield define_numbers(f"{p}_{name}", joined[name].tolist(), self._dtype)
        for name in ("feature", "right", "ways"):
            yield define_integers(f"{p}_{name}", joined[name].astype(np.int64))
        yield define_integers(f"{p}_root", np.array(self._roots))
        if self._categories:
            sizes = [0, *(listed.size for listed in self._categories)]
            yield define_integers(f"{p}_list", np.cumsum(sizes))
            yield define_integers(f"{p}_category", np.concatenate(self._categories))
            yield _LISTED.replace("PREFIX", p)
        yield (
            _LEAF.replace("PREFIX", p)
            .replace("LEFT", _BY_EITHER.replace("PREFIX", p) if self._categories else _BY_NUMBER)
            .replace("PREFIX", p)
        )

    def _keep(self, name: str, array: npt.NDArray[Any]) -> None:
        self._parts.setdefault(name, []).append(array)


_LISTED = """\
/* Whether a list of categories contains a category. */
static int PREFIX_lists(int list, number category) {
  int i;
  for (i = PREFIX_list[list]; i < PREFIX_list[list + 1]; ++i) {
    if ((number)PREFIX_category[i] == category) return 1;
  }
  return 0;
}"""

_LEAF = """\
/* The leaf of a row. */
static int PREFIX_leaf(int tree, const number *x) {
  int node = PREFIX_root[tree];
  while (PREFIX_feature[node] >= 0) {
    const number value = x[PREFIX_feature[node]];
    const int missing_left = PREFIX_ways[node] & 1;
    LEFT
    node = left ? node + 1 : PREFIX_right[node];
  }
  return PREFIX_right[node];
}"""

_BY_NUMBER = """const int left = value == value ? value <= PREFIX_threshold[node] : missing_left;"""

_BY_EITHER = """int left = value == value ? value <= PREFIX_threshold[node] : missing_left;
    if (PREFIX_ways[node] & 2) {
      left = PREFIX_lists((int)PREFIX_threshold[node], value) != missing_left;
    }"""
