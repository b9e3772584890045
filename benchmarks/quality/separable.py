"""Compare defaults on nearly separable tables, where all libraries have a small log-loss.

    python benchmarks/quality/separable.py run [--contestants LightGBM,CatBoost]
    python benchmarks/quality/separable.py show

`run` adds the losses of three folds of every table to `separable.jsonl`; what is there is not run
again. `show` prints the mean loss of each contestant and its standard error over the folds, and by
how much arboleda is worse than the best. Tables have at most 4,000 rows. Those that are made
imitate well-known ones: a rule decides every row or nearly every row, and other columns do not
matter.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
import pandas as pd
from more_tables import MORE_TABLES, make, read_shipped
from run import compute_score
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from tables import Problem, make_problem

RESULTS = Path(__file__).with_name("separable.jsonl")
OURS = "arboleda normal"
COMPARED = (OURS, "LightGBM", "ChimeraBoost", "CatBoost")
N_FOLDS = 3
Codes = Mapping[str, npt.NDArray[np.int64]]


def as_letters(codes: Codes) -> pd.DataFrame:
    """Return columns of letters."""
    letters = np.array(list("abcdefghijklmnop"))
    return pd.DataFrame({name: letters[column] for name, column in codes.items()})


def read_digits(first: int, second: int) -> Problem:
    """Load the images of two digits."""
    X, y = load_digits(return_X_y=True)
    is_kept = (y == first) | (y == second)
    return make_problem(pd.DataFrame(X[is_kept]), y[is_kept], "binary")


def thyroid(rng: np.random.Generator) -> Problem:
    """Make few positives, decided by two thresholds; one label in a thousand is wrong."""
    X = rng.normal(size=(2_000, 12))
    X[:, 6:] = rng.random((2_000, 6)) < 0.2
    y = (X[:, 0] > 1.0) & (X[:, 1] < 0.2) & (X[:, 6] == 0)
    return make_problem(pd.DataFrame(X), y ^ (rng.random(2_000) < 1e-3), "binary")


def mushrooms(rng: np.random.Generator) -> Problem:
    """Make categories with an equal share of each, and rules of up to three of them."""
    sizes = {"odor": 9, "spore": 9, "cap": 10, "gill": 12, "stalk": 4, "habitat": 7}
    sizes |= {"population": 6, "ring": 5, "surface": 4, "bruises": 2}
    c = {name: rng.integers(0, size, 2_000) for name, size in sizes.items()}
    y = (c["odor"] >= 3) | ((c["odor"] == 0) & (c["spore"] == 2))
    y |= (c["odor"] == 1) & (c["surface"] == 3) & (c["stalk"] < 2)
    y |= (c["odor"] == 2) & (c["habitat"] == 4) & (c["cap"] < 5)
    return make_problem(as_letters(c), y, "binary")


def easy_mushrooms(rng: np.random.Generator) -> Problem:
    """Make categories of which the odor decides nearly all rows."""
    odors = [0.4, 0.06, 0.06, 0.03, 0.28, 0.03, 0.01, 0.07, 0.06]
    c = {"odor": rng.choice(9, 4_000, p=odors)}
    c["spore"] = rng.choice(8, 4_000, p=[0.24, 0.23, 0.2, 0.2, 0.09, 0.02, 0.01, 0.01])
    sizes = {"cap": 10, "gill": 12, "stalk": 4, "habitat": 7, "population": 6, "ring": 5}
    sizes |= {"surface": 4, "bruises": 2}
    c |= {name: rng.integers(0, size, 4_000) for name, size in sizes.items()}
    y = (c["odor"] >= 3) | ((c["odor"] == 0) & (c["spore"] == 5))
    y |= (c["odor"] == 0) & (c["surface"] == 3) & (c["ring"] == 1)
    return make_problem(as_letters(c), y, "binary")


def cars(rng: np.random.Generator) -> Problem:
    """Make all combinations of six attributes, graded by a hierarchy of rules."""
    table = np.indices((4, 4, 4, 3, 3, 3)).reshape(6, -1).T
    price_new, upkeep, doors, persons, boot, safety = table.T
    price = np.minimum(3, (price_new + upkeep + 1) // 2)
    comfort = np.minimum(3, (np.minimum(doors, 2) + boot + persons) // 2)
    comfort = np.where(persons == 0, 0, comfort)
    quality = np.where(np.minimum(safety, comfort) == 0, 0, np.minimum(3, comfort + safety - 1))
    y = np.where((quality == 0) | (price == 3), 0, np.clip(quality - price + 1, 0, 3))
    return make_problem(pd.DataFrame(table).astype(str).map("v{}".format), y, "multiclass")


def phases(rng: np.random.Generator) -> Problem:
    """Make few positives, in two of ten phases, by an interaction in each."""
    phase, X = rng.integers(0, 10, 2_000), rng.normal(size=(2_000, 10))
    y = (phase == 3) & (X[:, 0] * X[:, 1] > 0.2) | (phase == 7) & (X[:, 2] + X[:, 3] > 0.8)
    return make_problem(pd.DataFrame(np.c_[phase, X]), y, "binary")


def blobs(rng: np.random.Generator) -> Problem:
    """Make six distant normal distributions."""
    centres = 6 * rng.normal(size=(6, 5))
    y = rng.integers(0, 6, 1_500)
    return make_problem(pd.DataFrame(centres[y] + rng.normal(size=(1_500, 5))), y, "multiclass")


def attacks(rng: np.random.Generator) -> Problem:
    """Make classes of different sizes with a rule each; one row in two thousand is wrong."""
    X = np.exp(rng.normal(size=(2_000, 8)))
    y = np.zeros(2_000, dtype=int)
    y[X[:, 0] > 2.2] = 1
    y[(X[:, 1] < 0.4) & (X[:, 2] > 1.3)] = 2
    y[(X[:, 3] > 4) & (X[:, 4] < 1)] = 3
    is_wrong = rng.random(2_000) < 5e-4
    y[is_wrong] = rng.integers(0, 4, is_wrong.sum())
    return make_problem(pd.DataFrame(X), y, "multiclass")


def banknotes(rng: np.random.Generator) -> Problem:
    """Make four moments of two classes that a smooth oblique surface separates, with a margin."""
    X = rng.normal(size=(1_400, 4)) * [2.8, 5.9, 4.3, 2.1]
    score = X[:, 0] * 1.5 + X[:, 1] * 0.8 + X[:, 2] * 0.9 + 0.1 * X[:, 2] ** 2 - 2
    is_kept = np.abs(score) > 0.8
    return make_problem(pd.DataFrame(X[is_kept]), score[is_kept] > 0, "binary")


def one_threshold(rng: np.random.Generator) -> Problem:
    """Make a class that one of eight columns decides."""
    X = rng.normal(size=(2_000, 8))
    return make_problem(pd.DataFrame(X), X[:, 2] > 0.3, "binary")


def shuttle(rng: np.random.Generator) -> Problem:
    """Make classes of very different sizes, each in a box of a few columns."""
    X = np.round(rng.normal(size=(4_000, 9)) * 20)
    y = np.zeros(4_000, dtype=int)
    y[X[:, 0] > 16] = 1
    y[(X[:, 0] <= 16) & (X[:, 8] > 30) & (X[:, 2] > 0)] = 2
    y[X[:, 6] < -44] = 3
    return make_problem(pd.DataFrame(X), y, "multiclass")


def occupancy(rng: np.random.Generator) -> Problem:
    """Make noisy sensors of an office, of which the light nearly decides."""
    hour = rng.uniform(0, 24, 4_000)
    is_occupied = (hour > 8) & (hour < 18) & (rng.random(4_000) < 0.8)
    bright, dim = rng.normal(450, 40, 4_000), rng.normal(150, 60, 4_000)
    empty = np.where((hour > 9) & (hour < 17), dim, rng.normal(5, 3, 4_000))
    light = np.where(is_occupied, bright, empty)
    co2 = np.where(is_occupied, rng.normal(900, 150, 4_000), rng.normal(550, 100, 4_000))
    heat = np.where(is_occupied, 22, 20.5) + rng.normal(0, 0.6, 4_000)
    columns = np.c_[light, co2, heat, hour, rng.normal(27, 4, 4_000)]
    return make_problem(pd.DataFrame(columns), is_occupied, "binary")


def rare(rng: np.random.Generator) -> Problem:
    """Make one positive of a hundred rows, decided by two thresholds."""
    X = rng.normal(size=(4_000, 10))
    return make_problem(pd.DataFrame(X), (X[:, 0] > 1.3) & (X[:, 1] > 1.3), "binary")


MADE = (
    *(thyroid, mushrooms, easy_mushrooms, cars, phases, blobs, attacks, banknotes),
    *(one_threshold, shuttle, occupancy, rare),
)
SEPARABLE_TABLES: Mapping[str, Callable[[], Problem]] = {
    **{name: MORE_TABLES[name] for name in ("nearly_separable", "breast_cancer", "biopsy", "wine")},
    "digits_0_1": partial(read_digits, 0, 1),
    "digits_3_8": partial(read_digits, 3, 8),
    "penguins": partial(read_shipped, "modeldata", "penguins", "species", "multiclass", "sex"),
    "olive_region": partial(read_shipped, "dslabs", "olive", "region", "multiclass", "area"),
    **{table.__name__: partial(make, table) for table in MADE},
}


def read_results() -> list[dict[str, Any]]:
    """Read the results of earlier runs."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def run(contestants: list[str]) -> None:
    """Add the results of contestants."""
    from contestants import CONTESTANTS

    done = {(each["table"], each["contestant"], each["fold"]) for each in read_results()}
    for name, read in SEPARABLE_TABLES.items():
        problem = read()
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        for fold, (train, test) in enumerate(folds.split(problem.frame, problem.target)):
            for contestant in contestants:
                if (name, contestant, fold) in done:
                    continue
                start = time.process_time()
                predictions = CONTESTANTS[contestant](problem, train, test, 1)
                entry = {
                    "table": name,
                    "contestant": contestant,
                    "fold": fold,
                    "loss": compute_score(problem.task, problem.target[test], predictions),
                    "cpu_s": round(time.process_time() - start, 2),
                }
                with RESULTS.open("a") as file:
                    file.write(json.dumps(entry) + "\n")
        print(name, flush=True)


def show() -> None:
    """Print the losses; the best is bold."""
    losses: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in read_results():
        losses[each["table"]][each["contestant"]].append(each["loss"])
    print(f"| table | {' | '.join(COMPARED)} | ratio to the best |")
    print("|---|" + "---|" * (len(COMPARED) + 1))
    for table in SEPARABLE_TABLES:
        by_name = {name: np.array(losses[table][name]) for name in COMPARED if losses[table][name]}
        best = min(by_name, key=lambda name: by_name[name].mean())
        cells = []
        for name in COMPARED:
            cell = "-"
            if name in by_name:
                error = by_name[name].std(ddof=1) / np.sqrt(by_name[name].size)
                cell = f"{by_name[name].mean():.5f} ± {error:.5f}"
            cells.append(f"**{cell}**" if name == best else cell)
        ratio = by_name[OURS].mean() / by_name[best].mean()
        print(f"| {table} | {' | '.join(cells)} | {ratio:.2f} |")


def main() -> None:
    """Run or show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("action", choices=["run", "show"])
    parser.add_argument("--contestants", default="", help="contestants, separated by commas")
    arguments = parser.parse_args()
    if arguments.action == "show":
        show()
        return
    warnings.simplefilter("ignore")
    run(arguments.contestants.split(",") if arguments.contestants else list(COMPARED))


if __name__ == "__main__":
    main()
