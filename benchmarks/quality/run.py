"""Cross-validate every contestant at its defaults on every table; what is done is not done again.

    python benchmarks/quality/run.py [--only adult,mnist] [--contestants CatBoost,HGB] [--again]

Scores go to `results.json` after every fold, so that a run can be interrupted, and two can go on
side by side over different contestants. `table.py` draws the table.
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
SMALLEST = 1e-7  # a probability in float32 says no more; the same for everyone


def score(task: str, y: Any, given: Any) -> float:
    """Root of the mean squared error, or log-loss in nats."""
    import numpy as np
    from sklearn.metrics import log_loss

    if task == "regression":
        return float(np.sqrt(np.mean((y - given) ** 2)))
    given = np.clip(given, SMALLEST, 1 - SMALLEST)
    return float(log_loss(y, given / given.sum(axis=1, keepdims=True)))


def read(path: Path) -> dict[str, Any]:
    """What is known so far."""
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return known


def note(path: Path, table: str, contestant: str, fold: int, entry: dict[str, Any]) -> None:
    """Add one fold to the file, beside what other runs have added meanwhile."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read(path)
        known.setdefault(table, {}).setdefault(contestant, {})[str(fold)] = entry
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        fresh.replace(path)


def cross_validate(path: Path, table: str, chosen: list[str], threads: int, again: bool) -> None:
    """Every chosen contestant on every fold of one table."""
    from contestants import CONTESTANTS, PACKAGES
    from tables import TABLES

    done = {} if again else read(path).get(table, {})
    if all(len(done.get(name, {})) == N_FOLDS for name in chosen):
        return
    problem = TABLES[table]()
    for name in chosen:
        for fold, (train, test) in enumerate(problem.folds()):
            if str(fold) in done.get(name, {}):
                continue
            start = time.process_time()
            given = CONTESTANTS[name](problem, train, test, threads)
            entry = {
                "score": score(problem.task, problem.target[test], given),
                "cpu_s": round(time.process_time() - start, 2),
                "version": version(PACKAGES[name]),
                "date": date.today().isoformat(),
            }
            note(path, table, name, fold, entry)
            print(table, name, fold, entry, flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="tables, by comma")
    parser.add_argument("--contestants", default="", help="contestants, by comma")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also what is done")
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
