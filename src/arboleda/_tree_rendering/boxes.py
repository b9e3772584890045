"""Data of a tree drawing: nodes with their split conditions and predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arboleda._locale import word
from arboleda._numbers import percent, plain
from arboleda._tree_rendering.split_condition import SplitCondition

__all__ = ["Box", "Output", "Sketch", "find_main_path"]


@dataclass(frozen=True)
class Output:
    """One target: its class labels (None for a number), and its name if there are several."""

    labels: tuple[str, ...] | None = None
    name: str = ""
    number: str = "mean"  # statistic of the leaf values of a numeric target


@dataclass(frozen=True)
class Box:
    """One node.

    ``children`` are indices into `Sketch.boxes`, left and right, or empty if the drawing ends
    there. ``values`` holds the class shares or the single number of each output. ``hidden`` is the
    number of omitted nodes below; None: an unknown positive number.
    """

    depth: int
    children: tuple[int, ...]
    split: SplitCondition | None
    missing: Literal["left", "right"] | None
    n: int
    impurity: float
    values: tuple[tuple[float, ...], ...]
    hidden: int | None = 0


@dataclass(frozen=True)
class Sketch:
    """A tree drawing; the root is the first box and parents precede their children."""

    boxes: Sequence[Box]
    outputs: tuple[Output, ...]

    @property
    def is_one_number(self) -> bool:
        """Whether this is a regression tree of one target."""
        return len(self.outputs) == 1 and self.outputs[0].labels is None

    def predictions(self, box: Box) -> list[tuple[str, str]]:
        """Return the prediction of each output and its confidence (a share, or "mean")."""
        return [_format_prediction(o, v) for o, v in zip(self.outputs, box.values, strict=True)]


def _format_prediction(output: Output, value: tuple[float, ...]) -> tuple[str, str]:
    name = f"{output.name}: " if output.name else ""
    if output.labels is None:
        return f"{name}{plain(value[0], 5)}", word(output.number)
    top = value.index(max(value))
    label = output.labels[top]
    return f"{name}{label if label.strip() else word('(empty)')}", percent(value[top])


def find_main_path(boxes: Sequence[Box]) -> set[int]:
    """Return the indices of the nodes on the path of most rows from the root; ties go left."""
    here, path = 0, {0}
    while boxes[here].children:
        here = max(boxes[here].children, key=lambda child: boxes[child].n)
        path.add(here)
    return path
