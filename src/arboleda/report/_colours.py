"""Which colour stands for which class, the same in every figure and table of a page."""

from collections.abc import Sequence

__all__ = ["SWATCHES", "class_colours"]

SWATCHES = 8


def class_colours(labels: Sequence[str], positive: str | None) -> list[str]:
    """Choose the CSS colours of the classes, in their order.

    Two classes are the accent (the positive one) and a grey; up to `SWATCHES` classes have a
    colour each; with more, colours could not be told apart and all are the accent.

    Examples
    --------
    >>> class_colours(["no", "yes"], "yes")
    ['var(--neutral)', 'var(--accent)']
    >>> class_colours(["a", "b", "c"], None)
    ['var(--c0)', 'var(--c1)', 'var(--c2)']
    """
    if len(labels) == 2:
        chosen = positive if positive in labels else labels[1]
        return ["var(--accent)" if label == chosen else "var(--neutral)" for label in labels]
    if len(labels) <= SWATCHES:
        return [f"var(--c{index})" for index in range(len(labels))]
    return ["var(--accent)"] * len(labels)
