"""The compiled engine of arboleda. Private: use the arboleda package."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def simd_levels() -> list[str]:
    """
    Levels of this machine's instructions that the engine has loops for, narrowest first.
    """

def simd_level() -> str:
    """The level in use."""

class StopFlag:
    """Stops the engine's work on the threads that obey it."""

    def __init__(self) -> None: ...

    def set(self) -> None: ...

def obey(flag: StopFlag | None) -> None:
    """Make the calls of this thread look at a flag; None: no longer."""

class CodedTable:
    """Columns as codes; made once, read by every fit."""

    def __init__(self, columns: list, n_rows: int, n_threads: int, n_levels: Sequence[int] = [], max_bins: int = 0, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    @staticmethod
    def from_csc(data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_threads: int, max_bins: int = 0, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> CodedTable: ...

    @staticmethod
    def like(learned: CodedTable, columns: list, n_rows: int, n_threads: int) -> CodedTable: ...

    @staticmethod
    def from_csc_like(learned: CodedTable, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_threads: int) -> CodedTable: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def codes(self, column: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]:
        """One code a row."""

    def edges(self, column: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
        """The smallest and the largest value of each code of a number."""

    def missing_columns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

    @property
    def code_bytes(self) -> int: ...

class Tree:
    """A fitted tree: flat arrays, nodes in preorder, immutable."""

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def node_count(self) -> int: ...

    @property
    def n_leaves(self) -> int: ...

    @property
    def max_depth(self) -> int: ...

    @property
    def feature(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def right(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def missing_left(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def category_start(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def category(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def impurity(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def impurity_exponent(self) -> int: ...

    @property
    def n_node_samples(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def weighted_n_node_samples(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def value(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)]: ...

    def node_depths(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    def impurity_decrease(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def pruning_path(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]: ...

    def pruned(self, alpha: float) -> Tree: ...

    def on_columns(self, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Tree: ...

    @overload
    def apply(self, columns: list, n_rows: int, n_threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    @overload
    def apply(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    @overload
    def predict(self, columns: list, n_rows: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def predict(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def decision_path(self, columns: list, n_rows: int, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]: ...

    @overload
    def decision_path(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]: ...

class TreeEnsemble:
    """Trees that add up, K = n_outputs a round; immutable."""

    def __init__(self, start: Sequence[float], trees: list, linear: list) -> None: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def n_rounds(self) -> int: ...

    @property
    def n_trees(self) -> int: ...

    @property
    def start(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def trees(self) -> list: ...

    @property
    def has_linear_leaves(self) -> bool: ...

    @property
    def linear(self) -> list:
        """Names and arrays; none where no leaf is linear."""

    def truncated(self, n_rounds: int) -> TreeEnsemble: ...

    def extended(self, more: TreeEnsemble) -> TreeEnsemble: ...

    @staticmethod
    def mean_of(members: Sequence[TreeEnsemble]) -> TreeEnsemble: ...

    def impurity_importances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def gain_importances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @overload
    def add_scores(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first_round: int, last_round: int, columns: list, n_rows: int, n_threads: int) -> None:
        """
        Add the leaf values of some rounds to scores (rows, outputs), in place.
        """

    @overload
    def add_scores(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first_round: int, last_round: int, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> None: ...

    @overload
    def scores(self, columns: list, n_rows: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def scores(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def apply(self, columns: list, n_rows: int, n_threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')]: ...

    @overload
    def apply(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')]: ...

class Forest:
    """Trees that vote; immutable."""

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def n_trees(self) -> int: ...

    @property
    def n_training_rows(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    @property
    def keeps_rows(self) -> bool: ...

    def tree(self, tree: int) -> Tree:
        """The tree by itself, as a copy."""

    def node_begins(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """Number of nodes before each tree, and of all."""

    def rows(self, tree: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]:
        """The training rows of a tree, leaf by leaf; none where not kept."""

    def leaf_begins(self, tree: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]:
        """Where the rows of each leaf begin, and where the last ones end."""

    def truncated(self, n_trees: int) -> Forest: ...

    def extended(self, more: Forest) -> Forest: ...

    def with_leaf_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Forest:
        """The same trees with other values in their leaves."""

    def categories_are_below(self, n_levels: Sequence[int]) -> bool:
        """Whether columns have all the levels that trees ask for."""

    def impurity_importances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @overload
    def votes(self, voting: str, n_classes: Sequence[int], columns: list, n_rows: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """
        Mean vote of the trees (rows, outputs); n_classes: of each target, none in regression.
        """

    @overload
    def votes(self, voting: str, n_classes: Sequence[int], data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def medians(self, columns: list, n_rows: int, n_threads: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @overload
    def medians(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @overload
    def staged_votes(self, columns: list, n_rows: int, n_threads: int, voting: str, n_classes: Sequence[int], n_trees: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C')]: ...

    @overload
    def staged_votes(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int, voting: str, n_classes: Sequence[int], n_trees: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C')]: ...

    @overload
    def apply(self, columns: list, n_rows: int, n_threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')]: ...

    @overload
    def apply(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')]: ...

class GrowthOptions:
    """When to stop growing; -1 means no limit."""

    def __init__(self, *, max_depth: int, max_leaf_nodes: int, min_samples_split: int, min_samples_leaf: int, min_weight_fraction_leaf: float, min_impurity_decrease: float, max_features: int, random_splits: bool = False, monotonic: Sequence[int] = []) -> None: ...

def fit_classification_tree(table: CodedTable, labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, criterion: str, options: GrowthOptions, n_threads: int, seed: int) -> Tree: ...

def fit_regression_tree(table: CodedTable, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, criterion: str, options: GrowthOptions, n_threads: int, seed: int) -> Tree: ...

class ForestOptions:
    """How to grow a forest; -1 means no limit, or all."""

    def __init__(self, *, n_trees: int, first_tree: int = 0, max_depth: int = -1, max_leaf_nodes: int = -1, min_samples_split: int = 2, min_samples_leaf: int = 1, min_weight_fraction_leaf: float = 0.0, min_impurity_decrease: float = 0.0, max_features: int = -1, random_splits: bool = False, bag: str = 'bootstrap', n_drawn: int = -1, n_columns: int = -1, columns_with_replacement: bool = False, random_n_columns: bool = False, switch_share: float = 0.0, balance_classes: bool = False, keep_rows: bool = False, monotonic: Sequence[int] = []) -> None: ...

    @property
    def n_trees(self) -> int: ...

    @property
    def first_tree(self) -> int: ...

def draw_bag(options: ForestOptions, n_rows: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, tree: int, seed: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]: ...

def draw_columns(options: ForestOptions, n_features: int, tree: int, seed: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

def switch_labels(options: ForestOptions, labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, tree: int, seed: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]: ...

def fit_classification_forest(table: CodedTable, labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, criterion: str, options: ForestOptions, progress: object | None, n_threads: int, seed: int) -> Forest: ...

def fit_regression_forest(table: CodedTable, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, criterion: str, options: ForestOptions, progress: object | None, n_threads: int, seed: int) -> Forest: ...

class FittedRows:
    """The rows a forest was fitted on, and its bags."""

    def __init__(self, options: ForestOptions, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: Sequence[int], seed: int) -> None: ...

@overload
def out_of_bag_votes(forest: Forest, columns: list, n_rows: int, rows: FittedRows, voting: str, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]]: ...

@overload
def out_of_bag_votes(forest: Forest, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, rows: FittedRows, voting: str, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]]: ...

@overload
def out_of_bag_curve(forest: Forest, columns: list, n_rows: int, rows: FittedRows, voting: str, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]]: ...

@overload
def out_of_bag_curve(forest: Forest, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, rows: FittedRows, voting: str, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]]: ...

@overload
def out_of_bag_permutation(forest: Forest, columns: list, n_rows: int, rows: FittedRows, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

@overload
def out_of_bag_permutation(forest: Forest, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, rows: FittedRows, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

class Neighborhood:
    """What training rows weigh in a forest."""

    def __init__(self, forest: Forest, rows: FittedRows, n_rows: int, n_threads: int) -> None: ...

    @overload
    def weights(self, columns: list, n_rows: int, n_threads: int) -> tuple: ...

    @overload
    def weights(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> tuple: ...

    @overload
    def quantiles(self, columns: list, n_rows: int, n_threads: int, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C')]: ...

    @overload
    def quantiles(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C')]: ...

class Proximity:
    """In how many trees rows share a leaf."""

    @overload
    def __init__(self, forest: Forest, columns: list, n_rows: int, rows: FittedRows | None, n_threads: int) -> None: ...

    @overload
    def __init__(self, forest: Forest, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, rows: FittedRows | None, n_threads: int) -> None: ...

    @overload
    def of(self, columns: list, n_rows: int, n_threads: int, first_row: int) -> tuple: ...

    @overload
    def of(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int, first_row: int) -> tuple: ...

@overload
def squared_shared_leaves(forest: Forest, columns: list, n_rows: int, group: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]: ...

@overload
def squared_shared_leaves(forest: Forest, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, group: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]: ...

def pruning_errors(tree: Tree, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, loss: str, alphas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def reduced_error_pruned(tree: Tree, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, loss: str) -> Tree: ...

def pruned_forest(forest: Forest, alpha: float) -> Forest: ...

class LossOptions:
    """A loss of the engine's, with its parameters."""

    def __init__(self, name: str, *, n_classes: int = 0, levels: Sequence[float] = [], alpha: float = 0.9, power: float = 1.5) -> None: ...

class CustomLoss:
    """A loss given by a function of scores (outputs, rows)."""

    def __init__(self, derivatives: object, n_outputs: int) -> None: ...

class BoostingData:
    """Rows to learn from or to judge by."""

    def __init__(self, table: CodedTable, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

class BoostingOptions:
    """How to boost; -1 means no limit."""

    def __init__(self, *, n_rounds: int, learning_rate: float, exact: bool, max_leaf_nodes: int = -1, max_depth: int = -1, min_samples_leaf: int = 1, min_samples_split: int = 2, min_weight_fraction_leaf: float = 0.0, min_impurity_decrease: float = 0.0, max_features: int = -1, ccp_alpha: float = 0.0, growth: str = 'leaf_wise', min_child_weight: float = 0.0, l1: float = 0.0, l2: float = 0.0, min_gain: float = 0.0, max_delta_step: float = 0.0, column_share_tree: float = 1.0, column_share_level: float = 1.0, column_share_node: float = 1.0, random_thresholds: bool = False, category_smoothing: float = 10.0, category_l2: float = 3.0, monotonic: Sequence[int] = [], interactions: Sequence[Sequence[int]] = [], sampling: str = 'uniform', row_share: float = 1.0, top_share: float = 0.2, other_share: float = 0.1, drop_rate: float = 0.0, skip_drop: float = 0.5, max_drop: int = 50, patience: int = -1, tolerance: float = 0.0, record_train_loss: bool = True, linear_leaves: bool = False, linear_l2: float = 1.0) -> None: ...

@overload
def fit_boosting(training: BoostingData, loss: LossOptions, options: BoostingOptions, validation: BoostingData | None, resume: TreeEnsemble | None, replayed: TreeEnsemble | None, callback: object | None, n_threads: int, seed: int) -> tuple[TreeEnsemble, dict, int]: ...

@overload
def fit_boosting(training: BoostingData, loss: CustomLoss, options: BoostingOptions, validation: BoostingData | None, resume: TreeEnsemble | None, replayed: TreeEnsemble | None, callback: object | None, n_threads: int, seed: int) -> tuple[TreeEnsemble, dict, int]: ...

class AdaBoostOptions:
    """How to boost; -1 means no limit, or all."""

    def __init__(self, *, algorithm: str, n_rounds: int, learning_rate: float = 1.0, criterion: str = 'gini', max_depth: int = -1, max_leaf_nodes: int = -1, min_samples_split: int = 2, min_samples_leaf: int = 1, min_weight_fraction_leaf: float = 0.0, min_impurity_decrease: float = 0.0, max_features: int = -1, random_splits: bool = False, monotonic: Sequence[int] = [], weight_trimming: float = 0.0, resets: bool = False) -> None: ...

class WeightedForest:
    """Trees that vote with weights."""

    def __init__(self, forest: Forest, vote: str, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], trees_a_member: int) -> None: ...

    @overload
    def scores(self, columns: list, n_rows: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def scores(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def staged_scores(self, columns: list, n_rows: int, n_threads: int, first: int, last: int, before: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C')]: ...

    @overload
    def staged_scores(self, data: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int, first: int, last: int, before: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C')]: ...

def fit_adaboost(table: CodedTable, labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, validation_rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], options: AdaBoostOptions, callback: object | None, n_threads: int, seed: int) -> tuple[Forest, dict, str, int, str, float]: ...

class TargetDensity:
    """The weights of AdaBoost.R."""

    def __init__(self, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def at(self, row: int, y: float) -> float: ...

    def row_weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def error(self, answers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> float: ...

    def best_answers(self, leaf: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_leaves: int, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def reweigh(self, answers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float, n_threads: int) -> None: ...

class RunningMedians:
    """Medians of one member after the other."""

    def __init__(self, n_rows: int) -> None: ...

    def add(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: float, n_threads: int) -> None: ...

    def medians(self, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def mean_of_members(outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], kept: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, geometric: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

def order_statistic_of_members(outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], kept: Sequence[int], statistic: str, n_trimmed: int, as_shares: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

@overload
def sum_votes(outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], kept: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, shares_of_exp: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

@overload
def sum_votes(chosen: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, kept: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, shares_of_exp: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

@overload
def sum_tables(outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], kept: Sequence[int], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shares_of_exp: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

@overload
def sum_tables(chosen: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, kept: Sequence[int], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shares_of_exp: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

MODEL_FORMAT_VERSION: int = 1

MODEL_PREAMBLE_SIZE: int = 32

def write_model(header: bytes, trees: list, forests: list, arrays: list) -> bytes: ...

def read_model(file: bytes) -> tuple: ...

def read_model_header(begin: bytes) -> bytes: ...

def check_model_preamble(begin: bytes, file_size: int) -> int: ...
