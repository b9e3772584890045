"""Fit the arboleda model by AutoGluon to small tables: bagged, beside and below other models.

python examples/tabarena/run.py [--rows 600] [--time-limit 60] [--problem regression]
"""

from __future__ import annotations

import argparse
import tempfile
import time

import numpy as np
import pandas as pd
from arboleda_model import ArboledaModel
from autogluon.tabular import TabularPredictor


def make_table(problem_type: str, n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Make a table with numbers, categories and missing values, and the target in ``y``."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "length": random.normal(size=n_rows),
            "width": random.normal(size=n_rows),
            "count": random.integers(0, 9, n_rows),
            "town": random.choice(["Jaca", "Ronda", "Vigo", "Soria"], n_rows),
            "flag": random.random(n_rows) < 0.3,
        }
    )
    signal = table["length"] + 2.0 * (table["town"] == "Vigo") + 0.2 * table["count"]
    signal += table["width"] * table["flag"] + 0.5 * random.normal(size=n_rows)
    table["length"] = table["length"].mask(random.random(n_rows) < 0.1)
    table["town"] = table["town"].mask(random.random(n_rows) < 0.1)
    n_classes = {"binary": 2, "multiclass": 4}.get(problem_type)
    if n_classes is None:
        return table.assign(y=signal)
    codes = pd.qcut(signal, n_classes, labels=False)
    return table.assign(y=np.array(["low", "fair", "good", "high"])[codes])


def run(problem_type: str, n_rows: int, time_limit: float) -> None:
    """Fit a stack of two layers, save and load it, and print its leaderboard."""
    table = make_table(problem_type, 2 * n_rows)
    train, test = table[:n_rows], table[n_rows:]
    metric = {"binary": "roc_auc", "multiclass": "log_loss"}.get(problem_type)
    levels = [0.1, 0.5, 0.9] if problem_type == "quantile" else None
    others: dict[str, dict[str, int]] = {} if problem_type == "quantile" else {"RF": {}}
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        predictor = TabularPredictor(
            "y",
            problem_type=problem_type,
            eval_metric=metric,
            path=folder,
            quantile_levels=levels,
            verbosity=1,
        ).fit(
            train,
            hyperparameters={ArboledaModel: [{}, {"effort": "quick"}], **others},
            num_bag_folds=2,
            num_stack_levels=1,
            dynamic_stacking=False,
            time_limit=time_limit,
        )
        seconds = time.perf_counter() - start
        loaded = TabularPredictor.load(folder)
        expected, found = predictor.predict(test), loaded.predict(test)
        if not expected.equals(found):
            raise AssertionError("the loaded predictor predicts something else")
        columns = ["model", "score_test", "score_val", "fit_time_marginal", "stack_level"]
        print(f"{problem_type}: {seconds:.1f} s, limit {time_limit:g} s, saved and loaded")
        print(loaded.leaderboard(test)[columns].round(4).to_string(index=False))


def main() -> None:
    """Run the problems of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--problem", choices=ArboledaModel.supported_problem_types())
    options = parser.parse_args()
    problems = [options.problem] if options.problem else ArboledaModel.supported_problem_types()
    for problem_type in problems:
        run(problem_type, options.rows, options.time_limit)


if __name__ == "__main__":
    main()
