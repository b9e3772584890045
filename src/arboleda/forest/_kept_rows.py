"""What a forest keeps of its training rows, so that its leaves can be read as neighbourhoods."""

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
    """Target and weight of every training row.

    Parameters
    ----------
    target : ndarray of shape (n_rows, n_outputs)
        Values, or class numbers.
    weight : ndarray of shape (n_rows,), or None
        None: every row weighs 1.
    balances_classes : bool
        Whether the classes of each bag were weighed so that they count the same.
    """

    target: Floats
    weight: Floats | None
    balances_classes: bool

    @classmethod
    def of(cls, target: npt.NDArray[Any], weight: Floats | None, balances: bool) -> KeptRows:
        """Copy them, so that they stay as they are."""
        values = np.array(target, dtype=np.float64).reshape(len(target), -1)
        return cls(values, None if weight is None else np.array(weight), balances)

    def are_those_of(self, other: KeptRows | None) -> bool:
        """Whether trees of two fits learned the same."""
        if other is None or self.balances_classes is not other.balances_classes:
            return False
        if (self.weight is None) is not (other.weight is None):
            return False
        same_weight = self.weight is None or np.array_equal(self.weight, other.weight)  # type: ignore[arg-type]
        return same_weight and np.array_equal(self.target, other.target)


class KeptRowsField:
    """How kept rows are stored: the arrays in sections of their own."""

    def encode(self, name: str, value: KeptRows | None, sections: Sections) -> Any:
        """Return what stands in the header."""
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
        """Return the rows, checked."""
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
                if _are_sound(values, weight):
                    return KeptRows(values, weight, balances)
        raise ModelFormatError(f"{name} does not hold targets and weights of training rows")


def _are_sound(target: Floats, weight: Floats | None) -> bool:
    if not target.size or not np.isfinite(target).all():
        return False
    if weight is None:
        return True
    return weight.size == len(target) and bool(np.isfinite(weight).all() and (weight >= 0).all())
