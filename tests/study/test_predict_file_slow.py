"""Large files predicted by processes of their own: memory stays flat, and a stop leaves nothing."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import arboleda as ab

pytestmark = pytest.mark.slow

MEGABYTES = 300
PREDICT = """
import resource, sys
import arboleda
from arboleda.study import StudyError
source, model, out = sys.argv[1:]
try:
    n_rows = arboleda.predict_file(arboleda.load(model), source, out)
except StudyError as error:
    sys.exit(str(error))
print(n_rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of eight columns, and a table of them that is large."""
    folder = tmp_path_factory.mktemp("large")
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    model = ab.HistGradientBoostingRegressor(max_iter=20, random_state=0)
    model.fit(frame, X[:, 0] * X[:, 1]).save(folder / "model")
    content = frame.to_csv(index=False).encode()
    head, rows = content.split(b"\n", 1)
    n_times = MEGABYTES * 10**6 // len(rows) + 1
    with (folder / "large.csv").open("wb") as file:
        file.write(head + b"\n")
        for _ in range(n_times):
            file.write(rows)
    (folder / "small.csv").write_bytes(head + b"\n" + rows)
    return folder


def command(folder: Path, source: str, out: Path) -> list[str]:
    return [sys.executable, "-c", PREDICT, *map(str, (folder / source, folder / "model", out))]


def test_memory_does_not_grow_with_the_file(folder: Path, tmp_path: Path) -> None:
    counts = []
    for source in ("small.csv", "large.csv"):
        done = subprocess.run(
            command(folder, source, tmp_path / "out.csv"),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        counts.append([int(word) for word in done.stdout.split()])
    (n_small, small), (n_large, large) = counts
    assert n_large >= 90 * n_small
    assert large < small + 250
    small_predictions = ab.load(folder / "model").predict(pd.read_csv(folder / "small.csv"))
    found = pd.read_csv(tmp_path / "out.csv")["prediction"].to_numpy()
    np.testing.assert_array_equal(found, np.tile(small_predictions, n_large // n_small))


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_ctrl_c_leaves_no_partial_file(folder: Path, tmp_path: Path, out: str) -> None:
    (tmp_path / out).write_text("old")
    with subprocess.Popen(
        command(folder, "large.csv", tmp_path / out), stderr=subprocess.PIPE, text=True
    ) as process:
        while not any(p.stat().st_size for p in tmp_path.glob(".*.tmp")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert error.splitlines()[-1] == "KeyboardInterrupt"
    assert [p.name for p in tmp_path.iterdir()] == [out]
    assert (tmp_path / out).read_text() == "old"


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_a_full_disk_leaves_no_partial_file(folder: Path, tmp_path: Path, out: str) -> None:
    def no_more_than_a_megabyte() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))

    done = subprocess.run(
        command(folder, "large.csv", tmp_path / out),
        preexec_fn=no_more_than_a_megabyte, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        f"The file {tmp_path / out} cannot be written ({os.strerror(27)}); name another one.\n"
    )
    assert not list(tmp_path.iterdir())
