"""What a made column is of, before anything is learned for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["ARITHMETIC", "FeatureCross", "Kind"]

Kind = Literal["sum", "difference", "product", "ratio", "mean", "sd", "distance", "count", "target"]

ARITHMETIC: tuple[Kind, ...] = ("sum", "difference", "product", "ratio")
_SIGNS = {"sum": "+", "difference": "\N{MINUS SIGN}", "product": "\N{MULTIPLICATION SIGN}"}


@dataclass(frozen=True)
class FeatureCross:
    """A column that could be made.

    Attributes
    ----------
    kind : str
        "sum", "difference", "product", "ratio" of two numbers; "mean", "sd" (standard deviation) of
        a number among the rows of a group, "distance" of a number from that mean; "count" of the
        group's rows; "target", the target's mean among them.
    numbers : tuple of int
        Columns that hold numbers.
    groups : tuple of int
        Columns of categories; rows are of one group if they share the levels of all.
    output : int
        Of "target" with more than two classes: of which class the share is meant.
    """

    kind: Kind
    numbers: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    output: int = 0

    @property
    def sources(self) -> tuple[int, ...]:
        """The columns that it is made of."""
        return self.numbers + self.groups

    def name(self, names: Sequence[str], labels: Sequence[str] = ()) -> str:
        """What it is, in words.

        Parameters
        ----------
        names : sequence of str
            Of all columns.
        labels : sequence of str, default=()
            Of the classes; none in a regression.

        Examples
        --------
        >>> Idea("ratio", (0, 1)).name(["price", "mileage"])
        'price / mileage'
        >>> Idea("mean", (0,), (2,)).name(["price", "mileage", "brand"])
        'mean of price within brand'
        """
        numbers = [names[j] for j in self.numbers]
        groups = " and ".join(names[j] for j in self.groups)
        if self.kind == "ratio":
            return " / ".join(numbers)
        if self.kind in _SIGNS:
            return f" {_SIGNS[self.kind]} ".join(numbers)
        if self.kind == "count":
            return f"number of rows within {groups}"
        if self.kind == "target":
            return f"{self._target(labels)} within {groups}"
        if self.kind == "distance":
            return f"{numbers[0]} less its mean within {groups}"
        what = "mean" if self.kind == "mean" else "standard deviation"
        return f"{what} of {numbers[0]} within {groups}"

    def _target(self, labels: Sequence[str]) -> str:
        if not labels:
            return "mean of the target"
        return f"share of {labels[1] if len(labels) == 2 else labels[self.output]}"
