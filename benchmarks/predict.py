"""Time predictions for many rows by tree ensembles of arboleda and other libraries.

    python benchmarks/predict.py [leaf|symmetric|forest] [ROWS] [THREADS]

leaf: 500 trees of 31 leaves. symmetric: 500 symmetric trees of five levels, as in CatBoost. forest:
100 fully grown trees. All learn from the same 100,000 rows of 28 columns and predict the same ROWS
(1,000,000) of float32. Prints for every model the median of five predictions, in processor seconds
and in seconds, its AUC, and the ratio to arboleda. Libraries that are not installed are left out.
tl2cgen compiles its model to C first, which takes minutes and is not counted.
"""

import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

THREADS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
os.environ["OMP_NUM_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

TRAINING, TREES, LEAVES, LEVELS, FOREST_TREES = 100_000, 500, 31, 5, 100
RUNS = 5

Predict = Callable[[Any], Any]


def make_problem(n: int) -> tuple[Any, Any]:
    """Generate rows of 28 columns (continuous, counts and binary) with overlapping classes."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 28), dtype=np.float32)
    X[:, 13:19] = np.exp(0.5 * X[:, 13:19])
    X[:, 19] = X[:, 19] > 0
    X[:, 20:23] = np.floor(np.abs(4 * X[:, 20:23]))
    X[:, 23] += X[:, 0] * X[:, 1]
    X[:, 24] += np.hypot(X[:, 3], X[:, 4])
    score = X[:, 0] * X[:, 1] + np.hypot(X[:, 3], X[:, 4]) + np.sin(2 * X[:, 7])
    score += np.where(X[:, 19] > 0, X[:, 5], -X[:, 6]) + 0.3 * (X[:, 20] - 2) * X[:, 8]
    return X, (score + random.logistic(size=n) > np.median(score)).astype(np.int32)


def predict_second_class(model: Any, **more: Any) -> Predict:
    return lambda X: model.predict_proba(X, **more)[:, 1]


def fit_boosting(X: Any, y: Any, **shape: Any) -> Predict:
    from arboleda import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=TREES, early_stopping=False, n_jobs=THREADS, random_state=0, **shape
    )
    return predict_second_class(model.fit(X, y))


def fit_leafwise(X: Any, y: Any) -> Predict:
    return fit_boosting(X, y, max_leaf_nodes=LEAVES)


def fit_symmetric(X: Any, y: Any) -> Predict:
    return fit_boosting(X, y, growth="symmetric", max_depth=LEVELS, max_leaf_nodes=None)


def fit_forest(X: Any, y: Any) -> Predict:
    from arboleda import RandomForestClassifier

    model = RandomForestClassifier(FOREST_TREES, n_jobs=THREADS, random_state=0)
    return predict_second_class(model.fit(X, y))


def lightgbm_model(X: Any, y: Any) -> Any:
    import lightgbm

    parameters = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "num_threads": THREADS,
        "verbosity": -1,
    }
    return lightgbm.train(parameters, lightgbm.Dataset(X, y), TREES)


def lightgbm(X: Any, y: Any) -> Predict:
    return lightgbm_model(X, y).predict


def treelite(X: Any, y: Any) -> Predict:
    import treelite as library

    model = library.frontend.from_lightgbm(lightgbm_model(X, y))
    return lambda Z: library.gtil.predict(model, Z, nthread=THREADS)


def tl2cgen(X: Any, y: Any) -> Predict:
    import tl2cgen as library
    import treelite as reader

    model = reader.frontend.from_lightgbm(lightgbm_model(X, y))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.so"
        library.export_lib(model, toolchain="gcc", libpath=path, params={"parallel_comp": 16})
        predictor = library.Predictor(path, nthread=THREADS)
    return lambda Z: predictor.predict(library.DMatrix(Z))


def onnxruntime(X: Any, y: Any) -> Predict:
    import onnxmltools
    import onnxruntime as library
    from onnxmltools.convert.common.data_types import FloatTensorType

    graph = onnxmltools.convert_lightgbm(
        lightgbm_model(X, y),
        zipmap=False,
        target_opset=15,
        initial_types=[("x", FloatTensorType([None, X.shape[1]]))],
    )
    options = library.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = library.InferenceSession(graph.SerializeToString(), options)
    return lambda Z: session.run(None, {"x": Z})[-1][:, 1]


def xgboost(X: Any, y: Any) -> Predict:
    import xgboost as library

    parameters = {
        "objective": "binary:logistic",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
        "nthread": THREADS,
    }
    model = library.train(parameters, library.QuantileDMatrix(X, y), TREES)
    return model.inplace_predict


def ydf(X: Any, y: Any) -> Predict:
    import ydf as library

    model = library.GradientBoostedTreesLearner(
        label="y",
        num_trees=TREES,
        growing_strategy="BEST_FIRST_GLOBAL",
        max_num_nodes=LEAVES,
        max_depth=-1,
        validation_ratio=0.0,
        early_stopping="NONE",
        num_threads=THREADS,
    ).train({"x": X, "y": y}, verbose=0)
    flipped = model.label_classes()[1] == "0"
    return lambda Z: 1 - model.predict({"x": Z}) if flipped else model.predict({"x": Z})


def sklearn(X: Any, y: Any) -> Predict:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False
    )
    return predict_second_class(model.fit(X, y))


def catboost(X: Any, y: Any) -> Predict:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        iterations=TREES,
        depth=LEVELS,
        learning_rate=0.1,
        thread_count=THREADS,
        verbose=False,
        allow_writing_files=False,
    )
    return predict_second_class(model.fit(X, y), thread_count=THREADS)


def sklearn_forest(X: Any, y: Any) -> Predict:
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(FOREST_TREES, n_jobs=THREADS, random_state=0)
    return predict_second_class(model.fit(X, y))


CONTESTANTS: dict[str, list[tuple[str, tuple[str, ...], Callable[[Any, Any], Predict]]]] = {
    "leaf": [
        ("arboleda", (), fit_leafwise),
        ("LightGBM", ("lightgbm",), lightgbm),
        ("XGBoost", ("xgboost",), xgboost),
        ("YDF", ("ydf",), ydf),
        ("scikit-learn", (), sklearn),
        ("onnxruntime", ("lightgbm", "onnxmltools", "onnxruntime"), onnxruntime),
        ("treelite GTIL", ("lightgbm", "treelite"), treelite),
        ("tl2cgen", ("lightgbm", "treelite", "tl2cgen"), tl2cgen),
    ],
    "symmetric": [
        ("arboleda", (), fit_symmetric),
        ("CatBoost", ("catboost",), catboost),
    ],
    "forest": [
        ("arboleda", (), fit_forest),
        ("scikit-learn", (), sklearn_forest),
    ],
}


def is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def measure(predict: Predict, X: Any) -> tuple[float, float]:
    """Return the medians of processor seconds and of seconds."""
    spent, taken = [], []
    for _ in range(RUNS):
        start, begin = time.perf_counter(), time.process_time()
        predict(X)
        spent.append(time.process_time() - begin)
        taken.append(time.perf_counter() - start)
    return statistics.median(spent), statistics.median(taken)


def main(kind: str = "leaf", n_rows: str = "1000000", *_: str) -> None:
    X, y = make_problem(TRAINING + int(n_rows))
    rows, truth = X[TRAINING:], y[TRAINING:]
    print(f"{kind}: {n_rows} rows, {THREADS} threads, {os.cpu_count()} cores")
    print(f"{'':14} {'processor s':>11} {'seconds':>8} {'AUC':>7} {'ratio':>8}")
    first: tuple[float, float] | None = None
    for name, modules, fit in CONTESTANTS[kind]:
        if not all(map(is_installed, modules)):
            print(f"{name:14} is not installed")
            continue
        predict = fit(X[:TRAINING], y[:TRAINING])
        spent, taken = measure(predict, rows)
        first = first or (spent, taken)
        auc = roc_auc_score(truth, np.asarray(predict(rows)).ravel())
        print(f"{name:14} {spent:11.2f} {taken:8.2f} {auc:7.4f} {spent / first[0]:8.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
