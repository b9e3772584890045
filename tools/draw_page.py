"""Draw a page in which a model predicts, as a PNG for the guide.

    python tools/draw_page.py DATA [docs/_static/page.png]

DATA is the folder of data sets, with adult/adult.csv.gz. Needs Chromium and pandas.
"""

import io
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright

import arboleda

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "_static" / "page.png"
COLUMNS = [
    "age", "education", "marital-status", "occupation", "capital-gain", "capital-loss",
    "hours-per-week", "gender",
]  # fmt: skip


def main(data: Path, output: Path = PICTURE) -> None:
    """Fit a model of incomes, write its page, and draw it."""
    table = pd.read_csv(data / "adult" / "adult.csv.gz", na_values="?", skipinitialspace=True)
    X = table[COLUMNS].copy()
    for name in X.select_dtypes(exclude="number").columns:
        X[name] = X[name].astype("category")
    model = arboleda.HistGradientBoostingClassifier(
        max_iter=150, categorical_features="from_dtype", random_state=0
    ).fit(X, table.iloc[:, -1])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        arboleda.export_page(model, path, X, title="Who earns more than $50,000?", target="income")
        picture = Image.open(io.BytesIO(take_screenshot(path)))
    picture.convert("RGB").quantize(256, dither=Image.Dither(0)).save(output, optimize=True)
    print(f"{output}: {picture.width} x {picture.height}, {output.stat().st_size / 1e3:.0f} kB")


def take_screenshot(path: Path) -> bytes:
    """Return the page for a row that somebody has typed."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": 1240, "height": 1000}, device_scale_factor=1.5, color_scheme="light"
        )
        page.goto(path.as_uri())
        page.wait_for_selector(".plot rect")
        page.select_option("#field-2", "Married-civ-spouse")
        page.select_option(".charts select", "0")
        page.fill("#field-6", "52")
        page.wait_for_timeout(1500)
        end = page.locator(".charts").bounding_box()
        assert end is not None
        clip = {"x": 0.0, "y": 0.0, "width": 1240.0, "height": end["y"] + end["height"] + 20}
        screenshot = page.screenshot(clip=clip, full_page=True)
        browser.close()
    return screenshot


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
