"""Export of models to ONNX, for runtimes in many languages."""

from arboleda.onnx_export._encoded_tables import coded_to_onnx
from arboleda.onnx_export._export import export_onnx, to_onnx
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import GivenMatrix, ModelContext
from arboleda.onnx_export._models import add_class_scores, add_model, has_scores_alone
from arboleda.onnx_export._sklearn_models import add_probabilities, add_weighted_sums
from arboleda.onnx_export._stacking import expand_shares

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
