"""The rules of a class, and the state while the attributes of one object are checked.

A size has a name, such as "n_features". The first array or number of an object that mentions it
binds it; all later ones must agree. "*" is any size.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = [
    "ANY_SIZE",
    "MAX_INTEGER",
    "AttributeRule",
    "BrokenRuleError",
    "ClassRules",
    "Context",
    "Size",
    "count_class_pairs",
    "count_scores",
    "make_one_less",
    "prefix_errors",
]

Sizes = dict[str, int]
# A number, the name of a size, or a function that computes a size from others.
Size = int | str | Callable[[Sizes], int]
ANY_SIZE = "*"
# The largest integer that compiled code accepts.
MAX_INTEGER = 2**31 - 1


class BrokenRuleError(ValueError):
    """An object does not follow the rules of its class.

    The message is a predicate such as "is not a list"; `prefix_errors` adds the subject, the name
    of the object or its attribute, and sets ``has_subject``.
    """

    def __init__(self, message: str, *, has_subject: bool = False) -> None:
        super().__init__(message)
        self.has_subject = has_subject


@dataclass
class Context:
    """State while the attributes of one object are checked.

    Attributes
    ----------
    check_object : callable
        Checks an object that this one refers to; takes it, and whether it must be fitted.
    sizes : dict
        The sizes that are bound, by name.
    is_fitted : bool
        Whether all attributes of a fitted object must exist.
    """

    check_object: Callable[[Any, bool], None]
    sizes: Sizes = field(default_factory=dict)
    is_fitted: bool = True

    def bind_size(self, size: Size, found: int) -> None:
        """Bind a size to a number, or check the number if the size is bound."""
        if size == ANY_SIZE:
            return
        if isinstance(size, str):
            expected = self.sizes.setdefault(size, found)
        else:
            expected = self.resolve_size(size)
        if found != expected:
            raise BrokenRuleError(f"has {found} entries, expected {expected}")

    def resolve_size(self, size: Size) -> int:
        """Return the number that a size is bound to."""
        if isinstance(size, int):
            return size
        return self.sizes[size] if isinstance(size, str) else size(self.sizes)


class AttributeRule(Protocol):
    """A condition on the value of an attribute."""

    def check(self, value: Any, context: Context) -> None:
        """Raise BrokenRuleError if the value is not allowed."""
        ...


def count_scores(sizes: Sizes) -> int:
    """Return the number of columns of scores: one for two classes, else one for each."""
    return 1 if sizes["n_classes"] == 2 else sizes["n_classes"]


def make_one_less(name: str) -> Callable[[Sizes], int]:
    """Return a function that computes a size minus 1."""
    return lambda sizes: sizes[name] - 1


def count_class_pairs(sizes: Sizes) -> int:
    """Return the number of pairs of classes."""
    return sizes["n_classes"] * (sizes["n_classes"] - 1) // 2


@dataclass(frozen=True)
class ClassRules:
    """The attributes of the objects of one class.

    Parameters
    ----------
    attributes : mapping
        A rule for each attribute. Sizes are bound in this order, before others are computed from
        them. Parameters that are not named must follow `SettingRule`, and scikit-learn must allow
        them.
    agreements : tuple of callable
        Checks of several attributes together; each takes the object's attributes and raises
        BrokenRuleError.
    """

    attributes: Mapping[str, AttributeRule]
    agreements: tuple[Callable[[Mapping[str, Any]], None], ...] = ()


@contextmanager
def prefix_errors(what: str) -> Iterator[None]:
    """Put a subject before the messages of errors; the innermost one counts."""
    try:
        yield
    except BrokenRuleError as error:
        if error.has_subject:
            raise
        raise BrokenRuleError(f"{what} {error}", has_subject=True) from error
