"""Boost on a table that is larger than memory: a coded table, and XGBoost's external memory.

    python benchmarks/out_of_memory.py [--rows 20000000] [--columns 30] [--trees 20]
        [--in-memory-rows 2000000] [--heap 1.0] [--limit 4.0] [--folder FOLDER] [--swept]
        [--xgboost PYTHON]

Makes Parquet parts of float32 columns, writes the coded table from them, and boosts trees of 63
leaves on it, each in a process of its own whose heap is limited to --heap GB (RLIMIT_DATA: private
memory, without the pages of the file, which the system drops when it needs them). --limit limits
private memory and pages of the file together where there is no container to do it: a thread has the
system drop the pages (MADV_PAGEOUT) as often as both have more GB. Then boosts on fewer rows in
memory, for the time per row. Prints seconds, the peak of private memory and of resident file pages,
the bytes read from the disk, and seconds per million rows and tree; and those of the fits alone,
without reading the parts, starting Python and checking the target. --swept reads the file in sweeps
even if it fits in memory.
The whole script can run in a cgroup whose memory is limited (version 1: a folder in
/sys/fs/cgroup/memory with a memory.limit_in_bytes, and the number of the shell in its
cgroup.procs): pages of files count there too, so this is the limit that a container has. With
--stage and --folder one stage runs alone, on what the stages before it have left in the folder.
--xgboost names a Python that has xgboost, pandas and pyarrow: it boosts on the same parts with
external memory.
"""

import argparse
import json
import mmap
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PART_ROWS = 1_000_000
LEAVES = 63
_MADV_PAGEOUT = 21  # Linux 5.4; not in Python's module


def make_parts(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write Parquet parts: a target that depends on a third of the columns, with noise."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    for number, begin in enumerate(range(0, n_rows, PART_ROWS)):
        draw = np.random.default_rng(number)
        x = draw.normal(size=(n_columns, min(PART_ROWS, n_rows - begin))).astype(np.float32)
        y = np.abs(x[0]) + x[1] * x[2] + np.sin(x[3 : 3 + n_columns // 3]).sum(axis=0)
        y += draw.normal(size=y.size)
        columns = {f"x{j}": column for j, column in enumerate(x)}
        pq.write_table(pa.table({**columns, "y": y}), folder / f"part-{number:04d}.parquet")


def write_table(folder: Path, options: argparse.Namespace) -> None:
    """Write the coded table."""
    from arboleda import CodedTable

    CodedTable.from_parquet(f"{folder}/parts/*.parquet", target="y", path=folder / "table.coded")


def fit_coded(folder: Path, options: argparse.Namespace) -> None:
    """Boost on the coded table."""
    from arboleda import CodedTable
    from arboleda._engine import coded_rows

    if options.swept:
        coded_rows._SWEPT_SHARE = 0.0
    table = CodedTable(folder / "table.coded")
    WATCH.mapping = table._file_rows._file.base  # type: ignore[assignment]
    fit(make_model(options), table, table.y)


def fit_in_memory(folder: Path, options: argparse.Namespace) -> None:
    """Boost on the first rows as an array."""
    import numpy as np
    import pyarrow.parquet as pq

    parts = sorted((folder / "parts").glob("*.parquet"))
    read = [pq.read_table(p) for p in parts[: -(-options.in_memory_rows // PART_ROWS)]]
    x = np.concatenate([t.drop_columns("y").to_pandas().to_numpy(np.float32) for t in read])
    y = np.concatenate([t["y"].to_numpy() for t in read])
    fit(make_model(options), x[: options.in_memory_rows], y[: options.in_memory_rows])


def fit(model: Any, x: Any, y: Any) -> None:
    """Fit a model, and print the figures of the fit alone."""
    started, before, read = time.monotonic(), os.times(), count_read_bytes()
    model.fit(x, y)
    after = os.times()
    figures = {
        "s": time.monotonic() - started,
        "user s": after.user - before.user,
        "system s": after.system - before.system,
        "GB read": (count_read_bytes() - read) / 2**30,
    }
    print(f"fit: {json.dumps({name: round(figure, 2) for name, figure in figures.items()})}")


def count_read_bytes() -> int:
    """Return the bytes that this process has read from the disk."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


def make_model(options: argparse.Namespace) -> Any:
    """Return the estimator: squared error, best-first, without early stopping."""
    from arboleda import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=options.trees, max_leaf_nodes=LEAVES, early_stopping=False, n_jobs=options.jobs
    )


def fit_xgboost(folder: Path, options: argparse.Namespace) -> None:
    """Boost with XGBoost's external memory."""
    import pyarrow.parquet as pq
    import xgboost as xgb

    parts = sorted((folder / "parts").glob("*.parquet"))

    class Batches(xgb.DataIter):
        def __init__(self) -> None:
            self._next = 0
            super().__init__(cache_prefix=str(folder / "xgboost"))

        def next(self, input_data: Callable[..., None]) -> bool:
            if self._next == len(parts):
                return False
            table = pq.read_table(parts[self._next]).to_pandas()
            self._next += 1
            y = table.pop("y").to_numpy()
            input_data(data=table.to_numpy(), label=y)
            return True

        def reset(self) -> None:
            self._next = 0

    parameters = {
        "tree_method": "hist",
        "max_depth": 6,  # 64 leaves, level by level, as its documentation advises
        "nthread": options.jobs,
        "eta": 0.1,
    }
    data = xgb.ExtMemQuantileDMatrix(Batches(), max_bin=256, nthread=options.jobs)
    started = time.monotonic()
    xgb.train(parameters, data, num_boost_round=options.trees)
    print(json.dumps({"fit_seconds": time.monotonic() - started}))


STAGES: dict[str, Callable[[Path, argparse.Namespace], None]] = {
    "write": write_table,
    "coded": fit_coded,
    "memory": fit_in_memory,
    "xgboost": fit_xgboost,
}


class Watch(threading.Thread):
    """Samples the private memory and the resident file pages of this process, and limits them."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.private = self.file = 0
        self.limit = 0.0  # kB
        self.mapping: mmap.mmap | None = None

    def run(self) -> None:
        """Sample fifty times a second."""
        while True:
            sizes = {
                line.split(":")[0]: int(line.split()[1])
                for line in Path("/proc/self/status").read_text().splitlines()
                if line.startswith("Rss")
            }
            self.private = max(self.private, sizes["RssAnon"])
            self.file = max(self.file, sizes["RssFile"])
            if self.mapping is not None and 0 < self.limit < sizes["RssAnon"] + sizes["RssFile"]:
                self.mapping.madvise(_MADV_PAGEOUT)
            time.sleep(0.02)


WATCH = Watch()


def run_stage(folder: Path, options: argparse.Namespace) -> None:
    """Run one stage in this process and print its figures."""
    limited = options.stage in {"write", "coded"} and options.heap > 0
    if limited:
        n_bytes = int(options.heap * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    WATCH.limit = options.limit * 2**20
    WATCH.start()
    started = time.monotonic()
    STAGES[options.stage](folder, options)
    n_rows = options.in_memory_rows if options.stage == "memory" else options.rows
    seconds = time.monotonic() - started
    cpu = time.process_time()
    print(
        f"{options.stage}: {seconds:.1f} s, {cpu:.1f} CPU s, {WATCH.private / 2**20:.2f} GB "
        f"private, {WATCH.file / 2**20:.2f} GB of file pages, "
        f"{count_read_bytes() / 2**30:.1f} GB read from the disk, "
        f"{1e6 * cpu / n_rows / options.trees:.3f} CPU s per million rows and tree",
        flush=True,
    )


def main() -> None:
    """Run all stages, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--in-memory-rows", type=int, default=2_000_000)
    parser.add_argument("--heap", type=float, default=0.0, help="GB; 0: no limit")
    parser.add_argument("--limit", type=float, default=0.0, help="GB; 0: no limit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--swept", action="store_true")
    parser.add_argument("--xgboost", help="a Python that has xgboost")
    parser.add_argument("--stage", choices=list(STAGES))
    options = parser.parse_args()
    if options.stage:
        run_stage(options.folder, options)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        make_parts(folder / "parts", options.rows, options.columns)
        for stage in STAGES:
            if stage == "xgboost" and not options.xgboost:
                continue
            python = options.xgboost if stage == "xgboost" else sys.executable
            more = ["--stage", stage, "--folder", str(folder)]  # the last of two is read
            command = [python, __file__, *sys.argv[1:], *more]
            subprocess.run(command, check=False, env=os.environ)
            if (folder / "table.coded").exists() and stage == "write":
                size = (folder / "table.coded").stat().st_size
                print(f"the coded table has {size / 1e9:.2f} GB", flush=True)


if __name__ == "__main__":
    main()
