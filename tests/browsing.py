"""Pages in the system's Chromium: every request and console message is recorded."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

Opener = Callable[..., "Opened"]

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


_STARTED: list[Browser] = []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all folders of tests: each has a fixture of its own, the first of them starts it."""
    if _STARTED:
        yield _STARTED[0]
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=system_browser(), args=SWITCHES)
        _STARTED.append(chromium)
        yield chromium
        _STARTED.clear()
        chromium.close()


@dataclass
class Opened:
    """A page, and the messages and requests that it made while it was open."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def box(self, selector: str) -> dict[str, float]:
        found = self.page.locator(selector).first.bounding_box()
        assert found is not None, selector
        return dict(found)


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


# Elements that reach beyond the window, apart from scrollable ones.
BEYOND = """[...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll, svg")
             && e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
             .map(e => e.outerHTML.slice(0, 90))"""

# For each dot on a track, how far its centre lies beyond the ends of the line, in pixels.
STRAYED = """[...document.querySelectorAll(".track .at")].map(dot => {
  const box = dot.parentElement.getBoundingClientRect();
  const style = getComputedStyle(dot.parentElement);
  const mine = dot.getBoundingClientRect();
  const centre = (mine.left + mine.right) / 2;
  return Math.max(box.left + parseFloat(style.paddingLeft) - centre,
                  centre - box.right + parseFloat(style.paddingRight));
})"""

# Texts of figures that overflow their figure or overlap another text.
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

# Texts with a contrast to the background below 4.5 to 1.
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
