"""Model files that hold an ensemble alone; their header is the entry of its attribute."""

import json
from typing import Any

from arboleda._engine.ensemble import Ensemble
from arboleda._engine.model_file import read_model, write_model
from arboleda.persist import EnsemblePart
from arboleda.persist.fields import Sections

NAME = "ensemble_"


def to_file(ensemble: Ensemble) -> bytes:
    """Bytes of the file."""
    sections = Sections()
    entry = EnsemblePart().encode(NAME, ensemble, sections)
    return write_model(json.dumps(entry).encode(), sections.trees, sections.arrays)


def from_file(data: bytes) -> Any:
    """Return the ensemble of a file, all of whose sections must be read."""
    header, trees, arrays, _ = read_model(data)
    sections = Sections(trees, arrays.items())
    ensemble = EnsemblePart().decode(NAME, json.loads(header), sections)
    sections.check_all_taken()
    return ensemble
