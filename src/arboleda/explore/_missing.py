"""Missing values and their patterns over columns."""

from typing import Any

import numpy as np

from arboleda.explore._explored_table import ExploredTable

__all__ = ["describe_missing"]

PATTERNS = 12
COLUMNS = 24


def describe_missing(subject: ExploredTable) -> dict[str, Any]:
    """Count complete rows and the most frequent patterns of missing columns.

    A pattern is the set of columns that are missing in a row.
    """
    columns = [c for c in subject.table.columns if c.missing.any()]
    n_rows = subject.table.n_rows
    if not columns:
        return {"n_complete_rows": n_rows, "n_columns": 0, "n_patterns": 0, "patterns": []}
    packed = np.packbits(np.column_stack([c.missing for c in columns]), axis=1)
    # View each row of bits as one value: rows of one pattern are equal.
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    order = np.lexsort([first, -counts])
    complete = 0
    patterns: list[dict[str, Any]] = []
    for place in order:
        names = [c.name for c in columns if c.missing[first[place]]]
        if not names:
            complete = int(counts[place])
        elif len(patterns) < PATTERNS:
            patterns.append({"columns": names[:COLUMNS], "n_columns": len(names),
                             "n_rows": int(counts[place])})  # fmt: skip
    return {
        "n_complete_rows": complete,
        "n_columns": len(columns),
        "n_patterns": len(counts) - (complete > 0),
        "patterns": patterns,
    }
