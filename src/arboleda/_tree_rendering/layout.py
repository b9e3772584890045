"""Layout of the boxes of a tree: parents centred between their children, subtrees packed closely.

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

__all__ = ["place_boxes"]

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
