"""Lines of text in the boxes of nodes, wrapped to their width and escaped for XML."""

from html import escape

from arboleda._locale import word
from arboleda._tree_rendering.boxes import Box, Sketch
from arboleda._utils.numbers import clip, integer, text_units
from arboleda._utils.text import visible_lines

__all__ = ["Lines", "format_box_lines", "measure_box_units", "xml_text"]


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
