"""A failed save keeps the old model."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.persist.models import MODELS, X
from tests.small_disk import mounted

import arboleda
from arboleda import DecisionTreeRegressor


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    with mounted(tmp_path / "disk", "64k") as disk:
        yield disk


def test_a_full_disk_keeps_the_old_model(small_disk: Path) -> None:
    path = small_disk / "model"
    MODELS["classifier"]().save(path)
    before = path.read_bytes()
    large = DecisionTreeRegressor().fit(
        np.arange(4000.0)[:, np.newaxis], np.random.default_rng(0).random(4000)
    )
    with pytest.raises(OSError, match="No space left"):
        large.save(path)
    assert path.read_bytes() == before
    assert list(small_disk.iterdir()) == [path]
    assert arboleda.load(path).score(X, arboleda.load(path).predict(X)) == 1.0


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_failure_at_any_step_keeps_the_old_model(
    step: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    MODELS["classifier"]().save(path)
    before = path.read_bytes()
    other = MODELS["regressor"]()

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    really_open = Path.open

    def open_on_full_disk(file_path: Path, mode: str) -> Any:
        file = really_open(file_path, mode)
        file.write = fail  # type: ignore[method-assign]
        return file

    with monkeypatch.context() as patched:
        if step == "write":
            patched.setattr(Path, "open", open_on_full_disk)
        else:
            patched.setattr(os, step, fail)
        with pytest.raises(OSError, match=r".") as caught:
            other.save(path)
    assert caught.value.errno == number
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_and_a_folder_as_path_are_refused(tmp_path: Path) -> None:
    model = MODELS["classifier"]()
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "nowhere" / "model")
    with pytest.raises(OSError, match=r"."):
        model.save(tmp_path)
    assert list(tmp_path.iterdir()) == []
