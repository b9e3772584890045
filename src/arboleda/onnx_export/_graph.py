"""Builder of an ONNX graph, its inputs and outputs.

Operators: https://onnx.ai/onnx/operators. All numbers are float64 after the inputs.

A numeric table is one input. If a column holds texts, every column is a separate input with its
name. Categories become their codes; missing and unseen ones become NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Schema
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.tree import Tree
from arboleda.boosting import TargetStatistics

OPSET = 18
ML_OPSET = 4  # LabelEncoder with tables of any type
IR_VERSION = 9
OUTPUT_NAMES = frozenset({"label", "probabilities", "prediction", "scores"})

Floats = npt.NDArray[np.float64]


def import_onnx() -> Any:
    """Import the package onnx.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message contains the command.
    """
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'ONNX files require the package onnx: pip install "arboleda[onnx]"'
        ) from error
    return onnx


class LeafSums(NamedTuple):
    """A tree whose leaf values (n_leaves, n_outputs) add to consecutive outputs of an ensemble."""

    tree: Tree
    leaf_values: Floats
    first_output: int


@dataclass(frozen=True)
class TreeSums:
    """Trees whose leaf values are added, in order, to initial scores, and divided by a number."""

    trees: list[LeafSums]
    start: Floats
    divisor: float


class Graph:
    """Nodes, constants, inputs and outputs of an ONNX graph."""

    may_hold_rows = True  # whether constants may be rows of the training data

    def __init__(self) -> None:
        self.onnx: Any = import_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self._input_names: set[str] = set()
        self._count = 0

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return its name."""
        name = self._fresh(operator)
        node = self.onnx.helper.make_node(
            operator, list(inputs), [name], name=name, domain=domain, **attributes
        )
        self.nodes.append(node)
        return name

    def add_both(self, operator: str, *inputs: str, **attributes: Any) -> tuple[str, str]:
        """Add a node with two outputs and return their names."""
        name = self._fresh(operator)
        names = name, f"{name}_more"
        node = self.onnx.helper.make_node(
            operator, list(inputs), list(names), name=name, **attributes
        )
        self.nodes.append(node)
        return names

    def number(self, value: float) -> str:
        """Add a number that broadcasts with a matrix of any shape."""
        return self.constant(np.array([[value]]))

    def times(self, matrix: str, factor: float) -> str:
        """Multiply a matrix by a number."""
        return matrix if factor == 1.0 else self.add("Mul", matrix, self.number(factor))

    def sum(self, parts: list[str]) -> str:
        """Add matrices of equal shape."""
        return parts[0] if len(parts) == 1 else self.add("Sum", *parts)

    def constant(self, values: npt.ArrayLike) -> str:
        """Add an array and return its name."""
        name = self._fresh("constant")
        self.constants.append(self.tensor(values, name))
        return name

    def tensor(self, values: npt.ArrayLike, name: str = "") -> Any:
        """Convert an array of numbers or texts to an ONNX tensor."""
        array = np.asarray(values)
        if array.dtype.kind in "UO":
            content = [str(text).encode() for text in array.ravel()]
            return self.onnx.helper.make_tensor(
                name, self.onnx.TensorProto.STRING, array.shape, content
            )
        return self.onnx.numpy_helper.from_array(array, name)

    def input(self, name: str, dtype: str, width: int) -> str:
        """Declare an input of shape (n_rows, width) and return its name.

        Inputs are declared first; "_" is appended to the name of an output or another input.
        """
        while name in OUTPUT_NAMES or name in self._input_names:
            name += "_"
        self._input_names.add(name)
        info = self.onnx.helper.make_tensor_value_info(name, self._type(dtype), [None, width])
        self.inputs.append(info)
        return name

    def output(self, name: str, value: str, dtype: str, shape: list[int | None]) -> None:
        """Declare a value as an output of the model."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, self._type(dtype), shape))

    def add_row_sums(self, matrix: str, axis: int = 1, *, keepdims: int = 1) -> str:
        """Add sums along an axis."""
        axes = self.constant(np.array([axis], dtype=np.int64))
        return self.add("ReduceSum", matrix, axes, keepdims=keepdims)

    def cast(self, value: str, dtype: str) -> str:
        """Change the type of numbers."""
        return self.add("Cast", value, to=self._type(dtype))

    def map_values(
        self, values: str, keys: npt.ArrayLike, values_of_keys: npt.ArrayLike, otherwise: float
    ) -> str:
        """Map keys to numbers, and all other values to ``otherwise``."""
        return self.add(
            "LabelEncoder",
            values,
            domain="ai.onnx.ml",
            keys_tensor=self.tensor(keys),
            values_tensor=self.tensor(np.asarray(values_of_keys, dtype=np.float64)),
            default_tensor=self.tensor(np.array([otherwise], dtype=np.float64)),
        )

    def columns(self, matrix: str, places: npt.ArrayLike) -> str:
        """Select columns of a matrix."""
        return self.add("Gather", matrix, self.constant(np.asarray(places, np.int64)), axis=1)

    def concat_columns(self, parts: list[str]) -> str:
        """Join matrices along the columns."""
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=1)

    def add_tree_sums(self, trees: TreeSums, matrix: str) -> str | None:
        """Add sums of trees by an operator of their own; None if there is none, as in ONNX."""
        del trees, matrix
        return None

    def add_linear_trees(self, ensemble: Ensemble, start: Floats, matrix: str) -> str | None:
        """Add an ensemble with linear leaves by an operator of its own; None if there is none."""
        del ensemble, start, matrix
        return None

    def model(self, description: str) -> Any:
        """Return the complete model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "arboleda", self.inputs, self.outputs, initializer=self.constants
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="arboleda",
            doc_string=description,
        )  # fmt: skip
        self.onnx.checker.check_model(model)
        return model

    def _fresh(self, operator: str) -> str:
        self._count += 1
        name = f"{operator.lower()}_{self._count}"
        return self._fresh(operator) if name in self._input_names else name

    def _type(self, dtype: str) -> int:
        kinds = self.onnx.TensorProto
        return int(
            {
                "float32": kinds.FLOAT,
                "float64": kinds.DOUBLE,
                "int64": kinds.INT64,
                "text": kinds.STRING,
            }[dtype]
        )


InputType = Literal["float32", "float64"]


class ColumnSource(Protocol):
    """Input columns of a model."""

    def matrix(
        self,
        schema: Schema,
        statistics: TargetStatistics | None = None,
        columns: npt.NDArray[np.intp] | None = None,
    ) -> str:
        """Return the matrix that trees with this schema read."""

    def numbers(self, columns: npt.NDArray[np.intp] | None = None) -> str:
        """Return columns for a model that supports only numbers."""


@dataclass(frozen=True)
class ModelContext:
    """Position of a model in a graph: its inputs and its columns among them."""

    graph: Graph
    inputs: ColumnSource
    columns: npt.NDArray[np.intp] | None = None  # None: all
    # Class scores of classifiers, by id, where these and not probabilities decide.
    scores: dict[int, str] = field(default_factory=dict)
    # Functions that add further kinds of models and transformers to the graph.
    extra_converters: Mapping[type, Callable[[Any, ModelContext], str]] = field(
        default_factory=dict
    )


class _Matrix:
    """Columns in a graph: one matrix, or separate inputs if some are texts."""

    def __init__(self, graph: Graph, matrix: str | None, dtype: InputType) -> None:
        self._graph = graph
        self._dtype = dtype
        self._matrix = matrix
        self._columns: list[str] = []

    def matrix(
        self,
        schema: Schema,
        statistics: TargetStatistics | None = None,
        columns: npt.NDArray[np.intp] | None = None,
    ) -> str:
        """Return the matrix that trees with this schema read.

        ``columns``: the columns of the table to use; None: all. Target statistics replace the
        categories, with further statistics after all columns.
        """
        places = np.arange(schema.n_columns) if columns is None else columns
        replaced = statistics.columns if statistics is not None else ()
        if self._matrix is not None and not any(schema.n_levels):
            return self.numbers(columns)
        parts, extra_parts = [], []
        for j, place in enumerate(places.tolist()):
            levels = schema.levels[j]
            if levels is None:
                parts.append(self._column(place))
            elif j in replaced and statistics is not None:
                table = statistics.values[statistics.columns.index(j)]
                found = [
                    self._map_levels(place, schema, j, table[:-1, s], table[-1, s])
                    for s in range(table.shape[1])
                ]
                parts.append(found[0])
                extra_parts += found[1:]
            else:
                codes = np.arange(len(levels), dtype=np.float64)
                parts.append(self._map_levels(place, schema, j, codes, np.nan))
        return self._graph.concat_columns([*parts, *extra_parts])

    def numbers(self, columns: npt.NDArray[np.intp] | None = None) -> str:
        """Return columns as they are in the input.

        Raises
        ------
        ValueError
            If a column holds texts.
        """
        if self._matrix is None:
            raise ValueError(
                "a column holds texts, but the model or a member supports only numbers: encode the "
                "texts in the pipeline"
            )
        return self._matrix if columns is None else self._graph.columns(self._matrix, columns)

    def _column(self, place: int) -> str:
        if self._matrix is None:
            return self._columns[place]
        return self._graph.columns(self._matrix, [place])

    def _map_levels(
        self, place: int, schema: Schema, j: int, values: npt.NDArray[np.float64], default: float
    ) -> str:
        """Map each label of a column to a number, and all others to ``default``."""
        levels: Any = schema.levels[j]
        if not levels:
            zero = self._graph.constant(np.array([[0.0]]))
            nothing = self._graph.constant(np.array([[default]]))
            shape = self._graph.add("Shape", self._column(place))
            return self._graph.add("Expand", self._graph.add("Add", zero, nothing), shape)
        if _find_column_kind(schema, j) == "text":
            keys: Any = np.array(levels, dtype=object)
        else:
            keys = np.array([float(label) for label in levels])
            if self._dtype == "float32":
                keys = keys.astype(np.float32).astype(np.float64)
        return self._graph.map_values(self._column(place), keys, values, default)


class GivenMatrix(_Matrix):
    """Columns of a numeric matrix that is already in the graph; categories are numbers."""

    def __init__(self, graph: Graph, matrix: str) -> None:
        super().__init__(graph, matrix, "float64")


class Inputs(_Matrix):
    """The columns of a table as inputs of the graph.

    Parameters
    ----------
    graph : Graph
    schema : Schema
        Schema of the model, or of one of its members.
    dtype : {"float32", "float64"}
        Type of the numbers.
    """

    def __init__(self, graph: Graph, schema: Schema, dtype: InputType) -> None:
        super().__init__(graph, None, dtype)
        kinds = [_find_column_kind(schema, j) for j in range(schema.n_columns)]
        if "text" not in kinds:
            name = graph.input("X", dtype, schema.n_columns)
            self._matrix = graph.cast(name, "float64") if dtype == "float32" else name
            return
        for j, kind in enumerate(kinds):
            name = (str(schema.names[j]) if schema.names is not None else "") or f"x{j}"
            if kind == "text":
                self._columns.append(graph.input(name, "text", 1))
                continue
            value = graph.input(name, dtype, 1)
            self._columns.append(graph.cast(value, "float64") if dtype == "float32" else value)


def _find_column_kind(schema: Schema, column: int) -> Literal["number", "text"]:
    """Return whether a column holds numbers or texts.

    Raises
    ------
    ValueError
        If its categories are neither all texts nor all numbers.
    """
    levels = schema.levels[column]
    if levels is None or all(isinstance(label, bool | int | float) for label in levels):
        return "number"
    if all(isinstance(label, str) for label in levels):
        return "text"
    raise ValueError(
        f"column {schema.describe(column)} has categories that are neither all texts nor all "
        "numbers, and ONNX has no others: turn them into text and fit again"
    )
