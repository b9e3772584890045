"""Which output of several a picture is of."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["mirrored", "output_place", "texts_of"]


def mirrored(answers: npt.NDArray[np.float64], axis: int) -> bool:
    """Whether there are two outputs along the axis, whose sum is the same everywhere.

    So it is with the probabilities of two classes: what one shows, the other shows too.
    """
    both = answers.sum(axis=axis)
    size = float(np.abs(answers).max(initial=0.0))
    return answers.shape[axis] == 2 and bool(np.ptp(both) <= 1e-9 * size)


def texts_of(names: Any, n_outputs: int) -> list[str]:
    """Write the outputs' names; numbers where there are none."""
    if names is None:
        return [str(k) for k in range(n_outputs)]
    return [str(name) for name in names]


def output_place(output: Any, names: Sequence[str]) -> int:
    """Find an output by its name or its number.

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
        raise ValueError(
            f"output={output!r}: there are {len(names)} outputs, 0 to {len(names) - 1}"
        )
    raise ValueError(f"output={output!r} is none of the outputs {list(names)}")
