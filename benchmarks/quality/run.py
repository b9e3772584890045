"""Cross-validate every contestant with default parameters on every table.

    python benchmarks/quality/run.py [--only adult,mnist] [--contestants CatBoost,HGB] [--again]

Scores are written to `results.json` after every fold. A run can be interrupted and resumed, and two
runs with different contestants can run in parallel. `table.py` writes the tables.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")
N_FOLDS = 5
SMALLEST = 1e-7  # the resolution of a float32 probability, the same for all


def compute_score(task: str, y: Any, predictions: Any) -> float:
    """Return the root mean squared error, or the log-loss in nats."""
    import numpy as np
    from sklearn.metrics import log_loss

    if task == "regression":
        return float(np.sqrt(np.mean((y - predictions) ** 2)))
    predictions = np.clip(predictions, SMALLEST, 1 - SMALLEST)
    return float(log_loss(y, predictions / predictions.sum(axis=1, keepdims=True)))


def load_results(path: Path) -> dict[str, Any]:
    """Load the existing results."""
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return known


def save_entry(path: Path, table: str, contestant: str, fold: int, entry: dict[str, Any]) -> None:
    """Add one fold to the file, and keep entries that other runs have added meanwhile."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = load_results(path)
        known.setdefault(table, {}).setdefault(contestant, {})[str(fold)] = entry
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        fresh.replace(path)


def cross_validate(path: Path, table: str, chosen: list[str], threads: int, again: bool) -> None:
    """Run every chosen contestant on every fold of one table."""
    from contestants import CONTESTANTS, PACKAGES

    from tables import TABLES

    done = {} if again else load_results(path).get(table, {})
    if all(len(done.get(name, {})) == N_FOLDS for name in chosen):
        return
    problem = TABLES[table]()
    for name in chosen:
        for fold, (train, test) in enumerate(problem.folds()):
            if str(fold) in done.get(name, {}):
                continue
            start = time.process_time()
            predictions = CONTESTANTS[name](problem, train, test, threads)
            entry = {
                "score": compute_score(problem.task, problem.target[test], predictions),
                "cpu_s": round(time.process_time() - start, 2),
                "version": version(PACKAGES[name]),
                "date": date.today().isoformat(),
            }
            save_entry(path, table, name, fold, entry)
            print(table, name, fold, entry, flush=True)


def main() -> None:
    """Run the study with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="tables, separated by commas")
    parser.add_argument("--contestants", default="", help="contestants, separated by commas")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="run existing results again")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)  # before any of the libraries is imported
    from contestants import CONTESTANTS

    from tables import TABLES

    chosen = arguments.contestants.split(",") if arguments.contestants else list(CONTESTANTS)
    for table in arguments.only.split(",") if arguments.only else TABLES:
        cross_validate(arguments.results, table, chosen, arguments.threads, arguments.again)


if __name__ == "__main__":
    main()
