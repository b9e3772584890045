"""The page of an exploration in a real browser: it renders, fits, filters, requests nothing."""

import copy
from pathlib import Path

import pytest
from tests.browsing import BEYOND, CLASHES, CONTRAST, Opener

from arboleda.study import Exploration


@pytest.fixture(scope="module")
def page_file(explored: Exploration, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored.save(tmp_path_factory.mktemp("explored") / "flowers.html")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_renders_and_fits_without_errors_or_requests(
    open_page: Opener, page_file: Path, width: int
) -> None:
    opened = open_page(page_file, width)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.evaluate(BEYOND) == []
    assert opened.page.evaluate(CLASHES) == []
    assert opened.page.locator("svg.plot").count() >= 8
    assert opened.requests == [page_file.as_uri()]
    assert opened.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_contrast_with_the_background(
    open_page: Opener, page_file: Path, scheme: str
) -> None:
    assert open_page(page_file, color_scheme=scheme).page.evaluate(CONTRAST) == []


def test_numbers_on_the_page_match_the_facts(
    open_page: Opener, page_file: Path, explored: Exploration
) -> None:
    page = open_page(page_file).page
    relations = explored.facts["target_relations"]["columns"]
    shown = page.locator(".telling tbody td:nth-child(2)").all_inner_texts()
    assert shown == [f"{column['information']:.3f}" for column in relations]
    page.locator(".telling thead button", has_text="Column").focus()
    page.keyboard.press("Enter")
    names = page.locator(".telling tbody th").all_inner_texts()
    assert names == sorted(column["name"] for column in relations)


def test_many_columns_can_be_filtered_by_name_from_the_keyboard(
    open_page: Opener, explored: Exploration, tmp_path: Path
) -> None:
    facts = copy.deepcopy(explored.facts)
    facts["columns"] = [facts["columns"][0] | {"name": f"gene {i}"} for i in range(90)]
    page = open_page(Exploration(facts).save(tmp_path / "many.html"), 390).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    rows = page.locator("#all-columns tbody tr")
    assert rows.count() == 90
    page.locator("[data-filter]").focus()
    page.keyboard.type("GENE 8")
    visible = page.locator("#all-columns tbody th:visible").all_inner_texts()
    assert visible == ["gene 8", *(f"gene 8{digit}" for digit in range(10))]
    assert page.locator("output").inner_text() == "11 of 90"
