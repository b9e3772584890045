"""Measure the benefit of linear leaves in boosting by cross-validation.

    python benchmarks/linear_leaves.py [--folds 5] [--peers]

Rounds are chosen by early stopping inside each fold (at most 1,000, patience 20), with default
parameters otherwise; the loss is the root mean squared error in regression and the log-loss in
classification. `--peers` adds LightGBM, with and without its `linear_tree`, stopped by the same
share of the rows. Prints Markdown: the mean loss over the folds, and the change by linear leaves.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
ROUNDS: dict[str, Any] = {
    "max_iter": 1000,
    "early_stopping": True,
    "n_iter_no_change": 20,
    "random_state": 0,
}
Problem = tuple[pd.DataFrame, Any, bool]  # columns, target, whether the task is classification


def california() -> Problem:
    frame = pd.read_csv(DATA / "california_housing" / "housing.csv.gz")
    y = frame.pop("median_house_value").to_numpy(float)
    return _categories(frame), y / 1e5, False


def used_cars() -> Problem:
    frame = pd.read_csv(DATA / "uk_used_cars" / "vw.csv.gz")
    y = frame.pop("price").to_numpy(float)
    return _categories(frame), y / 1e3, False


def ijcnn1() -> Problem:
    X, y = load_svmlight_file(DATA / "ijcnn1" / "ijcnn1.trn.bz2", n_features=22)
    return pd.DataFrame(X.toarray()), y, True


def adult() -> Problem:
    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz", na_values="?")
    y = frame.pop("income").to_numpy()
    return _categories(frame), y, True


def covertype() -> Problem:
    frame = pd.read_csv(DATA / "covertype_15k" / "train.csv.gz").drop(columns="Id")
    y = frame.pop("Cover_Type").to_numpy()
    return frame, y, True


def letters() -> Problem:
    path = DATA / "letter_recognition" / "letter-recognition.data.gz"
    frame = pd.read_csv(path, header=None).rename(columns=str)
    y = frame.pop("0").to_numpy()
    return frame, y, True


def spam() -> Problem:
    frame = pd.read_csv(DATA / "spambase" / "spam_esl.csv.gz").drop(columns="test")
    y = frame.pop("spam").to_numpy()
    return frame, y, True


def _categories(frame: pd.DataFrame) -> pd.DataFrame:
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    return frame.astype(dict.fromkeys(texts, "category"))


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "California housing": california,
    "used cars": used_cars,
    "ijcnn1": ijcnn1,
    "Covertype, 15,120 rows": covertype,
    "letters": letters,
    "Adult": adult,
    "spambase": spam,
}


def ours(X: pd.DataFrame, y: Any, classify: bool, linear: bool) -> Any:
    kind = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    return kind(**ROUNDS, linear_leaves=linear).fit(X, y)


def lightgbm(X: pd.DataFrame, y: Any, classify: bool, linear: bool) -> Any:
    import lightgbm as peer

    kind = peer.LGBMClassifier if classify else peer.LGBMRegressor
    parts = train_test_split(X, y, test_size=0.1, random_state=0, stratify=y if classify else None)
    model = kind(n_estimators=1000, linear_tree=linear, verbose=-1, random_state=0)
    stop = peer.early_stopping(20, verbose=False)
    return model.fit(parts[0], parts[2], eval_set=[(parts[1], parts[3])], callbacks=[stop])


def mean_loss(problem: Problem, folds: int, fit: Callable[..., Any], linear: bool) -> float:
    X, y, classify = problem
    splitter = (StratifiedKFold if classify else KFold)(folds, shuffle=True, random_state=0)
    losses = []
    for train, test in splitter.split(X, y):
        model = fit(X.iloc[train], y[train], classify, linear)
        if classify:
            losses.append(log_loss(y[test], model.predict_proba(X.iloc[test])))
        else:
            losses.append(root_mean_squared_error(y[test], model.predict(X.iloc[test])))
    return float(np.mean(losses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    fits: dict[str, Callable[..., Any]] = {"arboleda": ours}
    if arguments.peers:
        fits["LightGBM"] = lightgbm
    cells = [
        "table",
        *[f"{name}, {leaves}" for name in fits for leaves in ("constant", "linear", "change")],
    ]
    print(f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}", flush=True)
    for name, make in PROBLEMS.items():
        problem = make()
        cells = [name]
        for fit in fits.values():
            constant, linear = (
                mean_loss(problem, arguments.folds, fit, is_linear) for is_linear in (False, True)
            )
            cells += [f"{constant:.4f}", f"{linear:.4f}", f"{100 * (linear / constant - 1):+.1f} %"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
