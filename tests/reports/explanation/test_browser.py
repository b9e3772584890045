"""The pages in a real browser: they render, fit and make no requests, also with long names."""

import copy
from pathlib import Path
from typing import Any

import pytest
from tests.browsing import BEYOND, CLASHES, CONTRAST, STRAYED, Opener
from tests.reports.explanation.test_page import poisoned

from arboleda.study import Explanation

LONG = "a name of forty characters and a number "


@pytest.fixture(params=["model", "row"])
def explained(
    request: pytest.FixtureRequest, of_model: Explanation, of_row: Explanation
) -> Explanation:
    return of_model if request.param == "model" else of_row


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_renders_and_fits_without_errors_or_requests(
    open_page: Opener, explained: Explanation, tmp_path: Path, width: int
) -> None:
    file = explained.save(tmp_path / "page.html")
    opened = open_page(file, width)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.evaluate(BEYOND) == []
    assert opened.page.evaluate(CLASHES) == []
    assert opened.requests == [file.as_uri()]
    assert opened.complaints == []


@pytest.mark.parametrize("width", [1280, 390])
def test_dots_stay_on_their_track(
    open_page: Opener, of_row: Explanation, tmp_path: Path, width: int
) -> None:
    beyond = open_page(of_row.save(tmp_path / "page.html"), width).page.evaluate(STRAYED)
    assert beyond
    assert max(beyond) < 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_contrast_with_the_background(
    open_page: Opener, explained: Explanation, tmp_path: Path, scheme: str
) -> None:
    file = explained.save(tmp_path / "page.html")
    assert open_page(file, color_scheme=scheme).page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_long_names_neither_overflow_nor_overlap(
    open_page: Opener, explained: Explanation, tmp_path: Path, width: int
) -> None:
    facts: dict[str, Any] = poisoned(copy.deepcopy(explained.facts), LONG)
    page = open_page(Explanation(facts).save(tmp_path / "long.html"), width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(CLASHES) == []


def test_a_click_on_a_header_sorts_the_column(
    open_page: Opener, of_model: Explanation, tmp_path: Path
) -> None:
    page = open_page(of_model.save(tmp_path / "page.html")).page
    page.locator(".drivers thead button", has_text="Column").click()
    names = page.locator(".drivers tbody th").all_inner_texts()
    assert names == sorted(names)
    page.locator(".drivers thead button").nth(1).click()
    columns = of_model.facts["importance"]["columns"]
    names = page.locator(".drivers tbody th").all_inner_texts()
    assert names[0] == columns[0]["name"]
