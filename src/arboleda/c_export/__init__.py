"""Export of models to C: one portable source file, for embedded devices."""

from arboleda.c_export._export import export_c, to_c

__all__ = ["export_c", "to_c"]
