"""Models in files: saved whole or not at all, loaded without running code."""

from arboleda._errors import ModelFormatError
from arboleda.persist._fields import Array, Field, Integer, Labels, OneOrMore, TreePart
from arboleda.persist._load import load, read_header
from arboleda.persist._save import SavedModel

__all__ = [
    "Array",
    "Field",
    "Integer",
    "Labels",
    "ModelFormatError",
    "OneOrMore",
    "SavedModel",
    "TreePart",
    "load",
    "read_header",
]
