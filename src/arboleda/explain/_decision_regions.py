"""Predictions of models over the plane of two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._utils.frames import new_frame
from arboleda._utils.number_types import is_integer
from arboleda._utils.results import Result
from arboleda.explain._rows import TableRows, read_rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DecisionRegions", "decision_regions"]

_MARGIN = 0.04  # margin of the plane around the rows, as a share of their range


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRegions(Result):
    """Predictions of models at the points of a grid, as returned by `decision_regions`.

    Attributes
    ----------
    feature_names : tuple of str
        The two columns.
    grid : tuple of two ndarray
        Their values: numbers, ascending, or categories.
    names : tuple of str
        Names of the models.
    values : tuple of ndarray of shape (n_first, n_second)
        Predictions of each model: indices into ``class_names``, or numbers.
    class_names : tuple of str or None
        None in a regression.
    rows : ndarray of shape (n_samples, 2) or None
        Coordinates of the rows: numbers, or codes of categories; NaN where missing. None without y.
    target : ndarray of shape (n_samples,) or None
        Indices of their classes, or their targets.
    """

    feature_names: tuple[str, str]
    grid: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    names: tuple[str, ...]
    values: tuple[npt.NDArray[Any], ...]
    class_names: tuple[str, ...] | None
    rows: npt.NDArray[np.float64] | None
    target: npt.NDArray[Any] | None

    def _summarize(self) -> dict[str, Any]:
        return {
            "features": self.feature_names,
            "models": self.names,
            "n_points": self.values[0].size,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per grid point as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            The two columns, then one column with the predictions of each model.
        """
        first, second = np.meshgrid(*self.grid, indexing="ij")
        columns = dict(zip(self.feature_names, (first.ravel(), second.ravel()), strict=True))
        for name, values in zip(self.names, self.values, strict=True):
            flat = values.ravel()
            columns[name] = flat if self.class_names is None else np.array(self.class_names)[flat]
        return new_frame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Plot the regions, one panel per model: see `arboleda.plot.decision_regions`.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            One per model; None: on a new figure.

        Returns
        -------
        ax : Axes or ndarray of Axes
        """
        from arboleda import plot

        return plot.decision_regions(self, ax)


def decision_regions(
    estimators: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[Any] | None = None,
    members: int = 0,
    n_points: int = 150,
) -> DecisionRegions:
    """Compute the predictions of models over the plane of two columns.

    Parameters
    ----------
    estimators : estimator or mapping of str to estimator
        Fitted classifiers or regressors; a mapping holds several for the same task by their names.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Rows that determine the extent of the plane.
    y : array-like of shape (n_samples,), default=None
        Targets of the rows, to be drawn.
    columns : sequence of two str or int, default=None
        The columns of the plane; None: the two columns of X. The other columns are held constant:
        numbers at their lower median, categories at the most frequent one.
    members : int, default=0
        For a single ensemble: number of its first members to show beside it.
    n_points : int, default=150
        Number of grid points along a numeric column.

    Returns
    -------
    regions : DecisionRegions
        With ``plot()`` and ``to_frame()``.

    Raises
    ------
    ValueError
        If ``columns`` are not two columns of X, X has more than two columns and ``columns`` is
        None, the ensemble has fewer members or they do not predict classes, models do not share
        their classes, or a number is out of range.
    NotFittedError
        If a model is not fitted.

    Examples
    --------
    >>> from arboleda import RandomForestClassifier, explain
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[:, 2:], y)
    >>> regions = explain.decision_regions(forest, X[:, 2:], y, members=3)
    >>> regions.names
    ('member 1', 'member 2', 'member 3', 'ensemble')
    """
    models = _select_models(estimators, members)
    for _, model, _ in models:
        check_is_fitted(model)
    if not is_integer(n_points) or n_points < 2:
        raise ValueError(f"n_points must be an integer of at least 2, got {n_points!r}")
    last = models[-1][1]
    rows = read_rows(X, last)
    places = _select_two_columns(rows, columns)
    axes = [_make_axis(rows, place, int(n_points)) for place in places]
    table = _make_table(rows, places, [codes for codes, _ in axes])
    classes = np.asarray(last.classes_) if is_classifier(last) else None
    shape = (len(axes[0][0]), len(axes[1][0]))
    values = tuple(
        _predict(model, table, classes, subset).reshape(shape) for _, model, subset in models
    )
    return DecisionRegions(
        feature_names=(rows.names[places[0]], rows.names[places[1]]),
        grid=(axes[0][1], axes[1][1]),
        names=tuple(name for name, _, _ in models),
        values=values,
        class_names=None if classes is None else tuple(map(str, classes.tolist())),
        rows=None if y is None else np.column_stack([rows.values(place) for place in places]),
        target=None if y is None else _encode_target(y, classes, rows.n_rows),
    )


def _select_models(estimators: Any, members: int) -> list[tuple[str, Any, Any]]:
    """Return names, models and the columns that each of them uses (None: all)."""
    if isinstance(estimators, Mapping):
        if members:
            raise ValueError(f"members={members!r} is for a single ensemble, not several models")
        if not estimators:
            raise ValueError("estimators is empty: give at least one model")
        return [(str(name), model, None) for name, model in estimators.items()]
    if not members:
        return [(type(estimators).__name__, estimators, None)]
    found: Any = getattr(estimators, "estimators_", ())
    if np.ndim(found) != 1 or not 0 < members <= len(found):
        raise ValueError(
            f"members={members!r}: {type(estimators).__name__} has "
            f"{len(found) if np.ndim(found) == 1 else 'no single'} members in estimators_"
        )
    if is_classifier(estimators) != is_classifier(found[0]):
        raise ValueError(
            f"the members of {type(estimators).__name__} do not predict classes: use members=0 to "
            "show the ensemble alone"
        )
    subsets = getattr(estimators, "estimators_features_", [None] * len(found))
    shown = [(f"member {k + 1}", found[k], subsets[k]) for k in range(members)]
    return [*shown, ("ensemble", estimators, None)]


def _select_two_columns(rows: TableRows, columns: Sequence[Any] | None) -> list[int]:
    if columns is None:
        if rows.n_columns != 2:
            raise ValueError(
                f"X has {rows.n_columns} columns: select two of them, such as columns=[0, 1]"
            )
        return [0, 1]
    places = [rows.find_column(column) for column in columns]
    if len(set(places)) != 2 or len(places) != 2:
        raise ValueError(f"columns={list(columns)!r} must be two different columns of X")
    return places


def _make_axis(
    rows: TableRows, place: int, n_points: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Return the grid values of a column, as codes or numbers and as displayed."""
    if rows.categorical[place]:
        levels = rows.levels(place)
        if not levels:
            raise ValueError(f"column {rows.names[place]!r} of X has no value")
        shown = np.empty(len(levels), dtype=object)
        shown[:] = levels
        return np.arange(len(levels), dtype=np.float64), shown
    values = rows.values(place)
    values = values[~np.isnan(values)]
    if not len(values):
        raise ValueError(f"column {rows.names[place]!r} of X has no value")
    low, high = float(values.min()), float(values.max())
    margin = _MARGIN * (high - low) or 1.0
    if not np.isfinite(high - low + 2 * margin):
        raise ValueError(f"the range of column {rows.names[place]!r} of X overflows float64")
    points = np.linspace(low - margin, high + margin, n_points)
    return points, points


def _make_table(
    rows: TableRows, places: Sequence[int], grid: Sequence[npt.NDArray[np.float64]]
) -> Any:
    """Make a table of X's type with one row per grid point; the second column varies fastest."""
    first, second = (part.ravel() for part in np.meshgrid(*grid, indexing="ij"))
    columns = dict(zip(places, (first, second), strict=True))
    for other in set(range(rows.n_columns)) - set(places):
        values = rows.values(other)
        values = values[~np.isnan(values)]
        if len(values) and rows.categorical[other]:
            columns[other] = np.full(len(first), float(np.bincount(values.astype(int)).argmax()))
        elif len(values):
            columns[other] = np.full(len(first), np.quantile(values, 0.5, method="lower"))
    return rows.take(np.zeros(len(first), dtype=np.intp)).put(columns)


def _predict(
    model: Any, table: Any, classes: npt.NDArray[Any] | None, subset: Any
) -> npt.NDArray[Any]:
    """Predict with a model; classes become indices into the classes of the last model."""
    framed = hasattr(table, "columns")
    if framed and not hasattr(model, "feature_names_in_"):
        table = np.asarray(table)  # fitted on an array, as the members of many ensembles are
        framed = False
    if subset is not None:
        table = table[list(model.feature_names_in_)] if framed else np.asarray(table)[:, subset]
    predicted = np.asarray(model.predict(table))
    if classes is None:
        if predicted.ndim != 1:
            raise ValueError("a model predicts several targets: give a model of a single target")
        return predicted.astype(np.float64)
    own = np.asarray(model.classes_)
    if not np.isin(own, classes).all() and np.array_equal(own, np.arange(len(classes))):
        return predicted.astype(np.intp)  # members fitted on class indices
    if not np.isin(predicted, classes).all():
        raise ValueError(
            f"{type(model).__name__} predicts classes that the last model does not have: give "
            "models fitted on the same classes"
        )
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, predicted, sorter=order)])


def _encode_target(y: Any, classes: npt.NDArray[Any] | None, n_rows: int) -> npt.NDArray[Any]:
    target = np.asarray(y)
    if len(target) != n_rows:
        raise ValueError(f"y has {len(target)} rows, but X has {n_rows}")
    if classes is None:
        return target.astype(np.float64)
    known = np.isin(target, classes)
    if not known.all():
        raise ValueError(f"y contains {target[~known][0]!r}, which is not a class of the model")
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, target, sorter=order)])
