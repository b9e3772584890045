"""Training rows of each tree of a forest, drawn again on demand instead of stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.fit_forest import ForestOptions, draw_bag
from arboleda._errors import ModelFormatError
from arboleda.persist import Array as SavedArray

if TYPE_CHECKING:
    from arboleda.persist._fields import Sections

BagKind = Literal["all", "bootstrap", "balanced_bootstrap"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bags:
    """Sampling scheme of the training rows of every tree.

    Parameters
    ----------
    kind : {"all", "bootstrap", "balanced_bootstrap"}
    n_drawn : int
        Draws per tree; -1 for the number of rows of positive weight.
    n_rows : int
        Rows of the table.
    seed : int
    unused : ndarray of int
        Rows of weight 0, ascending: they are never drawn.
    labels : ndarray of int, or None
        Class numbers, for a balanced bootstrap.
    """

    kind: BagKind
    n_drawn: int
    n_rows: int
    seed: int
    unused: Rows
    labels: Rows | None

    @property
    def options(self) -> dict[str, Any]:
        """Options of the engine for drawing bags."""
        return {"bag": self.kind, "n_drawn": self.n_drawn}

    @property
    def weight(self) -> npt.NDArray[np.float64] | None:
        """Weights of the draws: 0 for unused rows, else 1; None if all rows can be drawn."""
        if not self.unused.size:
            return None
        weight = np.ones(self.n_rows)
        weight[self.unused] = 0.0
        return weight

    def draw_rows(self, tree: int) -> Rows:
        """Return the training rows of a tree, ascending, with repeats."""
        options = ForestOptions(n_trees=1, **self.options)
        counts = draw_bag(
            options,
            self.n_rows,
            tree,
            sample_weight=self.weight,
            labels=self.labels,
            seed=self.seed,
        )
        return np.repeat(np.arange(self.n_rows), counts)

    def is_same_as(self, other: Bags) -> bool:
        """Return whether trees of the same number get the same rows."""
        numbers = (self.kind, self.n_drawn, self.n_rows, self.seed)
        if numbers != (other.kind, other.n_drawn, other.n_rows, other.seed):
            return False
        rows: Any = ((self.unused, other.unused), (self.labels, other.labels))
        return all(mine is others or np.array_equal(mine, others) for mine, others in rows)


class BagsField:
    """Field of a model file for bags: numbers in the header, rows and labels as arrays."""

    def encode(self, name: str, value: Bags | None, sections: Sections) -> Any:
        """Return the header entry."""
        if value is None:
            return None
        header: dict[str, Any] = {
            "kind": value.kind,
            "n_drawn": int(value.n_drawn),
            "n_rows": int(value.n_rows),
            "seed": int(value.seed),
        }
        for part in ("unused", "labels"):
            rows = getattr(value, part)
            if rows is not None:
                header[part] = SavedArray(np.int64).encode(f"{name}.{part}", rows, sections)
        return header

    def decode(self, name: str, stored: Any, sections: Sections) -> Bags | None:
        """Return the validated bags."""
        if stored is None:
            return None
        match stored:
            case {
                "kind": ("all" | "bootstrap" | "balanced_bootstrap") as kind,
                "n_drawn": int(n_drawn),
                "n_rows": int(n_rows),
                "seed": int(seed),
                "unused": unused,
                **rest,
            } if rest.keys() == ({"labels"} if kind == "balanced_bootstrap" else set()):
                arrays = {
                    part: SavedArray(np.int64).decode(f"{name}.{part}", where, sections)
                    for part, where in {"unused": unused, **rest}.items()
                }
                bags = Bags(kind, n_drawn, n_rows, seed, arrays["unused"], arrays.get("labels"))
                if _is_valid(bags):
                    return bags
        raise ModelFormatError(f"{name} does not describe how rows were drawn")


def _is_valid(bags: Bags) -> bool:
    rows, labels = bags.unused, bags.labels
    return (
        0 < bags.n_rows < 2**32
        and 0 <= bags.seed < 2**63
        and (bags.n_drawn == -1 or 0 < bags.n_drawn < 2**32)
        and rows.size < bags.n_rows
        and bool((np.diff(rows) > 0).all())
        and (not rows.size or (rows[0] >= 0 and rows[-1] < bags.n_rows))
        and (labels is None or (labels.size == bags.n_rows and bool((labels >= 0).all())))
    )
