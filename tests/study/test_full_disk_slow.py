"""Whichever flush to the disk or renaming fails, what was there stays, and the study goes on."""

import errno
import os
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
        self.n_calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.n_calls += 1
        if self.n_calls == self._k:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._call(*args, **options)


def run(out: Path) -> dict[str, Any]:
    return Study("iris", target="target", out=out, models="most_frequent,lda", jobs=1).run().facts


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_the_kth_call_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeless: Timeless, name: str
) -> None:
    call = getattr(os, name)
    counting = FailsOnce(call, 0)
    monkeypatch.setattr(os, name, counting)
    expected = timeless(run(tmp_path / "whole"))
    assert counting.n_calls > 5
    for k in range(1, counting.n_calls + 1):
        out = tmp_path / str(k)
        monkeypatch.setattr(os, name, FailsOnce(call, k))
        told = "run the same command again"
        try:
            # A model or an answer that cannot be kept is told in the facts; all else stops it.
            run(out)
        except StudyError as error:
            told = str(error)
        assert "run the same command again" in told, k
        monkeypatch.setattr(os, name, call)
        assert timeless(run(out)) == expected, k
        assert not list(out.rglob("*.tmp")), k
