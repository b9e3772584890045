"""Selection of the output to plot."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["find_output", "is_mirrored", "name_outputs"]


def is_mirrored(values: npt.NDArray[np.float64], axis: int) -> bool:
    """Return whether there are two outputs along the axis, whose sum is constant.

    This holds for the probabilities of two classes: the plot of one shows the other.
    """
    both = values.sum(axis=axis)
    size = float(np.abs(values).max(initial=0.0))
    return values.shape[axis] == 2 and bool(np.ptp(both) <= 1e-9 * size)


def name_outputs(names: Any, n_outputs: int) -> list[str]:
    """Return the names of the outputs as text; their indices if there are none."""
    if names is None:
        return [str(k) for k in range(n_outputs)]
    return [str(name) for name in names]


def find_output(output: Any, names: Sequence[str]) -> int:
    """Find the index of an output by its name or index.

    Raises
    ------
    ValueError
        If there is no such output.
    """
    a_number = isinstance(output, Integral) and not isinstance(output, bool)
    if str(output) in names and not (a_number and 0 <= int(output) < len(names)):
        return list(names).index(str(output))
    if a_number:
        if -len(names) <= int(output) < len(names):
            return int(output) % len(names)
        raise ValueError(f"output must be an index from 0 to {len(names) - 1}, got {output!r}")
    raise ValueError(f"output must be one of {list(names)} or an index, got {output!r}")
