"""Writes the saved models of other libraries that tests read without these libraries.

    python -m tests.importers.make_models

For each file, ``expected.json`` holds the library's predictions of some rows. Vector leaves with
categories and dropout need XGBoost 3.4 or later.
"""

import json
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from tests.importers.peers import classes, mixed_frame, signal

FOLDER = Path(__file__).parent / "models"
ROWS = 24


def _xgboost(frame: Any, y: Any, name: str, **parameters: Any) -> Any:
    rows = xgb.DMatrix(frame, y, enable_categorical=True)
    common = {"nthread": 1, "max_depth": 3, "seed": 0, "max_cat_to_onehot": 2}
    booster = xgb.train(common | parameters, rows, 4)
    booster.save_model(FOLDER / name)
    raw = booster.predict(rows, output_margin=True)
    return {"raw": raw.tolist(), "predict": booster.predict(rows).tolist()}


def _lightgbm(frame: pd.DataFrame, y: Any, name: str, **parameters: Any) -> Any:
    common = {"num_threads": 1, "num_leaves": 6, "verbose": -1, "seed": 0, "min_data_in_leaf": 5}
    common |= {"cat_smooth": 1, "cat_l2": 0.1, "min_data_per_group": 2}
    rows = lgb.Dataset(frame, y)
    booster = lgb.train(common | parameters, rows, 4)
    booster.save_model(FOLDER / name)
    raw = booster.predict(frame, raw_score=True)
    return {"raw": raw.tolist(), "predict": booster.predict(frame).tolist()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    frame = mixed_frame(200, seed=1)
    y = signal(frame)
    two, three = classes(frame, 2), classes(frame, 3)
    counts = np.floor(np.exp(y / 3))
    logistic = {"objective": "binary:logistic"}
    numbers = frame.select_dtypes("number").to_numpy()
    vectors = {"multi_strategy": "multi_output_tree"}
    found = {
        "xgboost_two.json": _xgboost(frame, two, "xgboost_two.json", **logistic),
        "xgboost_two.ubj": _xgboost(frame, two, "xgboost_two.ubj", **logistic),
        "xgboost_three.ubj": _xgboost(
            frame, three, "xgboost_three.ubj", objective="multi:softprob", num_class=3, max_depth=2
        ),
        "xgboost_counts.json": _xgboost(
            numbers, counts, "xgboost_counts.json",
            objective="count:poisson", booster="dart", rate_drop=0.5,
        ),
        "xgboost_vectors.ubj": _xgboost(
            frame, three, "xgboost_vectors.ubj", objective="multi:softprob", num_class=3, **vectors
        ),
        "xgboost_targets.json": _xgboost(
            frame, np.column_stack([counts, np.floor(np.exp(-y / 3))]), "xgboost_targets.json",
            objective="count:poisson", rate_drop=0.5, seed=1, **vectors,
        ),
        "xgboost_labels.ubj": _xgboost(
            frame, np.column_stack([two, three > 1]), "xgboost_labels.ubj", **logistic, **vectors
        ),
        "lightgbm_two.txt": _lightgbm(frame, two, "lightgbm_two.txt", objective="binary"),
        "lightgbm_three.txt": _lightgbm(
            frame, three, "lightgbm_three.txt", objective="multiclass", num_class=3
        ),
        "lightgbm_mean.txt": _lightgbm(
            frame, y, "lightgbm_mean.txt",
            boosting="rf", bagging_fraction=0.5, bagging_freq=1, objective="regression",
        ),
    }  # fmt: skip
    first = frame[:ROWS].astype(object)
    rows = first.where(first.notna(), None).to_numpy().tolist()
    for outputs in found.values():
        outputs.update({key: values[:ROWS] for key, values in outputs.items()})
    content = {"columns": list(frame), "rows": rows, "models": found}
    (FOLDER / "expected.json").write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
