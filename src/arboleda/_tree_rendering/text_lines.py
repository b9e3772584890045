"""The lines of text in a node's box, broken and cut to the width of the boxes."""

from arboleda._locale import word
from arboleda._numbers import clip, integer, text_units
from arboleda._tree_rendering.boxes import Box, Sketch

__all__ = ["Lines", "box_lines", "box_units"]

# Each line: a strong text at the left, a plain one, and a plain one at the right end.
Lines = list[tuple[str, str, str]]

_MOST_OUTPUTS = 4
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def box_units(sketch: Sketch, box: Box) -> float:
    """Width in average letters at which nothing in the box would have to be broken or cut."""
    size = text_units(_size(box))
    if box.question is not None:
        asked = f"{box.question.relation()} {box.question.operand()}"
        return max(text_units(box.question.name), text_units(asked) + size + 1)
    if len(sketch.outputs) > 1:
        return max(sum(map(text_units, answer)) + 1 for answer in sketch.answers(box))
    return sum(map(text_units, sketch.answers(box)[0])) + size + 2


def box_lines(sketch: Sketch, box: Box, units: float) -> Lines:
    """Write the box in lines of this width in average letters.

    An inner node: its column, in at most two lines, and what is asked of it. A leaf: its answer,
    how sure that is, and the number of training rows, in one line if they fit.
    """
    return _question_lines(box, units) if box.question else _answer_lines(sketch, box, units)


def _question_lines(box: Box, units: float) -> Lines:
    question, size = box.question, _size(box)
    assert question is not None
    lines: Lines = [(text, "", "") for text in _broken(question.name, units)]
    *before, last = question.lines(units)
    lines += [("", text, "") for text in before]
    if text_units(last) + text_units(size) + 1 <= units:
        return [*lines, ("", last, size)]
    return [*lines, ("", last, ""), ("", "", size)]


def _answer_lines(sketch: Sketch, box: Box, units: float) -> Lines:
    answers, size = sketch.answers(box), _size(box)
    if len(answers) > 1:
        lines: Lines = []
        for answer, sure in answers[:_MOST_OUTPUTS]:
            share = sure if sure.endswith("%") else ""
            lines.append((clip(answer, units - text_units(share) - 1), share, ""))
        left_out = len(answers) - _MOST_OUTPUTS
        more = word("and {} more").format(left_out) if left_out > 0 else ""
        return [*lines, ("", more, size)]
    answer, sure = answers[0]
    if text_units(answer) + text_units(sure) + text_units(size) + 2 <= units:
        return [(answer, sure, size)]
    return [*((text, "", "") for text in _broken(answer, units)), ("", sure, size)]


def _broken(text: str, units: float) -> list[str]:
    """Break a text into at most two lines, between words if that leaves the first one full."""
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
