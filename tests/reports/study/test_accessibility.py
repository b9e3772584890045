"""Nothing serious is found by axe: names, roles, contrast, headings, tables, in both themes."""

import importlib.util
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.browsing import Opener

from arboleda.reports.study.page import render_report

Facts = dict[str, Any]

RUN = """() => axe.run(document).then(found => found.violations
  .filter(v => ["serious", "critical"].includes(v.impact))
  .map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 120))]))"""


def axe_script() -> str:
    """The script of axe-core, which the package axe-selenium-python carries."""
    found = importlib.util.find_spec("axe_selenium_python")
    if found is None or not found.submodule_search_locations:
        pytest.skip("axe-selenium-python, which carries axe-core, is not installed")
    folder = Path(found.submodule_search_locations[0])
    return (folder / "node_modules/axe-core/axe.min.js").read_text("utf-8")


@pytest.mark.parametrize(
    ("task", "language", "scheme", "width"),
    [("binary", "es", "dark", 390), ("regression", "en", "light", 1280)],
)
def test_axe_finds_nothing_serious(
    open_page: Opener,
    make_facts: Callable[..., Facts],
    tmp_path: Path,
    task: str,
    language: str,
    scheme: str,
    width: int,
) -> None:
    script = axe_script()
    # As many models as have a field to find them by.
    facts = make_facts(task, n_columns=6)
    path = tmp_path / "report.html"
    path.write_text(render_report(facts, language), "utf-8")
    page = open_page(path, width, color_scheme=scheme).page
    page.click("#open-all")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.evaluate(script)
    assert page.evaluate(RUN) == []


def test_every_control_is_reached_by_keys_and_shows_its_focus(
    open_page: Opener, make_facts: Callable[..., Facts], tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    facts = make_facts("binary", n_columns=4)
    facts["models"] = facts["models"][:2]
    path.write_text(render_report(facts), "utf-8")
    page = open_page(path).page
    controls = page.evaluate(
        """[...document.querySelectorAll('a, button, input, summary, [tabindex="0"]')]
           .filter(e => e.checkVisibility()).map((e, place) => e.dataset.place = place).length"""
    )
    reached = set()
    for _ in range(controls):
        page.keyboard.press("Tab")
        place, outline = page.evaluate(
            """() => [document.activeElement.dataset.place,
                      getComputedStyle(document.activeElement).outlineStyle]"""
        )
        reached.add(place)
        assert outline != "none", place
    assert len(reached) == controls > 20


def test_the_switch_toggles_the_dark_theme(
    open_page: Opener, make_facts: Callable[..., Facts], tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    facts = make_facts("binary", n_columns=4)
    facts["models"] = facts["models"][:1]
    path.write_text(render_report(facts), "utf-8")
    page = open_page(path, color_scheme="light").page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    assert page.locator("#theme").inner_text() == "Light page"
    assert page.evaluate(paper) != light
    page.keyboard.press("Enter")
    assert page.evaluate(paper) == light
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(paper) == light


def test_headings_are_ordered_and_sections_are_named(
    make_facts: Callable[..., Facts],
) -> None:
    page = render_report(make_facts("binary"))
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    named = re.findall(r'<section id="([a-z]+)" aria-labelledby="([a-z-]+)"', page)
    assert len(named) > 12
    assert all(f'id="{label}"' in page for _, label in named)
