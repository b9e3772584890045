"""Model files: written atomically, loaded without executing code.

``_files`` has the entries. A fitted class lists its attributes as ``fields``;
``model_parts`` has the registry of classes, and ``values`` the encoding of the header.
docs/model_file.md describes the file byte by byte. Models of other libraries are in a
``skops_file``; ``object_rules`` lists what it may hold.
"""

from arboleda.persist._files import SavedModel as SavedModel
from arboleda.persist._files import load, read_header
from arboleda.persist._files import model_from_bytes as model_from_bytes
from arboleda.persist._files import model_to_bytes as model_to_bytes
from arboleda.persist.fields import EnsemblePart as EnsemblePart
from arboleda.persist.fields import Field as Field
from arboleda.persist.fields import ForestPart as ForestPart
from arboleda.persist.fields import Integer as Integer
from arboleda.persist.fields import Labels as Labels
from arboleda.persist.fields import ListOf as ListOf
from arboleda.persist.fields import Maybe as Maybe
from arboleda.persist.fields import Number as Number
from arboleda.persist.fields import OneOrMore as OneOrMore
from arboleda.persist.fields import SavedArray as SavedArray
from arboleda.persist.fields import TreePart as TreePart

__all__ = ["load", "read_header"]  # the other names are internal
