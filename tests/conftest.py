"""Fixtures shared by all tests."""

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
