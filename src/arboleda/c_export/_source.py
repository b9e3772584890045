"""A C source file under construction: its functions, numbers and texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Schema
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
