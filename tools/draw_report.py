"""Draw the top of a study's report as a PNG for the README: light, and below 300 kB.

    python tools/draw_report.py [STUDY] [docs/_static/report.png]

Without a folder, the study of `make study` is run first: the picture of the README shows it, with
its duration, so the machine should be idle. Needs Chromium.
"""

import io
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

from arboleda import Study

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 1240, 1300
LIMIT_KB = 300
PICTURE = ROOT / "docs" / "_static" / "report.png"


def main(study: Path | None = None, output: Path = PICTURE) -> int:
    """Draw the report of a study, or of a new one; return 1 if the picture is too large."""
    if study is None:
        with TemporaryDirectory() as folder:
            Study("breast_cancer", target="target", output_dir=folder).run(progress=True)
            return main(Path(folder), output)
    picture = Image.open(io.BytesIO(take_screenshot(study / "report.html")))
    # A page has few colours: with 256 of them the file has a third of the size.
    picture.convert("RGB").quantize(256, dither=Image.Dither(0)).save(output, optimize=True)
    size = output.stat().st_size / 1e3
    print(f"{output}: {picture.width} x {picture.height}, {size:.0f} kB")
    return int(size > LIMIT_KB)


def take_screenshot(report: Path) -> bytes:
    """Return the top of a page as a PNG, with one and a half pixels for one of the page."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=1.5,
            color_scheme="light",
        )
        page.goto(report.resolve().as_uri())
        boxes = [heading.bounding_box() for heading in page.locator("h2").all()]
        # The picture ends before the last section that begins in it, if that is near its end.
        ends = [box["y"] - 24 for box in boxes if box and 0.6 * HEIGHT < box["y"] < HEIGHT]
        clip = {"x": 0.0, "y": 0.0, "width": WIDTH, "height": max(ends, default=HEIGHT)}
        screenshot = page.screenshot(clip=clip)
        browser.close()
    return screenshot


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
