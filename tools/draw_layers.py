"""Draw the layers of the package and of the core: the picture of docs/architecture.md.

    python tools/draw_layers.py

Every part of `check_layers.PYTHON` and every folder of `check_layers.CORE` has a box. A part
imports from its own band and from those below it; the tests check both.
"""

from dataclasses import dataclass
from pathlib import Path

from check_layers import CORE

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "_static" / "layers.svg"
WIDTH, MARGIN, GAP = 960, 12, 6
LEFT, RIGHT = 184, 938  # ends of the boxes
BOX, ROW = 34, 41  # heights of a box, and of a row of boxes
LETTER = 7.4  # mean width of a letter of a name
FOOT = (
    "Imports point downwards or stay within a band. "
    "In the core, a folder includes only those to its right and below."
)
STYLE = """
.band { stroke: #999; }
.box { fill: #fff; stroke: #bbb; }
.title { font-size: 14px; font-weight: bold; fill: #222; }
.note { font-size: 10.5px; fill: #444; }
.name { font-size: 12px; text-anchor: middle; fill: #222; }
.foot { font-size: 12px; text-anchor: middle; fill: #444; }
.arrow { fill: none; stroke: #666; stroke-width: 1.4; }
"""


@dataclass(frozen=True)
class Band:
    """A band of the picture: its title and notes, and rows of boxes.

    The boxes are parts of the package; or folders and files of the part ``inside``. Arrows connect
    the boxes of the first row of a band that ``flows``.
    """

    title: str
    notes: tuple[str, ...]
    colour: str
    rows: tuple[tuple[str, ...], ...]
    inside: str = ""
    flows: bool = False

    @property
    def parts(self) -> set[str]:
        """The parts of the package that the band shows."""
        return {self.inside} if self.inside else {name for row in self.rows for name in row}

    @property
    def height(self) -> int:
        return ROW * len(self.rows) + 9


BANDS = (
    Band("Command", ("parses, calls, prints",), "#dbe9f6", (("cli",),)),
    Band(
        "Analysis",
        ("of tables, models, studies",),
        "#e3eec6",
        (("exploration", "explanation", "comparison"),),
        inside="analysis",
    ),
    Band(
        "Study",
        ("the way of the data,", "and what runs it"),
        "#d9ead3",
        (
            ("config", "search", "execution", "combination", "artifacts", "results"),
            ("study.py", "plan.py", "runner.py", "output_folder.py"),
        ),
        inside="study",
        flows=True,
    ),
    Band(
        "Used by studies",
        ("models, scores, tables, pages",),
        "#dcefdc",
        (("catalogue", "scoring", "tables", "page_export"),),
    ),
    Band(
        "Reports",
        ("pages, from facts alone",),
        "#d0e8e4",
        (("study", "explore", "explanation", "comparison", "figures", "templates", "locales"),),
        inside="reports",
    ),
    Band("Facts", ("what pages show, typed",), "#dce8f0", (("facts",),)),
    Band(
        "Import and export",
        ("other formats; data sets",),
        "#e8efd0",
        (("importers", "onnx_export", "c_export", "datasets"),),
    ),
    Band(
        "Around models",
        ("of any kind",),
        "#fff2cc",
        (
            ("combine", "decide", "diagnose", "explain", "plot"),
            ("metrics", "model_selection", "features", "diagnostics", "dask"),
        ),
    ),
    Band(
        "Estimators",
        ("one family a folder",),
        "#fce5cd",
        (("tree", "forest", "survival", "bagging", "boosting", "adaboost", "bart", "learners"),),
    ),
    Band("Shared", ("by several families",), "#f6d9c9", (("_base", "persist"),)),
    Band("Engine", ("calls the compiled module",), "#ead1dc", (("_engine",),)),
    Band("Helpers", ("know no model",), "#e6e0e9", (("_utils", "_locale", "_tree_rendering"),)),
    Band("Compiled module", (), "#dcd6ea", (("_native", "bindings (nanobind)"),)),
    Band(
        "C++ core",
        ("no Python",),
        "#d3cce6",
        (CORE[: len(CORE) // 2 - 1 : -1], CORE[len(CORE) // 2 - 1 :: -1]),
        inside="core",
    ),
)


def draw_layers() -> str:
    """Return the picture as SVG."""
    shapes, top = [], MARGIN
    for band in BANDS:
        shapes += _draw_band(band, top)
        top += band.height + 8
    height = top + 26
    label = "The layers of arboleda, from the command down to the C++ core"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" role="img" aria-label="{label}">'
    )
    ground = f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#fff"/>'
    foot = f'<text class="foot" x="{WIDTH // 2}" y="{height - 14}">{FOOT}</text>'
    return "\n".join([head, f"<style>{STYLE}</style>", ground, *shapes, foot, "</svg>", ""])


def _draw_band(band: Band, top: int) -> list[str]:
    middle = top + band.height / 2
    first = middle + (5 if not band.notes else -5 if len(band.notes) == 1 else -11)
    size = f'width="{WIDTH - 2 * MARGIN}" height="{band.height}"'
    shapes = [
        f'<rect class="band" x="{MARGIN}" y="{top}" {size} rx="6" fill="{band.colour}"/>',
        f'<text class="title" x="24" y="{first:g}">{band.title}</text>',
    ]
    shapes += [
        f'<text class="note" x="24" y="{first + 15 + 13 * i:g}">{note}</text>'
        for i, note in enumerate(band.notes)
    ]
    for i, row in enumerate(band.rows):
        shapes += _draw_row(row, top + 8 + ROW * i, arrows=band.flows and i == 0)
    return shapes


def _draw_row(names: tuple[str, ...], top: int, *, arrows: bool) -> list[str]:
    gap = 16 if arrows else GAP
    width = (RIGHT - LEFT - gap * (len(names) - 1)) / len(names)
    shapes = []
    for i, name in enumerate(names):
        x = LEFT + i * (width + gap)
        shapes.append(
            f'<rect class="box" x="{x:.1f}" y="{top}" width="{width:.1f}" height="{BOX}" rx="4"/>'
        )
        size = 12 * min(1.0, width / (LETTER * len(name)))
        style = f' style="font-size:{size:.2f}px"' if size < 12 else ""
        shapes.append(
            f'<text class="name" x="{x + width / 2:.1f}" y="{top + 21}"{style}>{name}</text>'
        )
        if arrows and i + 1 < len(names):
            at = f"{x + width + 3:.1f} {top + BOX // 2}"
            shapes.append(f'<path class="arrow" d="M{at}h8m-4-4 4 4-4 4"/>')
    return shapes


if __name__ == "__main__":
    PICTURE.write_text(draw_layers(), encoding="utf-8")
