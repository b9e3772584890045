"""Predictions of an estimator on a grid of values of some columns.

Any model predicts on tables with replaced columns. Trees of this library evaluate all grid points
at once: a row descends each tree with the whole grid, which is divided only at nodes that split on
a varied column. Both ways give bitwise equal results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats.mstats import mquantiles

from arboleda._engine.columns import Schema, get_missing_code
from arboleda._engine.encoding import convert_objects_to_numbers
from arboleda._engine.frames import as_frame
from arboleda._engine.labels import to_plain_label
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.table import check_table, find_fitted_order
from arboleda.bagging import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    PastingClassifier,
    PastingRegressor,
    RandomPatchesClassifier,
    RandomPatchesRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    TreeMembers,
)
from arboleda.boosting import (
    BoostingClassifier,
    BoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    replaced_table,
)
from arboleda.explain._outputs import OutputReader
from arboleda.explain._rows import MAX_ROWS, TableRows
from arboleda.forest import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)

__all__ = [
    "as_display_values",
    "check_resolution",
    "compute_edges",
    "iter_ice_curves",
    "make_grid",
    "predict_with",
    "read_custom_points",
]

Floats = npt.NDArray[np.float64]
GridAxes = Mapping[int, Floats]
Curves = Callable[[GridAxes, slice], Floats]
# A function that computes the curves of trees, and one that converts them to predictions.
TreeCurves = tuple[Callable[..., Floats], Callable[[Floats], Floats]]

# Number of curve values computed at a time.
_MAX_VALUES = 1 << 21

# Estimators whose predictions follow from their trees alone; subclasses are excluded.
_TREES = (DecisionTreeClassifier, DecisionTreeRegressor, PrunedTreeClassifier, PrunedTreeRegressor)
_FORESTS = (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
_BAGGED = (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    PastingClassifier,
    PastingRegressor,
    RandomPatchesClassifier,
    RandomPatchesRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
_BOOSTED = (
    BoostingClassifier,
    BoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)


def iter_ice_curves(
    read: OutputReader, rows: TableRows, axes: GridAxes, *, by_trees: bool = True
) -> Iterator[tuple[slice, slice, Floats]]:
    """Yield the predictions for every row at every grid point, block by block.

    Parameters
    ----------
    read : OutputReader
    rows : TableRows
    axes : mapping of int to ndarray of shape (n_points,)
        One or two columns and their values, encoded like `TableRows.values`. For two columns, the
        grid holds all pairs; the second column varies fastest.
    by_trees : bool, default=True
        Whether trees of this library may evaluate all points at once.

    Yields
    ------
    rows, points : slice
    predictions : ndarray of shape (n_rows, n_points, n_outputs)
    """
    of_trees = _make_tree_curves(read, rows, tuple(axes)) if by_trees else None
    n_points = int(np.prod([len(points) for points in axes.values()]))
    if of_trees is not None:
        n_outputs = 1 if read.classes is None else len(read.classes)
        step = max(1, _MAX_VALUES // (n_points * n_outputs))
        for first in range(0, rows.n_rows, step):
            part = slice(first, min(first + step, rows.n_rows))
            yield part, slice(0, n_points), of_trees(axes, part)
        return
    if len(axes) == 2:
        (one, first_points), (other, second_points) = axes.items()
        axes = {
            one: np.repeat(first_points, len(second_points)),
            other: np.tile(second_points, len(first_points)),
        }
    for part, points, table in rows.iter_blocks(axes):
        values = read(table).values
        shape = (points.stop - points.start, part.stop - part.start, values.shape[1])
        yield part, points, values.reshape(shape).transpose(1, 0, 2)


def predict_with(read: OutputReader, rows: TableRows, columns: GridAxes) -> Floats:
    """Predict for rows with other values in some columns; of shape (n_rows, n_outputs)."""
    if rows.n_rows <= MAX_ROWS:
        return read(rows.put(columns)).values
    parts = []
    for first in range(0, rows.n_rows, MAX_ROWS):
        part = slice(first, min(first + MAX_ROWS, rows.n_rows))
        put = {column: values[part] for column, values in columns.items()}
        parts.append(read(rows.take(part).put(put)).values)
    return np.concatenate(parts)


def _make_tree_curves(
    read: OutputReader, rows: TableRows, columns: tuple[int, ...]
) -> Curves | None:
    """Make a function that computes curves from a model's trees; None if that is impossible."""
    model = read.estimator
    tree_curves = _find_boosted_trees(read) if type(model) in _BOOSTED else _find_voting_trees(read)
    if tree_curves is None:
        return None
    compute_curves, convert = tree_curves
    places = _find_fitted_columns(model, rows, columns)
    codes = {j: _read_codes(model.schema_, rows, j, places[j]) for j in columns}
    if any(found is None for found in codes.values()):
        return None
    table = check_table(model, rows.native, reset=False)
    statistics = getattr(model, "statistics_", None)
    if statistics is not None:
        if set(places.values()) & set(statistics.columns):
            return None  # the trees split on target statistics instead of the categories
        table = replaced_table(statistics, table)
    n_threads = resolve_n_jobs(model.n_jobs)

    def found(axes: GridAxes, part: slice) -> Floats:
        points = {places[j]: _encode(values, codes[j]) for j, values in axes.items()}
        raw = compute_curves(table, points, part, n_threads=n_threads)
        converted = convert(raw.reshape(-1, raw.shape[2]))
        return converted.reshape(*raw.shape[:2], -1)

    return found


def _find_voting_trees(read: OutputReader) -> TreeCurves | None:
    """Find the curve functions of a tree, or of trees whose mean vote is the prediction."""
    model, kind = read.estimator, type(read.estimator)
    if read.method != ("predict" if read.classes is None else "predict_proba"):
        return None
    if kind in _TREES:
        return model.tree_.curves, _identity
    if kind in _FORESTS:
        return partial(model.forest_.curves, voting=model._voting), _identity
    if kind in _BAGGED and isinstance(model._members, TreeMembers):
        if model._members.weights is not None:
            return None  # the engine computes curves of unweighted mean votes only
        voting = model._predict_options().voting_of_trees
        return partial(model._members.forest.curves, voting=voting), _identity
    return None


def _find_boosted_trees(read: OutputReader) -> TreeCurves | None:
    """Find the curve functions of boosted trees, and the conversion of their sums."""
    model = read.estimator
    init = getattr(model, "init_", None)
    begins_elsewhere = not (init is None or isinstance(init, str))
    if model.ensemble_.has_linear_leaves or len(model._crossed_columns) or begins_elsewhere:
        return None
    if read.classes is None:
        return model.ensemble_.curves, model._as_predictions
    if read.method == "predict":
        return None
    of_margins = read.method == "decision_function"
    convert = model._as_decision if of_margins else model._as_probabilities
    return model.ensemble_.curves, convert


def _identity(raw: Floats) -> Floats:
    return raw


def _find_fitted_columns(model: Any, rows: TableRows, columns: tuple[int, ...]) -> dict[int, int]:
    """Return the model's index of each table column; columns of frames are matched by name."""
    frame = as_frame(rows.native)
    order = None if frame is None else find_fitted_order(model, frame, model.schema_)
    return {j: j if order is None else order.index(j) for j in columns}


def _read_codes(schema: Schema, rows: TableRows, column: int, place: int) -> Floats | None:
    """Return the engine's code of each level of a column and, last, of a missing value.

    The array is empty for numbers. None: the column is categorical in the table only.
    """
    codes = schema.codes[place]
    if codes is None:
        return None if rows.categorical[column] else np.empty(0)
    missing = get_missing_code(len(codes))
    levels = rows.levels(column)
    return np.array([*(codes.get(label, missing) for label in levels), missing], dtype=np.float64)


def _encode(values: Floats, codes: Floats | None) -> Floats:
    if codes is None or not codes.size:
        return values
    return codes[np.where(np.isnan(values), len(codes) - 1, values).astype(np.intp)]


def make_grid(
    rows: TableRows, column: int, grid_resolution: int, percentiles: tuple[float, float]
) -> Floats:
    """Compute the points of a partial dependence, encoded like `TableRows.values`.

    A column with fewer distinct values than ``grid_resolution`` has all of them as points, a
    categorical column all its categories. Otherwise the points are equally spaced between two
    percentiles, or over the whole range if these are equal. A column with missing values has one
    more point, last, for a missing value.
    """
    values = rows.values(column)
    known = values[~np.isnan(values)]
    points = np.unique(known)
    if rows.categorical[column]:
        points = np.arange(len(rows.levels(column)), dtype=np.float64)
    elif len(points) >= grid_resolution:
        low, high = np.asarray(mquantiles(known, prob=percentiles), dtype=np.float64)
        if low == high:
            low, high = points[0], points[-1]
        # Halves, because the range itself may overflow float64.
        points = 2.0 * np.linspace(low / 2.0, high / 2.0, grid_resolution)
    return points if len(known) == len(values) else np.append(points, np.nan)


def compute_edges(values: Floats, weight: Floats, n_intervals: int) -> Floats:
    """Compute ascending ends of intervals that hold about equal weight.

    The ends are quantiles that are observed values, as in Apley and Zhu (2020).
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = np.arange(n_intervals + 1) * reached[-1] / n_intervals
    places = np.searchsorted(reached, wanted, side="left")
    return np.unique(values[order][np.minimum(places, len(values) - 1)])


def read_custom_points(rows: TableRows, column: int, given: Any) -> Floats:
    """Read custom points, encoded like `TableRows.values`.

    Raises
    ------
    ValueError
        If there are none, one is infinite or not a number, or no row has a label.
    """
    name = rows.names[column]
    array = np.asarray(given, dtype=object)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"custom_values of {name!r} must be a non-empty list, got {given!r}")
    if not rows.categorical[column]:
        points = convert_objects_to_numbers(array, f"custom_values of {name!r}", "give numbers")
        if np.isinf(points).any():
            raise ValueError(f"custom_values of {name!r} contain infinity: give finite numbers")
        return points
    levels = rows.levels(column)
    places = {label: float(code) for code, label in enumerate(levels)}
    points = np.empty(len(array))
    for i, value in enumerate(array.tolist()):
        label = to_plain_label(value)
        if label is not None and label not in places:
            shown_levels = ", ".join(map(repr, levels[:20]))
            raise ValueError(
                f"custom_values of {name!r} contain {label!r}, which no row of X has; its levels "
                f"are {shown_levels}"
                f"{', ...' if len(levels) > 20 else ''}"
            )
        points[i] = np.nan if label is None else places[label]
    return points


def as_display_values(rows: TableRows, column: int, points: Floats) -> npt.NDArray[Any]:
    """Return points as displayed: numbers, or category labels with None for a missing one."""
    if not rows.categorical[column]:
        return points
    levels = rows.levels(column)
    labels = np.empty(len(points), dtype=object)
    labels[:] = [None if np.isnan(code) else levels[int(code)] for code in points]
    return labels


def check_resolution(grid_resolution: Any, percentiles: Any) -> None:
    """Check that the number of points and the percentiles define a grid."""
    whole = isinstance(grid_resolution, int | np.integer) and not isinstance(grid_resolution, bool)
    if not whole or grid_resolution < 2:
        raise ValueError(
            f"grid_resolution must be an integer of at least 2, got {grid_resolution!r}"
        )
    two = isinstance(percentiles, Sequence | np.ndarray) and len(percentiles) == 2
    if not two or not 0.0 <= percentiles[0] < percentiles[1] <= 1.0:
        raise ValueError(
            f"percentiles must be two ascending numbers between 0 and 1, got {percentiles!r}"
        )
