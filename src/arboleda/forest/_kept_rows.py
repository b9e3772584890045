"""Training targets and weights that a forest keeps to use its leaves as neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._errors import ModelFormatError
from arboleda.persist import Array as SavedArray

if TYPE_CHECKING:
    from arboleda.persist._fields import Sections

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
                if _is_valid(values, weight):
                    return KeptRows(values, weight, balances)
        raise ModelFormatError(f"{name} does not hold targets and weights of training rows")


def _is_valid(target: Floats, weight: Floats | None) -> bool:
    if not target.size or not np.isfinite(target).all():
        return False
    if weight is None:
        return True
    return weight.size == len(target) and bool(np.isfinite(weight).all() and (weight >= 0).all())
