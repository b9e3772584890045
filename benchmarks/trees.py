"""Time one fully grown classification tree in arboleda and scikit-learn.

    python benchmarks/trees.py [--repeats 5] [--threads 2] [--only MNIST]

The workloads are W7a (Adult, one-hot), W7b (MNIST), and a million rows of 28 continuous columns.
Every measurement runs `fit` on NumPy arrays in memory, in a separate process, interleaved. Memory
is the peak during `fit` minus the memory before it, per row; arboleda stores codes of 1 to 4 bytes
per cell. Prints a Markdown table of medians and ratios.
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
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
Table = tuple[npt.NDArray[np.float32], npt.NDArray[Any]]


def adult() -> Table:
    """Load Adult, one-hot: the 32,561 training rows of UCI (the file has its test rows first)."""
    import pandas as pd

    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz").iloc[16_281:]
    y = (frame.pop("income") == ">50K").to_numpy().astype(int)
    return pd.get_dummies(frame).to_numpy(np.float32), y


def mnist() -> Table:
    """Load MNIST: 60,000 x 784 pixels, 10 classes."""
    with np.load(DATA / "mnist" / "mnist.npz") as arrays:
        X = arrays["X_train"].reshape(60_000, 784).astype(np.float32)
        return X, arrays["y_train"].astype(int)


def continuous() -> Table:
    """Generate a million rows of 28 normal columns, and a noisy label that depends on three."""
    random = np.random.default_rng(0)
    X = random.standard_normal((1_000_000, 28), dtype=np.float32)
    noise = random.standard_normal(len(X), dtype=np.float32) / 2
    return X, (X[:, 0] * X[:, 1] + X[:, 2] ** 2 + noise > 1).astype(int)


WORKLOADS = {
    "W7a Adult, one-hot": adult,
    "W7b MNIST": mnist,
    "10^6 x 28, continuous": continuous,
}


def resident_bytes(field: str) -> int:
    """Memory of this process (Linux): VmRSS now, VmHWM its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise SystemExit(f"/proc/self/status has no {field}")


def measure(workload: str, contestant: str, threads: int) -> dict[str, float]:
    """One fit in this process."""
    X, y = WORKLOADS[workload]()
    if contestant == "arboleda":
        from arboleda import DecisionTreeClassifier as Ours

        model: Any = Ours(n_jobs=threads)
    else:
        from sklearn.tree import DecisionTreeClassifier as Theirs

        model = Theirs(random_state=0)
    model.fit(X[:1000], y[:1000])  # what a first fit imports is not the fit's
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before = resident_bytes("VmRSS")
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return {
        "fit_s": seconds,
        "bytes_a_row": (resident_bytes("VmHWM") - before) / len(X),
        "n_leaves": int(model.get_n_leaves()),
        "train_accuracy": float(model.score(X, y)),
    }


def run(workload: str, contestant: str, threads: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    command = [sys.executable, __file__, "--one", workload, contestant, "--threads", str(threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def compare(workloads: list[str], repeats: int, threads: int) -> None:
    """Run everything and print the table."""
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("arboleda", "scikit-learn", "numpy")
    )
    print(f"{versions}, Python {platform.python_version()}; {os.cpu_count()} cores\n")
    print(
        f"| workload | arboleda, {threads} threads | arboleda, 1 thread | scikit-learn | ratio | "
        "bytes per row: arboleda | scikit-learn |"
    )
    print("|---|---|---|---|---|---|---|")
    for workload in workloads:
        contestants = [("arboleda", threads), ("arboleda", 1), ("scikit-learn", 1)]
        runs: dict[tuple[str, int], list[dict[str, float]]] = {c: [] for c in contestants}
        for _ in range(repeats):
            for contestant in contestants:
                runs[contestant].append(run(workload, *contestant))
        scores = {r["train_accuracy"] for each in runs.values() for r in each}
        if max(scores) - min(scores) > 1e-12:
            raise SystemExit(f"{workload}: the training accuracies differ: {scores}")

        def median(contestant: int, what: str, runs: Any = runs, order: Any = contestants) -> float:
            return statistics.median(r[what] for r in runs[order[contestant]])

        ours, one, theirs = (median(k, "fit_s") for k in range(3))
        print(
            f"| {workload} | {ours:.3f} s | {one:.3f} s | {theirs:.3f} s | {ours / theirs:.3f} | "
            f"{median(0, 'bytes_a_row'):.0f} | {median(2, 'bytes_a_row'):.0f} |"
        )


def main() -> None:
    """Run the benchmark with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="workloads whose names contain this")
    parser.add_argument(
        "--one", nargs=2, metavar=("WORKLOAD", "CONTESTANT"), help=argparse.SUPPRESS
    )
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one, arguments.threads)))
    else:
        chosen = [name for name in WORKLOADS if arguments.only in name]
        compare(chosen, arguments.repeats, arguments.threads)


if __name__ == "__main__":
    main()
