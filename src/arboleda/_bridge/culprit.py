"""Why a table was refused: the first column that is not numbers, in words a person can act on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import narwhals as nw
import numpy as np

_TEXT = (nw.String, nw.Categorical, nw.Enum, nw.Object)


def find_culprit(X: Any) -> str | None:
    """Tell what keeps a table from being numbers.

    Parameters
    ----------
    X : frame or array-like
        A table that was refused.

    Returns
    -------
    sentence : str or None
        It names the column, the value and the remedy; None when no column is to blame.
    """
    names = getattr(X, "columns", None)
    if names is not None:
        twice = [name for name, count in Counter(map(str, names)).items() if count > 1]
        if twice:
            return f"X has more than one column named {twice[0]!r}: rename or drop one"
    for label, values in _doubtful_columns(X):
        if values is None:
            return f"column {label} of X holds dates or durations: turn them into numbers first"
        for row, value in enumerate(values):
            remedy = _remedy(value)
            if remedy:
                shown = str(value) if isinstance(value, str) else value  # NumPy's text as text
                return f"column {label} of X holds {shown!r} in row {row}: {remedy}"
    return None


def _doubtful_columns(X: Any) -> Iterator[tuple[str, Iterable[Any] | None]]:
    """Columns that may hold other things than numbers, by name or index; None for dates."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        for name, dtype in frame.schema.items():
            if dtype.is_temporal():
                yield repr(str(name)), None
            elif isinstance(dtype, _TEXT):
                yield repr(str(name)), frame[name]
        return
    array = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "OUS":
        for j in range(array.shape[1]):
            yield str(j), array[:, j]
    elif isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "Mm":
        yield "0", None


def _remedy(value: Any) -> str | None:
    """What to do about text that is no number, or a missing value that NumPy does not know."""
    if type(value).__name__ == "NAType":
        return "give the column a type that knows missing values, such as Float64"
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return "encode it as numbers first, for example with OneHotEncoder, or drop the column"
    return None
