"""A study on 1, 2 and 4 workers of Dask beside the same study in processes of this machine.

    python benchmarks/scale.py [--rows 20000] [--workers 1 2 4]

Prints seconds, the overhead over as many processes without Dask, the memory of a worker with its
process of jobs, and whether the facts are the same. Needs ``arboleda[study,dask]`` and psutil.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import psutil
from distributed import Client, LocalCluster

from arboleda import Study

MODELS = "cart,random_forest,gradient_boosting,logistic"


def make_table(n_rows: int) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(n_rows, 20))
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(20)])
    return frame.assign(
        y=np.where(x[:, 0] + x[:, 1] * x[:, 2] + draw.normal(size=n_rows) > 0, "a", "b")
    )


def drop_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: drop_times(v) for k, v in value.items() if k != "timing"}
    return [drop_times(v) for v in value] if isinstance(value, list) else value


def run(table: pd.DataFrame, **options: Any) -> tuple[float, Any]:
    with TemporaryDirectory() as folder:
        started = time.perf_counter()
        study = Study(table, target="y", models=MODELS, output_dir=Path(folder, "study"), **options)
        facts = study.run(progress=False).facts
        return time.perf_counter() - started, drop_times(facts)


def measure_memory(cluster: LocalCluster) -> float:
    """Measure the largest memory of a worker and the processes below it, in MB."""
    sizes = []
    for nanny in cluster.workers.values():
        worker = psutil.Process(nanny.pid)
        family = [worker, *worker.children(recursive=True)]
        sizes.append(sum(each.memory_info().rss for each in family) / 1e6)
    return max(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    table = make_table(given.rows)
    for n_workers in given.workers:
        here, expected = run(table, n_jobs=n_workers)
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            there, facts = run(table, client=client)
            memory = measure_memory(cluster)
        print(
            f"{n_workers} workers: {there:.1f} s, {n_workers} processes: {here:.1f} s "
            f"({there / here - 1:+.0%}); {memory:.0f} MB a worker after the study; "
            f"same facts: {facts == expected}",
            flush=True,
        )


if __name__ == "__main__":
    main()
