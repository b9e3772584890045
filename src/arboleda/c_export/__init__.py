"""Export of models to C: one portable source file, for embedded devices.

``_export`` is the entry, ``_source`` writes the file and the tables of trees, and ``_models`` and
``_boosting`` convert one kind of model each.
"""

from arboleda.c_export._export import export_c, to_c

__all__ = ["export_c", "to_c"]
