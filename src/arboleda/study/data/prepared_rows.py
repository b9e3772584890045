"""Rows of the study's table as models take them: prepared once and coded once for many fits."""

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

# Bytes of prepared rows that a process keeps for later fits. A larger table is prepared for every
# fit anew: what that takes is little beside the fit.
ROOM = 256 * 2**20


@dataclass(frozen=True)
class Prepared:
    """Rows to learn from and rows to score, as the fitted ``preparation`` gives them.

    ``fit_s`` and ``score_s`` are the seconds that both took.
    """

    preparation: Any
    fitted: Floats
    scored: Floats
    fit_s: float
    score_s: float
    _codes: dict[Any, SharedBinning] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, without their codes."""
        return int(self.fitted.nbytes + self.scored.nbytes)

    def to_learn(self, model: Any) -> Any:
        """What ``fit`` of a model takes for X: the rows, or codes that it shares with others."""
        if not supports_shared_binning(model):
            return self.fitted
        key = get_reading_options(model)
        if key not in self._codes:
            self._codes[key] = SharedBinning(self.fitted, None, model)
        return self._codes[key]


class PreparedRows:
    """What fits of one process have in common; those used longest ago make room for others.

    A copy in another process begins with nothing.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: OrderedDict[tuple[str, bytes], Prepared] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._room,)

    def of(
        self, style: str, preparation: Any, x: Floats, y: npt.NDArray[Any], fit: Rows, score: Rows
    ) -> Prepared:
        """Rows prepared by a clone of the ``preparation``, which the style names, fitted on some.

        Parameters
        ----------
        style : str
            Tells preparations from each other.
        preparation : transformer
        x, y : ndarray
            All rows.
        fit, score : ndarray
            Numbers of rows to learn from, and of others.
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
    preparation: Any, learned: Floats, target: npt.NDArray[Any], asked: Floats
) -> Prepared:
    started = time.perf_counter()
    if preparation != "passthrough":
        preparation = clone(preparation)
        learned = preparation.fit_transform(learned, target)
    fitted = time.perf_counter()
    if preparation != "passthrough":
        asked = preparation.transform(asked)
    done = time.perf_counter()
    for rows in (learned, asked):
        rows.flags.writeable = False  # others will read them
    return Prepared(preparation, learned, asked, fitted - started, done - fitted)
