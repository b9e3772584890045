"""What was seen in each round, also of those that early stopping takes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._errors import ModelFormatError
from arboleda.persist import Array

if TYPE_CHECKING:
    from arboleda.persist._fields import Sections

Floats = npt.NDArray[np.float64]
NAMES = ("in_bag_loss", "out_of_bag_loss", "train_loss", "validation_loss", "validation_score")

_NOTHING: Floats = np.empty(0)


def joined(
    before: Mapping[str, Floats], seen: Mapping[str, Floats], n_before: int, n_rounds: int
) -> dict[str, Floats]:
    """Histories of an earlier fit and of the one that continued it, entry i after round i.

    Parameters
    ----------
    before : mapping of str to ndarray
    seen : mapping of str to ndarray
        The first entry is that of ``n_before`` rounds; empty where nothing was recorded.
    n_before : int
        Rounds of the earlier fit that were kept.
    n_rounds : int
        Rounds made in all.

    Returns
    -------
    history : dict
        NaN where one fit did not record what the other did.

    Notes
    -----
    Both fits record ``n_before`` rounds: the earlier one on the rows that its last round drew, the
    continuing one on the rows that its first round draws. What was recorded first is kept, as in
    scikit-learn, so that the history is that of one fit that never stopped.
    """
    history = {}
    for name in NAMES:
        old, new = before.get(name, _NOTHING)[: n_before + 1], seen.get(name, _NOTHING)
        if old.size + new.size:
            history[name] = np.full(n_rounds + 1, np.nan)
            if new.size:
                history[name][n_before:] = new
            recorded = np.flatnonzero(~np.isnan(old))
            history[name][recorded] = old[recorded]
    return history


class HistoryField:
    """How a model file holds a history: each array as a section of its own."""

    _array = Array(np.float64)

    def encode(self, name: str, value: Mapping[str, Floats], sections: Sections) -> Any:
        """Return the names of the sections."""
        return {
            part: self._array.encode(f"{name}.{part}", array, sections)
            for part, array in sorted(value.items())
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> dict[str, Floats]:
        """Return the history, checked."""
        if not isinstance(stored, dict) or not stored.keys() <= set(NAMES):
            raise ModelFormatError(f"{name} is no history of boosting")
        return {
            part: self._array.decode(f"{name}.{part}", stored[part], sections)
            for part in sorted(stored)
        }
