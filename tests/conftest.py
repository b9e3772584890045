"""Fixtures shared by all tests."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def shared_data(relative: str) -> Path:
    """Path of a real data set, or skip the test with the reason where the folder is missing."""
    folder = Path(os.environ.get("ARBOLEDA_DATA", ROOT.parent / "shared" / "data"))
    path = folder / relative
    if not path.exists():
        pytest.skip(f"needs the data set {relative}; set ARBOLEDA_DATA to the folder that holds it")
    return path


def pytest_runtest_call() -> None:
    """Remove the callbacks of garbage collection: Ctrl-C in one of them is lost (Hypothesis's)."""
    gc.callbacks.clear()


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_interrupts() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt here and in processes that tests start.

    A shell lets jobs in the background ignore it, and what is ignored is inherited: tests that
    press it would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.fixture(scope="session")
def few_permutations() -> Iterator[int]:
    """Studies permute each column twice, which is most of a small study; yield the usual number."""
    from arboleda.study.results import importance

    usual = importance.REPEATS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importance, "REPEATS", 2)
        yield usual


@pytest.fixture(scope="module")
def all_permutations(few_permutations: int) -> Iterator[None]:
    """Studies permute as often as in other processes, with whose facts theirs are compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arboleda.study.results.importance.REPEATS", few_permutations)
        yield
