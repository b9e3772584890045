"""What a fitted estimator consists of: each class lists its attributes, each with a field.

A field knows how an attribute is stored, small ones in the header, trees and arrays as sections of
their own, and checks it when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import LINEAR_ARRAYS, Ensemble
from arboleda._engine.forest import Forest
from arboleda._engine.tree import Tree
from arboleda._errors import ModelFormatError
from arboleda.persist._values import decode_array, encode_array


class Sections:
    """The trees, forests and arrays of one model file, on their way into it or out of it."""

    def __init__(
        self,
        trees: Iterable[Tree] = (),
        arrays: Iterable[tuple[str, npt.NDArray[np.generic]]] = (),
        forests: Iterable[Forest] = (),
    ) -> None:
        self.trees = list(trees)
        self.arrays = dict(arrays)
        self.forests = list(forests)
        self._left: set[tuple[str, int | str]] = {("array", name) for name in self.arrays}
        self._left |= {("tree", number) for number in range(len(self.trees))}
        self._left |= {("forest", number) for number in range(len(self.forests))}
        self.prefix = ""

    def within(self, prefix: str) -> Sections:
        """Return the same sections for a member, whose arrays have names that begin so."""
        inner = copy(self)
        inner.prefix = self.prefix + prefix
        return inner

    def put_array(self, name: str, array: npt.NDArray[Any]) -> None:
        """Add an array to the file."""
        self.arrays[self.prefix + name] = array

    def take_tree(self, number: int) -> Tree:
        """Return a tree of the file; each is asked for once."""
        self._take(("tree", number), f"there is no tree {number}")
        return self.trees[number]

    def take_forest(self, number: int) -> Forest:
        """Return a forest of the file; each is asked for once."""
        self._take(("forest", number), f"there is no forest {number}")
        return self.forests[number]

    def take_array(self, name: str) -> npt.NDArray[np.generic]:
        """Return an array of the file; each is asked for once."""
        name = self.prefix + name
        self._take(("array", name), f"there is no array {name!r}")
        return self.arrays[name]

    def check_all_taken(self) -> None:
        """Refuse trees, forests and arrays that the header does not speak of."""
        if self._left:
            raise ModelFormatError("the file holds more trees or arrays than its header")

    def _take(self, key: tuple[str, int | str], absent: str) -> None:
        if key not in self._left:
            raise ModelFormatError(absent)
        self._left.remove(key)


class Field(Protocol):
    """How one fitted attribute is stored."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return what stands in the header; bulk goes to the sections."""
        ...

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the attribute again, or raise ModelFormatError."""
        ...


class Integer:
    """A whole number, `least` or more."""

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def encode(self, name: str, value: Any, sections: Sections) -> int:
        """Return the number itself."""
        return int(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> int:
        """Return the number, checked."""
        if type(stored) is not int or not self.least <= stored < 2**63:
            raise ModelFormatError(f"{name} is no whole number from {self.least} up")
        return stored


class Labels:
    """A one-dimensional array of numbers, texts or dates, kept in the header with its dtype."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the dtype and the values."""
        return encode_array(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> npt.NDArray[Any]:
        """Return the array, checked."""
        try:
            return decode_array(stored)
        except ModelFormatError as error:
            raise ModelFormatError(f"{name}: {error}") from error


class Array:
    """An array of float64 or int64 of a given number of dimensions, in a section of its own."""

    def __init__(self, dtype: type[np.float64 | np.int64], ndim: int = 1) -> None:
        self.dtype = np.dtype(dtype)
        self.ndim = ndim

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, str]:
        """Return the name of the section."""
        array = np.asarray(value)
        if array.dtype != self.dtype or array.ndim != self.ndim:
            raise TypeError(f"{name} is not an array of {self.dtype} with {self.ndim} dimensions")
        sections.put_array(name, array)
        return {"array": name}

    def decode(self, name: str, stored: Any, sections: Sections) -> npt.NDArray[Any]:
        """Return the array, checked."""
        if stored != {"array": name}:
            raise ModelFormatError(f"{name} is no array of the file")
        array = sections.take_array(name)
        if array.dtype != self.dtype or array.ndim != self.ndim:
            raise ModelFormatError(f"{name} is an array of another type or shape")
        return array


class TreePart:
    """A tree, in a section of its own."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, int]:
        """Return the number of the section among the trees."""
        sections.trees.append(value)
        return {"tree": len(sections.trees) - 1}

    def decode(self, name: str, stored: Any, sections: Sections) -> Tree:
        """Return the tree."""
        match stored:
            case {"tree": int(number), **rest} if not rest and type(number) is int:
                return sections.take_tree(number)
        raise ModelFormatError(f"{name} is no tree of the file")


class EnsemblePart:
    """Trees that add up: neighbouring trees of the file, and an array of start values.

    Linear leaves are six more arrays.
    """

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the number of the first tree, how many there are, and the name of the array."""
        first = len(sections.trees)
        sections.trees.extend(value.trees)
        start = f"{name}.start"
        sections.put_array(start, value.start)
        stored = {"first_tree": first, "n_trees": value.n_trees, "start": {"array": start}}
        for part, array in value.linear.items():
            sections.put_array(f"{name}.{part}", array)
        return stored | ({"linear": True} if value.has_linear_leaves else {})

    def decode(self, name: str, stored: Any, sections: Sections) -> Ensemble:
        """Return the ensemble, checked."""
        match stored:
            case {"first_tree": int(first), "n_trees": int(n_trees), "start": start, **rest} if (
                rest.keys() <= {"linear"}
                and rest.get("linear", True) is True
                and type(first) is type(n_trees) is int
                and n_trees >= 0
            ):
                trees = [sections.take_tree(first + i) for i in range(n_trees)]
                values = Array(np.float64).decode(f"{name}.start", start, sections)
                linear = {
                    part: sections.take_array(f"{name}.{part}") for part in LINEAR_ARRAYS if rest
                }
            case _:
                raise ModelFormatError(f"{name} is no ensemble of trees")
        try:
            return Ensemble.from_trees(values, trees, linear)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error


class ForestPart:
    """Trees that vote, in a section of their own."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the number of the section among the forests, and the numbers of each target."""
        sections.forests.append(value)
        return {"forest": len(sections.forests) - 1, "widths": list(value.widths)}

    def decode(self, name: str, stored: Any, sections: Sections) -> Forest:
        """Return the forest, checked."""
        match stored:
            case {"forest": int(number), "widths": list(widths), **rest} if (
                not rest and type(number) is int and all(type(width) is int for width in widths)
            ):
                forest = sections.take_forest(number)
            case _:
                raise ModelFormatError(f"{name} is no forest of the file")
        try:
            return forest.with_widths(widths)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error


class Maybe:
    """What it is, or null for an attribute that this fit did not leave."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return what the inner field returns."""
        return None if value is None else self.field.encode(name, value, sections)

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the value, or None."""
        return None if stored is None else self.field.decode(name, stored, sections)


class OneOrMore:
    """What it is for one target, or a list of it, one for each of several targets."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return what the inner field returns, or the list of it."""
        if isinstance(value, list):
            return [self.field.encode(name, item, sections) for item in value]
        return self.field.encode(name, value, sections)

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the value or the list of values."""
        if isinstance(stored, list):
            return [self.field.decode(name, item, sections) for item in stored]
        return self.field.decode(name, stored, sections)
