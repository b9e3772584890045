"""Boxes of nodes, and the lines of text in them.

Tidy trees, Reingold and Tilford (1981), "Tidier drawings of trees", IEEE Transactions on Software
Engineering 7: the two subtrees of a node are moved together until their outlines touch. Here trees
grow along the depth axis, and boxes have any extent across it.

    depth  0     1     2
                      [ ]        an outline holds, for each depth from a node on, the first and
                [ ] <            the last place taken, relative to the node's own middle
          [ ] <       [ ]
                [ ]              the lower subtree slides up until some depth would collide
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isinf
from typing import Literal

from arboleda._locale import word
from arboleda._utils.numbers import clip, integer, percent, plain, text_units
from arboleda._utils.text import visible_lines

__all__ = [
    "MOST_LEVELS",
    "Box",
    "Lines",
    "Output",
    "Sketch",
    "SplitCondition",
    "find_main_path",
    "format_box_lines",
    "measure_box_units",
    "place_boxes",
    "quoted",
    "subset",
    "xml_text",
]

_MOST_TRIED = 40  # maximum number of categories to try in a box
MOST_LEVELS = 8  # maximum number of listed categories; the rest is counted


@dataclass(frozen=True)
class SplitCondition:
    """Split condition of a node on one column; rows that satisfy it go left.

    A numeric condition has a ``threshold`` and means "at most this", or "present" if the threshold
    is infinite. A categorical condition has ``levels``; ``left`` is whether these levels go left.

    Examples
    --------
    >>> SplitCondition("age", 30.5).text(), SplitCondition("age", 30.5).text(yes=False)
    ('age ≤ 30.5', 'age > 30.5')
    >>> colour = SplitCondition("colour", levels=("blue", "red"), left=False)
    >>> colour.text(), colour.text(yes=False)
    ('colour not in {blue, red}', 'colour in {blue, red}')
    """

    name: str
    threshold: float | None = None
    levels: tuple[str, ...] = ()
    left: bool = True

    def relation(self, yes: bool = True, *, ascii_only: bool = False) -> str:
        """Return the relation of the column to the operand, on the left or right side."""
        if self.threshold is not None:
            if isinf(self.threshold):
                return word("is present") if yes else word("is missing")
            sign = "≤" if yes else ">"
        elif len(self.levels) == 1:
            sign = "=" if yes == self.left else "≠"
        else:
            sign = word("in") if yes == self.left else word("not in")
        return {"≤": "<=", "≠": "!="}.get(sign, sign) if ascii_only else sign

    def operand(self, number: str | None = None, most: int | None = MOST_LEVELS) -> str:
        """Format the threshold or the levels; ``number`` replaces the default threshold format."""
        if self.threshold is not None:
            if isinf(self.threshold):
                return ""
            return plain(self.threshold, 5) if number is None else number
        return quoted(self.levels[0]) if len(self.levels) == 1 else subset(self.levels, most)

    def text(self, yes: bool = True, most: int | None = MOST_LEVELS) -> str:
        """Format the whole condition of a side."""
        return f"{self.name} {self.relation(yes)} {self.operand(most=most)}".rstrip()

    def lines(self, units: float, most_lines: int = 3) -> list[str]:
        """Format the relation and operand in lines of a maximum width in average letters.

        Examples
        --------
        >>> split = SplitCondition("colour", levels=("blue", "green", "red", "yellow"))
        >>> split.lines(12), split.lines(12, most_lines=2)
        (['in {blue,', 'green, red,', 'yellow}'], ['in {blue,', '... 3 more}'])
        """
        relation = self.relation()
        if len(self.levels) < 2:
            return [clip(f"{relation} {self.operand()}".rstrip(), units)]
        lines: list[str] = []
        for shown in range(min(len(self.levels), _MOST_TRIED), 0, -1):
            left_out = len(self.levels) - shown
            words = [clip(quoted(level), units - 3) + "," for level in self.levels[:shown]]
            words = (
                [*words, word("... {} more").format(left_out) + "}"]
                if left_out
                else [*words[:-1], words[-1][:-1] + "}"]
            )
            lines = _fill_lines([relation, "{" + words[0], *words[1:]], units)
            if len(lines) <= most_lines:
                break
        return lines


def _fill_lines(words: Sequence[str], units: float) -> list[str]:
    """Fill lines with words."""
    lines = [words[0]]
    for part in words[1:]:
        longer = f"{lines[-1]} {part}"
        if text_units(longer) <= units:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def subset(levels: Sequence[str], most: int | None = MOST_LEVELS) -> str:
    """Format a set of levels; beyond ``most`` the rest is counted.

    Examples
    --------
    >>> subset(["a", "b", "c, d"]), subset(["a", "b", "c"], most=1)
    ('{a, b, "c, d"}', '{a, ... 2 more}')
    """
    shown = list(map(quoted, levels if most is None else levels[:most]))
    left_out = len(levels) - len(shown)
    return (
        "{"
        + ", ".join([*shown, *([word("... {} more").format(left_out)] if left_out else [])])
        + "}"
    )


def quoted(level: str) -> str:
    """Quote a level if it would be ambiguous in a list.

    Examples
    --------
    >>> quoted("red"), quoted("red, dark"), quoted("")
    ('red', '"red, dark"', '""')
    """
    if level and level == level.strip() and not any(sign in level for sign in ',{}"\n\r'):
        return level
    inside = level.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + inside.replace("\n", "\\n").replace("\r", "\\r") + '"'


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


Outline = list[tuple[float, float]]


def place_boxes(
    children: Sequence[tuple[int, ...]], extents: Sequence[tuple[float, float]], gap: float
) -> list[float]:
    """Compute the centre of each box across the direction of growth; positions start at 0.

    Parameters
    ----------
    children : sequence of tuple of int
        Children of each node, in order; children come after their parent.
    extents : sequence of (float, float)
        Extent of each box before and after its centre.
    gap : float
        Minimum distance between two boxes of the same depth.

    Returns
    -------
    list of float

    Examples
    --------
    >>> place_boxes([(1, 2), (), ()], [(1, 1)] * 3, gap=1.0)
    [2.5, 1.0, 4.0]
    """
    offset = [0.0] * len(children)
    outlines: dict[int, Outline] = {}
    for node in reversed(range(len(children))):
        before, after = extents[node]
        below = _join(node, children, outlines, offset, gap)
        below.append((-before, after))  # the node's own depth: outlines are kept deepest first
        outlines[node] = below
    first = min(low for low, _ in outlines[0])
    place = [0.0] * len(children)
    place[0] = -first
    for node, below_node in enumerate(children):
        for child in below_node:
            place[child] = place[node] + offset[child]
    return place


def _join(
    node: int,
    children: Sequence[tuple[int, ...]],
    outlines: dict[int, Outline],
    offset: list[float],
    gap: float,
) -> Outline:
    """Move the children's subtrees together and return their common outline, deepest first."""
    if not children[node]:
        return []
    joined = outlines.pop(children[node][0])
    at = [0.0]
    for child in children[node][1:]:
        other = outlines.pop(child)
        shared = min(len(joined), len(other))
        shift = max(joined[-depth][1] + gap - other[-depth][0] for depth in range(1, shared + 1))
        at.append(shift)
        joined = _merge(joined, other, shift)
    middle = (at[0] + at[-1]) / 2
    for child, place in zip(children[node], at, strict=True):
        offset[child] = place - middle
    return [(low - middle, high - middle) for low, high in joined]


def _merge(one: Outline, other: Outline, shift: float) -> Outline:
    moved = [(low + shift, high + shift) for low, high in other]
    shared = min(len(one), len(moved))
    deeper = one[: len(one) - shared] or moved[: len(moved) - shared]
    both = zip(one[len(one) - shared :], moved[len(moved) - shared :], strict=True)
    return [*deeper, *((low, high) for (low, _), (_, high) in both)]


def xml_text(text: str) -> str:
    r"""Escape a text for XML, including invisible and invalid characters.

    Examples
    --------
    >>> print(xml_text("a < b & 'c'"), xml_text("bell\a"))
    a &lt; b &amp; &#x27;c&#x27; bell\x07
    """
    return escape(visible_lines(text))


# Each line: bold text on the left, plain text, and plain text on the right.
Lines = list[tuple[str, str, str]]

_MOST_OUTPUTS = 4
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def measure_box_units(sketch: Sketch, box: Box) -> float:
    """Return the width in average letters at which no text of the box is wrapped."""
    size = text_units(_size(box))
    if box.split is not None:
        condition = f"{box.split.relation()} {box.split.operand()}"
        return max(text_units(box.split.name), text_units(condition) + size + 1)
    if len(sketch.outputs) > 1:
        return max(sum(map(text_units, pair)) + 1 for pair in sketch.predictions(box))
    return sum(map(text_units, sketch.predictions(box)[0])) + size + 2


def format_box_lines(sketch: Sketch, box: Box, units: float) -> Lines:
    """Format a box in lines of a maximum width in average letters.

    An inner node shows its column, in at most two lines, and its split condition. A leaf shows its
    prediction, its confidence, and the number of training rows, in one line if they fit.
    """
    return (
        _format_split_lines(box, units)
        if box.split
        else _format_prediction_lines(sketch, box, units)
    )


def _format_split_lines(box: Box, units: float) -> Lines:
    split, size = box.split, _size(box)
    assert split is not None
    lines: Lines = [(text, "", "") for text in _wrap(split.name, units)]
    *before, last = split.lines(units)
    lines += [("", text, "") for text in before]
    if text_units(last) + text_units(size) + 1 <= units:
        return [*lines, ("", last, size)]
    return [*lines, ("", last, ""), ("", "", size)]


def _format_prediction_lines(sketch: Sketch, box: Box, units: float) -> Lines:
    predictions, size = sketch.predictions(box), _size(box)
    if len(predictions) > 1:
        lines: Lines = []
        for prediction, confidence in predictions[:_MOST_OUTPUTS]:
            share = confidence if confidence.endswith("%") else ""
            lines.append((clip(prediction, units - text_units(share) - 1), share, ""))
        left_out = len(predictions) - _MOST_OUTPUTS
        more = word("and {} more").format(left_out) if left_out > 0 else ""
        return [*lines, ("", more, size)]
    prediction, confidence = predictions[0]
    if text_units(prediction) + text_units(confidence) + text_units(size) + 2 <= units:
        return [(prediction, confidence, size)]
    return [*((text, "", "") for text in _wrap(prediction, units)), ("", confidence, size)]


def _wrap(text: str, units: float) -> list[str]:
    """Wrap a text into at most two lines, between words if the first line stays long enough."""
    text = " ".join(text.split()) or word("(empty)")
    if text_units(text) <= units:
        return [text]
    head = clip(text, units + 1).removesuffix(_ELLIPSIS)
    words = head.rpartition(" ")[0]
    if len(words) > len(head) // 3 and not text[len(head) :].startswith(" "):
        head = words
    return [head, clip(text[len(head) :].strip(), units)]


def _size(box: Box) -> str:
    return f"n {integer(box.n)}"
