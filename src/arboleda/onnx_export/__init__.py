"""Export of models to ONNX, for runtimes in many languages.

``_export`` is the entry, ``_graph`` builds the graph, and ``_trees``, ``_ensembles``, ``_models``,
``_sklearn_models`` and ``_preparation`` convert one kind of model or step each.
"""

from arboleda.onnx_export._ensembles import expand_shares
from arboleda.onnx_export._export import coded_to_onnx, export_onnx, to_onnx
from arboleda.onnx_export._graph import GivenMatrix, Graph, ModelContext
from arboleda.onnx_export._graph import LeafSums as LeafSums
from arboleda.onnx_export._graph import TreeSums as TreeSums
from arboleda.onnx_export._models import add_class_scores, add_model, has_scores_alone
from arboleda.onnx_export._models import compute_votes as compute_votes
from arboleda.onnx_export._models import find_schema as find_schema
from arboleda.onnx_export._models import read_schema as read_schema
from arboleda.onnx_export._models import refuse_initial_estimator as refuse_initial_estimator
from arboleda.onnx_export._models import refuse_other_than_mean as refuse_other_than_mean
from arboleda.onnx_export._models import refuse_several_targets as refuse_several_targets
from arboleda.onnx_export._sklearn_models import add_probabilities, add_weighted_sums
from arboleda.onnx_export._trees import TreeEnsembleBuilder as TreeEnsembleBuilder

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
__all__ = [
    "GivenMatrix",
    "Graph",
    "ModelContext",
    "add_class_scores",
    "add_model",
    "add_probabilities",
    "add_weighted_sums",
    "coded_to_onnx",
    "expand_shares",
    "export_onnx",
    "has_scores_alone",
    "to_onnx",
]
