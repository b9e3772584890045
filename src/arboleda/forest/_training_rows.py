"""Training rows, targets and weights of the trees of a forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.fit import ForestOptions, draw_bag
from arboleda._utils.errors import ModelFormatError
from arboleda.persist import SavedArray

if TYPE_CHECKING:
    from arboleda.persist.fields import Sections

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
                if _are_bags_valid(bags):
                    return bags
        raise ModelFormatError(f"{name} does not describe how rows were drawn")


def _are_bags_valid(bags: Bags) -> bool:
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


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Targets and weights of the training rows.

    Parameters
    ----------
    target : ndarray of shape (n_rows, n_outputs)
        Target values or class codes.
    weight : ndarray of shape (n_rows,), or None
        None: every row has weight 1.
    balances_classes : bool
        Whether the classes of each bag were weighted equally.
    """

    target: Floats
    weight: Floats | None
    balances_classes: bool

    @classmethod
    def from_target(
        cls, target: npt.NDArray[Any], weight: Floats | None, balances: bool
    ) -> KeptRows:
        """Create kept rows from copies of a target and weights."""
        values = np.array(target, dtype=np.float64).reshape(len(target), -1)
        return cls(values, None if weight is None else np.array(weight), balances)

    def is_same_as(self, other: KeptRows | None) -> bool:
        """Return whether two fits used the same targets and weights."""
        if other is None or self.balances_classes is not other.balances_classes:
            return False
        if (self.weight is None) is not (other.weight is None):
            return False
        same_weight = self.weight is None or np.array_equal(self.weight, other.weight)  # type: ignore[arg-type]
        return same_weight and np.array_equal(self.target, other.target)


class KeptRowsField:
    """Field of a model file for kept rows, with the arrays in sections of their own."""

    def encode(self, name: str, value: KeptRows | None, sections: Sections) -> Any:
        """Return the header entry."""
        if value is None:
            return None
        header: dict[str, Any] = {"balances_classes": bool(value.balances_classes)}
        header["target"] = SavedArray(np.float64, 2).encode(
            f"{name}.target", value.target, sections
        )
        if value.weight is not None:
            header["weight"] = SavedArray(np.float64).encode(
                f"{name}.weight", value.weight, sections
            )
        return header

    def decode(self, name: str, stored: Any, sections: Sections) -> KeptRows | None:
        """Return the validated rows."""
        match stored:
            case None:
                return None
            case {"balances_classes": bool(balances), "target": target, **rest} if rest.keys() <= {
                "weight"
            }:
                values = SavedArray(np.float64, 2).decode(f"{name}.target", target, sections)
                weight = None
                if rest:
                    weight = SavedArray(np.float64).decode(
                        f"{name}.weight", rest["weight"], sections
                    )
                if _are_kept_rows_valid(values, weight):
                    return KeptRows(values, weight, balances)
        raise ModelFormatError(f"{name} does not hold targets and weights of training rows")


def _are_kept_rows_valid(target: Floats, weight: Floats | None) -> bool:
    if not target.size or not np.isfinite(target).all():
        return False
    if weight is None:
        return True
    return weight.size == len(target) and bool(np.isfinite(weight).all() and (weight >= 0).all())
