"""The pictures of the guide are what the code draws today.

To redraw them after a change: ARBOLEDA_DRAW=1 python -m pytest tests/common/test_pictures.py
"""

import os
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from arboleda import DecisionTreeClassifier

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "gallery" / "examples"


def iris() -> str:
    table = load_iris(as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3).fit(table.data, table.target)
    return tree.to_svg(class_names=table.target_names)


def categories() -> str:
    example = runpy.run_path(str(EXAMPLES / "trees" / "plot_reading_categories.py"))
    return str(example["tree"].to_svg())


@pytest.mark.parametrize(("name", "draw"), [("iris_tree", iris), ("categories_tree", categories)])
def test_the_picture_is_up_to_date(name: str, draw: Callable[[], str]) -> None:
    path = ROOT / "docs" / "guide" / "pictures" / f"{name}.svg"
    drawn = draw() + "\n"
    if os.environ.get("ARBOLEDA_DRAW"):
        path.write_text(drawn, "utf-8")
    assert path.read_text("utf-8") == drawn
