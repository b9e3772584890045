"""Time forests and bagging of equal trees in arboleda and other libraries.

    python benchmarks/forests.py                              every workload, two threads
    python benchmarks/forests.py --only W5a,P3 --repeats 5 --threads 1,2
    python benchmarks/forests.py --trees 20 --rows 2000       small, to check that everything runs

| workload | table and forest |
|---|---|
| W5a | Adult, one-hot, 32,561 rows, 500 trees of full depth |
| W5b | MNIST, 60,000 x 784, 10 classes, 100 trees |
| W5c | Friedman's first function, 16,000 x 40, regression by a third of the columns, 500 trees |
| W5d | W5a with extremely randomised trees |
| W5e, W5f | W5c with 100 extremely randomised trees; by all columns, as is the default |
| W8 | W5a with bagging of 200 trees |
| P1 | Adult, incomes of the USA, 41,256 x 50, 1,000 trees |
| P2 | MNIST, pixels as 0 and 1, 1,000 trees |
| P3 | prices of used cars, 15,157 x 40, all columns at a node, 700 trees |

Every measurement runs in a separate process, interleaved, and includes everything from NumPy arrays
to the fitted model, without out-of-bag scores. Memory is the peak during the fit minus the memory
before it; child processes are not counted. The size of a model is that of its trees in memory: the
nodes and values of arboleda and scikit-learn, the serialised form of the others. XGBoost and
LightGBM grow different forests: bins instead of values, rows drawn without replacement, and
LightGBM has at most 16,384 leaves. Workloads whose tables are missing are skipped. Prints medians,
ratios to scikit-learn, and the score on held-out rows.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from boosting import DATA, Arrays, compute_medians, format_version, mnist, read_resident_bytes

PACKAGES = ("arboleda", "scikit-learn", "ydf", "xgboost-cpu", "lightgbm", "numpy")
MODULES = {"scikit-learn": "sklearn", "ydf": "ydf", "xgboost": "xgboost", "lightgbm": "lightgbm"}


@dataclass(frozen=True)
class Workload:
    """A table and the forest to grow on it; `file` is its path in the data folder, if any."""

    data: Callable[[], Arrays]
    task: str  # "binary", "multiclass" or "regression"
    trees: int
    kind: str = "RandomForest"  # or "ExtraTrees", "Bagging"
    max_features: float | str = "sqrt"
    peers: tuple[str, ...] = ("scikit-learn", "ydf")
    file: str = ""


def adult() -> Arrays:
    """Load the 32,561 training rows of UCI (the file has its 16,281 test rows first), one-hot."""
    import pandas as pd

    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz")
    y = (frame.pop("income") == ">50K").to_numpy().astype(np.int32)
    X = pd.get_dummies(frame).to_numpy(np.float32)
    return X[16_281:], y[16_281:], X[:16_281], y[:16_281]


def friedman() -> Arrays:
    """Generate Friedman's first function (1991) of 5 columns, 35 more, noise of variance 1."""
    random = np.random.default_rng(6)
    X = random.random((20_000, 40), dtype=np.float32)
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y = y + 10 * X[:, 3] + 5 * X[:, 4] + random.standard_normal(len(X))
    return X[:16_000], y[:16_000], X[16_000:], y[16_000:]


EDUCATION = {
    "HS-grad": "HighGrad",
    "Some-college": "CommunityCollege",
    "Assoc-acdm": "CommunityCollege",
    "Assoc-voc": "CommunityCollege",
    "Bachelors": "Bachelors",
    "Masters": "Masters",
    "Prof-school": "Masters",
    "Doctorate": "Doctorate",
}
MARITAL_STATUS = {
    "Never-married": "NotMarried",
    "Married-spouse-absent": "NotMarried",
    "Married-AF-spouse": "Married",
    "Married-civ-spouse": "Married",
    "Separated": "Separated",
    "Divorced": "Separated",
    "Widowed": "Widowed",
}


def income() -> Arrays:
    """Load Adult without missing values, duplicates and other countries; merged levels, one-hot."""
    import pandas as pd

    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz")
    frame = frame[~(frame == "?").any(axis=1)].drop_duplicates()
    frame = frame[frame["native-country"] == "United-States"]
    y = (frame.pop("income") == ">50K").to_numpy().astype(np.int32)
    frame = frame.drop(columns=["fnlwgt", "native-country", "educational-num"])
    frame["education"] = frame["education"].map(EDUCATION).fillna("dropout")
    frame["marital-status"] = frame["marital-status"].map(MARITAL_STATUS)
    return split_rows(pd.get_dummies(frame).to_numpy(np.float32), y)


def binary_mnist() -> Arrays:
    """Load MNIST with binary pixels."""
    X, y, Xt, yt = mnist(60_000)
    return (X > 0).astype(np.float32), y, (Xt > 0).astype(np.float32), yt


def cars() -> Arrays:
    """Load the prices of used cars of one make, one-hot."""
    import pandas as pd

    frame = pd.read_csv(DATA / "uk_used_cars" / "vw.csv.gz")
    y = frame.pop("price").to_numpy(np.float64)
    return split_rows(pd.get_dummies(frame).to_numpy(np.float32), y)


def split_rows(X: Any, y: Any) -> Arrays:
    """Hold out a fifth of the rows."""
    from sklearn.model_selection import train_test_split

    X, Xt, y, yt = train_test_split(X, y, test_size=0.2, random_state=1)
    return X, y, Xt, yt


ADULT = "adult/adult.csv.gz"
MNIST = "mnist/mnist.npz"
WORKLOADS = {
    "W5a": Workload(adult, "binary", 500, peers=tuple(MODULES), file=ADULT),
    "W5b": Workload(lambda: mnist(60_000), "multiclass", 100, file=MNIST),
    "W5c": Workload(friedman, "regression", 500, max_features=1 / 3),
    "W5d": Workload(adult, "binary", 500, "ExtraTrees", peers=("scikit-learn",), file=ADULT),
    "W5e": Workload(friedman, "regression", 100, "ExtraTrees", 1 / 3, ("scikit-learn",)),
    "W5f": Workload(friedman, "regression", 100, "ExtraTrees", 1.0, ("scikit-learn",)),
    "W8": Workload(adult, "binary", 200, "Bagging", peers=("scikit-learn",), file=ADULT),
    "P1": Workload(income, "binary", 1_000, file=ADULT),
    "P2": Workload(binary_mnist, "multiclass", 1_000, file=MNIST),
    "P3": Workload(cars, "regression", 700, max_features=1.0, file="uk_used_cars/vw.csv.gz"),
}


# Contestants: (workload, trees, threads, X, y) -> (predict, bytes of the model). `predict` maps
# rows to numbers, or to class probabilities.


def _fit_sklearn_api(package: str, w: Workload, trees: int, threads: int, X: Any, y: Any) -> Any:
    from importlib import import_module

    suffix = "Regressor" if w.task == "regression" else "Classifier"
    module = package if package == "arboleda" else f"{package}.ensemble"
    options: dict[str, Any] = {"n_estimators": trees, "n_jobs": threads, "random_state": 0}
    if w.kind != "Bagging":
        options["max_features"] = w.max_features
    return getattr(import_module(module), w.kind + suffix)(**options).fit(X, y)


def arboleda(w: Workload, trees: int, threads: int, X: Any, y: Any) -> Any:
    model = _fit_sklearn_api("arboleda", w, trees, threads, X, y)
    forest = model._members.forest if w.kind == "Bagging" else model.forest_
    return _get_predict(w, model), forest.n_bytes


def scikit_learn(w: Workload, trees: int, threads: int, X: Any, y: Any) -> Any:
    model = _fit_sklearn_api("sklearn", w, trees, threads, X, y)
    if w.kind == "Bagging":  # the seconds of its worker processes are only counted after their end
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)
    states = [member.tree_.__getstate__() for member in model.estimators_]
    return _get_predict(w, model), sum(s["nodes"].nbytes + s["values"].nbytes for s in states)


def ydf(w: Workload, trees: int, threads: int, X: Any, y: Any) -> Any:
    import pickle

    import ydf as package

    def columns(X: Any) -> dict[str, Any]:
        return {f"x{j}": X[:, j] for j in range(X.shape[1])}

    regression = w.task == "regression"
    drawn: dict[str, Any] = {"num_candidate_attributes": 0}  # 0: the square root
    if w.max_features != "sqrt":
        drawn = {"num_candidate_attributes_ratio": w.max_features}
    learner = package.RandomForestLearner(
        label="y",
        task=package.Task.REGRESSION if regression else package.Task.CLASSIFICATION,
        num_trees=trees,
        max_depth=-1,
        min_examples=1,
        compute_oob_performances=False,
        winner_take_all=False,
        num_threads=threads,
        **drawn,
    )
    model = learner.train(columns(X) | {"y": y}, verbose=0)

    def predict(X: Any) -> Any:
        found = model.predict(columns(X))
        return np.column_stack([1 - found, found]) if w.task == "binary" else found

    return predict, len(pickle.dumps(model))


def xgboost(w: Workload, trees: int, threads: int, X: Any, y: Any) -> Any:
    import xgboost as package

    kind = package.XGBRFRegressor if w.task == "regression" else package.XGBRFClassifier
    model = kind(
        n_estimators=trees,
        max_depth=0,
        max_leaves=0,
        subsample=0.632,
        colsample_bynode=_get_column_share(w, X),
        min_child_weight=0,
        reg_lambda=1e-5,
        n_jobs=threads,
    ).fit(X, y)
    return _get_predict(w, model), len(model.get_booster().save_raw("ubj"))


def lightgbm(w: Workload, trees: int, threads: int, X: Any, y: Any) -> Any:
    import lightgbm as package

    kind = package.LGBMRegressor if w.task == "regression" else package.LGBMClassifier
    model = kind(
        boosting_type="rf",
        n_estimators=trees,
        subsample=0.632,
        subsample_freq=1,
        num_leaves=16_384,
        feature_fraction_bynode=_get_column_share(w, X),
        min_child_samples=1,
        min_child_weight=0.0,
        n_jobs=threads,
        verbosity=-1,
    ).fit(X, y)
    return _get_predict(w, model), len(model.booster_.model_to_string())


FITS: dict[str, Callable[[Workload, int, int, Any, Any], Any]] = {
    "arboleda": arboleda,
    "scikit-learn": scikit_learn,
    "ydf": ydf,
    "xgboost": xgboost,
    "lightgbm": lightgbm,
}


def _get_predict(w: Workload, model: Any) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = model.predict if w.task == "regression" else model.predict_proba
    return found


def _get_column_share(w: Workload, X: Any) -> float:
    """Return the share of the columns that a node searches."""
    return X.shape[1] ** -0.5 if w.max_features == "sqrt" else float(w.max_features)


# One measurement


def compute_scores(task: str, predictions: Any, y: Any) -> dict[str, float]:
    """Return the scores of predictions for the held-out rows."""
    from sklearn.metrics import accuracy_score, matthews_corrcoef, r2_score

    if task == "regression":
        rmse = float(np.sqrt(np.mean((predictions - y) ** 2)))
        return {"rmse": rmse, "r2": float(r2_score(y, predictions))}
    labels = np.argmax(predictions, axis=1)
    mcc = float(matthews_corrcoef(y, labels))
    return {"accuracy": float(accuracy_score(y, labels)), "mcc": mcc}


def read_processor_seconds() -> float:
    """Return the processor seconds of this process and of its child processes that have ended."""
    return time.process_time() + sum(os.times()[2:4])


def measure(name: str, contestant: str, threads: int, trees: int, rows: int) -> dict[str, float]:
    """Run one fit in this process."""
    w = WORKLOADS[name]
    X, y, Xt, yt = w.data()
    if rows:
        X, y = X[:rows], y[:rows]
    fit, small = FITS[contestant], slice(0, min(len(X), 1000))
    fit(w, 2, threads, X[small], y[small])  # exclude imports from the time
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = read_resident_bytes("VmRSS")
    start, start_cpu = time.perf_counter(), read_processor_seconds()
    predict, n_bytes = fit(w, trees or w.trees, threads, X, y)
    result = {
        "fit_s": time.perf_counter() - start,
        "cpu_s": read_processor_seconds() - start_cpu,
        "peak_mb": (read_resident_bytes("VmHWM") - before) / 2**20,
        "model_mb": n_bytes / 2**20,
        "rows": float(len(X)),
        "trees": float(trees or w.trees),
    }
    start = time.perf_counter()
    predictions = predict(Xt)
    result["predict_s"] = time.perf_counter() - start
    return result | compute_scores(w.task, predictions, yt)


def run(name: str, contestant: str, threads: int, trees: int, rows: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    one = [sys.executable, __file__, "--one", name, contestant, "--threads", str(threads)]
    sized = ["--trees", str(trees), "--rows", str(rows)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [*one, *sized], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name}, {contestant}: {done.stderr.strip().splitlines()[-1]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare(name: str, arguments: argparse.Namespace, threads: int) -> None:
    """Print a Markdown table of medians and ratios to scikit-learn for one workload."""
    w = WORKLOADS[name]
    if w.file and not (DATA / w.file).exists():
        print(f"\n{name} is skipped: its table {w.file} is missing")
        return
    left_out = arguments.without.split(",")
    peers = [p for p in w.peers if p not in left_out and find_spec(MODULES[p])]
    runs: dict[str, list[dict[str, float]]] = {each: [] for each in ("arboleda", *peers)}
    for _ in range(arguments.repeats):
        for each, of_each in runs.items():
            of_each.append(run(name, each, threads, arguments.trees, arguments.rows))
    result = {each: compute_medians(of_each) for each, of_each in runs.items()}
    base = result.get("scikit-learn", {})
    ours = result["arboleda"]
    scores = [key for key in ours if key in ("accuracy", "mcc", "rmse", "r2")]
    sized = f"{int(ours['rows']):,} rows, {int(ours['trees']):,} trees"
    print(f"\n## {name}, {sized}, {threads} threads\n")
    heads = ["contestant", "s", "ratio", "CPU s", "peak MB", "model MB", "ratio", "predict s"]
    print(f"| {' | '.join([*heads, *scores])} |")
    print("|---" * (len(heads) + len(scores)) + "|")
    for each, r in result.items():
        of_time, of_size = (r[key] / base.get(key, np.nan) for key in ("fit_s", "model_mb"))
        shown = " | ".join(f"{r[key]:.4f}" for key in scores)
        print(
            f"| {each} | {r['fit_s']:.2f} | {of_time:.2f} | {r['cpu_s']:.2f} | "
            f"{r['peak_mb']:.0f} | {r['model_mb']:.1f} | {of_size:.2f} | {r['predict_s']:.2f} | "
            f"{shown} |"
        )


def main() -> None:
    """Run the benchmark with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--only", default=",".join(WORKLOADS), help="workloads, separated by commas"
    )
    parser.add_argument("--without", default="", help="libraries to leave out, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", default="2", help="numbers of threads, separated by commas")
    parser.add_argument("--trees", type=int, default=0, help="trees; 0: the workload's own")
    parser.add_argument("--rows", type=int, default=0, help="training rows; 0: all")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    threads = [int(each) for each in arguments.threads.split(",")]
    if arguments.one:
        sized = (threads[0], arguments.trees, arguments.rows)
        print(json.dumps(measure(*arguments.one, *sized)))
        return
    listed = ", ".join(format_version(package) for package in PACKAGES)
    print(f"{listed}, Python {platform.python_version()}; {os.cpu_count()} cores")
    for number in threads:
        for name in arguments.only.split(","):
            compare(name, arguments, number)


if __name__ == "__main__":
    main()
