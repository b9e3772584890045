"""ONNX export of scikit-learn's transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)

from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._kernels import add_nystroem
from arboleda.onnx_export._ranks import add_quantile_transformer


def add_transformer(transformer: Any, matrix: str, graph: Graph) -> str:
    """Add a fitted transformer of a float64 matrix and return the name of its output.

    Raises
    ------
    TypeError
        If the transformer cannot be exported.
    """
    if isinstance(transformer, str) and transformer == "passthrough":
        return matrix
    for kind, add in _KINDS.items():
        if isinstance(transformer, kind):
            return add(transformer, matrix, graph)
    raise TypeError(
        f"the preparation step {type(transformer).__name__} cannot be exported to ONNX: supported "
        "are scaling, ranks, imputation, one-hot and target encoding, and Nystroem's map"
    )


def _add_column_transformer(transformer: ColumnTransformer, matrix: str, graph: Graph) -> str:
    parts = []
    for name, inner, columns in transformer.transformers_:
        chosen = np.arange(transformer.n_features_in_)[columns]
        if isinstance(inner, str) and inner == "drop":
            continue
        if name == "remainder" and inner != "passthrough":
            raise TypeError("a ColumnTransformer with a remainder cannot be exported to ONNX")
        if chosen.size:
            parts.append(add_transformer(inner, graph.columns(matrix, chosen), graph))
    return graph.concat_columns(parts)


def _add_pipeline(pipeline: Pipeline, matrix: str, graph: Graph) -> str:
    for _, step in pipeline.steps:
        matrix = add_transformer(step, matrix, graph)
    return matrix


def _add_function_transformer(transformer: FunctionTransformer, matrix: str, graph: Graph) -> str:
    if transformer.func is not None:
        raise TypeError("a FunctionTransformer with a function cannot be exported to ONNX")
    return matrix


def _add_scaler(scaler: StandardScaler, matrix: str, graph: Graph) -> str:
    if scaler.with_mean:
        matrix = graph.add("Sub", matrix, graph.constant(scaler.mean_[np.newaxis]))
    if scaler.with_std:
        matrix = graph.add("Div", matrix, graph.constant(scaler.scale_[np.newaxis]))
    return matrix


def _add_imputer(imputer: SimpleImputer, matrix: str, graph: Graph) -> str:
    if not (isinstance(imputer.missing_values, float) and np.isnan(imputer.missing_values)):
        raise TypeError(
            "a SimpleImputer of missing values other than NaN cannot be exported to ONNX"
        )
    kept = np.flatnonzero(~np.isnan(imputer.statistics_.astype(np.float64)))
    missing = graph.add("IsNaN", matrix)
    fill = graph.constant(np.nan_to_num(imputer.statistics_.astype(np.float64))[np.newaxis])
    filled = graph.add("Where", missing, fill, matrix)
    if kept.size < imputer.statistics_.size:
        filled = graph.columns(filled, kept)
    if not imputer.add_indicator or not imputer.indicator_.features_.size:
        return filled
    indicators = graph.columns(graph.cast(missing, "float64"), imputer.indicator_.features_)
    return graph.concat_columns([filled, indicators])


def _add_one_hot_encoder(encoder: OneHotEncoder, matrix: str, graph: Graph) -> str:
    if encoder.drop is not None or encoder.handle_unknown == "error":
        raise TypeError(
            "a OneHotEncoder that drops levels or refuses unknown ones cannot be exported to ONNX"
        )
    parts = []
    for j, levels in enumerate(encoder.categories_):
        column = graph.columns(matrix, [j])
        rare = encoder.infrequent_categories_[j]
        few = np.empty(0) if rare is None else np.asarray(rare, dtype=np.float64)
        frequent = np.setdiff1d(np.asarray(levels, dtype=np.float64), few)
        hot = graph.cast(
            graph.add("Equal", column, graph.constant(frequent[np.newaxis])), "float64"
        )
        if frequent.size:
            parts.append(hot)
        if few.size:
            # Unknown levels are encoded like the rare ones.
            some = graph.add_row_sums(hot)
            parts.append(graph.add("Sub", graph.number(1.0), some))
    return graph.concat_columns(parts)


def _add_target_encoder(encoder: TargetEncoder, matrix: str, graph: Graph) -> str:
    n_features = len(encoder.categories_)
    n_classes = len(encoder.encodings_) // n_features
    means = np.atleast_1d(encoder.target_mean_).astype(np.float64)
    parts = []
    for j, levels in enumerate(encoder.categories_):
        for k in range(n_classes):
            column, keys = graph.columns(matrix, [j]), np.asarray(levels, dtype=np.float64)
            of_levels = encoder.encodings_[j * n_classes + k]
            otherwise = means[k if n_classes > 1 else 0]
            parts.append(graph.map_values(column, keys, of_levels, otherwise))
    return graph.concat_columns(parts)


_KINDS: Mapping[type, Callable[[Any, str, Graph], str]] = {
    ColumnTransformer: _add_column_transformer,
    Pipeline: _add_pipeline,
    FunctionTransformer: _add_function_transformer,
    StandardScaler: _add_scaler,
    SimpleImputer: _add_imputer,
    OneHotEncoder: _add_one_hot_encoder,
    TargetEncoder: _add_target_encoder,
    QuantileTransformer: add_quantile_transformer,
    Nystroem: add_nystroem,
}
