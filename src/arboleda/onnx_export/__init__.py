"""Models in the format of ONNX, which runtimes of many languages predict with."""

from arboleda.onnx_export._coded import coded_to_onnx
from arboleda.onnx_export._export import export_onnx, to_onnx

__all__ = ["coded_to_onnx", "export_onnx", "to_onnx"]
