"""Rules for one attribute: what its value may be, and which sizes it must agree with."""

from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np

from arboleda.persist.object_rules.context import (
    ANY_SIZE,
    MAX_INTEGER,
    AttributeRule,
    BrokenRuleError,
    Context,
    Size,
)

__all__ = [
    "BOOL",
    "BY_CLASS",
    "CATEGORIES",
    "CLASSES",
    "COEFFICIENTS",
    "COUNTS",
    "EACH_CLASS",
    "EACH_FEATURE",
    "FLOAT",
    "INT32",
    "INT64",
    "KERNEL",
    "LAYERS",
    "LAYER_OFFSETS",
    "NULL",
    "NUMBERS",
    "N_FEATURES",
    "OFFSET",
    "OPTIONAL_NUMBER",
    "PLACES",
    "AnyOf",
    "ArrayRule",
    "BooleanRule",
    "ConstantRule",
    "DictOf",
    "IntegerRule",
    "ListOf",
    "NanRule",
    "NumberRule",
    "ObjectRule",
    "OptionalRule",
    "SettingRule",
    "TemplateRule",
    "TextRule",
    "TupleOf",
]


@dataclass(frozen=True)
class ArrayRule:
    """An array of a given type and shape.

    Parameters
    ----------
    dtype : type or tuple of type
        The allowed types, in native byte order.
    shape : tuple
        One size for each dimension.
    low : int, optional
        The minimum value.
    below : int or size, optional
        An upper bound, itself excluded.
    total : size, optional
        The sum of the values.
    is_increasing : bool
        Whether values must strictly increase; only the last may be NaN.
    is_finite : bool
        Whether NaN and infinite values are refused.
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
            raise BrokenRuleError(f"is not an array of {names}")
        if value.ndim != len(self.shape):
            raise BrokenRuleError(f"has {value.ndim} dimensions, expected {len(self.shape)}")
        for size, found in zip(self.shape, value.shape, strict=True):
            context.bind_size(size, found)
        if self.total is not None and int(value.sum(dtype=np.int64)) != context.resolve_size(
            self.total
        ):
            raise BrokenRuleError("does not have the expected sum")
        if value.size:
            self._check_values(value, context)

    def _check_values(self, value: Any, context: Context) -> None:
        if self.low is not None and not value.min() >= self.low:
            raise BrokenRuleError(f"holds {value.min()}, which is below {self.low}")
        if self.below is not None and not value.max() < context.resolve_size(self.below):
            raise BrokenRuleError(f"holds {value.max()}, which is too large")
        if self.is_finite and not np.isfinite(value).all():
            raise BrokenRuleError("holds values that are not finite")
        if self.is_increasing:
            last_is_missing = value.dtype.kind == "f" and isnan(value[-1])
            known = value[:-1] if last_is_missing else value
            if not (known[:-1] < known[1:]).all() or np.isnan(known).any():
                raise BrokenRuleError("is not in increasing order")


@dataclass(frozen=True)
class NumberRule:
    """A number from `low` to `high`; NaN and infinity are allowed unless `is_finite`."""

    low: float = -float("inf")
    high: float = float("inf")
    is_finite: bool = False

    def check(self, value: Any, context: Context) -> None:
        """Check type and range."""
        if type(value) not in (int, float, np.float64, np.int64):
            raise BrokenRuleError("is not a number")
        if isinstance(value, int) and abs(value) > MAX_INTEGER:
            raise BrokenRuleError("is too large")
        known = not isnan(value)
        if (known and not self.low <= value <= self.high) or (
            self.is_finite and not np.isfinite(value)
        ):
            raise BrokenRuleError(f"is {value}, which is out of range")


@dataclass(frozen=True)
class IntegerRule:
    """An integer from `low` to `high`, which binds `size` and must be less than `below`."""

    low: int = 0
    high: int = MAX_INTEGER
    size: Size = ANY_SIZE
    below: Size | None = None

    def check(self, value: Any, context: Context) -> None:
        """Check type and range, and bind the size."""
        if type(value) not in (int, np.int64):
            raise BrokenRuleError("is not an integer")
        if not self.low <= value <= self.high:
            raise BrokenRuleError(f"is {str(value)[:30]}, which is out of range")
        if self.below is not None and value >= context.resolve_size(self.below):
            raise BrokenRuleError(f"is {value}, which is too large")
        context.bind_size(self.size, int(value))


@dataclass(frozen=True)
class BooleanRule:
    """A Boolean."""

    def check(self, value: Any, context: Context) -> None:
        """Check the type."""
        if type(value) not in (bool, np.bool_):
            raise BrokenRuleError("is not a Boolean")


class TextRule:
    """One of the allowed strings; any string if none is listed."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def check(self, value: Any, context: Context) -> None:
        """Check the string."""
        if type(value) is not str or (self.allowed and value not in self.allowed):
            raise BrokenRuleError(f"is {str(value)[:40]!r}, which is not allowed")


@dataclass(frozen=True)
class ConstantRule:
    """One given value: None, True, False or a type."""

    value: Any

    def check(self, value: Any, context: Context) -> None:
        """Check that the value is the given one."""
        # Data types of arrays are equal, but not identical.
        equal = isinstance(value, np.dtype) and value == self.value
        if value is not self.value and not (equal and isinstance(self.value, np.dtype)):
            raise BrokenRuleError(f"is not {self.value}")


@dataclass(frozen=True)
class NanRule:
    """The value NaN."""

    def check(self, value: Any, context: Context) -> None:
        """Check that the value is NaN."""
        if type(value) is not float or not isnan(value):
            raise BrokenRuleError("is not NaN")


class AnyOf:
    """A value that one of several rules allows."""

    def __init__(self, *rules: AttributeRule) -> None:
        self.rules = rules

    def check(self, value: Any, context: Context) -> None:
        """Check the rules in turn; raise the error of the last one."""
        before = dict(context.sizes)
        for rule in self.rules[:-1]:
            try:
                return rule.check(value, context)
            except BrokenRuleError:
                context.sizes.clear()
                context.sizes.update(before)
        return self.rules[-1].check(value, context)


@dataclass(frozen=True)
class OptionalRule:
    """A rule of an attribute that may be missing, depending on versions and parameters."""

    rule: AttributeRule

    def check(self, value: Any, context: Context) -> None:
        """Check the value."""
        self.rule.check(value, context)


@dataclass(frozen=True)
class ListOf:
    """A list or tuple of a given size, whose entries follow a rule."""

    rule: AttributeRule
    size: Size = ANY_SIZE

    def check(self, value: Any, context: Context) -> None:
        """Check length and entries."""
        if type(value) not in (list, tuple):
            raise BrokenRuleError("is not a list")
        context.bind_size(self.size, len(value))
        for entry in value:
            self.rule.check(entry, context)


class TupleOf:
    """A tuple with a rule for each entry."""

    def __init__(self, *rules: AttributeRule) -> None:
        self.rules = rules

    def check(self, value: Any, context: Context) -> None:
        """Check length and entries."""
        if type(value) is not tuple or len(value) != len(self.rules):
            raise BrokenRuleError(f"is not a tuple of length {len(self.rules)}")
        for rule, entry in zip(self.rules, value, strict=True):
            rule.check(entry, context)


@dataclass(frozen=True)
class DictOf:
    """A dict with a rule for keys, which are strings by default, and one for values."""

    rule: AttributeRule
    key: AttributeRule = field(default_factory=TextRule)
    size: Size = ANY_SIZE

    def check(self, value: Any, context: Context) -> None:
        """Check keys and values."""
        if not isinstance(value, dict):
            raise BrokenRuleError("is not a dict")
        context.bind_size(self.size, len(value))
        for key, entry in value.items():
            self.key.check(key, context)
            self.rule.check(entry, context)


class ObjectRule:
    """A fitted object of one of the named classes, or of any class with rules if none is named."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def check(self, value: Any, context: Context) -> None:
        """Check the class and the attributes of the object."""
        is_container = type(value) in (list, tuple, dict)
        if is_container or (self.names and type(value).__name__ not in self.names):
            raise BrokenRuleError(f"is a {type(value).__name__}, which is not allowed here")
        context.check_object(value, context.is_fitted)


class TemplateRule:
    """An estimator that is a parameter of another one, fitted or not, or None."""

    def check(self, value: Any, context: Context) -> None:
        """Check the attributes of the object."""
        if value is not None:
            context.check_object(value, False)


class SettingRule:
    """A parameter: a number, string, Boolean or None, lists and dicts of them, or an estimator."""

    def check(self, value: Any, context: Context) -> None:
        """Check the value and everything in it."""
        scalars = (bool, int, float, str, np.bool_, np.float64, np.int64)
        if value is None or type(value) in scalars:
            return
        if isinstance(value, slice):
            for part in (value.start, value.stop, value.step):
                self.check(part, context)
        else:
            context.check_object(value, False)


FLOAT, INT64, INT32, BOOL = np.float64, np.int64, np.int32, np.bool_

NULL = ConstantRule(None)
NUMBERS = ArrayRule(FLOAT, ("*",))
OPTIONAL_NUMBER = AnyOf(NULL, NumberRule())
COUNTS = AnyOf(NULL, IntegerRule(), ArrayRule((INT64, INT32), ("*",)))

N_FEATURES = IntegerRule(0, size="n_features")
# Indices of columns.
PLACES = ListOf(IntegerRule(0, below="n_features"))
# The classes of a study are coded as integers from 0.
CLASSES = ArrayRule(INT64, ("n_classes",), low=0, is_increasing=True)
EACH_CLASS = ArrayRule(FLOAT, ("n_classes",))
EACH_FEATURE = ArrayRule(FLOAT, ("n_features",))
BY_CLASS = ArrayRule(FLOAT, ("n_classes", "n_features"))
CATEGORIES = ListOf(ArrayRule(FLOAT, ("*",), is_increasing=True), "n_features")

OFFSET = AnyOf(NumberRule(), ArrayRule(FLOAT, (1,)))
COEFFICIENTS = AnyOf(EACH_FEATURE, ArrayRule(FLOAT, (1, "n_features")))
LAYERS = AnyOf(NULL, ListOf(ArrayRule(FLOAT, ("*", "*"))))
LAYER_OFFSETS = AnyOf(NULL, ListOf(ArrayRule(FLOAT, ("*",))))
KERNEL = TextRule("rbf", "linear", "poly", "polynomial", "sigmoid", "cosine", "laplacian")
