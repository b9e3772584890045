"""LightGBM's text format and the trees in it.

Inner nodes and leaves are numbered separately from 0; the child -1 - i is leaf i. The bits of
``decision_type`` give the kind of split:

    bit 0      categorical split
    bit 1      missing values go left
    bits 2, 3  missing values: 0 none (NaN is read as 0), 1 zeros (and NaN, read as 0), 2 NaN

A categorical node has the index of a bit set; the categories in it go left, all others, NaN and
negative numbers go right.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import ModelFormatError
from arboleda._utils.files import parse_strict_json
from arboleda.importers._columns import Columns, read_integer
from arboleda.importers._trees import NodeTable

Block = dict[str, str]

_VERSIONS = {"v3", "v4"}
_PANDAS = "pandas_categorical:"


@dataclass(frozen=True)
class ModelText:
    """Content of the file.

    Parameters
    ----------
    header : dict of str
        Values by name; "" for lines without a value.
    trees : list of dict of str
    parameters : dict of str
        Training parameters, if the file has them.
    categories : list, or None
        Labels of each categorical column of a data frame, in the order of their codes.
    """

    header: Block
    trees: list[Block]
    parameters: Block
    categories: list[Any] | None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return read_integer(read_text_entry(self.header, "max_feature_idx"), "max_feature_idx") + 1

    @property
    def n_trees_per_round(self) -> int:
        """Number of trees of a round, one for each output."""
        name = "num_tree_per_iteration"
        return read_integer(read_text_entry(self.header, name), name, 1)

    @property
    def is_mean(self) -> bool:
        """Whether the prediction is the mean of the rounds instead of their sum."""
        return "average_output" in self.header


def read_text(content: bytes) -> ModelText:
    """Read the file.

    Raises
    ------
    ModelFormatError
        If it is not such a file, has another version, or is truncated.
    """
    try:
        lines = [line.removesuffix("\r") for line in content.decode().split("\n")]
    except UnicodeDecodeError as error:
        raise ModelFormatError("it is not UTF-8") from error
    if lines[0].strip() != "tree":
        raise ModelFormatError(
            "it does not begin like the text of a LightGBM model: pass a file that save_model wrote"
        )
    if "end of trees" not in lines:
        raise ModelFormatError("it is truncated: there is no line 'end of trees'")
    end = lines.index("end of trees")
    begins = [i for i in range(1, end) if lines[i].startswith("Tree=")]
    header = _parse_block(lines[1 : begins[0] if begins else end])
    version = header.get("version", "none")
    if version not in _VERSIONS:
        raise ModelFormatError(f"its version must be v3 or v4, got {version[:20]!r}")
    trees = [_parse_block(lines[begin:stop]) for begin, stop in pairwise([*begins, end])]
    for number, tree in enumerate(trees):
        if tree["Tree"] != str(number):
            raise ModelFormatError(f"expected tree {number}, got tree {tree['Tree'][:20]}")
    return ModelText(
        header, trees, _parse_parameters(lines[end + 1 :]), _read_categories(lines[end + 1 :])
    )


def read_text_entry(block: Block, name: str) -> str:
    """Return the value of a name.

    Raises
    ------
    ModelFormatError
        If it is missing.
    """
    if name not in block:
        raise ModelFormatError(f"it has no {name}")
    return block[name]


def read_float_entries(block: Block, name: str, size: int) -> npt.NDArray[np.float64]:
    """Return the floats of a name, without NaN."""
    values = _parse_numbers(block, name, size, np.float64)
    if np.isnan(values).any():
        raise ModelFormatError(f"{name} holds NaN")
    return values


def read_integer_entries(block: Block, name: str, size: int | None = None) -> npt.NDArray[np.int64]:
    """Return the integers of a name."""
    return _parse_numbers(block, name, size, np.int64)


def _parse_numbers(block: Block, name: str, size: int | None, dtype: Any) -> npt.NDArray[Any]:
    words = read_text_entry(block, name).split()
    if size is not None and len(words) != size:
        raise ModelFormatError(f"{name} must have {size} entries, got {len(words)}")
    try:
        return np.array(words, dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError(
            f"{name} holds a value that is not {np.dtype(dtype).name}"
        ) from error


def _parse_block(lines: list[str]) -> Block:
    block: Block = {}
    for line in lines:
        name, _, value = line.partition("=")
        if not name:
            continue
        if name in block:
            raise ModelFormatError(f"it has two lines {name[:60]}")
        block[name] = value
    return block


def _parse_parameters(lines: list[str]) -> Block:
    """Parse lines such as "[learning_rate: 0.1]"."""
    inner = [line[1:-1] for line in lines if line.startswith("[") and line.endswith("]")]
    return dict(line.split(": ", 1) for line in inner if ": " in line)


def _read_categories(lines: list[str]) -> list[Any] | None:
    for line in lines:
        if line.startswith(_PANDAS):
            categories = parse_strict_json(line[len(_PANDAS) :], "it")
            if categories is not None and not (
                isinstance(categories, list)
                and all(isinstance(labels, list) for labels in categories)
            ):
                raise ModelFormatError("pandas_categorical is not a list of lists")
            return categories
    return None


Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_Kind = TypeVar("_Kind", bound=np.generic)

_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NOTHING, _ZERO, _NAN = 0, 1, 2  # kinds of missing values
_ABOUT_ZERO = float(np.float32(1e-35))  # largest absolute value that counts as zero


def read_nodes(tree: Block, columns: Columns) -> NodeTable:
    """Read the nodes of a tree: inner nodes, followed by leaves.

    Raises
    ------
    ValueError
        If they cannot be read, leaves are linear, or zeros are missing values in a way that our
        trees do not support.
    """
    n_leaves = _read_n_leaves(tree)
    n_inner = n_leaves - 1
    if read_text_entry(tree, "is_linear").strip() not in {"", "0"}:
        raise ModelFormatError(
            "its leaves are linear (linear_tree=True), which is not supported: fit it without "
            "linear_tree, or fit HistGradientBoostingRegressor(linear_leaves=True)"
        )
    feature = read_integer_entries(tree, "split_feature", n_inner)
    kind = read_integer_entries(tree, "decision_type", n_inner)
    threshold = read_float_entries(tree, "threshold", n_inner)
    sets = _read_category_sets(tree, kind, threshold)
    value = read_float_entries(tree, "leaf_value", n_leaves)
    gain = read_float_entries(tree, "split_gain", n_inner)
    counts = [
        read_integer_entries(tree, "internal_count", n_inner),
        read_integer_entries(tree, "leaf_count", n_leaves),
    ]
    n_rows = np.maximum(np.concatenate(counts), 1)
    return NodeTable(
        left=_append_leaves(read_integer_entries(tree, "left_child", n_inner), n_leaves),
        right=_append_leaves(read_integer_entries(tree, "right_child", n_inner), n_leaves),
        feature=_pad_leaves(feature, n_leaves),
        threshold=_pad_leaves(threshold, n_leaves),
        missing_left=_pad_leaves(_goes_left_if_missing(kind, threshold), n_leaves),
        impurity=_pad_leaves(np.nan_to_num(gain, posinf=0.0, neginf=0.0), n_leaves),
        weight=n_rows.astype(np.float64),
        n_rows=n_rows,
        value=np.concatenate([np.zeros(n_inner), value])[:, np.newaxis],
        categories={
            node: columns.encode_categories(int(feature[node]), codes.tolist())
            for node, codes in sets.items()
        },
    )


def collect_categories(tree: Block) -> dict[int, Integers]:
    """Return the categories in the nodes of a tree, for each categorical column."""
    n_inner = _read_n_leaves(tree) - 1
    if not read_integer(read_text_entry(tree, "num_cat"), "num_cat"):
        return {}
    feature = read_integer_entries(tree, "split_feature", n_inner)
    kind = read_integer_entries(tree, "decision_type", n_inner)
    sets = _read_category_sets(tree, kind, read_float_entries(tree, "threshold", n_inner))
    found: dict[int, list[Integers]] = {}
    for node, codes in sets.items():
        found.setdefault(int(feature[node]), []).append(codes)
    return {
        column: np.flatnonzero(np.bincount(np.concatenate(parts)))
        for column, parts in found.items()
    }


def find_missing_columns(tree: Block) -> Integers:
    """Return the columns whose nodes have missing values in training."""
    n_inner = _read_n_leaves(tree) - 1
    kind = read_integer_entries(tree, "decision_type", n_inner)
    feature = read_integer_entries(tree, "split_feature", n_inner)
    missing: Integers = feature[_get_missing_kind(kind) == _NAN]
    return missing


def _read_n_leaves(tree: Block) -> int:
    return read_integer(read_text_entry(tree, "num_leaves"), "num_leaves", 1)


def _get_missing_kind(kind: Integers) -> Integers:
    return (kind >> 2) & 3


def _goes_left_if_missing(kind: Integers, threshold: Floats) -> npt.NDArray[np.bool_]:
    """Return the nodes in which NaN goes left.

    Raises
    ------
    ModelFormatError
        If zeros are missing values and go another way than numbers near zero.
    """
    has_threshold = kind & _CATEGORICAL == 0
    missing = _get_missing_kind(kind)
    if (missing > _NAN).any():
        raise ModelFormatError("decision_type holds an unknown kind of missing values")
    default_left = kind & _DEFAULT_LEFT != 0
    zero_left = threshold >= 0.0
    # A threshold can express the split if all values that count as zero are on the same side.
    same = np.where(default_left, threshold >= _ABOUT_ZERO, threshold < -_ABOUT_ZERO)
    if (has_threshold & (missing == _ZERO) & ~same).any():
        raise ModelFormatError(
            "zeros count as missing and go another way than numbers near zero "
            "(zero_as_missing=True), which is not supported: fit it on data with NaN instead"
        )
    left: npt.NDArray[np.bool_] = np.where(missing == _NOTHING, zero_left, default_left)
    missing_left: npt.NDArray[np.bool_] = has_threshold & left
    return missing_left


def _read_category_sets(tree: Block, kind: Integers, threshold: Floats) -> dict[int, Integers]:
    """Return the categories of each categorical node."""
    nodes = np.flatnonzero(kind & _CATEGORICAL)
    if not nodes.size:
        return {}
    begins = read_integer_entries(tree, "cat_boundaries")
    words = read_integer_entries(tree, "cat_threshold")
    if (words < 0).any() or (words >= 2**32).any():
        raise ModelFormatError("cat_threshold holds a number beyond 32 bits")
    if begins.size < 1 or (np.diff(begins) < 0).any() or begins[0] < 0 or begins[-1] > words.size:
        raise ModelFormatError("cat_boundaries are not within cat_threshold")
    if np.unique(threshold[nodes]).size < nodes.size:
        raise ModelFormatError("two nodes share a set of categories")
    sets = {}
    for node in nodes.tolist():
        number = threshold[node]
        if not 0 <= number < begins.size - 1 or number != int(number):
            raise ModelFormatError(f"node {node} has a set of categories that does not exist")
        part = words[begins[int(number)] : begins[int(number) + 1]].astype("<u4")
        sets[node] = np.flatnonzero(np.unpackbits(part.view("u1"), bitorder="little"))
    return sets


def _append_leaves(child: Integers, n_leaves: int) -> Integers:
    """Return the children of all nodes, where leaf i is node n_inner + i.

    Raises
    ------
    ModelFormatError
        If a child does not exist.
    """
    n_inner = n_leaves - 1
    if child.size and not -n_leaves <= child.min() <= child.max() < n_inner:
        raise ModelFormatError("a child is out of range")
    return np.concatenate([np.where(child < 0, n_inner - 1 - child, child), np.full(n_leaves, -1)])


def _pad_leaves(array: npt.NDArray[_Kind], n_leaves: int) -> npt.NDArray[_Kind]:
    """Append zeros for the leaves."""
    return np.concatenate([array, np.zeros(n_leaves, dtype=array.dtype)])
