"""Compare boosting of times to an event in arboleda with XGBoost, and with models of other kinds.

    python benchmarks/survival_boosting.py speed                 10^6 rows x 20 columns, 100 rounds
    python benchmarks/survival_boosting.py speed --rows 10000    small, to see that everything runs
    python benchmarks/survival_boosting.py accuracy TABLE.csv --time time --event status=1

"speed" measures seconds of the processor with one thread, from the table to the fitted model, with
the made table of benchmarks/survival.py and the same parameters for both. "accuracy" has five
random folds with seed 0: Harrell's concordance index and the integrated Brier score between the
10th and the 90th percentile of the event times. A package that is not installed is skipped.
"""

from __future__ import annotations

import argparse
import time
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from survival import Table, make_table

LEARNING_RATE, LEAVES = 0.1, 31


def fit_arboleda(train: Table, n_rounds: int, loss: str) -> Any:
    from arboleda import HistGradientBoostingSurvival

    model = HistGradientBoostingSurvival(
        loss,
        scale=1.0,
        learning_rate=LEARNING_RATE,
        max_iter=n_rounds,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=20,
        early_stopping=False,
        n_jobs=1,
    ).fit(*train)
    return model.predict


def fit_xgboost(train: Table, n_rounds: int, loss: str) -> Any:
    import xgboost

    X, y = train
    parameters = {
        "objective": f"survival:{loss}",
        "eta": LEARNING_RATE,
        "max_leaves": LEAVES,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "tree_method": "hist",
        "nthread": 1,
    }
    data = xgboost.DMatrix(X, nthread=1)
    if loss == "cox":
        data.set_label(np.where(y["event"], y["time"], -y["time"]))
    else:
        data.set_float_info("label_lower_bound", y["time"])
        data.set_float_info("label_upper_bound", np.where(y["event"], y["time"], np.inf))
    booster = xgboost.train(parameters, data, n_rounds)
    sign = 1.0 if loss == "cox" else -1.0
    return lambda table: sign * booster.predict(xgboost.DMatrix(table), output_margin=True)


def compare_speed(n_rows: int, n_rounds: int) -> None:
    """Print seconds of the processor and the concordance index on 20,000 other rows."""
    from arboleda.metrics import concordance_index

    train, test = make_table(n_rows, 0), make_table(20_000, 1)
    fits = {"arboleda": fit_arboleda, "xgboost": fit_xgboost}
    for loss in ("cox", "aft"):
        for name, fit in fits.items():
            if find_spec(name) is None:
                print(f"{name} is not installed")
                continue
            began = time.process_time()
            predict = fit(train, n_rounds, loss)
            seconds = time.process_time() - began
            index = concordance_index(test[1], predict(test[0]))
            print(
                f"{loss}  {n_rows:>9,} rows  {name:<9} {seconds:7.2f} s  C {index:.4f}", flush=True
            )


def read_survival_table(path: str, time_column: str, event: str, without: str) -> tuple[Any, Any]:
    """Read a CSV file; `event` is "column=value", and `without` names columns to leave out."""
    table = pd.read_csv(path)
    event_column, value = event.split("=")
    y = np.empty(len(table), dtype=[("event", "?"), ("time", "f8")])
    y["event"] = table.pop(event_column).astype(str) == value
    y["time"] = table.pop(time_column)
    table = table.drop(columns=without.split(",") if without else [])
    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    return table.astype(dict.fromkeys(texts, "category")), y


def censor_after(y: Any, last: float) -> Any:
    """Return times that are censored after a last one."""
    seen = y.copy()
    seen["event"] &= y["time"] <= last
    seen["time"] = np.minimum(y["time"], last)
    return seen


def make_cox_regression() -> Any:
    """Make Cox regression of standardised numbers, medians where missing, and of indicators."""
    from arboleda import CoxRegression

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    texts = OneHotEncoder(drop="first", sparse_output=False, handle_unknown="ignore")
    columns = make_column_transformer(
        (texts, make_column_selector(dtype_include="category")), remainder=numbers
    )
    return make_pipeline(columns, CoxRegression(alpha=1.0))


def predict_curves(model: Any, X: Any, at: Any) -> Any:
    """Predict survival curves by a model or a pipeline that ends with one."""
    if isinstance(model, Pipeline):
        model, X = model[-1], model[:-1].transform(X)
    return model.predict_survival_function(X, at)


def compare_accuracy(X: Any, y: Any) -> None:
    """Print the mean concordance index and integrated Brier score of five folds."""
    from arboleda import HistGradientBoostingSurvival, RandomSurvivalForest
    from arboleda.metrics import integrated_survival_brier_score

    models = {
        "cox_regression": make_cox_regression(),
        "cox": HistGradientBoostingSurvival(random_state=0),
        "aft": HistGradientBoostingSurvival("aft", random_state=0),
        "discrete_time": HistGradientBoostingSurvival("discrete_time", random_state=0),
        "forest": RandomSurvivalForest(500, random_state=0),
    }
    times = np.quantile(y["time"][y["event"]], np.linspace(0.1, 0.9, 30))
    y["time"] = np.maximum(y["time"], 0.5)  # a logarithm of every time
    for name, model in models.items():
        scores = []
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            model.fit(X.iloc[train], y[train])
            seen = censor_after(y[test], y["time"][train].max())
            at = times[(times >= seen["time"].min()) & (times < seen["time"].max())]
            curves = predict_curves(model, X.iloc[test], at)
            brier = integrated_survival_brier_score(y[train], seen, curves, at)
            scores.append((model.score(X.iloc[test], y[test]), brier))
        index, brier = np.mean(scores, axis=0)
        print(f"{name:<14} C {index:.4f}  integrated Brier {brier:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed")
    speed.add_argument("--rows", type=int, default=1_000_000)
    speed.add_argument("--rounds", type=int, default=100)
    accuracy = commands.add_parser("accuracy")
    accuracy.add_argument("table")
    accuracy.add_argument("--time", default="time")
    accuracy.add_argument("--event", default="status=1", help="column=value")
    accuracy.add_argument("--without", default="", help="columns to leave out")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.command == "speed":
        compare_speed(arguments.rows, arguments.rounds)
    else:
        compare_accuracy(
            *read_survival_table(
                arguments.table, arguments.time, arguments.event, arguments.without
            )
        )


if __name__ == "__main__":
    main()
