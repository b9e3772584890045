"""With ever more memory: a model that lacks it fails, the study lives and ends well when it can."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

MB = 1_000_000
# The limit is what the process has after loading all it needs, and so much more.
SCRIPT = """
import json, resource, sys
from pathlib import Path
from arboleda.study import Study, StudyError
import arboleda.reports.study.page, arboleda.study.study

table, out, more = sys.argv[1], sys.argv[2], int(sys.argv[3])
def run(folder, models):
    return Study(table, target="target", output_dir=folder, models=models, n_jobs=1).run().facts
# What is loaded late is there, and OpenBLAS has its buffers, for which it would wait for ever.
run(out + "-first", "mean,ridge")
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, most))
try:
    facts = run(out, "mean,ridge,lasso")
    states = {m["key"]: m["status"] for m in facts["models"]}
except (MemoryError, StudyError) as error:
    states = {"all": type(error).__name__}
resource.setrlimit(resource.RLIMIT_AS, (most, most))
# The process is sound: it can do now what it lacked memory for.
facts = run(out, "mean,ridge,lasso")
print(json.dumps([states, {m["key"]: m["status"] for m in facts["models"]}]))
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="reads the process's size from /proc")
def test_memory_stays_within_the_limit_in_each_step(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(60_000, 20))
    frame = pd.DataFrame(x, columns=list("abcdefghijklmnopqrst")).assign(
        target=x[:, 0] + x[:, 1] ** 2
    )
    frame.to_parquet(tmp_path / "t.parquet")
    more, seen = MB, []
    while more < 4_000 * MB:
        states, afterwards = _run(tmp_path / "t.parquet", tmp_path / str(more), more)
        assert set(afterwards.values()) == {"ok"}, more
        seen.append(states)
        if set(states.values()) == {"ok"}:
            break
        more *= 4
    assert set(seen[-1].values()) == {"ok"}
    assert len(seen) > 2


def _run(table: Path, out: Path, more: int) -> Any:
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(table), str(out), str(more)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert found.returncode == 0, (more, found.stderr[-2000:])
    return json.loads(found.stdout.splitlines()[-1])
