"""Compare preset "best" with tuned LightGBM, XGBoost, CatBoost, and AutoGluon in equal time.

    python benchmarks/best.py [--budget 900] [--tables adult,spambase] [--threads 1]
        [--contestants arboleda,CatBoost] [--autogluon PYTHON] [--out FILE]

On each whole table of the quality study, every contestant has the budget in seconds, and as many
processor cores as threads, which no other contestant uses at the same time: on two cores, two
contestants run in parallel. `best_contestants.py` defines them. All are scored on the same test
rows and ranked; equal scores share a rank. Results in the file with the same budget and number of
threads are not run again, so that a run of hours can be split into parts. AutoGluon takes part if
`--autogluon` names an interpreter in which it is installed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

import numpy as np
from scipy.stats import rankdata

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from best_contestants import PACKAGES

from tables import TABLES

RESULTS = Path(__file__).with_name("best_results.json")
SCRIPT = Path(__file__).with_name("best_contestants.py")


def show(results: dict[str, dict[str, Any]], contestants: list[str]) -> None:
    """Print losses and, over the tables that all contestants have finished, mean ranks."""
    ranks = []
    for table, entries in results.items():
        shown = ", ".join(f"{name} {entry['loss']:.5g}" for name, entry in entries.items())
        print(f"{table}: {shown}")
        if all(name in entries for name in contestants):
            ranks.append(rankdata([entries[name]["loss"] for name in contestants]))
    for name, mean in zip(contestants, np.mean(ranks, axis=0) if ranks else [], strict=False):
        print(f"mean rank of {name} on {len(ranks)} tables: {mean:.2f}")


def main() -> None:
    """Run the contestants without results, and print all results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=float, default=900.0)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--contestants", default=",".join(PACKAGES))
    parser.add_argument("--autogluon", help="an interpreter that has AutoGluon")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    contestants = args.contestants.split(",")
    if not args.autogluon:
        contestants = [name for name in contestants if name != "AutoGluon"]
    results = json.loads(args.out.read_text()) if args.out.exists() else {}
    conditions = {"budget": args.budget, "threads": args.threads}
    free: SimpleQueue[int] = SimpleQueue()
    for first in range(0, len(os.sched_getaffinity(0)) - args.threads + 1, args.threads):
        free.put(first)
    lock = Lock()

    def run(table: str, name: str) -> None:
        first = free.get()
        python = args.autogluon if name == "AutoGluon" else sys.executable
        try:
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "result.json"
                command_arguments = [table, name, args.budget, args.threads, first, out]
                subprocess.run([python, SCRIPT, *map(str, command_arguments)], check=True)
                entry = json.loads(out.read_text())
        finally:
            free.put(first)
        entry |= conditions
        with lock:
            results.setdefault(table, {})[name] = entry
            temporary = args.out.with_suffix(".new")
            temporary.write_text(json.dumps(results, indent=1) + "\n")
            temporary.replace(args.out)
            print(f"{table}, {name}: {entry}", flush=True)

    pending = [
        (table, name)
        for table in args.tables.split(",")
        for name in contestants
        if not conditions.items() <= results.get(table, {}).get(name, {}).items()
    ]
    with ThreadPoolExecutor(free.qsize()) as pool:
        for future in [pool.submit(run, *each) for each in pending]:
            future.result()
    show(results, contestants)


if __name__ == "__main__":
    main()
