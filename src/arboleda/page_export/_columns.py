"""The columns of a page's form: names, kinds, categories, ranges and distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Schema

Floats = npt.NDArray[np.float64]

Kind = Literal["number", "category", "boolean", "date", "text", "list"]

_N_BARS = 24
# More distinct values than a form offers as choices are searched, not listed.
_QUANTILES = (0.0, 0.02, 0.98, 1.0)


@dataclass
class PageColumn:
    """A column of the form.

    Parameters
    ----------
    name : str
    kind : {"number", "category", "boolean", "date", "text", "list"}
    levels : sequence of str
        Categories, in the order of their codes.
    facts : dict
        What the form shows and the script needs, as JSON: ``typical``, ``low``, ``high``, ``bars``
        and the facts of a kind.
    """

    name: str
    kind: Kind
    levels: Sequence[str] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON."""
        listed = {"levels": list(self.levels)} if self.kind == "category" else {}
        return {"name": self.name, "kind": self.kind, **listed, **self.facts}


def describe_numbers(values: Floats) -> dict[str, Any]:
    """Describe the present values of a column: median, range, and roots of a histogram's counts.

    The curve of a column goes from the 2 % to the 98 % quantile.
    """
    present = values[np.isfinite(values)]
    if not present.size:
        return {"typical": None, "has_missing": True}
    low, begin, end, high = np.quantile(present, _QUANTILES).tolist()
    is_whole = bool(np.all(present == np.rint(present)))
    typical = float(f"{np.quantile(present, 0.5, method='lower'):.4g}")
    with np.errstate(over="ignore", invalid="ignore"):
        is_drawn = high > low and np.isfinite(high - low)
        counts = np.histogram(present, _N_BARS, (low, high))[0] if is_drawn else np.array([1])
    return {
        "typical": typical,
        "low": low,
        "high": high,
        "begin": begin if end > begin else low,
        "end": end if end > begin else high,
        "whole": is_whole,
        "bars": np.ceil(100 * np.sqrt(counts / counts.max())).astype(int).tolist(),
        "has_missing": present.size < values.size,
    }


def describe_codes(codes: Floats, n_levels: int) -> dict[str, Any]:
    """Describe the codes of a column of categories: the most frequent, and all shares."""
    present = codes[np.isfinite(codes) & (codes >= 0) & (codes < n_levels)].astype(np.int64)
    if not present.size:
        return {"typical": None, "has_missing": True}
    counts = np.bincount(present, minlength=n_levels)
    return {
        "typical": int(counts.argmax()),
        "shares": np.round(counts / codes.size, 4).tolist(),
        "has_missing": present.size < codes.size,
    }


def make_columns(schema: Schema, sample: Any) -> list[PageColumn]:
    """Make the columns of a model's form.

    Parameters
    ----------
    schema : Schema
        The model's columns.
    sample : ndarray of object or float, of shape (n_rows, n_columns), or None
        Codes of categories, and numbers.
    """
    columns = []
    for j, levels in enumerate(schema.levels):
        name = f"x{j}" if schema.names is None else str(schema.names[j])
        values = None if sample is None else sample[:, j]
        if levels is None:
            facts: dict[str, Any] = (
                {"typical": None} if values is None else describe_numbers(values)
            )
            columns.append(PageColumn(name, "number", facts=facts))
        else:
            facts = {"typical": None} if values is None else describe_codes(values, len(levels))
            if all(isinstance(level, int | float) for level in levels):
                facts["numeric_levels"] = True  # 3 and 3.0 are one
            columns.append(PageColumn(name, "category", [str(x) for x in levels], facts))
    return columns
