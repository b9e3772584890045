"""Public tables that the guide, the gallery and the benchmarks speak of."""

from arboleda.datasets._catalogue import NAMES
from arboleda.datasets._load import Dataset, load

__all__ = ["NAMES", "Dataset", "load"]
