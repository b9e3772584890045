"""Shape functions of an additive boosting model, one per column.

Hastie and Tibshirani (1990), "Generalized additive models"; with trees: Lou, Caruana and Gehrke
(2012), "Intelligible models for classification and regression".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import MISSING, DenseTable, Schema, get_missing_code
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.labels import Label
from arboleda._engine.tree import Tree
from arboleda._utils.frames import axes_or_new, new_figure, new_frame
from arboleda._utils.results import Result
from arboleda._utils.text import plot_escaped
from arboleda.boosting._target_statistics import TargetStatistics

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

# Maximum number of letters of category names that fit horizontally below one of several panels.
_MAX_LABEL_LETTERS = 20


@dataclass(frozen=True, eq=False, repr=False)
class ShapeFunction(Result):
    """Contribution of one column to the raw scores, as a function of its value.

    Attributes
    ----------
    column : int
        Index of the column.
    name : str
        Name of the column; "x[0]" and so on if the columns have no names.
    thresholds : ndarray of shape (m,)
        Positions of the steps of a numeric column, ascending; a value equal to a threshold belongs
        to the step below it.
    levels : tuple or None
        Categories of a categorical column.
    values : ndarray of shape (m + 1, n_outputs) or (n_levels, n_outputs)
        Values of the steps or categories. Their mean over the training rows is 0.
    missing : ndarray of shape (n_outputs,)
        Value for missing values, and for categories that were not in the training data.
    """

    column: int
    name: str
    thresholds: Floats
    levels: tuple[Label, ...] | None
    values: Floats
    missing: Floats

    @property
    def spread(self) -> float:
        """Largest difference between two values of the same output."""
        return float(np.ptp(self.values, axis=0).max()) if self.values.size else 0.0

    @property
    def steps(self) -> list[tuple[float, float, Label | None]]:
        """Interval of each step of a numeric column, or each category of a categorical one."""
        if self.levels is not None:
            return [(np.nan, np.nan, level) for level in self.levels]
        ends = [-np.inf, *self.thresholds.tolist(), np.inf]
        return [(above, up_to, None) for above, up_to in pairwise(ends)]

    def at(self, X: Any) -> Floats:
        """Evaluate the function at some values of the column.

        Parameters
        ----------
        X : array-like of shape (n,)
            Numbers or categories.

        Returns
        -------
        values : ndarray of shape (n,) or (n, n_outputs)
        """
        if self.levels is None:
            numbers = np.asarray(X, dtype=np.float64)
            steps = np.searchsorted(self.thresholds, numbers, side="left")
            values = np.where(np.isnan(numbers)[:, np.newaxis], self.missing, self.values[steps])
        else:
            codes = {level: code for code, level in enumerate(self.levels)}
            rows = [self.values[codes[v]] if v in codes else self.missing for v in X]
            values = np.array(rows).reshape(len(rows), -1)
        return values[:, 0] if values.shape[1] == 1 else values

    def _summarize(self) -> dict[str, Any]:
        return {"name": self.name, "n_steps": len(self.values), "spread": self.spread}

    def to_frame(self) -> pd.DataFrame:
        """Return the steps as a pandas data frame: see `ShapeFunctions.to_frame`."""
        return ShapeFunctions(np.zeros(self.values.shape[1]), [self]).to_frame()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the function: steps for a numeric column, bars for a categorical one.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        n_outputs = self.values.shape[1]
        for k, heights in enumerate(self.values.T):
            label = str(k) if n_outputs > 1 else None
            if self.levels is not None:
                positions = np.arange(len(self.levels)) + k / (n_outputs + 1)
                ax.bar(positions, heights, width=1 / (n_outputs + 1), color=f"C{k}", label=label)
                continue
            ends = self.thresholds[[0, -1]] if self.thresholds.size else np.zeros(2)
            margin = 0.05 * float(np.ptp(ends)) or 1.0
            edges = np.concatenate([[ends[0] - margin], self.thresholds, [ends[1] + margin]])
            ax.stairs(heights, edges, baseline=None, color=f"C{k}", label=label)
        if self.levels is not None:
            names = [plot_escaped(str(level)) for level in self.levels]
            ax.set_xticks(range(len(names)), names)
            if sum(map(len, names)) > _MAX_LABEL_LETTERS:
                ax.tick_params("x", labelrotation=30)
                for name in ax.get_xticklabels():
                    name.set(ha="right", rotation_mode="anchor")
        ax.axhline(0.0, color="grey", lw=0.6)
        ax.set_xlabel(plot_escaped(self.name))
        return ax


class ShapeFunctions(Result, Sequence[ShapeFunction]):
    """An additive model: the raw score is ``intercept`` plus one function per column.

    Attributes
    ----------
    intercept : ndarray of shape (n_outputs,)
        Mean raw score of the training rows.
    """

    def __init__(self, intercept: Floats, functions: Sequence[ShapeFunction]) -> None:
        self.intercept = intercept
        self._functions = tuple(functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __iter__(self) -> Iterator[ShapeFunction]:
        return iter(self._functions)

    @overload
    def __getitem__(self, column: int | str) -> ShapeFunction: ...
    @overload
    def __getitem__(self, column: slice) -> tuple[ShapeFunction, ...]: ...
    def __getitem__(self, column: int | str | slice) -> ShapeFunction | tuple[ShapeFunction, ...]:
        """Return the function of a column, by index or name."""
        if not isinstance(column, str):
            return self._functions[column]
        for function in self._functions:
            if function.name == column:
                return function
        raise KeyError(f"no column has the name {column!r}")

    def _summarize(self) -> dict[str, Any]:
        best = sorted(self._functions, key=lambda function: -function.spread)
        return {
            "n_columns": len(self),
            "n_outputs": len(self.intercept),
            "largest_spread": [function.name for function in best[:3]],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return all steps as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One row per output and step, category or missing value, with the columns ``column``,
            ``output``, ``above`` and ``up_to`` (the ends of the step; NaN otherwise), ``level``
            (the category; None otherwise) and ``value``. Missing values have neither ends nor a
            level.
        """
        rows: list[tuple[str, int, float, float, Label | None, float]] = []
        for function in self._functions:
            for k, heights in enumerate(function.values.T):
                rows += [
                    (function.name, k, *step, float(height))
                    for step, height in zip(function.steps, heights, strict=True)
                ]
                rows.append((function.name, k, np.nan, np.nan, None, float(function.missing[k])))
        return new_frame(rows, columns=["column", "output", "above", "up_to", "level", "value"])

    def plot(self, ax: Any = None) -> npt.NDArray[np.object_]:
        """Plot the functions with the largest spread, in descending order.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            Axes to plot on, one function on each; None: a new figure of at most nine functions.

        Returns
        -------
        axes : ndarray of matplotlib.axes.Axes
        """
        best = sorted(self._functions, key=lambda function: -function.spread)
        used = [function for function in best if function.spread > 0.0] or best[:1]
        if ax is None:
            n_panels = min(9, len(used))
            n_across = min(3, n_panels)
            n_down = -(-n_panels // n_across)
            figure = new_figure(figsize=(3.2 * n_across, 2.6 * n_down), layout="constrained")
            ax = [figure.add_subplot(n_down, n_across, k + 1) for k in range(n_panels)]
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        for panel, function in zip(axes, used, strict=False):
            function.plot(panel)
        return axes


def shape_functions(
    ensemble: Ensemble, schema: Schema, statistics: TargetStatistics
) -> ShapeFunctions:
    """Return the shape functions of an ensemble whose trees split on one column each.

    Raises
    ------
    ValueError
        If a tree splits on several columns, or leaves are linear.
    """
    if ensemble.has_linear_leaves:
        raise ValueError(
            "shape functions are step functions, which linear leaves are not: fit with "
            "linear_leaves=False"
        )
    n_outputs = ensemble.n_outputs
    owners = statistics.owners(schema.n_columns)
    intercept = np.array(ensemble.start)
    parts: dict[tuple[int, int], list[Tree]] = {}
    for number, tree in enumerate(ensemble.trees):
        output = number % n_outputs
        intercept[output] += _compute_mean_value(tree)
        columns = np.unique(owners[tree.feature[tree.feature >= 0]])
        if columns.size > 1:
            first, second = (schema.describe(int(column)) for column in columns[:2])
            raise ValueError(
                f"tree {number} splits on both columns {first} and {second}, and the model is not "
                "a sum of functions of single columns: fit with max_depth=1, or with "
                "interaction_cst='no_interactions'"
            )
        if columns.size:
            parts.setdefault((int(columns[0]), output), []).append(tree)
    return ShapeFunctions(
        intercept,
        [
            _make_shape_function(
                column,
                [parts.get((column, k), []) for k in range(n_outputs)],
                schema,
                statistics,
            )
            for column in range(schema.n_columns)
        ],
    )


def _make_shape_function(
    column: int, trees: list[list[Tree]], schema: Schema, statistics: TargetStatistics
) -> ShapeFunction:
    """Return the sum of the trees of one column, for each output."""
    levels = schema.levels[column]
    thresholds = np.empty(0)
    if levels is None:
        found = [tree.threshold[tree.feature >= 0] for part in trees for tree in part]
        thresholds = np.unique(np.concatenate([np.empty(0), *found]))
        thresholds = thresholds[np.isfinite(thresholds)]
        points: npt.NDArray[Any] = np.concatenate([thresholds, [np.inf, np.nan]])
    else:
        points = np.append(np.arange(len(levels)), get_missing_code(len(levels)))
        points = points.astype(np.uint16 if len(levels) <= MISSING else np.uint32)
    other: list[npt.NDArray[Any]] = [
        np.zeros(points.size, dtype=np.float64 if column_levels is None else np.uint16)
        for column_levels in schema.levels
    ]
    columns = [*other[:column], points, *other[column + 1 :]]
    table = statistics.replaced(DenseTable(columns, points.size, schema.n_levels))
    heights = np.zeros((points.size, len(trees)))
    for k, part in enumerate(trees):
        if part:
            mean = sum(_compute_mean_value(tree) for tree in part)
            heights[:, k] = Ensemble.from_trees([0.0], part).scores(table)[:, 0] - mean
    name = f"x[{column}]" if schema.names is None else str(schema.names[column])
    return ShapeFunction(column, name, thresholds, levels, heights[:-1], heights[-1])


def _compute_mean_value(tree: Tree) -> float:
    """Return the mean of a tree's values over its training rows."""
    leaves = tree.feature < 0
    return float(np.average(tree.value_rows[leaves, 0], weights=tree.n_node_samples[leaves]))
