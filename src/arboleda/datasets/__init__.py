"""Public data sets that the guide, the gallery and the benchmarks use."""

from arboleda.datasets._load import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
