"""The page in a real browser: it draws, sorts, fits and asks nobody for anything."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from arboleda.report import write_report

Facts = dict[str, Any]
Opener = Callable[..., "Opened"]

TASKS = ["binary", "multiclass", "regression"]
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


def system_browser() -> str:
    """Path of the system's Chromium; without one the tests are skipped, or fail where they must."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        reason = f"none of {', '.join(names)} is installed"
        if os.environ.get("ARBOLEDA_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(f"{reason}; set ARBOLEDA_REQUIRE_BROWSER=1 to make this a failure")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=system_browser(), args=SWITCHES)
        yield chromium
        chromium.close()


@dataclass
class Opened:
    """A page and what it said and asked for while it was open."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def box(self, selector: str) -> dict[str, float]:
        found = self.page.locator(selector).first.bounding_box()
        assert found is not None, selector
        return dict(found)


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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    contexts = []

    def visit(path: Path, width: int = 1280, **settings: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        opened = Opened(context.new_page())

        def guard(route: Route) -> None:
            address = route.request.url
            opened.requests.append(address)
            if address == path.as_uri():
                route.continue_()
            else:
                route.abort()

        context.route("**/*", guard)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
        opened.page.goto(path.as_uri())
        return opened

    yield visit
    for context in contexts:
        context.close()


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
    beyond = opened.page.evaluate(
        """[...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll, svg")
             && e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
             .map(e => e.outerHTML.slice(0, 90))"""
    )
    assert beyond == []


CLASHES = """() => [...document.querySelectorAll("svg.plot, svg.arboleda-tree")].flatMap(svg => {
  if (!svg.checkVisibility()) return [];
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")];
  const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
  const out = boxes.filter(([, b]) => b.left < frame.left - 1 || b.top < frame.top - 1
    || b.right > frame.right + 1 || b.bottom > frame.bottom + 1).map(([text]) => text);
  boxes.forEach(([text, a], i) => boxes.slice(0, i).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 4) out.push(text + " | " + other);
  }));
  return out;
})"""


@pytest.mark.parametrize("task", TASKS)
def test_no_text_of_a_figure_leaves_it_or_meets_another(
    open_page: Opener, report_file: Callable[[str], Path], task: str
) -> None:
    opened = open_page(report_file(task))
    bad = opened.page.evaluate(CLASHES)
    assert bad == []


def names(page: Page) -> list[str]:
    return page.locator(".board tbody th").all_inner_texts()


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


def test_the_theme_follows_the_reader(
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


CONTRAST = """() => {
  const light = c => {
    const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const bad = [];
  for (const e of document.querySelectorAll("p, dt, dd, th, td, a, li, button, summary, text")) {
    if (!e.checkVisibility() || e.closest("pre, .confusion") || !e.textContent.trim()) continue;
    const style = getComputedStyle(e);
    const own = light(e.tagName === "text" ? style.fill : style.color);
    const ratio = (Math.max(own, paper) + .05) / (Math.min(own, paper) + .05);
    if (ratio < 4.5) bad.push([e.outerHTML.slice(0, 80), ratio]);
  }
  return bad;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_the_paper(
    open_page: Opener, report_file: Callable[[str], Path], scheme: str
) -> None:
    """At least 4.5 to 1, as the accessibility guidelines (WCAG 2.2, 1.4.3) ask of small text."""
    page = open_page(report_file("binary"), color_scheme=scheme).page
    assert page.evaluate(CONTRAST) == []


def test_on_a_phone_the_narrow_box_plot_stands_in(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    opened = open_page(report_file("regression"), 390)
    assert not opened.page.locator(".boxes .wide svg").is_visible()
    assert opened.box(".boxes .narrow svg")["width"] > 300


def test_without_script_everything_is_still_there(
    open_page: Opener, report_file: Callable[[str], Path]
) -> None:
    page = open_page(report_file("binary"), java_script_enabled=False).page
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


def test_a_script_that_slipped_in_would_not_run(
    open_page: Opener, report_file: Callable[[str], Path], tmp_path: Path
) -> None:
    """The policy is a second wall: even markup that escaped every check can do nothing."""
    page = report_file("binary").read_text("utf-8")
    attack = "<script>document.title='x'</script><img src='https://example.org/x' onerror='y()'>"
    broken = tmp_path / "broken.html"
    broken.write_text(page.replace("<main>", f"<main>{attack}"), "utf-8")
    opened = open_page(broken)
    assert opened.page.title() == "kind from flower beds.csv.gz: arboleda study"
    assert opened.requests == [broken.as_uri()]
    assert any("Content Security Policy" in text for text in opened.complaints)
