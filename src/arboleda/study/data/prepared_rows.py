"""A cache of preprocessed and binned rows, shared by the fits of one process."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from arboleda._engine.shared_binning import (
    SharedBinning,
    get_reading_options,
    supports_shared_binning,
)

__all__ = ["Prepared", "PreparedRows"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

# Maximum bytes of the cache. A larger table is preprocessed for every fit, which takes little time
# compared with the fit.
ROOM = 256 * 2**20


@dataclass(frozen=True)
class Prepared:
    """Training rows and rows to score, transformed by the fitted ``preparation``.

    ``fit_s`` and ``score_s`` are the seconds of both steps.
    """

    preparation: Any
    fitted: Floats
    scored: Floats
    fit_s: float
    score_s: float
    _codes: dict[Any, SharedBinning] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, without binned copies."""
        return int(self.fitted.nbytes + self.scored.nbytes)

    def to_learn(self, model: Any) -> Any:
        """Return X for ``fit`` of a model: the rows, or binned rows that it shares with others."""
        if not supports_shared_binning(model):
            return self.fitted
        key = get_reading_options(model)
        if key not in self._codes:
            self._codes[key] = SharedBinning(self.fitted, None, model)
        return self._codes[key]


class PreparedRows:
    """A least-recently-used cache of preprocessed rows for the fits of one process.

    A copy in another process is empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: OrderedDict[tuple[str, bytes], Prepared] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._room,)

    def of(
        self, style: str, preparation: Any, x: Floats, y: npt.NDArray[Any], fit: Rows, score: Rows
    ) -> Prepared:
        """Return rows transformed by a clone of the ``preparation``, fitted to some of them.

        Parameters
        ----------
        style : str
            The name of the preparation, which is its key in the cache.
        preparation : transformer
        x, y : ndarray
            All rows.
        fit, score : ndarray
            Numbers of the training rows, and of others.
        """
        key = style, blake2b(fit.tobytes() + b"|" + score.tobytes()).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        self._make_room(x.itemsize * x.shape[1] * (len(fit) + len(score)))
        found = _prepared(preparation, x[fit], y[fit], x[score])
        if found.nbytes <= self._room:
            self._make_room(found.nbytes)
            self._kept[key] = found
        return found

    def _make_room(self, n_bytes: int) -> None:
        while self._kept and n_bytes + sum(p.nbytes for p in self._kept.values()) > self._room:
            self._kept.popitem(last=False)


def _prepared(
    preparation: Any, fit_rows: Floats, target: npt.NDArray[Any], scored_rows: Floats
) -> Prepared:
    started = time.perf_counter()
    if preparation != "passthrough":
        preparation = clone(preparation)
        fit_rows = preparation.fit_transform(fit_rows, target)
    fitted = time.perf_counter()
    if preparation != "passthrough":
        scored_rows = preparation.transform(scored_rows)
    done = time.perf_counter()
    for rows in (fit_rows, scored_rows):
        rows.flags.writeable = False  # others will read them
    return Prepared(preparation, fit_rows, scored_rows, fitted - started, done - fitted)
