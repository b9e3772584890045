"""Measure the coverage of prediction intervals and sets over random splits of real tables.

    python benchmarks/conformal.py                      all tables, 30 splits, about ten minutes
    python benchmarks/conformal.py --splits 3 --rows 900 --only diabetes,spambase

Each split draws at most `--rows` rows: half to fit, a sixth to calibrate, a third to test; methods
that need no calibration rows fit on the first two parts. The models are forests of 100 trees;
boosting has 100 rounds for "boosting, quantile", and 50 for "boosting, cv+". The requested coverage
is 0.9. Prints the mean coverage over splits with its standard error, and the mean width (in
standard deviations of y, median over splits, so that a single wide split does not dominate) or the
mean number of classes.

Regression: prices of used cars, house values in California, diabetes (scikit-learn's), memory
prices (log10, shuffled rows), weekly hours of work (Adult). Classification: incomes (Adult),
spambase, letters, forest cover, digits. Missing tables are skipped.

The last tables violate the assumption on purpose: models are fitted and calibrated on one
population and predict another.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.datasets import load_diabetes

sys.path.insert(0, str(Path(__file__).resolve().parent / "quality"))
from arboleda import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.explain import prediction_interval, prediction_set
from tables import DATA, TABLES, Problem, make_problem

COVERAGE = 0.9
N_TREES = 100

Rows = npt.NDArray[np.intp]


def diabetes() -> Problem:
    data, target = load_diabetes(return_X_y=True, as_frame=True)
    return make_problem(data, target, "regression")


def ram_price() -> Problem:
    frame = pd.read_csv(DATA / "ram_price" / "ram_price.csv", index_col=0)
    return make_problem(frame[["date"]], np.log10(frame["price"]), "regression")


def hours_per_week() -> Problem:
    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz")
    return make_problem(frame, frame.pop("hours-per-week"), "regression")


REGRESSION: dict[str, Callable[[], Problem]] = {
    "uk_used_cars": TABLES["uk_used_cars"],
    "california_housing": TABLES["california_housing"],
    "diabetes": diabetes,
    "ram_price": ram_price,
    "hours_per_week": hours_per_week,
}
CLASSES = {
    name: TABLES[name]
    for name in ("adult", "spambase", "letter_recognition", "covertype_15k", "mnist")
}


def make_forest(seed: int) -> RandomForestRegressor:
    return RandomForestRegressor(
        N_TREES, max_features=1 / 3, min_samples_leaf=2, keep_rows=True, random_state=seed
    )


def iter_intervals(frame: pd.DataFrame, y: Any, fit: Rows, cal: Rows, seed: int) -> Iterator[Any]:
    """Yield the name of each method and a function that predicts (lower, upper) for a table."""
    model = make_forest(seed).fit(frame.iloc[fit], y[fit])
    pair = (frame.iloc[cal], y[cal])

    def calibrate(model: Any, **options: Any) -> Callable[[Any], Any]:
        calibrated = prediction_interval(model, coverage=COVERAGE, random_state=seed, **options)

        def predict(table: Any) -> Any:
            found = calibrated.predict(table)
            return found.lower, found.upper

        return predict

    yield "forest, its own quantiles", lambda table: model.predict_interval(table, COVERAGE).T
    for method in ("absolute", "normalized", "quantile"):
        yield f"forest, {method}", calibrate(model, calibration=pair, method=method)
    boosting = HistGradientBoostingRegressor(
        loss="quantile", quantile=[0.05, 0.5, 0.95], max_iter=100, random_state=seed
    ).fit(frame.iloc[fit], y[fit])
    yield "boosting, its own quantiles", lambda table: boosting.predict(table)[:, [0, 2]].T
    yield "boosting, quantile", calibrate(boosting, calibration=pair, method="quantile")
    both = np.sort(np.concatenate([fit, cal]))
    pair = (frame.iloc[both], y[both])
    whole = make_forest(seed).fit(*pair)
    yield "forest, jackknife+ab", calibrate(whole, training=pair)
    quick = HistGradientBoostingRegressor(max_iter=50, random_state=seed)
    yield "boosting, cv+", calibrate(quick, training=pair, method="cv+")


def iter_sets(frame: pd.DataFrame, y: Any, fit: Rows, cal: Rows, seed: int) -> Iterator[Any]:
    """Yield the name of each method and a function that predicts sets for a table."""
    model = RandomForestClassifier(N_TREES, random_state=seed).fit(frame.iloc[fit], y[fit])
    kinds: dict[str, dict[str, Any]] = {
        "lac": {},
        "lac, by class": {"by_class": True},
        "aps": {"method": "aps", "random_state": seed},
        "aps, not randomized": {"method": "aps", "randomized": False},
    }
    pair = (frame.iloc[cal], y[cal])
    for name, options in kinds.items():
        yield name, prediction_set(model, calibration=pair, coverage=COVERAGE, **options).predict
    both = np.sort(np.concatenate([fit, cal]))
    pair = (frame.iloc[both], y[both])
    whole = RandomForestClassifier(N_TREES, random_state=seed).fit(*pair)
    yield "lac, out of bag", prediction_set(whole, training=pair, coverage=COVERAGE).predict


def split(n: int, n_rows: int, seed: int) -> tuple[Rows, Rows, Rows]:
    """Draw rows for fitting, calibration and testing, in proportions 3 : 1 : 2."""
    order = np.random.default_rng(seed).permutation(n)[: min(n, n_rows)]
    first, second = len(order) // 2, len(order) * 2 // 3
    return np.sort(order[:first]), np.sort(order[first:second]), np.sort(order[second:])


def measure(given: Problem, n_splits: int, n_rows: int) -> dict[str, tuple[list[float], ...]]:
    """Return the coverage and size of every method on every split."""
    frame, y = given.frame, given.target
    found: dict[str, tuple[list[float], ...]] = {}
    for seed in range(n_splits):
        fit, cal, test = split(len(y), n_rows, seed)
        table, truth = frame.iloc[test], y[test]
        if given.task == "regression":
            for name, predict in iter_intervals(frame, y, fit, cal, seed):
                lower, upper = predict(table)
                record(found, name, (lower <= truth) & (truth <= upper), (upper - lower) / y.std())
        else:
            for name, predict in iter_sets(frame, y, fit, cal, seed):
                sets = predict(table)
                record(found, name, sets.covers(truth), sets.size)
    return found


def record(found: dict[str, tuple[list[float], ...]], name: str, covered: Any, size: Any) -> None:
    shares, sizes = found.setdefault(name, ([], []))
    shares.append(float(np.mean(covered)))
    sizes.append(float(np.mean(size)))


def print_tables(kind: dict[str, Callable[[], Problem]], args: argparse.Namespace) -> None:
    columns, names = {}, []
    for name, load in kind.items():
        if args.only and name not in args.only.split(","):
            continue
        try:
            given = load()
        except FileNotFoundError:
            print(f"{name} is not there: skipped")
            continue
        columns[name] = measure(given, args.splits, args.rows)
        names = list(columns[name])
    if not columns:
        return
    print(f"\n| covered, of {COVERAGE} | {' | '.join(columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    for method in names:
        cells = []
        for found in columns.values():
            shares = np.array(found[method][0])
            error = shares.std(ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else np.nan
            cells.append(f"{shares.mean():.3f} ± {error:.3f}")
        print(f"| {method} | {' | '.join(cells)} |")
    print(f"\n| size | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for method in names:
        cells = [f"{np.median(found[method][1]):.2f}" for found in columns.values()]
        print(f"| {method} | {' | '.join(cells)} |")


def iter_shifts() -> Iterator[tuple[str, pd.DataFrame, Any, Any, Any]]:
    """Yield tables with two populations: name, columns, target, known rows, shifted rows."""
    cars = pd.read_csv(DATA / "uk_used_cars" / "vw.csv.gz")
    year, price = cars["year"], cars.pop("price").to_numpy(np.float64)
    text = {name: "category" for name in cars if not pd.api.types.is_numeric_dtype(cars[name])}
    cars = cars.astype(text)
    yield "cars of up to 2016, then of 2019 and 2020", cars, price, year <= 2016, year >= 2019
    yield "cars of 2019 and 2020, then of up to 2016", cars, price, year >= 2019, year <= 2016
    houses = pd.read_csv(DATA / "california_housing" / "housing.csv.gz")
    value = houses.pop("median_house_value").to_numpy(np.float64)
    inland = houses.pop("ocean_proximity") == "INLAND"
    yield "houses inland, then elsewhere", houses, value, inland, ~inland
    memory = pd.read_csv(DATA / "ram_price" / "ram_price.csv", index_col=0)
    date = memory["date"]
    log_price = np.log10(memory["price"].to_numpy())
    yield "memory before 2000, then after", memory[["date"]], log_price, date < 2000, date >= 2000


def print_shifts(n_splits: int) -> None:
    """Print the coverage of rows from the known population, and from the other one."""
    print("\n| fitted and calibrated on, then applied to | first population | second |")
    print("|---|---|---|")
    for name, frame, y, known, shifted in iter_shifts():
        first, second = np.flatnonzero(known), np.flatnonzero(shifted)
        same, other = [], []
        for seed in range(n_splits):
            fit, cal, test = split(len(first), 6000, seed)
            model = make_forest(seed).fit(frame.iloc[first[fit]], y[first[fit]])
            calibrated = prediction_interval(
                model, calibration=(frame.iloc[first[cal]], y[first[cal]]), coverage=COVERAGE
            )
            for rows, shares in ((first[test], same), (second, other)):
                shares.append(calibrated.predict(frame.iloc[rows]).covers(y[rows]).mean())
        print(f"| {name} | {np.mean(same):.3f} | {np.mean(other):.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--only", default="", help="names of tables, separated by commas")
    args = parser.parse_args()
    with warnings.catch_warnings():
        # Classes with few calibration rows are in every set.
        warnings.filterwarnings("ignore", message="coverage=.* of each class needs more rows")
        print_tables(REGRESSION, args)
        print_tables(CLASSES, args)
    if not args.only and (DATA / "uk_used_cars").exists():
        print_shifts(max(1, args.splits // 3))


if __name__ == "__main__":
    main()
