"""The page is short: what matters is open; links, keys and print unfold the rest."""

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browsing import Opener

from arboleda.reports.study.page import render_report

Facts = dict[str, Any]

HEIGHT = "document.documentElement.scrollHeight"
# The titles of the folded sections whose content is not drawn.
HIDDEN = """[...document.querySelectorAll("details.fold")].filter(
  part => !part.lastElementChild.checkVisibility({contentVisibilityAuto: true}))
  .map(part => part.querySelector("h2").textContent)"""


@pytest.fixture(scope="module")
def page_file(
    make_facts: Callable[..., Facts], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The report of a task with as many models and columns as a quick study of breast_cancer."""
    folder = tmp_path_factory.mktemp("reports")

    def draw(task: str) -> Path:
        path = folder / f"{task}.html"
        if not path.exists():
            facts = make_facts(task, n_columns=31) | {"costs": None, "cautions": []}
            *fitted, failed = facts["models"]
            for model in fitted:
                # Only a study that asks for them has these.
                model["test"] |= {"groups": None, "reject": None, "costs": None}
            more = [copy.deepcopy(model) for model in fitted * 2][: 19 - len(fitted)]
            facts["models"] = [*fitted, *more, failed]
            path.write_text(render_report(facts), "utf-8")
        return path

    return draw


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_the_page_is_at_most_8000_pixels_high_on_a_desktop(
    open_page: Opener, page_file: Callable[[str], Path], task: str
) -> None:
    path = page_file(task)
    assert open_page(path, 1280).page.evaluate(HEIGHT) <= 8000
    phone = open_page(path, 390).page
    assert phone.evaluate(HEIGHT) <= 15000
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_navigation_stays_in_view_and_is_one_line(
    open_page: Opener, page_file: Callable[[str], Path]
) -> None:
    path = page_file("binary")
    for width, most in ((1280, 50), (390, 50)):
        opened = open_page(path, width)
        opened.page.evaluate("scrollTo(0, 3000)")
        box = opened.box("nav.bar")
        assert box["y"] == 0
        assert box["height"] <= most
        assert opened.page.locator("nav.bar > a").count() <= 9


def test_the_menu_lists_every_section_and_closes_after_a_choice(
    open_page: Opener, page_file: Callable[[str], Path]
) -> None:
    page = open_page(page_file("binary")).page
    sections = page.evaluate("[...document.querySelectorAll('main > section')].map(s => s.id)")
    linked = page.evaluate(
        "[...document.querySelectorAll('.menu a')].map(a => a.getAttribute('href').slice(1))"
    )
    assert linked == sections
    page.locator(".menu > summary").focus()
    page.keyboard.press("Enter")
    page.locator(".menu a[href='#method']").click()
    page.wait_for_selector("#method .pairs", state="visible")
    assert not page.locator(".menu").evaluate("menu => menu.open")
    # The heading is not covered by the navigation.
    top = page.evaluate("document.querySelector('#method-title').getBoundingClientRect().top")
    assert top >= page.evaluate("document.querySelector('nav').getBoundingClientRect().bottom")
    page.locator(".menu > summary").press("Enter")
    page.keyboard.press("Escape")
    assert not page.locator(".menu").evaluate("menu => menu.open")


def test_print_unfolds_the_sections_without_a_script(
    open_page: Opener, page_file: Callable[[str], Path]
) -> None:
    page = open_page(page_file("binary"), java_script_enabled=False).page
    assert len(page.evaluate(HIDDEN)) > 8
    page.emulate_media(media="print")
    page.wait_for_function(f"{HIDDEN}.length === 0")  # once the browser has laid the page out
    assert not page.locator("nav.bar").is_visible()


def test_every_plot_has_its_values_under_the_pointer_and_for_screen_readers(
    make_facts: Callable[..., Facts],
) -> None:
    for task in ("binary", "multiclass", "regression"):
        page = render_report(make_facts(task))
        plots = re.findall(r'<svg class="plot".*?</svg>', page, re.DOTALL)
        assert len(plots) > 10
        for plot in plots:
            name = re.search(r'aria-describedby="([^"]+)-values"', plot)
            assert name is not None, plot[:200]
            assert f'<desc id="{name[1]}-values">' in plot
            assert len(re.findall(r"<title>[^<]+</title></(?:circle|rect)>", plot)) >= 3


def test_a_pointer_finds_the_value_of_a_bar(
    open_page: Opener, page_file: Callable[[str], Path]
) -> None:
    page = open_page(page_file("binary")).page
    page.locator("#importance .wide svg").scroll_into_view_if_needed()
    title = page.evaluate(
        """() => {
          const svg = document.querySelector("#importance .wide svg");
          const box = svg.querySelector(".hints rect").getBoundingClientRect();
          const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return found.querySelector("title").textContent;
        }"""
    )
    assert re.fullmatch(r".+: 0\.\d+ ± 0\.\d+", title)
