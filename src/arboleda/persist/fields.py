"""Fields of model files: each estimator class lists its fitted attributes, each with a field.

A field encodes an attribute, either in the header or, for trees and arrays, as sections of the
file, and validates it on decoding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import LINEAR_ARRAYS, Ensemble
from arboleda._engine.forest import Forest
from arboleda._engine.tree import Tree
from arboleda._utils.errors import ModelFormatError
from arboleda.persist.values import decode_array, encode_array


class Sections:
    """The trees, forests and arrays of a model file during encoding or decoding."""

    def __init__(
        self,
        trees: Iterable[Tree] = (),
        arrays: Iterable[tuple[str, npt.NDArray[np.generic]]] = (),
        forests: Iterable[Forest] = (),
    ) -> None:
        self.trees: list[Tree] = list(trees)
        self.arrays: dict[str, npt.NDArray[np.generic]] = dict(arrays)
        self.forests: list[Forest] = list(forests)
        self._left: set[tuple[str, int | str]] = {("array", name) for name in self.arrays}
        self._left |= {("tree", number) for number in range(len(self.trees))}
        self._left |= {("forest", number) for number in range(len(self.forests))}
        self.prefix = ""

    def within(self, prefix: str) -> Sections:
        """Return a view of the sections for a member, whose array names begin with the prefix."""
        inner = copy(self)
        inner.prefix = self.prefix + prefix
        return inner

    def put_array(self, name: str, array: npt.NDArray[Any]) -> None:
        """Add an array to the file."""
        self.arrays[self.prefix + name] = array

    def take_tree(self, number: int) -> Tree:
        """Return a tree of the file; each can be taken once."""
        self._take(("tree", number), f"there is no tree {number}")
        return self.trees[number]

    def take_forest(self, number: int) -> Forest:
        """Return a forest of the file; each can be taken once."""
        self._take(("forest", number), f"there is no forest {number}")
        return self.forests[number]

    def take_array(self, name: str) -> npt.NDArray[np.generic]:
        """Return an array of the file; each can be taken once."""
        name = self.prefix + name
        self._take(("array", name), f"there is no array {name!r}")
        return self.arrays[name]

    def check_all_taken(self) -> None:
        """Raise an error if a tree, forest or array is not referenced by the header."""
        if self._left:
            raise ModelFormatError("the file holds more trees or arrays than its header")

    def _take(self, key: tuple[str, int | str], absent: str) -> None:
        if key not in self._left:
            raise ModelFormatError(absent)
        self._left.remove(key)


class Field(Protocol):
    """Encoding of one fitted attribute."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return the header entry; trees and arrays are added to the sections."""
        ...

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the attribute, or raise ModelFormatError."""
        ...


class Integer:
    """An integer with a lower bound."""

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def encode(self, name: str, value: Any, sections: Sections) -> int:
        """Return the number."""
        return int(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> int:
        """Return the validated number."""
        if type(stored) is not int or not self.least <= stored < 2**63:
            raise ModelFormatError(f"{name} must be an integer >= {self.least}")
        return stored


class Number:
    """A finite number."""

    def encode(self, name: str, value: Any, sections: Sections) -> float:
        """Return the number."""
        return float(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> float:
        """Return the validated number."""
        if type(stored) is not float or not math.isfinite(stored):
            raise ModelFormatError(f"{name} must be a finite number")
        return stored


class Labels:
    """A one-dimensional array of numbers, texts or dates, stored in the header with its dtype."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the dtype and the values."""
        return encode_array(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> npt.NDArray[Any]:
        """Return the validated array."""
        try:
            return decode_array(stored)
        except ModelFormatError as error:
            raise ModelFormatError(f"{name}: {error}") from error


class SavedArray:
    """An array of float64 or int64 with a given number of dimensions, in its own section."""

    def __init__(self, dtype: type[np.float64 | np.int64], ndim: int = 1) -> None:
        self.dtype: np.dtype[np.float64 | np.int64] = np.dtype(dtype)
        self.ndim = ndim

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, str]:
        """Return the name of the section."""
        array = np.asarray(value)
        if array.dtype != self.dtype or array.ndim != self.ndim:
            raise TypeError(f"{name} is not an array of {self.dtype} with {self.ndim} dimensions")
        sections.put_array(name, array)
        return {"array": name}

    def decode(self, name: str, stored: Any, sections: Sections) -> npt.NDArray[Any]:
        """Return the validated array."""
        if stored != {"array": name}:
            raise ModelFormatError(f"{name} is not an array of the file")
        array = sections.take_array(name)
        if array.dtype != self.dtype or array.ndim != self.ndim:
            raise ModelFormatError(f"{name} is an array of the wrong type or number of dimensions")
        return array


class TreePart:
    """A tree in its own section."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, int]:
        """Return the number of the section among the trees."""
        sections.trees.append(value)
        return {"tree": len(sections.trees) - 1}

    def decode(self, name: str, stored: Any, sections: Sections) -> Tree:
        """Return the tree."""
        match stored:
            case {"tree": int(number), **rest} if not rest and type(number) is int:
                return sections.take_tree(number)
        raise ModelFormatError(f"{name} is not a tree of the file")


class EnsemblePart:
    """An additive ensemble: consecutive trees of the file and an array of initial values.

    Linear leaves add six more arrays.
    """

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the number of the first tree, the number of trees, and the name of the array."""
        first = len(sections.trees)
        sections.trees.extend(value.trees)
        start = f"{name}.start"
        sections.put_array(start, value.start)
        stored = {"first_tree": first, "n_trees": value.n_trees, "start": {"array": start}}
        for part, array in value.linear.items():
            sections.put_array(f"{name}.{part}", array)
        return stored | ({"linear": True} if value.has_linear_leaves else {})

    def decode(self, name: str, stored: Any, sections: Sections) -> Ensemble:
        """Return the validated ensemble."""
        match stored:
            case {"first_tree": int(first), "n_trees": int(n_trees), "start": start, **rest} if (
                rest.keys() <= {"linear"}
                and rest.get("linear", True) is True
                and type(first) is type(n_trees) is int
                and n_trees >= 0
            ):
                trees = [sections.take_tree(first + i) for i in range(n_trees)]
                values = SavedArray(np.float64).decode(f"{name}.start", start, sections)
                linear = {
                    part: sections.take_array(f"{name}.{part}") for part in LINEAR_ARRAYS if rest
                }
            case _:
                raise ModelFormatError(f"{name} is not an ensemble of trees")
        try:
            return Ensemble.from_trees(values, trees, linear)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error


class ForestPart:
    """A forest in its own section."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the number of the section among the forests, and the width of each output."""
        sections.forests.append(value)
        return {"forest": len(sections.forests) - 1, "widths": list(value.widths)}

    def decode(self, name: str, stored: Any, sections: Sections) -> Forest:
        """Return the validated forest."""
        match stored:
            case {"forest": int(number), "widths": list(widths), **rest} if (
                not rest and type(number) is int and all(type(width) is int for width in widths)
            ):
                forest = sections.take_forest(number)
            case _:
                raise ModelFormatError(f"{name} is not a forest of the file")
        try:
            return forest.with_widths(widths)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error


class Maybe:
    """An optional attribute, stored as null if the fit did not set it."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return the entry of the inner field, or None."""
        return None if value is None else self.field.encode(name, value, sections)

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the value, or None."""
        return None if stored is None else self.field.decode(name, stored, sections)


class ListOf:
    """A list of values with one field, which names the sections of each after its place."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def encode(self, name: str, value: Any, sections: Sections) -> list[Any]:
        """Return the entries of the inner field."""
        return [self.field.encode(f"{name}.{i}", item, sections) for i, item in enumerate(value)]

    def decode(self, name: str, stored: Any, sections: Sections) -> list[Any]:
        """Return the list of values."""
        if not isinstance(stored, list):
            raise ModelFormatError(f"{name} is not a list")
        return [self.field.decode(f"{name}.{i}", item, sections) for i, item in enumerate(stored)]


class OneOrMore:
    """An attribute for one target, or a list with one entry per target."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return the entry of the inner field, or a list of entries."""
        if isinstance(value, list):
            return [self.field.encode(name, item, sections) for item in value]
        return self.field.encode(name, value, sections)

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the value or the list of values."""
        if isinstance(stored, list):
            return [self.field.decode(name, item, sections) for item in stored]
        return self.field.decode(name, stored, sections)
