"""Time gradient boosting with equal leaves, bins and rounds in arboleda and other libraries.

    python benchmarks/boosting.py                              every workload, two threads
    python benchmarks/boosting.py --only W1,W4 --repeats 5 --threads 1,2

| workload | table and model |
|---|---|
| W1 | 10^6 x 28, two classes, 100 trees of 31 leaves |
| W2 | the same, 255 leaves |
| W3 | MNIST, 10 classes, 20 rounds of 31 leaves |
| W4 | 5,000 x 20, regression, 500 rounds of 31 leaves |
| W10 | 45 candidates x 5 folds on the table of breast cancer |

Every measurement runs in a separate process, interleaved, and includes everything from NumPy arrays
to the fitted model. Memory is the peak during the fit minus the memory before it. Prints medians,
ratios to the fastest other library, and the score on held-out rows.

Also prints a lower bound: the time if each part of the work ran at the rate of a bare loop on this
machine (`--rates`, millions per second: histogram updates, partitioned rows, binned values,
gradients). The amount of work is computed from the trees: the rows of the root and of the smaller
child of every split are added to histograms, the rows of every inner node are partitioned.
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
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]
PEERS = ("lightgbm", "lightgbm-quantised", "xgboost", "scikit-learn", "catboost-symmetric")
PACKAGES = ("arboleda", "lightgbm", "xgboost-cpu", "catboost", "scikit-learn", "numpy")


@dataclass(frozen=True)
class Workload:
    """A table and the model to fit; `data(rows)` returns training and test rows."""

    data: Callable[[int], Arrays]
    rows: int
    task: str  # "binary", "multiclass", "regression" or "grid"
    rounds: int = 100
    leaves: int = 31
    peers: tuple[str, ...] = PEERS


def continuous(rows: int) -> Arrays:
    """Generate 28 columns, most of them normal, some skewed or with few values; a noisy label."""
    random = np.random.default_rng(0)
    n = rows + min(rows, 200_000)
    X = random.standard_normal((n, 28), dtype=np.float32)
    X[:, 13:19] = np.exp(X[:, 13:19] / 2)
    X[:, 19] = random.integers(0, 2, n)
    X[:, 20] = random.integers(0, 5, n)
    X[:, 21] = random.poisson(2.0, n)
    X[:, 22] = random.integers(0, 20, n)
    X[:, 23:26] += X[:, 0:3] * X[:, 3:6]
    score = X[:, 0] * X[:, 3] + np.abs(X[:, 2]) * (X[:, 13] - 1) + np.sin(2 * X[:, 7])
    score += (
        np.where(X[:, 19] > 0, X[:, 5], -X[:, 6]) + 0.5 * (X[:, 22] % 3 == 0) - 0.3 * X[:, 10] ** 2
    )
    chance = 1 / (1 + np.exp(-(score - np.median(score))))
    y = (random.random(n) < chance).astype(np.int32)
    return X[:rows], y[:rows], X[rows:], y[rows:]


def mnist(rows: int) -> Arrays:
    """Load the first `rows` training images, and the test images."""
    with np.load(DATA / "mnist" / "mnist.npz") as arrays:
        X, y, Xt, yt = (arrays[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    X, Xt = (each.reshape(len(each), 784).astype(np.float32) for each in (X, Xt))
    return X[:rows], y[:rows].astype(np.int32), Xt, yt.astype(np.int32)


def friedman(rows: int) -> Arrays:
    """Generate Friedman's first function (1991) of 5 columns, 15 more, noise of variance 1."""
    random = np.random.default_rng(5)
    X = random.random((2 * rows, 20), dtype=np.float32)
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y = y + 10 * X[:, 3] + 5 * X[:, 4] + random.standard_normal(2 * rows)
    return X[:rows], y[:rows], X[rows:], y[rows:]


def cancer(rows: int) -> Arrays:
    """Load scikit-learn's breast-cancer table: 426 training rows, 143 test rows."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    X, y = load_breast_cancer(return_X_y=True)
    X, Xt, y, yt = train_test_split(X, y, random_state=0)
    return X[:rows], y[:rows], Xt, yt


WORKLOADS = {
    "W1": Workload(continuous, 1_000_000, "binary"),
    "W2": Workload(continuous, 1_000_000, "binary", leaves=255, peers=PEERS[:4]),
    "W3": Workload(mnist, 60_000, "multiclass", rounds=20),
    "W4": Workload(friedman, 5_000, "regression", rounds=500),
    "W10": Workload(cancer, 426, "grid", peers=("lightgbm", "xgboost", "scikit-learn")),
}


# Contestants: (workload, threads, X, y) -> (predict, model)


def arboleda(w: Workload, threads: int, X: Any, y: Any) -> Any:
    from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = (
        HistGradientBoostingRegressor if w.task == "regression" else HistGradientBoostingClassifier
    )
    return kind(
        max_iter=w.rounds,
        max_leaf_nodes=w.leaves,
        l2_regularization=1.0,
        early_stopping=False,
        n_jobs=threads,
    ).fit(X, y)


def scikit_learn(w: Workload, threads: int, X: Any, y: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = (
        HistGradientBoostingRegressor if w.task == "regression" else HistGradientBoostingClassifier
    )
    return kind(
        max_iter=w.rounds, max_leaf_nodes=w.leaves, l2_regularization=1.0, early_stopping=False
    ).fit(X, y)


def lightgbm(w: Workload, threads: int, X: Any, y: Any, **more: Any) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if w.task == "regression" else LGBMClassifier
    return kind(
        n_estimators=w.rounds,
        num_leaves=w.leaves,
        reg_lambda=1.0,
        n_jobs=threads,
        verbosity=-1,
        **more,
    ).fit(X, y)


def lightgbm_quantised(w: Workload, threads: int, X: Any, y: Any) -> Any:
    return lightgbm(w, threads, X, y, use_quantized_grad=True)


def xgboost(w: Workload, threads: int, X: Any, y: Any) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    # min_child_weight is a sum of hessians: 20 rows with their initial hessian
    hessian = {"binary": 0.25, "multiclass": 2 * 0.1 * 0.9, "regression": 1.0}[w.task]
    kind = XGBRegressor if w.task == "regression" else XGBClassifier
    return kind(
        n_estimators=w.rounds,
        learning_rate=0.1,
        grow_policy="lossguide",
        max_leaves=w.leaves,
        max_depth=0,
        max_bin=255,
        min_child_weight=20 * hessian,
        reg_lambda=1.0,
        n_jobs=threads,
    ).fit(X, y)


def catboost_symmetric(w: Workload, threads: int, X: Any, y: Any) -> Any:
    """Trees of 32 leaves, without the bootstrap, noise and leaf iterations that others lack."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if w.task == "regression" else CatBoostClassifier
    return kind(
        iterations=w.rounds,
        depth=5,
        learning_rate=0.1,
        l2_leaf_reg=1.0,
        border_count=254,
        bootstrap_type="No",
        random_strength=0,
        leaf_estimation_iterations=1,
        boosting_type="Plain",
        thread_count=threads,
        verbose=False,
        allow_writing_files=False,
    ).fit(X, y)


FITS = {
    "arboleda": arboleda,
    "lightgbm": lightgbm,
    "lightgbm-quantised": lightgbm_quantised,
    "xgboost": xgboost,
    "scikit-learn": scikit_learn,
    "catboost-symmetric": catboost_symmetric,
}

RATES_GRID = [0.1, 0.2, 0.3]
DEPTHS = [3, 4, 5, 6, 7]
ROUNDS = [100, 200, 300]


def search_grid(contestant: str, threads: int, X: Any, y: Any) -> Any:
    """Search 45 candidates on 5 folds, with arboleda's GridSearch or scikit-learn's."""
    grid: dict[str, Any] = {"learning_rate": RATES_GRID, "max_depth": DEPTHS}
    if contestant == "arboleda":
        from arboleda import HistGradientBoostingClassifier as Ours
        from arboleda.model_selection import GridSearch

        model: Any = Ours(max_leaf_nodes=None, early_stopping=False, n_jobs=threads)
        found = GridSearch(model, grid | {"max_iter": ROUNDS}, scoring="roc_auc", cv=5)
        return found.fit(X, y)
    from sklearn.model_selection import GridSearchCV

    os.environ["OMP_NUM_THREADS"] = "1"  # the workers share the threads
    if contestant == "lightgbm":
        from lightgbm import LGBMClassifier

        model, rounds = LGBMClassifier(n_jobs=1, num_leaves=128, verbosity=-1), "n_estimators"
    elif contestant == "xgboost":
        from xgboost import XGBClassifier

        model, rounds = XGBClassifier(n_jobs=1), "n_estimators"
    else:
        from sklearn.ensemble import HistGradientBoostingClassifier as Theirs

        model, rounds = Theirs(max_leaf_nodes=None, early_stopping=False), "max_iter"
    found = GridSearchCV(model, grid | {rounds: ROUNDS}, scoring="roc_auc", cv=5, n_jobs=threads)
    return found.fit(X, y)


# One measurement


def read_resident_bytes(field: str) -> int:
    """Return the memory of this process (Linux): VmRSS now, VmHWM its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise SystemExit(f"/proc/self/status has no {field}")


def compute_scores(task: str, model: Any, X: Any, y: Any) -> dict[str, float]:
    """Return the scores on the held-out rows."""
    from sklearn.metrics import log_loss, roc_auc_score

    if task == "regression":
        return {"rmse": float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))}
    chances = np.asarray(model.predict_proba(X), dtype=np.float64)
    if task == "grid":
        return {"cv_auc": float(model.best_score_), "auc": float(roc_auc_score(y, chances[:, 1]))}
    scores = {"log_loss": float(log_loss(y, chances / chances.sum(axis=1, keepdims=True)))}
    if task == "binary":
        scores["auc"] = float(roc_auc_score(y, chances[:, 1]))
    return scores


def count_passes(model: Any) -> dict[str, float]:
    """Count the rows added to histograms and the rows partitioned, over all trees."""
    added = parted = 0
    for tree in model.ensemble_.trees:
        n = np.asarray(tree.n_node_samples, dtype=np.int64)
        left, right = (np.asarray(each) for each in (tree.children_left, tree.children_right))
        inner = left >= 0
        added += n[0] + np.minimum(n[left[inner]], n[right[inner]]).sum()
        parted += n[inner].sum()
    return {"rows_added": float(added), "rows_parted": float(parted)}


def measure(name: str, contestant: str, threads: int, rows: int) -> dict[str, float]:
    """Run one fit in this process."""
    w = WORKLOADS[name]
    X, y, Xt, yt = w.data(rows or w.rows)
    small = slice(0, min(len(X), 2000))
    if w.task != "grid":  # exclude imports and compilation from the time
        FITS[contestant](Workload(w.data, 0, w.task, rounds=1), threads, X[small], y[small])
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = read_resident_bytes("VmRSS")
    start, start_cpu = time.perf_counter(), time.process_time()
    if w.task == "grid":
        model = search_grid(contestant, threads, X, y)
    else:
        model = FITS[contestant](w, threads, X, y)
    result = {
        "fit_s": time.perf_counter() - start,
        "cpu_s": time.process_time() - start_cpu,
        "peak_mb": (read_resident_bytes("VmHWM") - before) / 2**20,
        "rows": float(len(X)),
        "columns": float(X.shape[1]),
        "scores": float(len(X) * w.rounds * (10 if w.task == "multiclass" else 1)),
    }
    if contestant == "arboleda" and w.task != "grid":
        result |= count_passes(model)
    return result | compute_scores(w.task, model, Xt, yt)


def run(name: str, contestant: str, threads: int, rows: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    one = [sys.executable, __file__, "--one", name, contestant]
    sized = ["--threads", str(threads), "--rows", str(rows)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [*one, *sized], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name}, {contestant}: {done.stderr.strip().splitlines()[-1]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


# The tables


def compute_medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of every measured value."""
    return {key: statistics.median(r[key] for r in runs) for key in runs[0]}


def compute_floor(result: dict[str, float], rates: list[float]) -> dict[str, float]:
    """Return the seconds of each part of arboleda's fit at the rates of the machine."""
    updates, parts, bins, gradients = (1e6 * rate for rate in rates)
    cells = result["rows"] * result["columns"]
    return {
        "binning": cells / bins,
        "gradients": result["scores"] / gradients,
        "histograms": result["rows_added"] * result["columns"] / updates,
        "partition": result["rows_parted"] / parts,
    }


def format_version(package: str) -> str:
    """Format the name and the version of a package, if it is installed."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


def compare(name: str, arguments: argparse.Namespace, threads: int) -> None:
    """Print a Markdown table and arboleda's lower bound for one workload."""
    w = WORKLOADS[name]
    chosen = ["arboleda", *(p for p in w.peers if p not in arguments.without.split(","))]
    runs: dict[str, list[dict[str, float]]] = {each: [] for each in chosen}
    for _ in range(arguments.repeats):
        for each in chosen:
            runs[each].append(run(name, each, threads, arguments.rows))
    result = {each: compute_medians(of_each) for each, of_each in runs.items()}
    peers = [each for each in chosen if each != "arboleda"]
    fastest = min((result[each]["fit_s"] for each in peers), default=float("nan"))
    scores = [key for key in result["arboleda"] if key in ("auc", "cv_auc", "log_loss", "rmse")]
    print(f"\n## {name}, {int(result['arboleda']['rows']):,} rows, {threads} threads\n")
    print(
        "| contestant | s | ratio to the fastest other | CPU s | peak MB | "
        + " | ".join(scores)
        + " |"
    )
    print("|---|---|---|---|---|" + "---|" * len(scores))
    for each, r in result.items():
        shown = " | ".join(f"{r[key]:.5f}" for key in scores)
        ratio = r["fit_s"] / fastest
        print(
            f"| {each} | {r['fit_s']:.3f} | {ratio:.2f} | {r['cpu_s']:.2f} | {r['peak_mb']:.0f} | "
            f"{shown} |"
        )
    if w.task != "grid":
        parts = compute_floor(
            result["arboleda"], [float(rate) for rate in arguments.rates.split(",")]
        )
        listed = ", ".join(f"{part} {seconds:.2f}" for part, seconds in parts.items())
        total = sum(parts.values())
        share = result["arboleda"]["fit_s"] / total
        print(f"\nLower bound: {total:.2f} s ({listed}); arboleda takes {share:.2f} times as long.")


def main() -> None:
    """Run the benchmark with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--only", default=",".join(WORKLOADS), help="workloads, separated by commas"
    )
    parser.add_argument("--without", default="", help="libraries to leave out, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", default="2", help="numbers of threads, separated by commas")
    parser.add_argument("--rows", type=int, default=0, help="rows of a workload; 0: its own")
    parser.add_argument(
        "--rates", default="1990,1540,188,830", help="the machine's rates: see above, two threads"
    )
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.threads = [int(each) for each in str(arguments.threads).split(",")]
    if arguments.one:
        print(json.dumps(measure(*arguments.one, arguments.threads[0], arguments.rows)))
        return
    listed = ", ".join(format_version(package) for package in PACKAGES)
    print(f"{listed}, Python {platform.python_version()}; {os.cpu_count()} cores")
    for threads in arguments.threads:
        for name in arguments.only.split(","):
            compare(name, arguments, threads)


if __name__ == "__main__":
    main()
