"""Feature selection by mutual information, forests and wrapper searches, and feature crosses.

Each selector has a file of its name; ``_base_selectors`` has their base classes. ``_measures`` and
``_counting`` estimate mutual information. ``feature_crosses`` computes columns from other columns,
and ``cross_search`` selects those that help a model.
"""

from arboleda.features._annealing_selector import AnnealingSelector
from arboleda.features._forest_selector import ForestSelector
from arboleda.features._genetic_selector import GeneticSelector
from arboleda.features._jmi_selector import JMISelector
from arboleda.features._mrmr_selector import MRMRSelector
from arboleda.features._mutual_information import mutual_information

__all__ = [
    "AnnealingSelector",
    "ForestSelector",
    "GeneticSelector",
    "JMISelector",
    "MRMRSelector",
    "mutual_information",
]
