"""What a worker process does: it runs the jobs that its parent sends."""

import os
import pickle
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import IO

import numpy as np
import numpy.typing as npt

from arboleda._utils.memory import limit_memory
from arboleda._utils.operating_system import system
from arboleda.study.execution.job import run_job

__all__ = ["map_matrix", "run_worker"]


def run_worker() -> None:
    """Serve the process named on the command line until it closes the connection or ends.

    This process sends an empty message when it has started. It receives the folders of modules, the
    data that all jobs share, and the feature matrix, a file that it maps into memory; then it sends
    an empty message again, and a result for each job that it receives.
    """
    _exit_with_parent(int(sys.argv[1]))
    system.raise_oom_score()
    connection = system.connect(int(sys.argv[2]))
    try:
        connection.send_bytes(b"")
        sys.path[:] = pickle.loads(connection.recv_bytes())
        shared, shape, limits = pickle.loads(connection.recv_bytes())
        with os.fdopen(system.receive_file(connection), "rb") as file:
            features = shared.features.replace_matrix(map_matrix(file, shape))
        shared = replace(shared, features=features)
        messages = _receive_ahead(connection)
        limit_memory(limits.memory)
        connection.send_bytes(b"")
        while (message := messages.get()) is not None:
            connection.send_bytes(pickle.dumps(run_job(pickle.loads(message), shared)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent has closed the connection


def _receive_ahead(connection: Connection) -> SimpleQueue[bytes | None]:
    """Receive messages in a thread, so that the parent never waits for a job to end; then None."""
    messages: SimpleQueue[bytes | None] = SimpleQueue()

    def receive() -> None:
        # Without memory for a message, the process ends, and the parent reports that.
        with suppress(EOFError, OSError, MemoryError):
            while True:
                messages.put(connection.recv_bytes())
        messages.put(None)

    threading.Thread(target=receive, daemon=True, name="arboleda-receive-jobs").start()
    return messages


def map_matrix(file: IO[bytes], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Map the matrix of the features from a file, which may be closed afterwards."""
    return np.asarray(np.memmap(file, dtype=np.float64, mode="r", shape=shape))


def _exit_with_parent(parent: int) -> None:
    """End this process when its parent is gone: its results would be lost."""

    def watch() -> None:
        system.wait_for_end(parent)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="arboleda-follow-parent").start()
