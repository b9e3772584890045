r"""Layered drawings of directed graphs: Sugiyama, Tagawa and Toda (1981).

A node is placed one layer below the lowest of its parents. An edge over several layers bends around
the names between: it has a position in each layer that it crosses, like a node without a name. The
nodes of a layer are ordered by the mean position of their neighbours, in several sweeps down and
up.

    layer 0      a              a -> c crosses layer 1 at the position *
               /   \
    layer 1   b     *
               \   /
    layer 2      c
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.isotonic import isotonic_regression

from arboleda._tree_rendering.legend import CLASS_COLOURS, GREY, blend_with_white
from arboleda._utils.frames import axes_or_new, new_figure
from arboleda._utils.numbers import text_units
from arboleda._utils.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import FancyBboxPatch

    from arboleda.learners._directed_graph import DirectedGraph

__all__ = ["draw_graph"]

# In average letters: padding of a name, gap between names, width of an edge that crosses a layer.
_BESIDE, _BETWEEN, _BEND = 2.0, 2.0, 2.0
_LAYER = 4.5  # height of a layer, in lines
_SIZE = 10.0  # font size in points
_WIDTH, _HEIGHT = 0.56, 1.2  # width and height of an average letter, relative to the font size
_SWEEPS = 12
_EDGE = "0.35"


@dataclass
class _Sketch:
    """Layout of nodes and bends of edges, with their layers, widths and horizontal positions."""

    layers: list[list[int]]
    widths: list[float]
    links: list[tuple[int, int]]  # between adjacent layers
    paths: list[tuple[int, ...]]  # parent, bends and child of each edge
    across: list[float]


def draw_graph(graph: DirectedGraph, ax: Axes | None = None, root: int | None = None) -> Axes:
    """Draw a graph, parents above children.

    Parameters
    ----------
    graph : DirectedGraph
    ax : matplotlib.axes.Axes, default=None
        Axes to plot on; None: axes of a new figure that fits all names.
    root : int, default=None
        A node to colour. If it has no parents, it is placed alone at the top, with pale curved
        edges behind the other nodes, since it may have an edge to each of them.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    if not graph.nodes:
        ax = axes_or_new(ax)
        ax.set_axis_off()
        return ax
    sketch = _sketch(graph, root)
    extent = 2 * _BETWEEN + max(
        at + width / 2 for at, width in zip(sketch.across, sketch.widths, strict=True)
    )
    depth = len(sketch.layers)
    width, height = extent * _WIDTH * _SIZE / 72, depth * _LAYER * _HEIGHT * _SIZE / 72
    if ax is None:
        ax = new_figure(
            figsize=(max(3.0, width), max(1.5, height)), layout="constrained"
        ).add_subplot()
    ax = axes_or_new(ax)
    ax.set_axis_off()
    room = ax.get_window_extent()
    inches = room.width / ax.figure.dpi, room.height / ax.figure.dpi
    size = _SIZE * min(1.0, inches[0] / width, inches[1] / height)
    layer_of = {item: number for number, layer in enumerate(sketch.layers) for item in layer}
    places = [
        ((_BETWEEN + at) / extent, 1.0 - (layer_of[item] + 0.5) / depth)
        for item, at in enumerate(sketch.across)
    ]
    _draw(ax, graph, sketch, places, size, root)
    return ax


def _draw(
    ax: Axes,
    graph: DirectedGraph,
    sketch: _Sketch,
    places: Sequence[tuple[float, float]],
    size: float,
    root: int | None,
) -> None:
    boxes = [
        _box(ax, name, place, size, node == root)
        for node, (name, place) in enumerate(zip(_names(graph), places, strict=False))
    ]
    for path in sketch.paths:
        pale = path[0] == root and not graph.parent_places[path[0]]
        colour, order = (GREY, 1) if pale else (_EDGE, 2)
        ax.plot(
            *zip(*(places[item] for item in path[:-1]), strict=True),
            color=colour,
            lw=1.0,
            zorder=order,
            transform=ax.transAxes,
            clip_on=False,
        )
        arrow = {
            "arrowstyle": "-|>",
            "color": colour,
            "lw": 1.0,
            "shrinkA": 0.0,
            "shrinkB": 0.0,
            "patchB": boxes[path[-1]],
            "mutation_scale": max(4.0, size),
        }
        (x, y), (x_end, y_end) = places[path[-2]], places[path[-1]]
        if pale and (y - y_end) * len(sketch.layers) > 1.5:  # curved around the layers between
            arrow["connectionstyle"] = f"arc3,rad={0.15 if x_end > x else -0.15}"
        ax.annotate(
            "",
            xy=places[path[-1]],
            xytext=places[path[-2]],
            xycoords="axes fraction",
            textcoords="axes fraction",
            arrowprops=arrow,
            zorder=order,
        )


def _box(
    ax: Axes, name: str, place: tuple[float, float], size: float, coloured: bool
) -> FancyBboxPatch:
    """Draw a name in a box that fits the text for any size of the figure."""
    from matplotlib.patches import FancyBboxPatch
    from matplotlib.transforms import ScaledTranslation

    text = ax.text(
        *place,
        name,
        transform=ax.transAxes,
        ha="center",
        va="center",
        fontsize=size,
        color="black",  # on a light fill, for any style
        zorder=4,
        parse_math=False,
    )
    extent, dpi = text.get_window_extent(), ax.figure.dpi
    width, height, pad = extent.width / dpi, extent.height / dpi, 0.35 * size / 72
    box = FancyBboxPatch(
        (-width / 2, -height / 2),
        width,
        height,
        boxstyle=f"round,pad={pad}",
        mutation_scale=1.0,
        fc=blend_with_white(CLASS_COLOURS[1], 0.6) if coloured else "white",
        ec=_EDGE,
        zorder=3,
        clip_on=False,
        transform=ax.figure.dpi_scale_trans + ScaledTranslation(*place, ax.transAxes),  # type: ignore[arg-type]
    )
    ax.add_artist(box)
    return box


def _names(graph: DirectedGraph) -> list[str]:
    """Return the names of the nodes, each as one line of characters valid in all image formats."""
    return [visible(str(name)) for name in graph.nodes]


def _sketch(graph: DirectedGraph, root: int | None) -> _Sketch:
    alone = root if root is not None and not graph.parent_places[root] else None
    depth_of = _depths(graph, alone)
    widths = [text_units(name) + _BESIDE for name in _names(graph)]
    layers: list[list[int]] = [[] for _ in range(1 + max(depth_of, default=0))]
    for node, depth in enumerate(depth_of):
        layers[depth].append(node)
    links: list[tuple[int, int]] = []
    paths: list[tuple[int, ...]] = []
    for child, parents in enumerate(graph.parent_places):
        for parent in parents:
            path = [parent]
            for depth in range(depth_of[parent] + 1, depth_of[child] if parent != alone else 0):
                path.append(len(widths))
                layers[depth].append(len(widths))
                widths.append(_BEND)
            paths.append((*path, child))
            if parent != alone:
                links += zip(paths[-1], paths[-1][1:], strict=False)
    sketch = _Sketch(layers, widths, links, paths, [0.0] * len(widths))
    _order(sketch)
    _spread(sketch)
    return sketch


def _depths(graph: DirectedGraph, alone: int | None) -> list[int]:
    """Return the layer of each node: the longest path to it; `alone` is above all others."""
    depths = [0] * len(graph.nodes)
    for node in graph.order:
        above = [depths[parent] + 1 for parent in graph.parent_places[node] if parent != alone]
        depths[node] = max(above, default=0 if alone in {None, node} else 1)
    return depths


def _order(sketch: _Sketch) -> None:
    """Order every layer by the positions of neighbours; keep the order with fewest crossings."""
    best, fewest = [list(layer) for layer in sketch.layers], _crossings(sketch)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        place = {item: at for layer in sketch.layers for at, item in enumerate(layer)}
        near: dict[int, list[int]] = {}
        for above, below in sketch.links:
            near.setdefault(below if down else above, []).append(above if down else below)
        for layer in sketch.layers if down else reversed(sketch.layers):
            layer.sort(
                key=lambda item: (
                    sum(place[other] for other in near[item]) / len(near[item])
                    if item in near
                    else place[item]
                )
            )
            place.update({item: at for at, item in enumerate(layer)})
        found = _crossings(sketch)
        if found < fewest:
            best, fewest = [list(layer) for layer in sketch.layers], found
    sketch.layers[:] = best


def _crossings(sketch: _Sketch) -> int:
    place = {item: at for layer in sketch.layers for at, item in enumerate(layer)}
    depth = {item: number for number, layer in enumerate(sketch.layers) for item in layer}
    found = 0
    for number in range(len(sketch.layers)):
        pairs = np.array(
            [(place[a], place[b]) for a, b in sketch.links if depth[a] == number], dtype=np.intp
        ).reshape(-1, 2)
        left = pairs[:, np.newaxis, 0] < pairs[:, 0]
        found += int(np.count_nonzero(left & (pairs[:, np.newaxis, 1] > pairs[:, 1])))
    return found


def _spread(sketch: _Sketch) -> None:
    """Set horizontal positions that are close to the mean position of the neighbours."""
    near: list[list[int]] = [[] for _ in sketch.widths]
    for above, below in sketch.links:
        near[above].append(below)
        near[below].append(above)
    offsets = {}
    for number, layer in enumerate(sketch.layers):
        widths = np.array([sketch.widths[item] for item in layer])
        offsets[number] = np.cumsum(widths) - widths / 2 + _BETWEEN * np.arange(len(layer))
        half = (offsets[number][-1] + widths[-1] / 2) / 2
        for item, offset in zip(layer, offsets[number] - half, strict=True):
            sketch.across[item] = float(offset)
    for sweep in range(_SWEEPS):
        numbers = range(len(sketch.layers))
        for number in numbers if sweep % 2 == 0 else reversed(numbers):
            layer = sketch.layers[number]
            wanted = [
                sum(sketch.across[other] for other in near[item]) / len(near[item])
                if near[item]
                else sketch.across[item]
                for item in layer
            ]
            # Isotonic regression gives the nearest positions that keep the order and the gaps.
            placed = isotonic_regression(np.array(wanted) - offsets[number]) + offsets[number]
            for item, at in zip(layer, placed, strict=True):
                sketch.across[item] = float(at)
    first = min(at - width / 2 for at, width in zip(sketch.across, sketch.widths, strict=True))
    sketch.across[:] = [at - first for at in sketch.across]
