"""Whichever write, flush or renaming fails, what was there stays, and the study goes on."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arboleda.study import Study, StudyError

Timeless = Callable[[Any], Any]


class FailsOnce:
    """A function of the system that fails at its k-th call; 0: never."""

    def __init__(self, call: Callable[..., Any], k: int) -> None:
        self._call = call
        self._k = k
        self.places: list[str] = []

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.places.append(find_column(args[-1]))
        if len(self.places) == self._k:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._call(*args, **options)


def find_column(target: int | str | Path) -> str:
    """The folder that is flushed, or that holds the file; at the top the file's name, too."""
    is_open = isinstance(target, int)
    path = Path(f"/proc/self/fd/{target}").resolve() if is_open else Path(target)
    if path.is_dir():
        return f"{path.name} itself"
    several = path.parent.name in ("predictions", "figures", "models")
    return path.parent.name if several else path.name.strip(".").split(".")[0]


def worth_failing(places: list[str]) -> list[int]:
    """The first and the last call at each place, counted from 1."""
    first = {place: k for k, place in reversed(list(enumerate(places, 1)))}
    last = {place: k for k, place in enumerate(places, 1)}
    return sorted({*first.values(), *last.values()})


def run(out: Path) -> dict[str, Any]:
    return (
        Study("iris", target="target", output_dir=out, models="most_frequent,lda", n_jobs=1)
        .run()
        .facts
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="reads what is flushed from /proc")
@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_study_survives_a_failure_of_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeless: Timeless, name: str
) -> None:
    call = getattr(os, name)
    counting = FailsOnce(call, 0)
    monkeypatch.setattr(os, name, counting)
    expected = timeless(run(tmp_path / "whole"))
    assert {"predictions", "figures", "models", "results", "report"} <= set(counting.places)
    for k in worth_failing(counting.places):
        out = tmp_path / str(k)
        monkeypatch.setattr(os, name, FailsOnce(call, k))
        message = "run the same command again"
        try:
            # Models and predictions that cannot be saved are reported; all other failures stop it.
            run(out)
        except StudyError as error:
            message = str(error)
        assert "run the same command again" in message, k
        monkeypatch.setattr(os, name, call)
        assert timeless(run(out)) == expected, k
        assert not list(out.rglob("*.tmp")), k


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that makes the k-th write fail, whoever writes: Python, SQLite or another."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    made = tmp_path_factory.mktemp("shim") / "failing_write.so"
    source = Path(__file__).with_name("failing_write.c")
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"]
    subprocess.run(words, check=True)
    return made


def command(out: Path, **variables: str) -> tuple[int, str]:
    """Return the exit code of a study and its standard error."""
    words = ["study", "iris", "--target", "target", "--models", "most_frequent,lda", "--jobs", "1"]
    found = subprocess.run(
        [sys.executable, "-m", "arboleda", *words, "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    return found.returncode, found.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="preloads a library")
def test_a_study_survives_a_failure_of_any_write(
    tmp_path: Path, timeless: Timeless, shim: Path
) -> None:
    count = tmp_path / "count"
    whole = tmp_path / "whole"
    whole.mkdir()
    shimmed = {"LD_PRELOAD": str(shim), "FAIL_COUNT": str(count)}
    assert command(whole, **shimmed, FAIL_IN=str(whole), FAIL_AT="0")[0] == 0
    expected = timeless(json.loads((whole / "results.json").read_text()))
    n_writes = int(count.read_text())
    # The database alone writes each fold and each page several times.
    assert n_writes > 100
    seen = set()
    for k in sorted({1, 2, n_writes, *range(3, n_writes, max(1, n_writes // 30))}):
        out = tmp_path / str(k)
        out.mkdir()
        code, message = command(out, **shimmed, FAIL_IN=str(out), FAIL_AT=str(k))
        assert "Traceback" not in message, (k, message)
        assert code in (0, 2), (k, code, message)
        if code:
            last = message.splitlines()[-1]
            assert last.startswith("arboleda: error: "), (k, message)
            seen.add(last.replace(str(out), "OUT"))
        assert command(out)[0] == 0, k
        assert timeless(json.loads((out / "results.json").read_text())) == expected, k
        assert not list(out.rglob("*.tmp")), k
    assert seen
