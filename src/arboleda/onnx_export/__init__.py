"""Models in the format of ONNX, which runtimes of many languages predict with."""

from arboleda.onnx_export._coded import coded_to_onnx
from arboleda.onnx_export._export import export_onnx, to_onnx
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import GivenMatrix, Place
from arboleda.onnx_export._models import answer, class_scores, has_scores_alone
from arboleda.onnx_export._sklearn_models import shares_of_scores, weighted_columns
from arboleda.onnx_export._stacking import spread

__all__ = [
    "GivenMatrix",
    "Graph",
    "Place",
    "answer",
    "class_scores",
    "coded_to_onnx",
    "export_onnx",
    "has_scores_alone",
    "shares_of_scores",
    "spread",
    "to_onnx",
    "weighted_columns",
]
