"""Colours of classes, the same in every figure and table of a page."""

from collections.abc import Sequence

__all__ = ["SWATCHES", "choose_class_colours"]

SWATCHES = 8


def choose_class_colours(labels: Sequence[str], positive: str | None) -> list[str]:
    """Return the CSS colour of each class, in order.

    Of two classes, the positive one takes the accent colour and the other grey. Up to `SWATCHES`
    classes have a colour each; beyond that, colours would be hard to distinguish, and all
    classes take the accent colour.

    Examples
    --------
    >>> choose_class_colours(["no", "yes"], "yes")
    ['var(--neutral)', 'var(--accent)']
    >>> choose_class_colours(["a", "b", "c"], None)
    ['var(--c0)', 'var(--c1)', 'var(--c2)']
    """
    if len(labels) == 2:
        chosen = positive if positive in labels else labels[1]
        return ["var(--accent)" if label == chosen else "var(--neutral)" for label in labels]
    if len(labels) <= SWATCHES:
        return [f"var(--c{index})" for index in range(len(labels))]
    return ["var(--accent)"] * len(labels)
