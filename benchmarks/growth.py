"""Time gradient boosting by the number of rows and of threads: seconds and memory per row.

    python benchmarks/growth.py                                    two threads, six sizes
    python benchmarks/growth.py --rows 1000000 --threads 1,2,4,8   by threads
    python benchmarks/growth.py --rows 1000000 --peer lightgbm     another library's loss, too

The tables have 10^5 to 3 x 10^7 rows, 20 columns and two classes; the model has 30 trees of 31
leaves. Every measurement runs in a separate process. Memory is the peak during the fit minus the
memory before it, so the table itself is not counted. The loss is the log-loss on 200,000 other
rows; LightGBM sums gradients in 64-bit floating-point numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boosting import format_version, read_resident_bytes

COLUMNS, TREES, LEAVES, HELD_ROWS, BLOCK = 20, 30, 31, 200_000, 1_000_000
ROWS = "100000,300000,1000000,3000000,10000000,30000000"
Floats = npt.NDArray[np.float32]


def make_table(rows: int, seed: int) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Generate a table and its classes, by blocks of rows, so that memory holds it once."""
    x, y = np.empty((rows, COLUMNS), np.float32), np.empty(rows, np.int32)
    for start in range(0, rows, BLOCK):
        random = np.random.default_rng([seed, start])
        block = x[start : start + BLOCK]
        random.standard_normal(out=block, dtype=np.float32)
        score = block[:, 0] * block[:, 1] + np.abs(block[:, 2]) - 0.8
        score += np.sin(2 * block[:, 3]) + 0.5 * block[:, 4]
        y[start : start + BLOCK] = random.random(len(block)) < 1 / (1 + np.exp(-score))
    return x, y


def fit(library: str, x: Floats, y: npt.NDArray[np.int32], threads: int, trees: int) -> Any:
    """Fit a library's boosted trees."""
    if library == "arboleda":
        from arboleda import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_iter=trees,
            max_leaf_nodes=LEAVES,
            early_stopping=False,
            n_jobs=threads,
        ).fit(x, y)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=trees, num_leaves=LEAVES, n_jobs=threads, verbosity=-1, reg_lambda=0.0
    ).fit(x, y)


def measure(library: str, rows: int, threads: int) -> dict[str, float]:
    """Run one fit in this process."""
    from sklearn.metrics import log_loss

    x, y = make_table(rows, seed=0)
    fit(library, x[:2000], y[:2000], threads, trees=1)  # imports and thread starts are not timed
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = read_resident_bytes("VmRSS")
    start, start_cpu = time.perf_counter(), time.process_time()
    model = fit(library, x, y, threads, TREES)
    result = {
        "fit_s": time.perf_counter() - start,
        "cpu_s": time.process_time() - start_cpu,
        "peak": read_resident_bytes("VmHWM") - before,
    }
    held, classes = make_table(HELD_ROWS, seed=1)
    return result | {"log_loss": float(log_loss(classes, model.predict_proba(held)))}


def run(library: str, rows: int, threads: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    command = [sys.executable, __file__, "--one", library, "--rows", str(rows)]
    done = subprocess.run(
        [*command, "--threads", str(threads)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{library}, {rows:,} rows: {done.stderr.strip().splitlines()[-1]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare(library: str, rows: list[int], threads: list[int], repeats: int) -> None:
    """Print a Markdown table of one library's times."""
    print(f"\n## {library}\n")
    print("| rows | threads | s | CPU s | ns per row and tree | peak, bytes per row | log-loss |")
    print("|---|---|---|---|---|---|---|")
    for n in rows:
        for t in threads:
            runs = [run(library, n, t) for _ in range(repeats)]
            found = {key: statistics.median(r[key] for r in runs) for key in runs[0]}
            print(
                f"| {n:,} | {t} | {found['fit_s']:.3f} | {found['cpu_s']:.2f} | "
                f"{1e9 * found['fit_s'] / n / TREES:.1f} | {found['peak'] / n:.0f} | "
                f"{found['log_loss']:.5f} |",
                flush=True,
            )


def main() -> None:
    """Run the benchmark with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", default=ROWS, help="numbers of rows, separated by commas")
    parser.add_argument("--threads", default="2", help="numbers of threads, separated by commas")
    parser.add_argument("--peer", choices=("lightgbm",), help="another library to measure, too")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rows = [int(each) for each in arguments.rows.split(",")]
    threads = [int(each) for each in arguments.threads.split(",")]
    if arguments.one:
        print(json.dumps(measure(arguments.one, rows[0], threads[0])))
        return
    listed = ", ".join(format_version(package) for package in ("arboleda", "lightgbm", "numpy"))
    forced = os.environ.get("ARBOLEDA_FORCE_SIMD", "as the processor has")
    print(f"{listed}, Python {platform.python_version()}; {os.cpu_count()} cores; SIMD {forced}")
    for library in ("arboleda", *([arguments.peer] if arguments.peer else [])):
        compare(library, rows, threads, arguments.repeats)


if __name__ == "__main__":
    main()
