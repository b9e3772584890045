"""Models as C: one file that any compiler takes, for devices that have nothing else."""

from arboleda.c_export._export import export_c, to_c

__all__ = ["export_c", "to_c"]
