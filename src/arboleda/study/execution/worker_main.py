"""A worker process, which runs jobs one after another for the process that started it."""

import os
import pickle
import signal
import sys
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np

from arboleda.study.execution.job import Shared, run_job
from arboleda.study.execution.limits import limit_memory, raise_oom_score

__all__ = ["main"]


def main() -> None:
    """Serve the process named on the command line until it closes the connection or ends.

    The first message holds the data that all jobs share; the feature matrix is a memory-mapped
    file, not a message. This process sends an empty message when it is ready, and then a result for
    each job that it receives.
    """
    _exit_with_parent(int(sys.argv[1]))
    raise_oom_score()
    connection, table = Connection(int(sys.argv[2])), int(sys.argv[3])
    try:
        shared, shape, limits = pickle.loads(connection.recv_bytes())
        shared = _with_matrix(shared, table, shape)
        limit_memory(limits.memory)
        connection.send_bytes(b"")
        while True:
            job = pickle.loads(connection.recv_bytes())
            connection.send_bytes(pickle.dumps(run_job(job, shared)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent has closed the connection


def _with_matrix(shared: Shared, table: int, shape: tuple[int, int]) -> Shared:
    with os.fdopen(table, "rb") as file:
        x = np.memmap(file, dtype=np.float64, mode="r", shape=shape)
    return replace(shared, features=replace(shared.features, x=np.asarray(x)))


def _exit_with_parent(parent: int) -> None:
    """End this process when its parent is gone, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        # An orphan gets another parent; its results would be lost.
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="arboleda-follow-parent").start()
