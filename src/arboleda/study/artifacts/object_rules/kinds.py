"""The kinds of rules for one attribute: what it may be, and which sizes it must agree with.

A size has a name, such as "n_features". The first array or number of an object that mentions it
binds it; all that follow must agree. "*" is any size.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Protocol

import numpy as np

__all__ = [
    "Array",
    "AttributeRule",
    "BrokenRuleError",
    "ClassRules",
    "Context",
    "DictOf",
    "Either",
    "Exactly",
    "Flag",
    "ListOf",
    "NotANumber",
    "Number",
    "Object",
    "Optional",
    "Plain",
    "Template",
    "Text",
    "TupleOf",
    "Whole",
    "n_pairs",
    "n_scores",
    "one_less",
]

Sizes = dict[str, int]
# A number, the name of a size, or a size that follows from others.
Size = int | str | Callable[[Sizes], int]
ANY = "*"
# What compiled code takes for a whole number.
LARGEST = 2**31 - 1


class BrokenRuleError(ValueError):
    """An object is not what the rules of its class allow.

    The message continues a sentence that begins with the name of the object or its attribute,
    until `is_named`.
    """

    def __init__(self, message: str, *, is_named: bool = False) -> None:
        super().__init__(message)
        self.is_named = is_named


@dataclass
class Context:
    """What is known while the attributes of one object are checked.

    Attributes
    ----------
    check_object : callable
        Checks an object that hangs on this one; takes it, and whether it must be fitted.
    sizes : dict
        The sizes that are bound.
    is_fitted : bool
        Whether all attributes of a fitted object must be there.
    """

    check_object: Callable[[Any, bool], None]
    sizes: Sizes = field(default_factory=dict)
    is_fitted: bool = True

    def agree(self, size: Size, found: int) -> None:
        """Bind a size, or refuse another one than it is bound to."""
        if size == ANY:
            return
        if isinstance(size, str):
            expected = self.sizes.setdefault(size, found)
        else:
            expected = self.resolve(size)
        if found != expected:
            raise BrokenRuleError(f"has {found} entries where {expected} belong")

    def resolve(self, size: Size) -> int:
        """The number that a size is bound to."""
        if isinstance(size, int):
            return size
        return self.sizes[size] if isinstance(size, str) else size(self.sizes)


class AttributeRule(Protocol):
    """What an attribute may be."""

    def check(self, value: Any, context: Context) -> None:
        """Raise BrokenRuleError if the value is not allowed."""
        ...


def n_scores(sizes: Sizes) -> int:
    """Columns of scores: one for two classes, else one for each."""
    return 1 if sizes["n_classes"] == 2 else sizes["n_classes"]


def one_less(name: str) -> Callable[[Sizes], int]:
    """A size less 1."""
    return lambda sizes: sizes[name] - 1


def n_pairs(sizes: Sizes) -> int:
    """Pairs of classes."""
    return sizes["n_classes"] * (sizes["n_classes"] - 1) // 2


@dataclass(frozen=True)
class Array:
    """An array of exactly this type and shape.

    Parameters
    ----------
    dtype : type or tuple of type
        Any of these, in the machine's byte order.
    shape : tuple
        One size for each dimension.
    low : int, optional
        The smallest value.
    below : int or size, optional
        All values are smaller.
    total : size, optional
        The sum of the values.
    is_increasing : bool
        Each value is larger than the one before; only the last may be NaN.
    is_finite : bool
        No value is NaN or infinite.
    """

    dtype: Any
    shape: tuple[Size, ...]
    low: int | None = None
    below: Size | None = None
    total: Size | None = None
    is_increasing: bool = False
    is_finite: bool = False

    def check(self, value: Any, context: Context) -> None:
        """Check type, shape and values."""
        allowed = self.dtype if isinstance(self.dtype, tuple) else (self.dtype,)
        if type(value) is not np.ndarray or value.dtype not in allowed:
            names = " or ".join(np.dtype(t).name for t in allowed)
            raise BrokenRuleError(f"is no array of {names}")
        if value.ndim != len(self.shape):
            raise BrokenRuleError(f"has {value.ndim} dimensions where {len(self.shape)} belong")
        for size, found in zip(self.shape, value.shape, strict=True):
            context.agree(size, found)
        if self.total is not None and int(value.sum(dtype=np.int64)) != context.resolve(self.total):
            raise BrokenRuleError("does not add up to what it counts")
        if value.size:
            self._check_values(value, context)

    def _check_values(self, value: Any, context: Context) -> None:
        if self.low is not None and not value.min() >= self.low:
            raise BrokenRuleError(f"holds {value.min()}, which is below {self.low}")
        if self.below is not None and not value.max() < context.resolve(self.below):
            raise BrokenRuleError(f"holds {value.max()}, which is too large")
        if self.is_finite and not np.isfinite(value).all():
            raise BrokenRuleError("holds values that are not finite")
        if self.is_increasing:
            last_is_missing = value.dtype.kind == "f" and isnan(value[-1])
            known = value[:-1] if last_is_missing else value
            if not (known[:-1] < known[1:]).all() or np.isnan(known).any():
                raise BrokenRuleError("is not in increasing order")


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`, or NaN where `is_finite` is off."""

    low: float = -float("inf")
    high: float = float("inf")
    is_finite: bool = False

    def check(self, value: Any, context: Context) -> None:
        """Check type and range."""
        if type(value) not in (int, float, np.float64, np.int64):
            raise BrokenRuleError("is no number")
        if isinstance(value, int) and abs(value) > LARGEST:
            raise BrokenRuleError("is too large")
        known = not isnan(value)
        if (known and not self.low <= value <= self.high) or (
            self.is_finite and not np.isfinite(value)
        ):
            raise BrokenRuleError(f"is {value}, which is out of range")


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`; `size` is the size that it states."""

    low: int = 0
    high: int = LARGEST
    size: Size = ANY
    below: Size | None = None

    def check(self, value: Any, context: Context) -> None:
        """Check type and range, and bind the size."""
        if type(value) not in (int, np.int64):
            raise BrokenRuleError("is no whole number")
        if not self.low <= value <= self.high:
            raise BrokenRuleError(f"is {str(value)[:30]}, which is out of range")
        if self.below is not None and value >= context.resolve(self.below):
            raise BrokenRuleError(f"is {value}, which is too large")
        context.agree(self.size, int(value))


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def check(self, value: Any, context: Context) -> None:
        """Check the type."""
        if type(value) not in (bool, np.bool_):
            raise BrokenRuleError("is neither true nor false")


class Text:
    """One of some texts; any text if none are listed."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def check(self, value: Any, context: Context) -> None:
        """Check the text."""
        if type(value) is not str or (self.allowed and value not in self.allowed):
            raise BrokenRuleError(f"is {str(value)[:40]!r}, which is not allowed")


@dataclass(frozen=True)
class Exactly:
    """One value: None, True, False or a type."""

    value: Any

    def check(self, value: Any, context: Context) -> None:
        """Check that it is that value."""
        # Types of arrays' elements are equal, not the same.
        equal = isinstance(value, np.dtype) and value == self.value
        if value is not self.value and not (equal and isinstance(self.value, np.dtype)):
            raise BrokenRuleError(f"is not {self.value}")


@dataclass(frozen=True)
class NotANumber:
    """NaN."""

    def check(self, value: Any, context: Context) -> None:
        """Check that it is NaN."""
        if type(value) is not float or not isnan(value):
            raise BrokenRuleError("is not NaN")


class Either:
    """What one of several rules allows."""

    def __init__(self, *rules: AttributeRule) -> None:
        self.rules = rules

    def check(self, value: Any, context: Context) -> None:
        """Check the rules in turn; the last one's error is raised."""
        before = dict(context.sizes)
        for rule in self.rules[:-1]:
            try:
                return rule.check(value, context)
            except BrokenRuleError:
                context.sizes.clear()
                context.sizes.update(before)
        return self.rules[-1].check(value, context)


@dataclass(frozen=True)
class Optional:
    """What a rule allows, or no such attribute: it depends on versions and settings."""

    rule: AttributeRule

    def check(self, value: Any, context: Context) -> None:
        """Check what is there."""
        self.rule.check(value, context)


@dataclass(frozen=True)
class ListOf:
    """A list or tuple of so many things."""

    rule: AttributeRule
    size: Size = ANY

    def check(self, value: Any, context: Context) -> None:
        """Check length and entries."""
        if type(value) not in (list, tuple):
            raise BrokenRuleError("is no list")
        context.agree(self.size, len(value))
        for entry in value:
            self.rule.check(entry, context)


class TupleOf:
    """A tuple of different things."""

    def __init__(self, *rules: AttributeRule) -> None:
        self.rules = rules

    def check(self, value: Any, context: Context) -> None:
        """Check length and entries."""
        if type(value) is not tuple or len(value) != len(self.rules):
            raise BrokenRuleError(f"is no tuple of {len(self.rules)}")
        for rule, entry in zip(self.rules, value, strict=True):
            rule.check(entry, context)


@dataclass(frozen=True)
class DictOf:
    """A dict of texts, or of whole numbers below a size, to things."""

    rule: AttributeRule
    key: AttributeRule = field(default_factory=Text)
    size: Size = ANY

    def check(self, value: Any, context: Context) -> None:
        """Check keys and values."""
        if not isinstance(value, dict):
            raise BrokenRuleError("is no dict")
        context.agree(self.size, len(value))
        for key, entry in value.items():
            self.key.check(key, context)
            self.rule.check(entry, context)


class Object:
    """An object of one of some classes (none listed: of any that has rules), fitted."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def check(self, value: Any, context: Context) -> None:
        """Check the class, and the object by the rules of its class."""
        is_container = type(value) in (list, tuple, dict)
        if is_container or (self.names and type(value).__name__ not in self.names):
            raise BrokenRuleError(f"is a {type(value).__name__}, which does not belong there")
        context.check_object(value, context.is_fitted)


class Template:
    """An estimator that another one was given, fitted or not, or none."""

    def check(self, value: Any, context: Context) -> None:
        """Check the object by the rules of its class."""
        if value is not None:
            context.check_object(value, False)


class Plain:
    """Settings: numbers, texts, truth values and None, lists and dicts of them, and templates."""

    def check(self, value: Any, context: Context) -> None:
        """Check the value and all that it holds."""
        scalars = (bool, int, float, str, np.bool_, np.float64, np.int64)
        if value is None or type(value) in scalars:
            return
        if isinstance(value, slice):
            for part in (value.start, value.stop, value.step):
                self.check(part, context)
        else:
            context.check_object(value, False)


@dataclass(frozen=True)
class ClassRules:
    """What objects of one class consist of.

    Parameters
    ----------
    attributes : mapping
        A rule for each attribute, in an order in which sizes are bound before others follow from
        them. Settings that are not named must be `Plain`, and what scikit-learn allows.
    agreements : tuple of callable
        What several attributes together must be; each takes the object's attributes, and raises
        BrokenRuleError.
    """

    attributes: Mapping[str, AttributeRule]
    agreements: tuple[Callable[[Mapping[str, Any]], None], ...] = ()


@contextmanager
def named(what: str) -> Iterator[None]:
    """Say of which attribute, of which object, something is wrong; the innermost is told."""
    try:
        yield
    except BrokenRuleError as error:
        if error.is_named:
            raise
        raise BrokenRuleError(f"{what} {error}", is_named=True) from error
