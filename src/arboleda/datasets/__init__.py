"""Public tables that the guide, the gallery and the benchmarks speak of."""

from arboleda.datasets._load import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
