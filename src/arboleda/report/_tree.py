"""A decision tree drawn as SVG, from the root at the left to the leaves at the right.

Growing rightwards keeps a tree of depth five within a page's width, where the usual drawing
downwards needs several screens; its height is free to scroll or to print.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from arboleda.report._colours import SWATCHES, class_colours
from arboleda.report._conditions import Levels, condition, find_levels
from arboleda.report._numbers import clip, integer, percent, plain, text_units

__all__ = ["draw_tree", "tree_rules"]

_WIDTH, _GAP, _LINE, _BETWEEN = 142.0, 48.0, 15.0, 10.0
_MARGIN = 2.0
_LETTERS = 18.0  # average letters that fit in a box, even in a wide font
Node = Mapping[str, Any]


@dataclass
class _Place:
    """A node and where its box stands; ``y`` is the middle."""

    node: Node
    children: "list[_Place]" = field(default_factory=list)
    y: float = 0.0

    @property
    def x(self) -> float:
        return _MARGIN + float(self.node["depth"]) * (_WIDTH + _GAP)

    @property
    def is_cut(self) -> bool:
        """Whether the tree goes on below although the facts stop here."""
        return self.node["feature"] is not None and not self.children


@dataclass(frozen=True)
class _Look:
    """What the whole tree shares: class labels and colours, or the range of the values."""

    labels: Sequence[str] | None
    colours: Sequence[str]
    levels: Levels
    low: float
    high: float


def draw_tree(
    tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]] = (), positive: str | None = None
) -> Markup:
    """Draw the tree's boxes and branches as one SVG element of its natural size.

    A box holds the question (or the leaf's answer), the number of training rows, and a bar: the
    shares of the classes, or how high the mean lies between the smallest and largest shown. The
    upper branch is "yes". The side that rows with a missing value take is named on its branch; an
    ellipsis marks where the tree goes on below what is drawn.

    Parameters
    ----------
    tree : mapping
        ``tree`` of the facts.
    columns : sequence of mapping
        ``data.columns`` of the facts, which tell features of one value from numbers.
    positive : str or None
        The positive class, which takes the accent colour if there are two classes.
    """
    root = _places(tree["nodes"])
    places = list(_walk(root))
    look = _look(tree, columns, positive)
    height = _lay_out(root, max(_height(place.node, look) for place in places))
    deepest = max(place.node["depth"] for place in places)
    any_cut = any(place.is_cut for place in places)
    width = 2 * _MARGIN + _WIDTH + deepest * (_WIDTH + _GAP) + (20 if any_cut else 0)
    branches = Markup("").join(
        _branch(place, child, side)
        for place in places
        for child, side in zip(place.children, ("left", "right"), strict=False)
    )
    boxes = Markup("").join(_box(place, look) for place in places)
    return Markup(
        '<svg class="tree" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img"'
        ' aria-label="Decision tree with {n} of its nodes drawn">{branches}{boxes}</svg>'
    ).format(w=_short(width), h=_short(height), n=len(places), branches=branches, boxes=boxes)


def tree_rules(tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]] = ()) -> str:
    """Write the same tree as indented text, one line for each node."""
    root = _places(tree["nodes"])
    levels = find_levels(_features(tree), columns)
    lines: list[str] = []

    def write(place: _Place, reached_by: str) -> None:
        node = place.node
        answer = "" if place.children else f": {_answer(node, tree['class_labels'])}"
        more = " …" if place.is_cut else ""
        start = "   " * node["depth"]
        lines.append(f"{start}{reached_by}{answer}  (n {integer(node['n'])}){more}")
        for child, side in zip(place.children, ("left", "right"), strict=False):
            words = " ".join(condition(node, levels, yes=side == "left"))
            write(child, words + (" or missing" if node["missing"] == side else ""))

    write(root, "all rows")
    return "\n".join(lines)


def _features(tree: Mapping[str, Any]) -> list[str]:
    return [node["feature"] for node in tree["nodes"] if node["feature"] is not None]


def _places(nodes: Sequence[Node]) -> _Place:
    places = {node["id"]: _Place(node) for node in nodes}
    for place in places.values():
        ids = (place.node["left"], place.node["right"])
        if all(child in places for child in ids):
            place.children = [places[child] for child in ids]
    return next(place for place in places.values() if place.node["parent"] is None)


def _walk(place: _Place) -> list[_Place]:
    return [place, *(below for child in place.children for below in _walk(child))]


def _lay_out(root: _Place, box: float) -> float:
    """Give every end of the tree a slot of its own and every inner node the middle; the height."""
    slots = 0

    def settle(place: _Place) -> float:
        nonlocal slots
        if place.children:
            place.y = sum(settle(child) for child in place.children) / len(place.children)
        else:
            place.y = _MARGIN + box / 2 + slots * (box + _BETWEEN)
            slots += 1
        return place.y

    settle(root)
    return 2 * _MARGIN + box + (slots - 1) * (box + _BETWEEN)


def _look(
    tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]], positive: str | None
) -> _Look:
    labels, levels = tree["class_labels"], find_levels(_features(tree), columns)
    if labels is not None:
        return _Look(labels, class_colours(labels, positive), levels, 0.0, 1.0)
    values = [node["value"][0] for node in tree["nodes"]]
    return _Look(None, (), levels, min(values), max(values))


def _branch(parent: _Place, child: _Place, side: str) -> Markup:
    start, end = parent.x + _WIDTH, child.x
    bend = start + 6
    words = "yes" if side == "left" else "no"
    missing = Markup("")
    if parent.node["missing"] == side:
        missing = Markup('<text class="t-edge" x="{}" y="{}">missing</text>').format(
            _short(bend + 3), _short(child.y + 10)
        )
    return Markup(
        '<path class="t-line" d="M{} {}H{}V{}H{}"/><text class="t-edge" x="{}" y="{}">{}</text>{}'
    ).format(
        *map(_short, (start, parent.y, bend, child.y, end, bend + 3, child.y - 5)), words, missing
    )


def _box(place: _Place, look: _Look) -> Markup:
    node = place.node
    height = _height(node, look)
    top, bottom = place.y - height / 2, place.y + height / 2
    is_leaf = node["feature"] is None
    first = _first_lines(node, look)
    second = _second_line(node, look)
    size = f"n {integer(node['n'])}"
    second = clip(second, _LETTERS + 1 - text_units(size))
    ellipsis = Markup('<text class="t-more" x="{}" y="{}">…</text>').format(
        _short(place.x + _WIDTH + 4), _short(place.y + 4)
    )
    return Markup(
        '<g class="t-node{leaf}"><title>{title}</title>'
        '<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="3"{tint}/>'
        "{first}"
        '<text x="{left}" y="{y2}">{second}</text>'
        '<text class="t-size" x="{right}" y="{y2}">{size}</text>{bar}</g>{more}'
    ).format(
        leaf=" t-leaf" if is_leaf else "",
        title=_title(place, look),
        x=_short(place.x),
        y=_short(top),
        w=_short(_WIDTH),
        h=_short(height),
        tint=_tint(node, look) if is_leaf else "",
        left=_short(place.x + 8),
        right=_short(place.x + _WIDTH - 8),
        y2=_short(bottom - 14),
        first=_first(first, place.x + 8, top + 17),
        second=second,
        size=size,
        bar=_bar(place.x + 8, bottom - 8, _WIDTH - 16, node, look),
        more=ellipsis if place.is_cut else Markup(""),
    )


def _height(node: Node, look: _Look) -> float:
    """Add up a box: the question or answer, a line for the condition, and the bar."""
    return 31 + _LINE * len(_first_lines(node, look))


def _first(lines: Sequence[str], x: float, y: float) -> Markup:
    line = '<text class="t-first" x="{}" y="{}">{}</text>'
    return Markup("").join(
        Markup(line).format(_short(x), _short(y + index * _LINE), text)
        for index, text in enumerate(lines)
    )


def _first_lines(node: Node, look: _Look) -> list[str]:
    """Break the feature of a question, or the answer of a leaf, into at most two lines."""
    if node["feature"] in look.levels:
        text = " ".join(condition(node, look.levels))
    elif node["feature"] is not None:
        text = node["feature"]
    else:
        text = plain(node["value"][0], 5) if look.labels is None else look.labels[_top(node)]
    if text_units(text) <= _LETTERS:
        return [text if text.strip() else "(empty)"]
    # A break between words, unless that would leave the first line nearly empty.
    head = clip(text, _LETTERS + 1).removesuffix("\N{HORIZONTAL ELLIPSIS}")
    words = head.rpartition(" ")[0]
    if len(words) > len(head) // 3 and not text[len(head) :].startswith(" "):
        head = words
    return [head, clip(text[len(head) :].strip(), _LETTERS)]


def _second_line(node: Node, look: _Look) -> str:
    if node["feature"] is not None:
        return "" if node["feature"] in look.levels else condition(node, look.levels)[1]
    return "mean" if look.labels is None else percent(node["value"][_top(node)])


def _title(place: _Place, look: _Look) -> str:
    node = place.node
    lines = [f"{_answer(node, look.labels)}, n {integer(node['n'])}"]
    if node["feature"] is not None:
        lines.insert(0, " ".join(condition(node, look.levels)))
    if node["missing"] is not None:
        lines.append(f"missing values go to {'yes' if node['missing'] == 'left' else 'no'}")
    lines.append(f"impurity {plain(node['impurity'])}")
    if place.is_cut:
        lines.append("the tree goes on below")
    return "\n".join(lines)


def _answer(node: Node, labels: Sequence[str] | None) -> str:
    if labels is None:
        return plain(node["value"][0], 5)
    return f"{labels[_top(node)]} {percent(node['value'][_top(node)])}"


def _top(node: Node) -> int:
    return max(range(len(node["value"])), key=lambda index: node["value"][index])


def _tint(node: Node, look: _Look) -> Markup:
    colour = "var(--accent)" if look.labels is None else look.colours[_top(node)]
    strength = _fraction(node, look) if look.labels is None else 0.6
    return Markup(' style="fill:{};fill-opacity:{:.2f}"').format(colour, 0.04 + 0.16 * strength)


def _bar(x: float, y: float, width: float, node: Node, look: _Look) -> Markup:
    """Draw the classes' shares side by side, or the mean between the smallest and the largest."""
    pieces: list[tuple[str, float]]
    if look.labels is None:
        pieces = [("var(--accent)", _fraction(node, look))]
    elif len(look.labels) > SWATCHES:
        pieces = [(look.colours[_top(node)], node["value"][_top(node)])]
    else:
        pieces = list(zip(look.colours, node["value"], strict=True))
    track = '<rect class="t-track" x="{}" y="{}" width="{}" height="3"/>'
    drawn = [Markup(track).format(_short(x), _short(y), _short(width))]
    for colour, share in pieces:
        if share * width >= 0.1:
            piece = '<rect x="{}" y="{}" width="{}" height="3" style="fill:{}"/>'
            drawn.append(Markup(piece).format(_short(x), _short(y), _short(share * width), colour))
        x += share * width
    return Markup("").join(drawn)


def _fraction(node: Node, look: _Look) -> float:
    span = look.high - look.low
    return float((node["value"][0] - look.low) / span) if span > 0 else 1.0


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
