"""What columns made of others are worth to the portfolio of preset "best".

    python benchmarks/made_columns.py [--rows 3000] [--tables adult,spambase]

Configurations of the portfolio are cross-validated on each table, at most so many rows of it. Told
are the losses of those that are there with and without made columns, and of the ensemble (greedy
selection and a temperature, cross-fitted) with and without the former; docs/decisions/portfolio.md
keeps the result.
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

from tables import TABLES

from arboleda.combine import MemberOutputs
from arboleda.study.catalogue.model import Setting
from arboleda.study.catalogue.portfolio import PORTFOLIO
from arboleda.study.combination.methods import METHODS, cross_fit
from arboleda.study.data.features import make_features
from arboleda.study.data.preparation import make_preparation
from arboleda.study.data.reading import read_table
from arboleda.study.data.roles import decide_roles
from arboleda.study.data.target import make_target
from arboleda.study.results.scoring import class_scores

GREEDY = next(method.fit for method in METHODS if method.key == "greedy_selection")
# Slow, or like others.
LEFT_OUT = ("best_dart", "best_forest", "best_small_leafwise")
MADE = "crossed_"


def gain(without: np.ndarray, with_made: np.ndarray) -> str:
    """How much less the mean loss is, in percent, with its standard error."""
    difference = (without - with_made) / without.mean() * 100
    return f"{difference.mean():.1f} ± {difference.std() / np.sqrt(len(difference)):.1f} %"


def measure(name: str, n_rows: int) -> None:
    """Cross-validate on one table, and print."""
    problem = TABLES[name]()
    frame = problem.frame.assign(target=problem.target)
    table = read_table(frame.sample(min(n_rows, len(frame)), random_state=0))
    kind = "regression" if problem.task == "regression" else "classification"
    goal = make_target(table, "target", kind)
    features = make_features(table, decide_roles(table, "target", np.arange(table.n_rows), None))
    x, y, n_classes = features.x, goal.y, len(goal.labels)
    folds = list(KFold(5, shuffle=True, random_state=0).split(x))
    setting = Setting(len(folds[0][0]), n_classes, 0, features.categorical)
    models = [m for m in PORTFOLIO if m.task == kind and m.key not in LEFT_OUT]
    said = np.zeros((len(models), len(x), n_classes) if n_classes else (len(models), len(x)))
    for answers, model in zip(said, models, strict=True):
        for fit, score in folds:
            preparation = make_preparation(features, model.style, goal.task, 0)
            estimator = model.build(setting, model.grid(setting)[0])
            pipeline = Pipeline([("preparation", preparation), ("model", estimator)])
            pipeline.fit(x[fit], y[fit])
            found = class_scores(pipeline, x[score], n_classes) if n_classes else None
            answers[score] = pipeline.predict(x[score]) if found is None else found

    def losses(answers: np.ndarray) -> np.ndarray:
        if not n_classes:
            return (answers - y) ** 2
        return -np.log(np.clip(answers[np.arange(len(y)), y], 1e-15, 1.0))

    def ensemble(keys: list[str]) -> np.ndarray:
        outputs = said[[m.key in keys for m in models]]
        labels = np.asarray(goal.labels, dtype=object) if n_classes else None
        every = np.arange(len(x))
        whole = MemberOutputs(keys, outputs, labels, every, len(x))
        parts = [MemberOutputs(keys, outputs[:, s], labels, s, len(x)) for _, s in folds]
        answers = np.zeros(said.shape[1:])
        for (_, score), part in zip(
            folds, cross_fit(GREEDY, parts, whole, y, 0).predictions, strict=True
        ):
            answers[score] = part
        return losses(answers)

    each = {m.key: losses(answers) for m, answers in zip(models, said, strict=True)}
    pairs = {key.replace(MADE, ""): key for key in each if MADE in key}
    told = {key: (each[key], each[made]) for key, made in pairs.items()}
    every = [m.key for m in models]
    told["ensemble"] = ensemble([key for key in every if MADE not in key]), ensemble(every)
    for key, (without, with_made) in told.items():
        means = [without.mean(), with_made.mean()]
        shown = ", ".join(f"{m if n_classes else np.sqrt(m):.5g}" for m in means)
        print(f"{name:20} {key:20} {shown}: {gain(without, with_made)} less", flush=True)


def main() -> None:
    """Go over the tables."""
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
