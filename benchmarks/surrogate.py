"""Measure the fidelity and the errors of small surrogates of a forest on Adult.

    python benchmarks/surrogate.py [--trees 500] [--divisions 1] [--threads 2]

Adult (UCI), with all fourteen columns. The first split is UCI's own: 32,561 training rows and
16,281 test rows; the others are random splits of the same sizes. There are two forests: one of
fully grown trees, the default, and one with at least five rows per leaf. Surrogates learn from the
forest's out-of-bag predictions for its training rows. Fidelity is the share of the test rows,
unseen by both, on which the forest and the surrogate predict the same class. Prints a Markdown
table with one surrogate per line, compared with its forest and with a CART of the same size.
"""

from __future__ import annotations

import argparse
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arboleda import RandomForestClassifier
from arboleda.explain import surrogate_rules, surrogate_tree

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
N_TEST = 16_281
FORESTS: dict[str, dict[str, Any]] = {
    "fully grown trees": {},
    "leaves of 5 rows or more": {"min_samples_leaf": 5},
}
SIZES = (4, 8, 16)


def load_adult() -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Load the table and its target; UCI's test rows come first."""
    table = pd.read_csv(DATA / "adult" / "adult.csv.gz", na_values="?")
    return table, table.pop("income").to_numpy()


def split_rows(n_rows: int, number: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return training and test rows; split number 0 is UCI's own."""
    order = np.arange(n_rows) if number == 0 else np.random.default_rng(number).permutation(n_rows)
    return order[N_TEST:], order[:N_TEST]


def compare(n_trees: int, n_divisions: int, threads: int) -> None:
    """Fit the forests and surrogates, and print the table."""
    names = ("arboleda", "scikit-learn", "numpy")
    print(", ".join(f"{name} {version(name)}" for name in names), platform.python_version())
    print(f"\n{n_trees} trees\n")
    print("| division | forest | surrogate | size | fidelity | error | CART's | forest's |")
    print("|---|---|---|---|---|---|---|---|")
    table, y = load_adult()
    for number in range(n_divisions):
        train, test = split_rows(len(y), number)
        for name, options in FORESTS.items():
            forest = RandomForestClassifier(
                n_trees, oob_score=True, random_state=0, n_jobs=threads, **options
            ).fit(table.iloc[train], y[train])
            given = {
                "y": y[train],
                "X_test": table.iloc[test],
                "y_test": y[test],
                "answers": forest.oob_decision_function_,
                "n_jobs": threads,
            }
            tree = surrogate_tree(forest, table.iloc[train], **given)
            rules = surrogate_rules(forest, table.iloc[train], max_rules=max(SIZES), **given)
            where = "UCI's" if number == 0 else str(number)
            for kind, found in (("tree", tree), ("rules", rules)):
                curve = found.curve
                for place in np.flatnonzero(np.isin(curve.size, SIZES)):
                    print(
                        f"| {where} | {name} | {kind} | {curve.size[place]} "
                        f"| {curve.fidelity[place]:.4f} | {curve.error[place]:.4f} "
                        f"| {curve.cart_error[place]:.4f} | {curve.ensemble_error[place]:.4f} |",
                        flush=True,
                    )


def main() -> None:
    """Run the benchmark with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--divisions", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    compare(options.trees, options.divisions, options.threads)


if __name__ == "__main__":
    main()
