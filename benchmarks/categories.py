"""Compare encodings of categorical columns in boosting, also with other libraries.

    python benchmarks/categories.py rule [--repeats 5]
    python benchmarks/categories.py prior
    python benchmarks/categories.py peers [--folds 5]

`rule` adds one column of L categories to five numeric columns, on n rows, and prints the held-out
log-loss of boosting without it, with native splits, and with ordered statistics. The number of
categories from which `category_encoding="auto"` uses statistics is based on it. The effect of the
column is either strong or zero (identifiers, noise). `prior` compares prior weights of ordered
statistics. `peers` compares arboleda with LightGBM, CatBoost and scikit-learn on Adult and used
cars, with texts as categories, by cross-validation with the same leaves, rounds and learning rate.
All print Markdown.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier as TheirClassifier
from sklearn.ensemble import HistGradientBoostingRegressor as TheirRegressor
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.boosting import _target_statistics

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
N_TEST = 20_000
ROUNDS: dict[str, Any] = {"max_iter": 100, "early_stopping": False, "random_state": 0}


def make_table(n: int, n_levels: int, effect: float, seed: int) -> tuple[pd.DataFrame, Any]:
    """Generate five numbers, a column of categories, and a class; the last rows are test rows."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n + N_TEST, 5)), columns=list("abcde"))
    code = random.integers(0, n_levels, len(X))
    score = X["a"] + 0.5 * X["b"] * X["c"] + effect * random.normal(size=n_levels)[code] - 1.0
    X["category"] = pd.Categorical.from_codes(code, categories=np.arange(n_levels).astype(str))
    return X, (random.random(len(X)) < 1 / (1 + np.exp(-score))).astype(int)


def compute_held_out_loss(model: Any, X: pd.DataFrame, y: Any) -> float:
    """Return the log-loss of the last rows after a fit to the others."""
    model.fit(X[:-N_TEST], y[:-N_TEST])
    return float(log_loss(y[-N_TEST:], model.predict_proba(X[-N_TEST:])))


def compare_by_rule(repeats: int) -> Iterator[list[Any]]:
    """Compare native splits and ordered statistics by rows, levels and effect."""
    yield ["rows", "levels", "rows a level", "effect", "without", "native", "ordered", "best"]
    for effect, n in product((1.0, 0.0), (2_000, 10_000, 50_000)):
        for n_levels in (10, 30, 100, 255, 1_000, 3_000, 10_000):
            if n_levels > n:
                continue
            losses = np.empty((repeats, 3))
            for seed in range(repeats):
                X, y = make_table(n, n_levels, effect, seed)
                for k, encoding in enumerate((None, "native", "ordered")):
                    model = HistGradientBoostingClassifier(
                        **ROUNDS, category_encoding=encoding or "auto"
                    )
                    losses[seed, k] = compute_held_out_loss(
                        model, X if encoding else X[list("abcde")], y
                    )
            means = losses.mean(axis=0)
            best = "native" if means[1] < means[2] else "ordered"
            yield [n, n_levels, n // n_levels, effect, *means, best]


def compare_priors(repeats: int) -> Iterator[list[Any]]:
    """Compare prior weights of ordered statistics."""
    weights = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
    yield ["rows", "levels", "effect", *[f"a = {weight:g}" for weight in weights]]
    for effect, (n, n_levels) in product(
        (1.0, 0.0), ((2_000, 300), (10_000, 300), (10_000, 3_000), (50_000, 3_000))
    ):
        losses = np.empty((repeats, len(weights)))
        for seed, (k, weight) in product(range(repeats), enumerate(weights)):
            X, y = make_table(n, n_levels, effect, seed)
            model = HistGradientBoostingClassifier(**ROUNDS, category_encoding="ordered")
            with mock.patch.dict(
                _target_statistics.learn_statistics.__kwdefaults__, prior_weight=weight
            ):
                losses[seed, k] = compute_held_out_loss(model, X, y)
        yield [n, n_levels, effect, *losses.mean(axis=0)]


def load_adult() -> tuple[pd.DataFrame, Any]:
    """Load Adult, with its texts as categories."""
    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz", na_values="?", skipinitialspace=True)
    y = (frame.pop("income") == ">50K").to_numpy().astype(int)
    return _categories(frame), y


def load_used_cars() -> tuple[pd.DataFrame, Any]:
    """Load the prices of used Volkswagens."""
    frame = pd.read_csv(DATA / "uk_used_cars" / "vw.csv.gz")
    y = frame.pop("price").to_numpy(float)
    return _categories(frame), y


def _categories(frame: pd.DataFrame) -> pd.DataFrame:
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    return frame.astype(dict.fromkeys(texts, "category"))


def make_contestants(classify: bool) -> dict[str, Callable[[], Any]]:
    """Return all models, with 31 leaves, 100 rounds and a learning rate of 0.1."""
    ours = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    theirs = TheirClassifier if classify else TheirRegressor
    found: dict[str, Callable[[], Any]] = {
        "arboleda, auto": lambda: ours(**ROUNDS),
        "arboleda, native": lambda: ours(**ROUNDS, category_encoding="native"),
        "arboleda, ordered": lambda: ours(**ROUNDS, category_encoding="ordered"),
        "scikit-learn": lambda: theirs(**ROUNDS, categorical_features="from_dtype"),
    }
    try:
        import lightgbm

        kind = lightgbm.LGBMClassifier if classify else lightgbm.LGBMRegressor
        found["LightGBM"] = lambda: kind(verbose=-1)
    except ModuleNotFoundError:
        pass
    try:
        import catboost

        other = catboost.CatBoostClassifier if classify else catboost.CatBoostRegressor
        for growth in ("SymmetricTree", "Lossguide"):
            found[f"CatBoost, {growth}"] = lambda growth=growth: TextCategories(
                other(
                    iterations=100,
                    learning_rate=0.1,
                    grow_policy=growth,
                    verbose=0,
                    allow_writing_files=False,
                    **({"max_leaves": 31} if growth == "Lossguide" else {}),
                )
            )
    except ModuleNotFoundError:
        pass
    return found


class TextCategories:
    """CatBoost with categories passed as text, and missing ones as a category."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: Any) -> None:
        names = X.select_dtypes("category").columns.tolist()
        self.model.fit(self._texts(X), y, cat_features=names)

    def __getattr__(self, name: str) -> Any:
        return lambda X: getattr(self.model, name)(self._texts(X))

    def _texts(self, X: pd.DataFrame) -> pd.DataFrame:
        names = X.select_dtypes("category").columns
        texts = {name: X[name].astype(object).fillna("missing").astype(str) for name in names}
        return X.assign(**texts)


def compare_libraries(folds: int) -> Iterator[list[Any]]:
    """Compare the mean losses of all libraries over folds."""
    yield ["model", "Adult, log-loss", "used cars, RMSE"]
    table: dict[str, list[float]] = {}
    for classify, (X, y) in ((True, load_adult()), (False, load_used_cars())):
        splitter = (StratifiedKFold if classify else KFold)(folds, shuffle=True, random_state=0)
        splits = list(splitter.split(X, y))
        for name, make in make_contestants(classify).items():
            losses = []
            for train, test in splits:
                model = make()
                model.fit(X.iloc[train], y[train])
                if classify:
                    losses.append(log_loss(y[test], model.predict_proba(X.iloc[test])))
                else:
                    losses.append(root_mean_squared_error(y[test], model.predict(X.iloc[test])))
            table.setdefault(name, []).append(float(np.mean(losses)))
    for name, means in table.items():
        yield [name, *means]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=["rule", "prior", "peers"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folds", type=int, default=5)
    arguments = parser.parse_args()
    lines = {
        "rule": lambda: compare_by_rule(arguments.repeats),
        "prior": lambda: compare_priors(arguments.repeats),
        "peers": lambda: compare_libraries(arguments.folds),
    }[arguments.which]()
    for number, cells in enumerate(lines):
        shown = [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells]
        print(f"| {' | '.join(shown)} |", flush=True)
        if number == 0:
            print("|" + "---|" * len(cells), flush=True)


if __name__ == "__main__":
    main()
