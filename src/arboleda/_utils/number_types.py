"""Whether values are numbers, of Python, NumPy or any other library."""

from numbers import Integral, Real
from typing import TypeGuard

__all__ = ["is_integer", "is_real"]


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of any library; booleans are integers, as in Python.

    Examples
    --------
    >>> import numpy as np
    >>> is_integer(np.int64(3)), is_integer(True), is_integer(3.0)
    (True, True, False)
    """
    return isinstance(value, Integral)


def is_real(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of any library, integers and booleans included.

    Examples
    --------
    >>> import numpy as np
    >>> is_real(np.float32(0.5)), is_real(3), is_real("3")
    (True, True, False)
    """
    return isinstance(value, Real)
