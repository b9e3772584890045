"""A tree as it is to be drawn: its nodes with their questions and answers, already in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arboleda._locale import word
from arboleda._numbers import percent, plain
from arboleda._tree_rendering.question import Question

__all__ = ["Box", "Output", "Sketch", "main_way"]


@dataclass(frozen=True)
class Output:
    """One target: its classes, or none if it is a number, and its name if there are several."""

    labels: tuple[str, ...] | None = None
    name: str = ""
    number: str = "mean"  # what the value of a leaf is, of a number


@dataclass(frozen=True)
class Box:
    """One node.

    ``children`` are positions in `Sketch.boxes`, left and right, or none where the drawing ends.
    ``values`` holds, for each output, the shares of the classes or the one number. ``hidden`` is
    the number of nodes below that are left out; None: some, nobody knows how many.
    """

    depth: int
    children: tuple[int, ...]
    question: Question | None
    missing: Literal["left", "right"] | None
    n: int
    impurity: float
    values: tuple[tuple[float, ...], ...]
    hidden: int | None = 0


@dataclass(frozen=True)
class Sketch:
    """A whole tree; the root is the first box and a parent comes before its children."""

    boxes: Sequence[Box]
    outputs: tuple[Output, ...]

    @property
    def is_one_number(self) -> bool:
        """Whether this is a regression tree of one target."""
        return len(self.outputs) == 1 and self.outputs[0].labels is None

    def answers(self, box: Box) -> list[tuple[str, str]]:
        """For each output what the node answers, and how sure that is (a share, or "mean")."""
        return [_answer(o, v) for o, v in zip(self.outputs, box.values, strict=True)]


def _answer(output: Output, value: tuple[float, ...]) -> tuple[str, str]:
    name = f"{output.name}: " if output.name else ""
    if output.labels is None:
        return f"{name}{plain(value[0], 5)}", word(output.number)
    top = value.index(max(value))
    label = output.labels[top]
    return f"{name}{label if label.strip() else word('(empty)')}", percent(value[top])


def main_way(boxes: Sequence[Box]) -> set[int]:
    """Positions of the nodes on the way that most rows take from the root; a tie goes left."""
    here, way = 0, {0}
    while boxes[here].children:
        here = max(boxes[here].children, key=lambda child: boxes[child].n)
        way.add(here)
    return way
