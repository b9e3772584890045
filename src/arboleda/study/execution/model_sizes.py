"""The sizes of the models that a study saves, announced before they fill the disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arboleda._utils.text import count_noun
from arboleda.study.artifacts.files import LARGE

if TYPE_CHECKING:
    from arboleda.study.execution.job import Job

__all__ = ["ModelSizes"]


class ModelSizes:
    """Bytes of the models saved so far, and their total expected from the mean size so far.

    Parameters
    ----------
    folder : Path
        The folder of the models.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._n_saved = self._n_left = 0
        self._bytes: dict[str, int] = {}  # by file: models may share some
        self._is_announced = False

    def expect(self, jobs: Sequence[Job]) -> None:
        """Expect the models of these jobs, and of no others."""
        self._n_left = sum(job.keep is not None for job in jobs)

    def record(self, job: Job, result: dict[str, Any]) -> str | None:
        """Record what a job has saved.

        Returns
        -------
        line : str or None
            The announcement, once, when half of `LARGE` is written and more than all of it is
            expected; else None.
        """
        if job.keep is None:
            return None
        self._n_left = max(0, self._n_left - 1)
        files = (result.get("kept") or {"files": {}})["files"]
        if not files:
            return None
        self._n_saved += 1
        self._bytes |= {name: entry["bytes"] for name, entry in files.items()}
        written, n = sum(self._bytes.values()), self._n_saved + self._n_left
        expected = written * n / self._n_saved
        if self._is_announced or 2 * written <= LARGE or expected <= LARGE:
            return None
        self._is_announced = True
        return (
            f"The {count_noun(n, 'fitted model')} will take about {expected / 1e6:,.0f} MB in "
            f"{self._folder}; --models with fewer models takes less."
        )
