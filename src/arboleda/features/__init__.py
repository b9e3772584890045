"""Selection of columns: what each tells of the target, alone and beside the others."""

from arboleda.features._mutual_information import mutual_information

__all__ = ["mutual_information"]
