"""Compare two stopping rules for boosting in preset "best": a held-out tenth, or inner folds.

    python benchmarks/stopping.py [--tables spambase,adult] [--styles leafwise,random_splits]

Four fifths of a table are divided into five folds, and a configuration is fitted to the rows
outside each fold. Prints its loss on the folds, the loss of the mean of the five models on the last
fifth of the table (log-loss or root mean squared error), and the total seconds.
docs/decisions/portfolio.md has the results.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from best_contestants import compute_loss

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.catalogue.model import Setting
from arboleda.catalogue.portfolio import PORTFOLIO
from tables import WHOLE_TABLES

FOLDS = 5


def measure(table: str, style: str) -> None:
    """Print a line for each stopping rule."""
    problem = WHOLE_TABLES[table]()
    y, regression = problem.target, problem.task == "regression"
    rows = np.arange(len(y))
    train, test = train_test_split(
        rows, test_size=0.2, stratify=None if regression else y, random_state=0
    )
    splitter = (KFold if regression else StratifiedKFold)(FOLDS, shuffle=True, random_state=0)
    task = "regression" if regression else "classification"
    (model,) = (m for m in PORTFOLIO if m.key == f"best_{style}" and m.task == task)
    n_classes = 0 if regression else int(y.max()) + 1
    for params in model.grid(Setting(n_rows=len(train), n_classes=n_classes, seed=0)):
        since, losses, predictions = time.perf_counter(), [], []
        for learn, held in splitter.split(train, y[train]):
            fitted = _fit(params, problem, train[learn])
            predict: Any = fitted.predict if regression else fitted.predict_proba
            losses.append(
                compute_loss(problem, train[held], predict(problem.frame.iloc[train[held]]))
            )
            predictions.append(predict(problem.frame.iloc[test]))
        folds = params.get("validation_folds")
        how = f"{folds} folds" if folds else "a tenth" if params["early_stopping"] else "fixed"
        print(
            f"{table}, {style}, {how}: cv {np.mean(losses):.5g}, "
            f"test {compute_loss(problem, test, np.mean(predictions, axis=0)):.5g}, "
            f"{time.perf_counter() - since:.1f} s",
            flush=True,
        )


def _fit(params: dict[str, Any], problem: Any, rows: Any) -> Any:
    kind = HistGradientBoostingClassifier
    if problem.task == "regression":
        kind = HistGradientBoostingRegressor
    model = kind(random_state=0, n_jobs=1, **params)
    return model.fit(problem.frame.iloc[rows], problem.target[rows])


def main() -> None:
    """Measure every style on every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="spambase,adult")
    parser.add_argument("--styles", default="leafwise,random_splits,symmetric,linear_leaves")
    args = parser.parse_args()
    for table in args.tables.split(","):
        for style in args.styles.split(","):
            measure(table, style)


if __name__ == "__main__":
    main()
