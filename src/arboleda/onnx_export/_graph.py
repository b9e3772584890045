"""Builder of an ONNX graph: each method adds a node and returns the name of its output.

Operators: https://onnx.ai/onnx/operators. All numbers are float64 after the inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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


class Graph:
    """Nodes, constants, inputs and outputs of an ONNX graph."""

    def __init__(self) -> None:
        self.onnx = import_onnx()
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
