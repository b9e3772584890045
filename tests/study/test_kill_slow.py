"""A study killed at fifty random moments in all ends as one that was never stopped."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.study import Study


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("jobs", [1, 2])
def test_many_kills(tmp_path: Path, timeless: Callable[[Any], Any], jobs: int) -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(300, 4))
    frame = pd.DataFrame(x, columns=list("abcd"))
    frame["y"] = x[:, 0] * x[:, 1] + draw.normal(size=300)
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = Study(tmp_path / "t.csv", target="y", out=tmp_path / "whole").run().facts
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "arboleda", "study", str(tmp_path / "t.csv")]
    command += ["--target", "y", "--out", str(out), "--jobs", str(jobs)]
    moment = random.Random(jobs)
    done = 0
    for _ in range(25):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moment.uniform(1.0, 6.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (out / "ledger.sqlite").exists():
            connection = sqlite3.connect(out / "ledger.sqlite")
            rows = connection.execute("SELECT COUNT(*) FROM work").fetchone()[0]
            connection.close()
            assert rows >= done
            done = rows
    assert done > 0
    subprocess.run(command, check=True, capture_output=True)
    assert timeless(json.loads((out / "results.json").read_text())) == timeless(expected)
