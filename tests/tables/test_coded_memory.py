"""A fit on a coded table takes memory for targets and scores, not for the values of the table."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arboleda import CodedTable

N_PARTS, PART_ROWS, N_COLUMNS = 4, 50_000, 40

# The limit is on private memory, of which pages of a file are no part. Values as float32, and codes
# by columns and by rows, would take 240 bytes per row. A table so small has some bytes per row for
# what does not grow with it.
FIT = f"""
import resource, sys
import numpy as np
from pathlib import Path
from arboleda import CodedTable, HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda._engine import coded_rows

def make(kind):
    return kind(max_iter=2, max_leaf_nodes=15, n_jobs=1, early_stopping=False)

KINDS = HistGradientBoostingRegressor, HistGradientBoostingClassifier
for kind in KINDS:  # imports what is imported on first use
    make(kind).fit(np.arange(400.0).reshape(-1, 1), np.arange(400) % 2)
coded_rows.available_memory = lambda: 1
table = CodedTable(sys.argv[1])
is_large = (table.y > 0.0).astype(np.uint8)
before = 1024 * int(Path("/proc/self/status").read_text().split("VmData:")[1].split()[0])
for kind, y, n_bytes in zip(KINDS, (table.y, is_large), (52, 62)):
    limit = before + n_bytes * {N_PARTS * PART_ROWS}
    resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
    print(make(kind).fit(table, y).n_iter_)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits private memory")
def test_a_fit_takes_no_memory_for_values(tmp_path: Path) -> None:
    def make_parts() -> Iterator[pd.DataFrame]:
        for number in range(N_PARTS):
            x = np.random.default_rng(number).normal(size=(PART_ROWS, N_COLUMNS))
            frame = pd.DataFrame(x.astype(np.float32)).rename(columns=str)
            yield frame.assign(y=x[:, 0] + np.abs(x[:, 1]))

    CodedTable.from_frames(make_parts, path=tmp_path / "table", target="y", n_jobs=1)
    command = [sys.executable, "-c", FIT, str(tmp_path / "table")]
    run = subprocess.run(
        command, capture_output=True, text=True, env=os.environ, check=False, timeout=120
    )
    assert run.stdout.split() == ["2", "2"], run.stderr
