"""The picture of the layers is up to date: a box for each part, and imports point downwards."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from check_layers import CORE, PYTHON  # noqa: E402
from draw_layers import BANDS, PICTURE, draw_layers  # noqa: E402

# Boxes of other things than parts of the package.
OTHERS = {"core", "bindings (nanobind)"}


def test_the_picture_is_what_the_tool_draws() -> None:
    assert PICTURE.read_text("utf-8") == draw_layers()


def test_every_part_has_a_box() -> None:
    shown = set().union(*(band.parts for band in BANDS))
    assert shown - OTHERS == PYTHON.keys() - {"__main__"}
    core = next(band for band in BANDS if band.inside == "core")
    assert sorted(name for row in core.rows for name in row) == sorted(CORE)


def test_boxes_within_a_part_are_its_folders_and_files() -> None:
    for band in BANDS:
        if band.inside:
            folder = ROOT / ("core" if band.inside == "core" else f"src/arboleda/{band.inside}")
            boxes = {name for row in band.rows for name in row}
            folders = {path.name for path in folder.iterdir() if (path / "__init__.py").exists()}
            assert folders <= boxes
            assert all((folder / name).exists() for name in boxes)


def test_imports_point_downwards() -> None:
    place = {part: i for i, band in enumerate(BANDS) for part in band.parts}
    upwards = [
        (part, other)
        for part, others in PYTHON.items()
        for other in others
        if part in place and place[other] < place[part]
    ]
    assert upwards == []
