"""Values from JSON checked against the part of JSON Schema that the facts' schema uses.

A package for the whole of JSON Schema is no dependency of a study; the tests hold this against one.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["KEYWORDS", "first_violation"]

Schema = Mapping[str, Any]

# The words that are understood; the tests see to it that the schema has no others.
KEYWORDS = {
    "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "description", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "items", "maxItems", "maximum", "minItems", "minimum",
    "pattern", "prefixItems", "properties", "required", "title", "type",
}  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
_LIMITS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "above"),
    "exclusiveMaximum": (operator.lt, "below"),
}
# Whole numbers beyond these are no 64-bit integers, which everything that counts rows takes.
_LARGEST = 2**63 - 1
_SHOWN = 60


def first_violation(value: Any, schema: Schema) -> str | None:
    """What is wrong with a value, or None if it is as the schema has it.

    Beyond the schema's words numbers must be finite and whole numbers fit 64 bits. A float is no
    integer, even where it is whole.

    Parameters
    ----------
    value : object
        From JSON: dict, list, str, int, float, bool or None.
    schema : mapping

    Returns
    -------
    violation : str or None
        The place and what is wrong there, such as ``models[0].cv is null, not an object``.

    Examples
    --------
    >>> schema = {"properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}
    >>> first_violation({"rows": [1, 2]}, schema)
    >>> first_violation({"rows": [1, 2.5]}, schema)
    'rows[1] is 2.5, not an integer'
    """
    return _Checker(schema).violation(value, schema, "")


class _Checker:
    def __init__(self, root: Schema) -> None:
        self._root = root

    def violation(self, value: Any, schema: Schema, place: str) -> str | None:
        """The first violation below a place, which is named as JavaScript names it."""
        if "$ref" in schema:
            schema = self._resolved(schema["$ref"])
        wrong = _of_value(value, schema)
        if wrong is not None:
            return f"{place or 'the whole'} {wrong}"
        if "anyOf" in schema and (wrong := self._of_any(value, schema["anyOf"], place)):
            return wrong
        if isinstance(value, dict):
            return self._of_object(value, schema, place)
        if isinstance(value, list):
            return self._of_array(value, schema, place)
        return None

    def _resolved(self, reference: str) -> Schema:
        found: Any = self._root
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        resolved: Schema = found
        return resolved

    def _of_any(self, value: Any, branches: list[Schema], place: str) -> str | None:
        """The violation of the branch that is meant: of the first whose type is right."""
        wrongs = []
        for branch in branches:
            wrong = self.violation(value, branch, place)
            if wrong is None:
                return None
            wrongs.append(wrong)
        own = f"{place or 'the whole'} is "
        return next((wrong for wrong in wrongs if not wrong.startswith(own)), wrongs[0])

    def _of_object(self, value: dict[str, Any], schema: Schema, place: str) -> str | None:
        at = f"{place}." if place else ""
        for key in schema.get("required", ()):
            if key not in value:
                return f"{at}{key} is missing"
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        for key, inner in value.items():
            if key in known:
                wrong = self.violation(inner, known[key], f"{at}{key}")
            elif others is False:
                wrong = f"{place or 'the whole'} has the unknown key {key[:_SHOWN]!r}"
            else:
                free = others if isinstance(others, Mapping) else {}
                wrong = self.violation(inner, free, f"{at}{key[:_SHOWN]}")
            if wrong is not None:
                return wrong
        return None

    def _of_array(self, value: list[Any], schema: Schema, place: str) -> str | None:
        first = schema.get("prefixItems", ())
        items = schema.get("items", {})
        for i, inner in enumerate(value):
            of = first[i] if i < len(first) else items
            if wrong := self.violation(inner, of, f"{place}[{i}]"):
                return wrong
        return None


def _of_value(value: Any, schema: Schema) -> str | None:
    """What is wrong with a value by itself, whatever it holds."""
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is(value, name) for name in types):
            article = " or ".join(f"an {t}" if t[0] in "aio" else f"a {t}" for t in types)
            return f"is {_shown(value)}, not {article.replace('a null', 'null')}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"is {_shown(value)}, not {schema['const']!r}"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        return f"is {_shown(value)}, not one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            return f"is {_shown(value)}, which is not of the form {schema['pattern']}"
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_number(value, schema)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            return f"has {len(value)} entries, not at least {schema['minItems']}"
        if len(value) > schema.get("maxItems", math.inf):
            return f"has {len(value)} entries, not at most {schema['maxItems']}"
    return None


def _of_number(value: Any, schema: Schema) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"is {value}, which is not a finite number"
    if isinstance(value, int) and abs(value) > _LARGEST:
        return "is a whole number of more than 64 bits"
    for word, (holds, how) in _LIMITS.items():
        if word in schema and not holds(value, schema[word]):
            return f"is {value}, not {how} {schema[word]}"
    return None


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _same(value: Any, wanted: Any) -> bool:
    """Equal and of one type: True is not 1."""
    return type(value) is type(wanted) and value == wanted


def _shown(value: Any) -> str:
    """A value for a message: short, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    if isinstance(value, int) and abs(value) > _LARGEST:
        return "a huge number"
    return repr(value[:_SHOWN]) if isinstance(value, str) else repr(value)
