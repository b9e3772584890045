"""Fits of a grid on the workers of Dask."""

from __future__ import annotations

from typing import Any, cast

from arboleda._utils.errors import ClusterError
from arboleda.dask.tasks import Tasks
from arboleda.model_selection._shared_fits import Fit, FitData


class RemoteFit:
    """A fit that was submitted, as in `concurrent.futures`."""

    def __init__(self, tasks: Tasks, number: int) -> None:
        self._tasks = tasks
        self._number = number
        self._fit: Fit | None = None
        self._error: Exception | None = None

    def exception(self) -> Exception | None:
        """Wait for the end; return the exception of the fit, if there is one."""
        if self._fit is None and self._error is None:
            try:
                self._fit = self._tasks.result(self._number)
            except ClusterError:
                raise
            except Exception as error:  # noqa: BLE001 - a model that fails is a result
                self._error = error
        return self._error

    def result(self) -> Fit:
        """Return the fit, after `exception` has returned None."""
        return cast(Fit, self._fit)


class RemoteFits:
    """Fits of one thread on the workers of a client, which each get the data once."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._tasks: Tasks | None = None
        self.n_threads = max(1, sum(client.nthreads().values()))

    def begin(self, data: FitData) -> None:
        """Send the data of all fits to the workers."""
        self.close()
        self._tasks = Tasks(self._client, data)
        self.n_threads = self._tasks.n_slots

    def start(self, model: Any, family: int, split: int, n_threads: int) -> RemoteFit:
        """Submit a fit."""
        assert self._tasks is not None
        name = f"fold {split + 1} of {type(model).__name__}, family {family + 1}"
        return RemoteFit(self._tasks, self._tasks.submit(name, fit_remote, model, family, split))

    def close(self) -> None:
        """Cancel what runs, and release the data."""
        if self._tasks is not None:
            self._tasks.close()


def fit_remote(data: FitData, model: Any, family: int, split: int) -> Fit:
    """Fit a model on this worker with one thread."""
    return data.fit(model, family, split, 1)
