"""Drawing of trees as SVG, from the root on the left to the leaves on the right.

With this orientation a tree of depth six fits the width of a window, while the usual orientation
needs several; its height can be scrolled or printed. A box shows the split condition or the
prediction, the number of training rows and a bar; see `draw_tree`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from arboleda._locale import word
from arboleda._tree_rendering.boxes import (
    Box,
    Lines,
    Sketch,
    find_main_path,
    format_box_lines,
    measure_box_units,
    place_boxes,
    xml_text,
)
from arboleda._tree_rendering.legend import ACCENT, class_colours, legend, purity
from arboleda._utils.numbers import integer, percent, plain, text_units

__all__ = ["STANDALONE", "Theme", "draw_tree"]

_GAP, _BETWEEN, _MARGIN, _PAD = 52.0, 8.0, 4.0, 8.0
_LINE, _LETTER = 15.0, 7.0  # height of a line; width of an average letter in a wide font
_BAR = 3.0
_WIDEST_BRANCH = 12.0
_TAG = 11.0  # height of the label of a branch
_FEWEST_UNITS = 12.0
_FOOT = "n: training rows. Upper branch: yes. Width: share of the rows. Dark: most rows."


@dataclass(frozen=True)
class Theme:
    """CSS colours of a page; ``classes`` holds the colours of the classes."""

    ink: str
    muted: str
    line: str
    branch: str
    paper: str
    accent: str
    font: str
    units: float  # maximum width of a line in a box, in average letters
    classes: tuple[str, ...] | None = None


STANDALONE = Theme(
    ink="#1c1d1b",
    muted="#5c605a",
    line="#e2e4de",
    branch="#c9ccc5",
    paper="#fff",
    accent=ACCENT,
    font="Helvetica,Arial,'Liberation Sans',sans-serif",
    units=24.0,
)

# Style rules contain only fixed text; text of the user is only in elements.
_STYLE = (
    ".arboleda-tree{{font-family:{font}}}"
    ".arboleda-tree text{{font-size:11px;fill:{muted}}}"
    ".arboleda-tree .t-first{{font-weight:600;fill:{ink}}}"
    ".arboleda-tree .t-end{{text-anchor:end}}"
    ".arboleda-tree .t-edge{{font-size:9.5px;text-anchor:end}}"
    ".arboleda-tree .t-branch{{fill:none;stroke:{branch}}}"
    ".arboleda-tree .t-main{{stroke:{muted}}}"
    ".arboleda-tree .t-box{{fill:{paper};stroke:{branch}}}"
    ".arboleda-tree .t-way .t-box{{stroke:{muted};stroke-width:1.6px}}"
    ".arboleda-tree .t-track{{fill:{line}}}"
)


@dataclass(frozen=True)
class _Look:
    """Settings shared by all boxes."""

    sketch: Sketch
    theme: Theme
    colours: tuple[str, ...]
    low: float
    high: float
    width: float
    units: float


def draw_tree(sketch: Sketch, theme: Theme = STANDALONE, *, alone: bool = True) -> str:
    """Draw the boxes and branches of a tree as one SVG element of its natural size.

    A box shows the split condition (or the leaf's prediction), the number of training rows, and a
    bar: the class shares, or the position of the value between the smallest and largest value.
    Leaves are tinted in the colour of their class, more strongly the purer they are. The upper
    branch is "yes"; the width of a branch is its share of the rows, and the path of most rows is
    darker. The branch of missing values is labelled.

    Parameters
    ----------
    sketch : Sketch
        The tree.
    theme : Theme
        Colours, font, and maximum width of boxes.
    alone : bool
        Whether the drawing is a standalone file, with a background, a legend and an explanation of
        the branches, or part of a page.

    Returns
    -------
    str
        The same sketch and theme give the same text.
    """
    boxes, look = sketch.boxes, _look(sketch, theme)
    lines = [format_box_lines(sketch, box, look.units) for box in boxes]
    places, high = _places(boxes, lines)
    wide = max(_x(box, look) + look.width + _more_width(box) for box in boxes) + _MARGIN
    head = foot = ""
    if alone:
        wide = max(wide, 2 * _MARGIN + text_units(_FOOT) * _LETTER)
        ends = (look.low, look.high)
        above, head = legend(sketch, look.colours, ends, wide - 2 * _MARGIN, theme.accent)
        head = f'<rect width="100%" height="100%" style="fill:{theme.paper}"/>{head}'
        places, high = [place + above for place in places], high + above
        foot = _words("t-plain", _MARGIN, high + 14, _FOOT)
        high += 20
    path = find_main_path(boxes)
    branches = "".join(
        _branch(look, places, at, side, is_main=box.children[side] in path)
        for at, box in enumerate(boxes)
        for side in range(len(box.children))
    )
    drawn = "".join(
        _box(look, box, lines[at], places[at], on_path=at in path) for at, box in enumerate(boxes)
    )
    label = word("Decision tree with {} of its nodes drawn").format(len(boxes))
    name_space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    return (
        f'<svg{name_space} class="arboleda-tree" viewBox="0 0 {_short(wide)} {_short(high)}"'
        f' width="{_short(wide)}" height="{_short(high)}" role="img"'
        f' aria-label="{label}">'
        f"<style>{_STYLE.format(**vars(theme))}</style>{head}{branches}{drawn}{foot}</svg>"
    )


def _places(boxes: Sequence[Box], lines: Sequence[Lines]) -> tuple[list[float], float]:
    """Return the vertical centres of the boxes and the total height."""
    parents = {child: at for at, box in enumerate(boxes) for child in box.children}
    extents = [_extent(at, parents.get(at), boxes, _height(text)) for at, text in enumerate(lines)]
    across = place_boxes([box.children for box in boxes], extents, _BETWEEN)
    whole = max(y + after for y, (_, after) in zip(across, extents, strict=True))
    return [y + _MARGIN for y in across], whole + 2 * _MARGIN


def _look(sketch: Sketch, theme: Theme) -> _Look:
    units = min(
        theme.units, max(_FEWEST_UNITS, *(measure_box_units(sketch, box) for box in sketch.boxes))
    )
    labels = sketch.outputs[0].labels or ()
    colours = theme.classes if theme.classes is not None else class_colours(len(labels))
    if len(sketch.outputs) > 1:
        numbers = [-box.impurity for box in sketch.boxes]  # stronger for purer nodes
    elif labels:
        numbers = [0.0, 1.0]
    else:
        numbers = [box.values[0][0] for box in sketch.boxes]
    width = round(units * _LETTER) + 2 * _PAD
    return _Look(sketch, theme, colours, min(numbers), max(numbers), width, units)


def _x(box: Box, look: _Look) -> float:
    return _MARGIN + box.depth * (look.width + _GAP)


def _height(lines: Lines) -> float:
    return 16.0 + _LINE * len(lines)


def _share(boxes: Sequence[Box], at: int) -> float:
    return boxes[at].n / max(1, boxes[0].n)


def _thick(boxes: Sequence[Box], at: int) -> float:
    return max(1.0, _WIDEST_BRANCH * _share(boxes, at))


def _extent(
    at: int, parent: int | None, boxes: Sequence[Box], height: float
) -> tuple[float, float]:
    """Return the extent above and below the centre, of the box and the labels of its branch."""
    half = height / 2
    if parent is None:
        return half, half
    side = boxes[parent].children.index(at)
    words = 1 + (boxes[parent].missing == ("left", "right")[side])
    tagged = _thick(boxes, at) / 2 + 2 + _TAG * words
    return (max(half, tagged), half) if side == 0 else (half, max(half, tagged))


def _branch(look: _Look, places: Sequence[float], at: int, side: int, *, is_main: bool) -> str:
    """Draw the branch from a parent to the centre of a child."""
    boxes = look.sketch.boxes
    parent, child = boxes[at], boxes[at].children[side]
    thick = _thick(boxes, child)
    other = _thick(boxes, parent.children[1 - side])
    start_y = places[at] + (-other / 2 if side == 0 else other / 2)
    start_x, end_x, end_y = _x(parent, look) + look.width, _x(boxes[child], look), places[child]
    bend = (start_x + end_x) / 2
    words = [word("yes") if side == 0 else word("no")]
    if parent.missing == ("left", "right")[side]:
        words.append(word("missing"))
    first = (
        end_y - thick / 2 - 4 - _TAG * (len(words) - 1)
        if side == 0
        else end_y + thick / 2 + _TAG - 1
    )
    tags = "".join(
        _words("t-edge", end_x - 5, first + _TAG * row, word) for row, word in enumerate(words)
    )
    curve = "M{} {}C{} {} {} {} {} {}".format(
        *map(_short, (start_x, start_y, bend, start_y, bend, end_y, end_x, end_y))
    )
    kind = "t-branch t-main" if is_main else "t-branch"
    return f'<path class="{kind}" stroke-width="{_short(thick)}" d="{curve}"/>{tags}'


def _box(look: _Look, box: Box, lines: Lines, y: float, *, on_path: bool) -> str:
    height = _height(lines)
    top, left = y - height / 2, _x(box, look)
    kind = "t-node" + (" t-leaf" if box.split is None else "") + (" t-way" if on_path else "")
    texts = "".join(
        _line(look, left, top + 17 + _LINE * row, *line) for row, line in enumerate(lines)
    )
    more = ""
    if box.hidden is None or box.hidden > 0:
        words = "…" if box.hidden is None else _more(box.hidden)
        more = _words("t-more", left + look.width + 5, y + 4, words)
    return (
        f'<g class="{kind}"><title>{xml_text(_title(look.sketch, box))}</title>'
        f'<rect class="t-box" x="{_short(left)}" y="{_short(top)}" width="{_short(look.width)}"'
        f' height="{_short(height)}" rx="3"/>{_tint(look, box, left, top, height)}'
        f"{texts}{_bar(look, box, left + _PAD, top + height - 8)}</g>{more}"
    )


def _line(look: _Look, left: float, y: float, first: str, plain_text: str, end: str) -> str:
    """Draw one line of a box: bold or plain text on the left, and text on the right."""
    right, parts = left + look.width - _PAD, ""
    if first:
        parts += _words("t-first", left + _PAD, y, first)
    if plain_text and first:
        room = text_units(end) + 1.0 if end else 0.0
        parts += _words("t-end", right - room * _LETTER, y, plain_text)
    elif plain_text:
        parts += _words("t-plain", left + _PAD, y, plain_text)
    return parts + (_words("t-end", right, y, end) if end else "")


def _words(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{_short(x)}" y="{_short(y)}">{xml_text(text)}</text>'


def _more(hidden: int) -> str:
    return (word("{} more nodes") if hidden > 1 else word("{} more node")).format(integer(hidden))


def _more_width(box: Box) -> float:
    if box.hidden is None:
        return 20.0
    return 8.0 + 6.5 * text_units(_more(box.hidden)) if box.hidden else 0.0


def _title(sketch: Sketch, box: Box) -> str:
    predictions = [" ".join(pair) for pair in sketch.predictions(box)]
    lines = [f"{'; '.join(predictions)}, n {integer(box.n)}"]
    if box.split is not None:
        lines.insert(0, box.split.text(most=None))
    if box.missing is not None:
        side = word("yes") if box.missing == "left" else word("no")
        lines.append(word("missing values go to {}").format(side))
    if len(sketch.outputs) == 1 and sketch.outputs[0].labels:
        shares = sorted(zip(box.values[0], sketch.outputs[0].labels, strict=True), key=_by_share)
        lines += [f"{label}: {percent(share)}" for share, label in shares[1:5] if share > 0]
    lines.append(word("impurity") + f" {plain(box.impurity)}")
    if box.hidden is None or box.hidden > 0:
        lines.append(word("the tree goes on below"))
    return "\n".join(lines)


def _by_share(pair: tuple[float, str]) -> float:
    return -pair[0]


def _tint(look: _Look, box: Box, left: float, top: float, height: float) -> str:
    """Tint the box of a leaf, more strongly for purer leaves or higher values."""
    if box.split is not None:
        return ""
    if look.sketch.is_one_number or len(look.sketch.outputs) > 1:
        colour, strength = look.theme.accent, _fraction(look, box)
    else:
        shares = box.values[0]
        colour, strength = look.colours[shares.index(max(shares))], purity(shares)
    return (
        f'<rect x="{_short(left)}" y="{_short(top)}" width="{_short(look.width)}"'
        f' height="{_short(height)}" rx="3" style="fill:{colour};fill-opacity:'
        f'{0.05 + 0.3 * strength:.2f}"/>'
    )


def _bar(look: _Look, box: Box, x: float, y: float) -> str:
    """Draw a bar of the class shares, or of the value relative to its range."""
    width = look.width - 2 * _PAD
    shares, colours = box.values[0], look.colours
    if look.sketch.is_one_number or len(look.sketch.outputs) > 1:
        shares, colours = (_fraction(look, box),), (look.theme.accent,)
    elif len(set(colours)) < len(shares):  # the colours do not identify classes
        top = shares.index(max(shares))
        shares, colours = (shares[top],), (colours[top],)
    place = f'y="{_short(y)}" height="{_short(_BAR)}"'
    drawn = [f'<rect class="t-track" x="{_short(x)}" width="{_short(width)}" {place}/>']
    for share, colour in zip(shares, colours, strict=True):
        if share * width >= 0.1:
            drawn.append(
                f'<rect x="{_short(x)}" width="{_short(share * width)}" {place}'
                f' style="fill:{colour}"/>'
            )
        x += share * width
    return "".join(drawn)


def _fraction(look: _Look, box: Box) -> float:
    number = box.values[0][0] if look.sketch.is_one_number else -box.impurity
    span = look.high / 2 - look.low / 2  # halves avoid overflow
    if not (isfinite(span) and isfinite(number) and span > 0):
        return 1.0
    return (number / 2 - look.low / 2) / span


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
