"""What a parameter's values may be, where a search draws them instead of reading a grid."""

from dataclasses import dataclass

__all__ = ["Choice", "Range", "Real", "Whole"]


@dataclass(frozen=True)
class Real:
    """A number from ``low`` to ``high``; with ``log`` every factor is as likely as any other."""

    low: float
    high: float
    log: bool = False

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``, both included; ``log`` as in `Real`."""

    low: int
    high: int
    log: bool = False

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high


@dataclass(frozen=True)
class Choice:
    """One of some values, in no order; each is a number, a text, a truth value or None."""

    values: tuple[float | str | bool | None, ...]

    def __contains__(self, value: object) -> bool:
        return value in self.values


Range = Real | Whole | Choice
