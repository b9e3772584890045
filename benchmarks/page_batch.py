"""Time the prediction of a CSV file by a page, in Chromium.

    python benchmarks/page_batch.py [--rows 100000] [--runs 5] [--digits 17]

Binary classification with 20 columns by 500 trees of 31 leaves. The page reads the file, predicts
it in workers and makes the new file; the clock runs from the choice of the file until the page
offers the result. Prints the best and the median time. Needs playwright and Chromium.
"""

import argparse
import shutil
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

import arboleda


def write_files(folder: Path, n_rows: int, digits: int) -> None:
    """Write page.html and rows.csv."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 20)), columns=[f"x{i}" for i in range(20)])
    y = X["x0"] + X["x1"] * X["x2"] + np.sin(3 * X["x3"]) + rng.normal(size=n_rows) > 0
    model = arboleda.HistGradientBoostingClassifier(
        max_iter=500, max_leaf_nodes=31, early_stopping=False, random_state=0
    ).fit(X.head(100_000), y.head(100_000).map({True: "a", False: "b"}))
    arboleda.export_page(model, folder / "page.html", X.head(5000))
    X.to_csv(folder / "rows.csv", index=False, float_format=f"%.{digits}g")


def time_page(folder: Path, runs: int) -> list[float]:
    """Return the seconds of each run, each on a newly opened page."""
    seconds = []
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        for _ in range(runs):
            page.goto((folder / "page.html").as_uri())
            page.wait_for_selector(".bars li")
            begin = time.perf_counter()
            page.set_input_files("#file", folder / "rows.csv")
            page.wait_for_selector(".drop p a", timeout=600_000)
            seconds.append(time.perf_counter() - begin)
        browser.close()
    return seconds


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--digits", type=int, default=17, help="digits of the numbers in the file")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, options.rows, options.digits)
        seconds = time_page(folder, options.runs)
        size = (folder / "rows.csv").stat().st_size / 1e6
    print(f"arboleda {arboleda.__version__}, {options.rows:,} rows of 20 columns, {size:.1f} MB")
    for what, found in (("best", min(seconds)), ("median", statistics.median(seconds))):
        print(f"{what}: {found:.2f} s, {options.rows / found:,.0f} rows a second")


if __name__ == "__main__":
    main()
