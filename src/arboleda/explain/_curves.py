"""What an estimator would say of rows if some columns held other values.

A model of any kind is asked for tables in which they do. Trees of this library are asked once for
all points: a row walks down each of them with the whole grid, and only nodes that ask a varied
column part it. Both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.frames import as_frame
from arboleda._engine.schema import Schema, missing_code
from arboleda._engine.table import check_table, fitted_order
from arboleda._engine.threads import resolve_n_jobs
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
)
from arboleda.bagging._tree_members import TreeMembers
from arboleda.boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.boosting._category_encoding import replaced_table
from arboleda.explain._outputs import OutputReader
from arboleda.explain._rows import MOST_ROWS, Rows
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

__all__ = ["answers_with", "curves"]

Floats = npt.NDArray[np.float64]
Axes = Mapping[int, Floats]
Curves = Callable[[Axes, slice], Floats]
# Curves of trees, and what makes answers of them.
Asked = tuple[Callable[..., Floats], Callable[[Floats], Floats]]

# Numbers of the curves that are made at a time.
_MOST_NUMBERS = 1 << 21

# Those whose answers follow from their trees alone, by their own methods: no derived class.
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
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)


def curves(
    read: OutputReader, rows: Rows, axes: Axes, *, by_trees: bool = True
) -> Iterator[tuple[slice, slice, Floats]]:
    """Answers for every row at every point of a grid, part by part.

    Parameters
    ----------
    read : OutputReader
    rows : Rows
    axes : mapping of int to ndarray of shape (n_points,)
        One or two columns and their values, as `Rows.values` has them. Of two columns, the grid
        holds all pairs: those of the second one for the first value of the first, and so on.
    by_trees : bool, default=True
        Whether trees of this library may be asked for all points at once.

    Yields
    ------
    rows, points : slice
    answers : ndarray of shape (n_rows, n_points, n_outputs)
    """
    of_trees = _curves_of_trees(read, rows, tuple(axes)) if by_trees else None
    n_points = int(np.prod([len(points) for points in axes.values()]))
    if of_trees is not None:
        n_outputs = 1 if read.classes is None else len(read.classes)
        step = max(1, _MOST_NUMBERS // (n_points * n_outputs))
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
    for part, points, table in rows.blocks(axes):
        values = read(table).values
        shape = (points.stop - points.start, part.stop - part.start, values.shape[1])
        yield part, points, values.reshape(shape).transpose(1, 0, 2)


def answers_with(read: OutputReader, rows: Rows, columns: Axes) -> Floats:
    """Answers for rows with other values in some columns, of shape (n_rows, n_outputs)."""
    if rows.n_rows <= MOST_ROWS:
        return read(rows.put(columns)).values
    parts = []
    for first in range(0, rows.n_rows, MOST_ROWS):
        part = slice(first, min(first + MOST_ROWS, rows.n_rows))
        put = {column: values[part] for column, values in columns.items()}
        parts.append(read(rows.take(part).put(put)).values)
    return np.concatenate(parts)


def _curves_of_trees(read: OutputReader, rows: Rows, columns: tuple[int, ...]) -> Curves | None:
    """How to ask the trees of a model of this library; None where they do not answer alone."""
    model = read.estimator
    asked = _boosted_trees(read) if type(model) in _BOOSTED else _voting_trees(read)
    if asked is None:
        return None
    trees, answer = asked
    places = _fitted_places(model, rows, columns)
    codes = {j: _codes_in(model.schema_, rows, j, places[j]) for j in columns}
    if any(found is None for found in codes.values()):
        return None
    table = check_table(model, rows.native, reset=False)
    statistics = getattr(model, "statistics_", None)
    if statistics is not None:
        if set(places.values()) & set(statistics.columns):
            return None  # the trees ask about statistics in the place of the categories
        table = replaced_table(statistics, table)
    n_threads = resolve_n_jobs(model.n_jobs)

    def found(axes: Axes, part: slice) -> Floats:
        points = {places[j]: _coded(values, codes[j]) for j, values in axes.items()}
        raw = trees(table, points, part, n_threads=n_threads)
        said = answer(raw.reshape(-1, raw.shape[2]))
        return said.reshape(*raw.shape[:2], -1)

    return found


def _voting_trees(read: OutputReader) -> Asked | None:
    """How to ask a tree, or trees whose mean vote is the answer."""
    model, kind = read.estimator, type(read.estimator)
    if read.method != ("predict" if read.classes is None else "predict_proba"):
        return None
    if kind in _TREES:
        return model.tree_.curves, _as_they_are
    if kind in _FORESTS:
        return partial(model.forest_.curves, voting=model._voting), _as_they_are
    if kind in _BAGGED and isinstance(model._members, TreeMembers):
        if model._members.weights is not None:
            return None  # the engine draws curves of mean votes alone
        voting = model._predict_options().voting_of_trees
        return partial(model._members.forest.curves, voting=voting), _as_they_are
    return None


def _boosted_trees(read: OutputReader) -> Asked | None:
    """How to ask trees that add up, and what makes answers of their sums."""
    model = read.estimator
    init = getattr(model, "init_", None)
    begins_elsewhere = not (init is None or isinstance(init, str))
    if model.ensemble_.has_linear_leaves or begins_elsewhere:
        return None
    if read.classes is None:
        return model.ensemble_.curves, model._as_predictions
    if read.method == "predict":
        return None
    of_margins = read.method == "decision_function"
    answer = model._as_decision if of_margins else model._as_probabilities
    return model.ensemble_.curves, answer


def _as_they_are(raw: Floats) -> Floats:
    return raw


def _fitted_places(model: Any, rows: Rows, columns: tuple[int, ...]) -> dict[int, int]:
    """Numbers that columns of a table have in a model: those of frames are matched by name."""
    frame = as_frame(rows.native)
    order = None if frame is None else fitted_order(model, frame, model.schema_)
    return {j: j if order is None else order.index(j) for j in columns}


def _codes_in(schema: Schema, rows: Rows, column: int, place: int) -> Floats | None:
    """What the engine has for each level of a column, and last for a missing one.

    Empty for numbers; None where the table has categories and the model numbers.
    """
    codes = schema.codes[place]
    if codes is None:
        return None if rows.categorical[column] else np.empty(0)
    missing = missing_code(len(codes))
    levels = rows.levels(column)
    return np.array([*(codes.get(label, missing) for label in levels), missing], dtype=np.float64)


def _coded(values: Floats, codes: Floats | None) -> Floats:
    if codes is None or not codes.size:
        return values
    return codes[np.where(np.isnan(values), len(codes) - 1, values).astype(np.intp)]
