"""The page in a real browser: it renders, sorts, fits and makes no requests."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from tests.browsing import BEYOND, CLASHES, CONTRAST, Opener

from arboleda.reports.study.page import write_report

Facts = dict[str, Any]

TASKS = ["binary", "multiclass", "regression"]


@pytest.fixture(scope="module")
def report_file(
    make_facts: Callable[..., Facts], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The report of a task, drawn once for all tests."""
    folder = tmp_path_factory.mktemp("reports")

    def draw(task: str) -> Path:
        path = folder / f"{task}.html"
        if not path.exists():
            write_report(make_facts(task), path)
        return path

    return draw


@pytest.mark.parametrize("task", TASKS)
def test_the_page_draws_without_complaint_or_request(
    open_page: Opener, report_file: Callable[[str], Path], task: str
) -> None:
    path = report_file(task)
    opened = open_page(path)
    opened.page.click("#open-all")
    sizes = opened.page.evaluate(
        """[...document.querySelectorAll("svg")].filter(s => s.checkVisibility())
           .map(s => s.getBoundingClientRect()).map(r => [r.width, r.height])"""
    )
    assert len(sizes) > 20
    assert all(width > 40 and height > 15 for width, height in sizes)
    assert opened.requests == [path.as_uri()]
    assert opened.complaints == []


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("width", [1280, 800, 390])
def test_the_page_fits_its_window(
    open_page: Opener, report_file: Callable[[str], Path], task: str, width: int
) -> None:
    opened = open_page(report_file(task), width)
    opened.page.click("#open-all")
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.evaluate(BEYOND) == []


@pytest.mark.parametrize("task", TASKS)
def test_texts_of_figures_neither_overflow_nor_overlap(
    open_page: Opener, report_file: Callable[[str], Path], task: str
) -> None:
    opened = open_page(report_file(task))
    bad = opened.page.evaluate(CLASHES)
    assert bad == []


def names(page: Page) -> list[str]:
    return page.locator(".board tbody th .name").all_inner_texts()


def test_a_click_on_a_header_sorts_both_ways(
    open_page: Opener, report_file: Callable[[str], Path], make_facts: Callable[..., Facts]
) -> None:
    models = make_facts("binary")["models"]
    page = open_page(report_file("binary")).page
    ranked = [model["name"] for model in models]
    assert names(page) == ranked
    loss = page.locator(".board thead th", has_text="Log-loss")
    loss.locator("button").click()
    assert loss.get_attribute("aria-sort") == "descending"
    # What failed has no value and stays at the end in both directions.
    assert names(page) == [*reversed(ranked[:-1]), ranked[-1]]
    loss.locator("button").click()
    assert loss.get_attribute("aria-sort") == "ascending"
    assert names(page) == ranked
    assert page.locator(".board th[aria-sort]").count() == 1


def test_headers_sort_from_the_keyboard_and_texts_by_the_alphabet(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    page = open_page(report_file("binary")).page
    page.locator(".board thead button", has_text="Model").focus()
    page.keyboard.press("Enter")
    assert names(page) == sorted(names(page), key=str.lower)
    page.keyboard.press("Space")
    assert names(page) == sorted(names(page), key=str.lower, reverse=True)


def test_numbers_in_other_tables_sort_by_size(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    page = open_page(report_file("multiclass")).page
    page.locator("#model-1 .side thead button", has_text="Recall").click()
    cells = page.locator("#model-1 .side tbody").last.locator("tr td:nth-child(3)")
    values = [float(text) for text in cells.all_inner_texts()]
    assert len(values) == 26
    assert values == sorted(values, reverse=True)


def test_a_link_in_the_leaderboard_opens_its_model(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    page = open_page(report_file("binary")).page
    assert page.locator("#model-3[open]").count() == 0
    page.locator(".board tbody a").nth(2).click()
    page.wait_for_selector("#model-3[open]")
    assert page.locator("#model-3 .confusion").is_visible()


def test_the_theme_follows_the_system_setting(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    def luminance(page: Page, script: str) -> float:
        red, green, blue = map(int, re.findall(r"\d+", page.evaluate(script))[:3])
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    paper = "getComputedStyle(document.body).backgroundColor"
    tick = "getComputedStyle(document.querySelector('.boxes .wide text')).fill"
    light = open_page(report_file("binary"), color_scheme="light").page
    dark = open_page(report_file("binary"), color_scheme="dark").page
    assert luminance(light, paper) > 240 > 110 > luminance(light, tick)
    assert luminance(dark, paper) < 40 < 150 < luminance(dark, tick)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_contrast_with_the_background(
    open_page: Opener, report_file: Callable[[str], Path], scheme: str
) -> None:
    """At least 4.5 to 1, as the accessibility guidelines (WCAG 2.2, 1.4.3) require for text."""
    page = open_page(report_file("binary"), color_scheme=scheme).page
    assert page.evaluate(CONTRAST) == []


def test_a_phone_shows_the_narrow_box_plot(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    opened = open_page(report_file("regression"), 390)
    opened.page.locator("#folds summary").click()
    assert not opened.page.locator("#folds .wide svg").is_visible()
    assert opened.box("#folds .narrow svg")["width"] > 300


def test_the_page_is_complete_without_scripts(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    page = open_page(report_file("binary"), java_script_enabled=False).page
    page.locator("#models .others > summary").click()
    assert page.locator("#model-2 > summary").is_visible()
    page.locator("#model-2 > summary").click()
    assert page.locator("#model-2 .confusion").is_visible()


def test_hostile_texts_do_nothing(
    open_page: Opener, make_facts: Callable[..., Facts], tmp_path: Path
) -> None:
    attack = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>"
    facts = make_facts("binary", classes=[f"{attack}a", f"{attack}b"])
    facts["study"] |= {"table": attack, "target": attack}
    for column in facts["data"]["columns"]:
        column["name"] = attack
    for model in facts["models"]:
        model |= {"name": attack, "error": attack, "note": attack}
    for node in facts["tree"]["nodes"]:
        node["feature"] = node["feature"] and attack
    write_report(facts, tmp_path / "report.html")
    opened = open_page(tmp_path / "report.html", 390)
    opened.page.click("#open-all")
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("script").count() == 1
    assert opened.page.title() == f"{attack} from {attack}: arboleda study"
    assert opened.page.locator("h1").inner_text() == f"{attack} from {attack}"
    assert opened.requests == [(tmp_path / "report.html").as_uri()]
    assert opened.complaints == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_injected_script_does_not_run(
    open_page: Opener, report_file: Callable[[str], Path], tmp_path: Path
) -> None:
    """The policy is a second defence: even markup that escaped every check can do nothing."""
    page = report_file("binary").read_text("utf-8")
    attack = "<script>document.title='x'</script><img src='https://example.org/x' onerror='y()'>"
    broken = tmp_path / "broken.html"
    broken.write_text(page.replace("<main>", f"<main>{attack}"), "utf-8")
    opened = open_page(broken)
    assert opened.page.title() == "kind from flower beds.csv.gz: arboleda study"
    assert opened.requests == [broken.as_uri()]
    assert any("Content Security Policy" in text for text in opened.complaints)
