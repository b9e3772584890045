"""Measure the benefit of generated features for the portfolio of preset "best".

    python benchmarks/generated_features.py [--rows 3000] [--tables adult,spambase]

The configurations of the portfolio are cross-validated on each table, on at most `--rows` rows.
Prints the losses of the configurations that exist with and without generated features, and of the
ensemble (greedy selection and a temperature, cross-fitted) with and without these configurations.
docs/decisions/portfolio.md has the result.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from arboleda.catalogue.model import Setting
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.catalogue.preparation import make_preparation
from arboleda.combine import MemberOutputs
from arboleda.scoring.scores import class_scores
from arboleda.study.combination.cross_fitting import cross_fit
from arboleda.study.combination.methods import METHODS
from arboleda.tables.features import decide_roles, make_features
from arboleda.tables.reading import read_table
from arboleda.tables.target import make_target
from tables import TABLES

GREEDY = next(method.fit for method in METHODS if method.key == "greedy_selection")
# Slow, or similar to others.
EXCLUDED = ("best_dart", "best_forest", "best_small_leafwise")
GENERATED = "crossed_"


def format_gain(without: np.ndarray, with_generated: np.ndarray) -> str:
    """Format the reduction of the mean loss in percent, with its standard error."""
    difference = (without - with_generated) / without.mean() * 100
    return f"{difference.mean():.1f} ± {difference.std() / np.sqrt(len(difference)):.1f} %"


def measure(name: str, n_rows: int) -> None:
    """Cross-validate on one table and print the losses."""
    problem = TABLES[name]()
    frame = problem.frame.assign(target=problem.target)
    table = read_table(frame.sample(min(n_rows, len(frame)), random_state=0))
    kind = "regression" if problem.task == "regression" else "classification"
    goal = make_target(table, "target", kind)
    features = make_features(table, decide_roles(table, "target", np.arange(table.n_rows), None))
    x, y, n_classes = features.x, goal.y, len(goal.labels)
    folds = list(KFold(5, shuffle=True, random_state=0).split(x))
    setting = Setting(len(folds[0][0]), n_classes, 0, features.categorical)
    models = [m for m in PORTFOLIO if m.task == kind and m.key not in EXCLUDED]
    predictions = np.zeros((len(models), len(x), n_classes) if n_classes else (len(models), len(x)))
    for predicted, model in zip(predictions, models, strict=True):
        for fit, score in folds:
            preparation = make_preparation(features, model.style, goal.task, 0)
            estimator = model.build(setting, model.grid(setting)[0])
            pipeline = Pipeline([("preparation", preparation), ("model", estimator)])
            pipeline.fit(x[fit], y[fit])
            found = class_scores(pipeline, x[score], n_classes) if n_classes else None
            predicted[score] = pipeline.predict(x[score]) if found is None else found

    def compute_losses(predicted: np.ndarray) -> np.ndarray:
        if not n_classes:
            return (predicted - y) ** 2
        return -np.log(np.clip(predicted[np.arange(len(y)), y], 1e-15, 1.0))

    def combine(keys: list[str]) -> np.ndarray:
        outputs = predictions[[m.key in keys for m in models]]
        labels = np.asarray(goal.labels, dtype=object) if n_classes else None
        every = np.arange(len(x))
        whole = MemberOutputs(keys, outputs, labels, every, len(x))
        parts = [MemberOutputs(keys, outputs[:, s], labels, s, len(x)) for _, s in folds]
        predicted = np.zeros(predictions.shape[1:])
        for (_, score), part in zip(
            folds, cross_fit(GREEDY, parts, whole, y, 0).predictions, strict=True
        ):
            predicted[score] = part
        return compute_losses(predicted)

    each = {
        m.key: compute_losses(predicted) for m, predicted in zip(models, predictions, strict=True)
    }
    pairs = {key.replace(GENERATED, ""): key for key in each if GENERATED in key}
    pairs_of_losses = {key: (each[key], each[generated]) for key, generated in pairs.items()}
    every = [m.key for m in models]
    pairs_of_losses["ensemble"] = (
        combine([key for key in every if GENERATED not in key]),
        combine(every),
    )
    for key, (without, with_generated) in pairs_of_losses.items():
        means = [without.mean(), with_generated.mean()]
        shown = ", ".join(f"{m if n_classes else np.sqrt(m):.5g}" for m in means)
        print(
            f"{name:20} {key:20} {shown}: {format_gain(without, with_generated)} less", flush=True
        )


def main() -> None:
    """Measure on every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument(
        "--tables",
        default="california_housing,uk_used_cars,adult,spambase,letter_recognition",
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in args.tables.split(","):
        measure(name, args.rows)


if __name__ == "__main__":
    main()
