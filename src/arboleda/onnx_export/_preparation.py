"""ONNX export of scikit-learn's transformers.

Between two quantiles the rank is interpolated linearly; at a value shared by several quantiles it
is the midpoint of their ranks. A binary search finds the position among the quantiles, in all
columns at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
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
from arboleda.onnx_export._sklearn_models import add_nystroem

Floats = npt.NDArray[np.float64]

# Tolerance within which scikit-learn clips values to the ends, and ranks to 0 or 1.
_BOUNDS = 1e-7
# Wichura (1988), "Algorithm AS 241: the percentage points of the normal distribution", PPND16:
# coefficients by ascending powers of numerator and denominator, for the middle and the tails (up to
# 5 standard deviations).
_MIDDLE, _WITHIN = 0.180625, 0.425
_TAIL = 1.6
_OF_MIDDLE = (
    (
        3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
        1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
        3.3430575583588128105e4, 2.5090809287301226727e3,
    ),
    (
        1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
)  # fmt: skip
_OF_TAILS = (
    (
        1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
        3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
        2.27238449892691845833e-2, 7.74545014278341407640e-4,
    ),
    (
        1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)  # fmt: skip


def add_quantile_transformer(transformer: QuantileTransformer, matrix: str, graph: Graph) -> str:
    """Add the rank of each value between 0 and 1, or its normal quantile."""
    quantiles = np.asarray(transformer.quantiles_, dtype=np.float64)
    is_normal = transformer.output_distribution == "normal"
    first, last = (graph.constant(quantiles[[end]]) for end in (0, -1))
    if is_normal:
        margin = graph.number(_BOUNDS)
        is_lowest = graph.add("Less", graph.add("Sub", matrix, margin), first)
        is_highest = graph.add("Greater", graph.add("Add", matrix, margin), last)
    else:
        is_lowest = graph.add("LessOrEqual", matrix, first)
        is_highest = graph.add("GreaterOrEqual", matrix, last)
    between = _interpolate_ranks(matrix, quantiles, np.asarray(transformer.references_), graph)
    upper = graph.add("Where", is_highest, graph.number(1.0), between)
    rank = graph.add("Where", is_lowest, graph.number(0.0), upper)
    return add_normal_quantile(rank, graph) if is_normal else rank


def _interpolate_ranks(matrix: str, quantiles: Floats, references: Floats, graph: Graph) -> str:
    """Add the ranks of values between the ends."""
    knots = [_find_knots(column, references) for column in quantiles.T]
    longest = max(len(known[0]) for known in knots)
    width = 1 << (longest - 1).bit_length()
    # For each column: the value, the rank at it, the rank just above it, and the slope from there.
    flat = [np.full((len(knots), width), end) for end in (np.inf, 0.0, 0.0, 0.0)]
    for j, known in enumerate(knots):
        for table, values in zip(flat, known, strict=True):
            table[j, : len(values)] = values
    at_value, at_rank, at_start, at_slope = (graph.constant(table.ravel()) for table in flat)
    position = graph.constant(np.arange(len(knots), dtype=np.int64)[np.newaxis] * width)
    step = width // 2
    while step:
        further = graph.add("Add", position, graph.constant(np.array([[step]], dtype=np.int64)))
        value = graph.add("Gather", at_value, further, axis=0)
        reached = graph.add("GreaterOrEqual", matrix, value)
        position = graph.add("Where", reached, further, position)
        step //= 2
    value, start, slope = (
        graph.add("Gather", table, position, axis=0) for table in (at_value, at_start, at_slope)
    )
    rise = graph.add("Mul", slope, graph.add("Sub", matrix, value))
    above = graph.add("Add", start, rise)
    meets = graph.add("Equal", matrix, value)
    return graph.add("Where", meets, graph.add("Gather", at_rank, position, axis=0), above)


def _find_knots(quantiles: Floats, references: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return distinct quantiles, the rank at and just above each, and the slope to the next."""
    values, first, counts = np.unique(quantiles, return_index=True, return_counts=True)
    low, high = references[first], references[first + counts - 1]
    slopes = np.append((low[1:] - high[:-1]) / np.diff(values), 0.0)
    return values, (low + high) / 2, high, slopes


def add_normal_quantile(rank: str, graph: Graph) -> str:
    """Add the quantile of the normal distribution, with scikit-learn's limits."""
    end = _BOUNDS - float(np.spacing(1.0))
    inside = graph.add("Max", graph.add("Min", rank, graph.number(1.0 - end)), graph.number(end))
    centred = graph.add("Sub", inside, graph.number(0.5))
    square = graph.add("Mul", centred, centred)
    near = graph.add("Sub", graph.number(_MIDDLE), square)
    middle = graph.add("Mul", centred, _add_rational_function(near, _OF_MIDDLE, graph))
    nearest = graph.add("Min", inside, graph.add("Sub", graph.number(1.0), inside))
    root = graph.add("Sqrt", graph.add("Neg", graph.add("Log", nearest)))
    size = _add_rational_function(graph.add("Sub", root, graph.number(_TAIL)), _OF_TAILS, graph)
    tail = graph.add("Mul", graph.add("Sign", centred), size)
    is_middle = graph.add("LessOrEqual", graph.add("Abs", centred), graph.number(_WITHIN))
    found = graph.add("Where", is_middle, middle, tail)
    return graph.add("Where", graph.add("IsNaN", rank), rank, found)


def _add_rational_function(
    x: str, of: tuple[tuple[float, ...], tuple[float, ...]], graph: Graph
) -> str:
    """Add the ratio of two polynomials, by Horner's rule."""
    values = []
    for coefficients in of:
        found = graph.number(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            found = graph.add("Add", graph.add("Mul", found, x), graph.number(coefficient))
        values.append(found)
    return graph.add("Div", *values)


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
