"""Checkpoints of a fit on workers: model files with the rounds so far."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arboleda._utils.files import write_atomically
from arboleda.persist import load, model_from_bytes, model_to_bytes, read_header

__all__ = ["Checkpoint"]

# Parameters that do not change a model.
_FREE = {"callbacks", "n_jobs", "verbose"}
# In the text of a function or an object, that of another process.
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_Facts = Mapping[str, Any]


def _describe_parameters(model: Any) -> dict[str, str]:
    """Return the parameters that change a model, as texts; functions by their names."""
    params = model.get_params(deep=False)
    return {
        name: _ADDRESS.sub("", repr(value)) for name, value in params.items() if name not in _FREE
    }


class Checkpoint:
    """A model file in which the rounds of a fit are kept, together with what they belong to.

    Parameters
    ----------
    path : str or path-like
        If the file exists, the fit goes on from it.
    model : estimator
        The unfitted plain class with the parameters of the fit.
    every : int
        Number of rounds between two writes.
    get_rounds : callable
        Returns the rounds of a model, from which a fit goes on.

    Raises
    ------
    TypeError
        If ``random_state`` is not an integer.
    ValueError
        If ``every`` is less than 1, or the folder does not exist.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: Any,
        every: Any,
        get_rounds: Callable[[Any], Any],
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ValueError(f"checkpoint_every must be an integer >= 1, got {every!r}")
        if not isinstance(model.random_state, int | np.integer):
            raise TypeError(
                "checkpoint needs random_state to be an integer, got "
                f"{model.random_state!r}: the call that goes on must draw the same numbers"
            )
        self._path = Path(path)
        if not self._path.absolute().parent.is_dir():
            raise ValueError(f"checkpoint={os.fspath(path)!r}: the folder does not exist")
        self.every = int(every)
        self._model = model
        self._get_rounds = get_rounds
        self._facts: _Facts = {}

    def open(self, facts: _Facts) -> Any:
        """Return the rounds of the file, or None if there is no file.

        Parameters
        ----------
        facts : mapping
            What identifies the data: plain numbers and texts.

        Raises
        ------
        ValueError
            If the file is of other data or parameters, or is no checkpoint.
        """
        own_params = _describe_parameters(self._model)
        self._facts = {**facts, "parameters": own_params}
        if not self._path.exists():
            return None
        kept = load(self._path)
        stored = read_header(self._path)["metrics"]
        if type(kept) is not type(self._model) or stored is None or "checkpoint" not in stored:
            raise ValueError(
                f"{self._path} is not a checkpoint of {type(self._model).__name__}: give another "
                "path, or remove the file"
            )
        kept_params = stored["checkpoint"].get("parameters", {})
        for name, value in own_params.items():
            if kept_params.get(name) != value:
                raise ValueError(
                    f"the checkpoint {self._path} is of a fit with {name}={kept_params.get(name)}, "
                    f"not {value}: set the same parameters, or remove the file"
                )
        for name, fact in facts.items():
            if stored["checkpoint"].get(name) != fact:
                raise ValueError(
                    f"the checkpoint {self._path} is of other data (its {name} differ: "
                    f"{stored['checkpoint'].get(name)}, not {fact}): give the same data, or remove "
                    "the file"
                )
        return self._get_rounds(kept)

    def write(self, content: bytes) -> Any:
        """Write the rounds of a model file, with the facts; return them."""
        model = model_from_bytes(content)
        write_atomically(self._path, model_to_bytes(model, {"checkpoint": self._facts}))
        return self._get_rounds(model)
