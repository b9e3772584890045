"""What a parameter's values may be, where a search draws them instead of reading a grid."""

from dataclasses import dataclass

__all__ = ["Choice", "Range", "Real", "Whole"]


@dataclass(frozen=True)
class Real:
    """A number from ``low`` to ``high``; with ``log`` every factor is as likely as any other."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``, both included; ``log`` as in `Real`."""

    low: int
    high: int
    log: bool = False


@dataclass(frozen=True)
class Choice:
    """One of some values, in no order; each is a number, a text, a truth value or None."""

    values: tuple[float | str | bool | None, ...]


Range = Real | Whole | Choice
