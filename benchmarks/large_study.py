"""Measure whether a study of a large table ends within its time and memory.

    python benchmarks/large_study.py [--rows 1000000] [--budget 10m] [--jobs 2] [--out FOLDER]

The table is generated: 60 columns (48 numbers, of which eight have missing values, eleven
categories of three to a thousand levels, and a date), and two classes that depend on a few of them,
with noise. Preset `quick` has a time budget. Prints the seconds, the peak memory of all processes
together (shared memory counted once; Linux) with the time and the processes' parts, and the models
with their scores.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

LEVELS = (3, 5, 8, 12, 20, 40, 80, 150, 300, 600, 1000)
N_NUMBERS, N_GAPS = 48, 8
# Copies live for less than a second.
SAMPLING_SECONDS = 0.2


def make_table(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Generate the table; its target is "y"."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n_rows, N_NUMBERS)).astype(np.float32)
    frame = pd.DataFrame(x, columns=[f"n{i}" for i in range(N_NUMBERS)])
    for i in range(N_GAPS):
        frame.loc[draw.random(n_rows) < 0.05, f"n{i}"] = np.nan
    for i, n_levels in enumerate(LEVELS):
        names = [f"v{j}" for j in range(n_levels)]
        codes = draw.integers(0, n_levels, n_rows)
        frame[f"c{i}"] = pd.Categorical.from_codes(codes, names)
    days = pd.to_timedelta(draw.integers(0, 1500, n_rows), unit="D")
    frame["day"] = pd.Timestamp("2020-01-01") + days
    signal = x[:, 10] + x[:, 11] * x[:, 12] + np.abs(x[:, 13]) + 0.5 * (frame["c3"].cat.codes % 3)
    frame["y"] = np.where(signal + draw.normal(size=n_rows) > 1.2, "yes", "no")
    return frame


@dataclass(frozen=True)
class Peak:
    """The largest memory of a command: its time, and the bytes of its process and each child."""

    seconds: float = 0.0
    sizes: tuple[int, ...] = ()


def run_and_watch(command: list[str]) -> tuple[float, Peak, int]:
    """Return seconds, peak memory and exit code of a command."""
    started, peak = time.monotonic(), Peak()
    process = subprocess.Popen(command)
    while process.poll() is None:
        sizes = _measure_sizes(process.pid)
        if sum(sizes) > sum(peak.sizes):
            peak = Peak(time.monotonic() - started, sizes)
        time.sleep(SAMPLING_SECONDS)
    return time.monotonic() - started, peak, process.returncode


def _measure_sizes(pid: int) -> tuple[int, ...]:
    found: list[int] = []
    try:
        first = psutil.Process(pid)
        family = [first, *first.children(recursive=True)]
    except psutil.Error:  # it has just ended
        return ()
    for process in family:
        try:
            found.append(process.memory_full_info().pss)
        except psutil.Error:
            continue
    return tuple(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--budget", default="10m")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="the study's folder [a temporary one]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "table.parquet"), arguments.out or Path(folder, "study")
        make_table(arguments.rows).to_parquet(table)
        command = ["study", str(table), "--target", "y", "--preset", "quick", "--out", str(out)]
        command += ["--time-budget", arguments.budget, "--jobs", str(arguments.jobs)]
        seconds, peak, code = run_and_watch([sys.executable, "-m", "arboleda", *command])
        print(f"{arguments.rows:,} rows on {os.cpu_count()} cores, budget {arguments.budget}")
        parts = " + ".join(f"{size / 1e9:.1f}" for size in peak.sizes)
        print(f"{seconds:,.0f} s, {sum(peak.sizes) / 1e9:.1f} GB, exit code {code}")
        print(f"the most memory after {peak.seconds:,.0f} s: {parts} GB (the study, its workers)")
        if code:
            sys.exit(code)
        facts = json.loads((out / "results.json").read_text())
        for model in facts["models"]:
            test = model["test"]["metrics"]["accuracy"] if model["test"] else float("nan")
            print(f"{model['name']:40} {len(model['candidates']):3} {test:.4f} {model['status']}")


if __name__ == "__main__":
    main()
