"""Losses and scores of each round, including the rounds that early stopping discards."""

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

_EMPTY: Floats = np.empty(0)


def join_histories(
    before: Mapping[str, Floats], seen: Mapping[str, Floats], n_before: int, n_rounds: int
) -> dict[str, Floats]:
    """Join the histories of an earlier fit and of the one that continued it.

    Parameters
    ----------
    before : mapping of str to ndarray
        The earlier history; entry i is recorded after i rounds.
    seen : mapping of str to ndarray
        The new history; its first entry is recorded after ``n_before`` rounds. Arrays are empty
        where nothing was recorded.
    n_before : int
        Rounds of the earlier fit that were kept.
    n_rounds : int
        Total number of rounds.

    Returns
    -------
    history : dict
        NaN where only one of the fits recorded a quantity.

    Notes
    -----
    Both fits record the state after ``n_before`` rounds: the earlier one on the rows drawn for its
    last round, the continuing one on the rows drawn for its first round. The earlier record is
    kept, as in scikit-learn: the history is that of a single uninterrupted fit.
    """
    history = {}
    for name in NAMES:
        old, new = before.get(name, _EMPTY)[: n_before + 1], seen.get(name, _EMPTY)
        if old.size + new.size:
            history[name] = np.full(n_rounds + 1, np.nan)
            if new.size:
                history[name][n_before:] = new
            recorded = np.flatnonzero(~np.isnan(old))
            history[name][recorded] = old[recorded]
    return history


def get_scores(history: Mapping[str, Floats], *, has_scorer: bool, has_validation: bool) -> Floats:
    """Return the scores that early stopping uses; empty if they were not recorded."""
    if has_scorer:
        return history.get("validation_score", _EMPTY)
    return -history.get("validation_loss" if has_validation else "train_loss", _EMPTY)


class HistoryField:
    """Field of model files for a history: each array is a section of its own."""

    _array = Array(np.float64)

    def encode(self, name: str, value: Mapping[str, Floats], sections: Sections) -> Any:
        """Return the names of the sections."""
        return {
            part: self._array.encode(f"{name}.{part}", array, sections)
            for part, array in sorted(value.items())
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> dict[str, Floats]:
        """Check and return the history."""
        if not isinstance(stored, dict) or not stored.keys() <= set(NAMES):
            raise ModelFormatError(f"{name} is not a boosting history")
        return {
            part: self._array.decode(f"{name}.{part}", stored[part], sections)
            for part in sorted(stored)
        }
