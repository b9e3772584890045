"""Feature selection by mutual information, forests and wrapper searches.

Each selector has a file of its name; ``_table_selector`` is their base class. ``_measures`` and
``_counting`` estimate mutual information, and ``_wrapper_selector`` scores subsets of columns.
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
