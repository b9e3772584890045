"""Model files that hold a forest alone; their header is the entry of its attribute."""

import json
from typing import Any

from arboleda._engine.forest import Forest
from arboleda._engine.model_file import read_model, write_model
from arboleda.persist import ForestPart
from arboleda.persist.fields import Sections

NAME = "forest_"


def to_file(forest: Forest) -> bytes:
    """Bytes of the file."""
    sections = Sections()
    entry = ForestPart().encode(NAME, forest, sections)
    return write_model(json.dumps(entry).encode(), [], {}, sections.forests)


def from_file(data: bytes) -> Any:
    """Return the forest of a file, all of whose sections must be read."""
    header, trees, arrays, forests = read_model(data)
    sections = Sections(trees, arrays.items(), forests)
    forest = ForestPart().decode(NAME, json.loads(header), sections)
    sections.check_all_taken()
    return forest
