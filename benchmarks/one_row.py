"""Time predictions for single rows by arboleda and the other installed libraries.

    python benchmarks/one_row.py [--trees 500] [--calls 2000]

Binary classification with 28 columns by 500 trees of 31 leaves each: one LightGBM model, which
arboleda, onnxruntime, treelite and tl2cgen read too, and models of XGBoost, YDF, CatBoost and
scikit-learn of the same size. Each call gets another row in the fastest form for its library: an
array of shape (28,) or (1, 28), float32 if required. Prints a Markdown table of medians in
microseconds.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

import arboleda  # noqa: E402

N_COLUMNS, N_LEAVES = 28, 31
PACKAGES = (
    "lightgbm", "onnxruntime", "treelite", "tl2cgen", "xgboost", "ydf", "catboost", "sklearn",
)  # fmt: skip
Call = Callable[[Any], Any]


def make_table() -> tuple[Any, Any]:
    """Generate 20,000 rows of 28 normal columns, and a noisy label that depends on five."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, N_COLUMNS))
    return X, (X[:, :5].sum(axis=1) + random.normal(size=len(X)) > 0).astype(int)


def run_arboleda(n_trees: int) -> Iterator[tuple[str, Any, Call]]:
    """Yield arboleda's predictor, and `predict`."""
    X, y = make_table()
    model = arboleda.HistGradientBoostingClassifier(
        max_iter=n_trees, max_leaf_nodes=N_LEAVES, early_stopping=False, random_state=0
    ).fit(X, y)
    predictor = model.predictor()
    yield "arboleda, predictor()", X, predictor.predict
    yield "arboleda, predictor().predict_proba", X, predictor.predict_proba
    yield "arboleda, a list", [row.tolist() for row in X[:1000]], predictor.predict
    yield "arboleda, predict", X[:, np.newaxis], model.predict
    yield "arboleda, predict_proba", X[:, np.newaxis], model.predict_proba
    forest = arboleda.RandomForestClassifier(n_estimators=100, random_state=0).fit(X, y)
    yield "arboleda, 100 full trees, predictor()", X, forest.predictor().predict
    yield "arboleda, 100 full trees, predict", X[:, np.newaxis], forest.predict


def lightgbm(n_trees: int) -> Iterator[tuple[str, Any, Call]]:
    """Yield LightGBM, and its model in onnxruntime, treelite's interpreter and tl2cgen's C."""
    import lightgbm as lgb

    X, y = make_table()
    parameters = {"num_leaves": N_LEAVES, "objective": "binary", "num_threads": 1, "verbose": -1}
    booster = lgb.train(parameters, lgb.Dataset(X, y), n_trees)
    yield (
        "LightGBM, Booster.predict",
        X[:, np.newaxis],
        lambda row: booster.predict(row, num_threads=1),
    )
    model = arboleda.from_lightgbm(booster)
    yield "arboleda, LightGBM's model", X, model.predictor().predict
    single = X.astype(np.float32)[:, np.newaxis]
    if is_installed("onnxruntime"):
        yield "onnxruntime, arboleda's export", single, make_onnxruntime_call(model)
    if is_installed("treelite"):
        import treelite

        read = treelite.frontend.from_lightgbm(booster)
        yield "treelite, GTIL", single, lambda row: treelite.gtil.predict(read, row, nthread=1)
    if is_installed("treelite") and is_installed("tl2cgen"):
        yield "tl2cgen, Predictor", X[:, np.newaxis], make_tl2cgen_call(read)


def make_onnxruntime_call(model: Any) -> Call:
    """Export a model to ONNX, for rows of float32."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    content = arboleda.to_onnx(model, input_type="float32").SerializeToString()
    session = onnxruntime.InferenceSession(content, options)
    return lambda row: session.run(None, {"X": row})


def make_tl2cgen_call(model: Any) -> Call:
    """Compile a treelite model to C, which takes minutes."""
    import tl2cgen

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.so"
        tl2cgen.export_lib(model, toolchain="gcc", libpath=path, params={"parallel_comp": 16})
        predictor = tl2cgen.Predictor(path, nthread=1)
    return lambda row: predictor.predict(tl2cgen.DMatrix(row))


def xgboost(n_trees: int) -> Iterator[tuple[str, Any, Call]]:
    """Yield XGBoost's fastest call, without a DMatrix."""
    import xgboost as xgb

    X, y = make_table()
    parameters = {
        "max_leaves": N_LEAVES, "grow_policy": "lossguide", "objective": "binary:logistic",
        "nthread": 1, "max_depth": 0,
    }  # fmt: skip
    booster = xgb.train(parameters, xgb.DMatrix(X, y), n_trees)
    yield "XGBoost, inplace_predict", X.astype(np.float32)[:, np.newaxis], booster.inplace_predict


def ydf(n_trees: int) -> Iterator[tuple[str, Any, Call]]:
    """Yield YDF with a dict of columns."""
    import ydf as library

    X, y = make_table()
    model = library.GradientBoostedTreesLearner(
        label="y", num_trees=n_trees, growing_strategy="BEST_FIRST_GLOBAL",
        max_num_nodes=N_LEAVES, max_depth=-1, validation_ratio=0.0, early_stopping="NONE",
        num_threads=1,
    ).train({"x": X.astype(np.float32), "y": y}, verbose=0)  # fmt: skip
    rows = [{"x": row} for row in X[:1000].astype(np.float32)[:, np.newaxis]]
    yield "YDF, predict", rows, model.predict


def catboost(n_trees: int) -> Iterator[tuple[str, Any, Call]]:
    """Yield CatBoost, with symmetric trees of 32 leaves."""
    from catboost import CatBoostClassifier

    X, y = make_table()
    model = CatBoostClassifier(
        iterations=n_trees, depth=5, verbose=False, thread_count=1, allow_writing_files=False
    ).fit(X, y)
    yield "CatBoost, predict", X, lambda row: model.predict(row, thread_count=1)


def sklearn(n_trees: int) -> Iterator[tuple[str, Any, Call]]:
    """Yield scikit-learn's histogram boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = make_table()
    model = HistGradientBoostingClassifier(
        max_iter=n_trees, max_leaf_nodes=N_LEAVES, early_stopping=False
    ).fit(X, y)
    yield "scikit-learn, HGB.predict", X[:, np.newaxis], model.predict


def is_installed(module: str) -> bool:
    return find_spec(module) is not None


def median(call: Call, rows: Any, n_calls: int) -> float:
    """Return the median time of a call in microseconds, after a tenth as many warm-up calls."""
    times = []
    for i in range(n_calls + n_calls // 10):
        row = rows[i % len(rows)]
        start = time.perf_counter()
        call(row)
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times[n_calls // 10 :])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--calls", type=int, default=2000)
    given = parser.parse_args()
    print(
        f"{platform.processor() or platform.machine()}, {given.trees} trees x {N_LEAVES} leaves\n"
    )
    print("| | microseconds |\n|---|---|")
    for peer in (run_arboleda, lightgbm, xgboost, ydf, catboost, sklearn):
        if peer is not run_arboleda and not is_installed(peer.__name__):
            print(f"| {peer.__name__} is not installed | |")
            continue
        for name, rows, call in peer(given.trees):
            n_calls = given.calls if "scikit" not in name else given.calls // 10
            print(f"| {name} | {median(call, rows, n_calls):.1f} |", flush=True)
    installed = filter(is_installed, PACKAGES)
    print("\n" + ", ".join(f"{name} {import_module(name).__version__}" for name in installed))


if __name__ == "__main__":
    main()
