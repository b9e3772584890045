"""Dependence of a model's prediction on one or two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from arboleda._utils.frames import new_frame
from arboleda._utils.results import Result
from arboleda.explain._accumulated_effects import compute_accumulated_effects
from arboleda.explain._curves import (
    as_display_values,
    check_resolution,
    iter_ice_curves,
    make_grid,
    read_custom_points,
)
from arboleda.explain._outputs import METHODS, Method, OutputReader, make_output_reader
from arboleda.explain._rows import TableRows, read_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Dependence", "partial_dependence"]

Floats = npt.NDArray[np.float64]
Feature = str | int
Kind = Literal["average", "individual", "both", "ale"]

# Default points of one column and of each of two; default intervals of accumulated effects.
_POINTS, _POINTS_OF_TWO, _INTERVALS = 100, 20, 40


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(Result):
    """Dependence of a model's prediction on one or two columns.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the columns, with m and m2 points.
    grid : list of ndarray
        Points of each column: numbers, with NaN for a missing value; or category labels, with None
        for a missing one.
    average : ndarray of shape (n_outputs, m) or (n_outputs, m, m2)
        Partial dependence, or accumulated effects.
    individual : ndarray of shape (n_outputs, n_rows, m) or (n_outputs, n_rows, m, m2), or None
        A curve for each row, if requested.
    kind : {"average", "individual", "both", "ale"}
        Kind of dependence.
    density : list of ndarray
        For each numeric column its non-missing values; for each categorical column the number of
        rows at each point.
    output_names : tuple of str
        Class labels, or ``"value"``.
    categorical : tuple of bool
        Which columns are categorical.
    centered : bool
        Whether curves start at 0.
    """

    feature_names: tuple[str, ...]
    grid: list[npt.NDArray[Any]]
    average: Floats
    individual: Floats | None
    kind: Kind
    density: list[npt.NDArray[Any]]
    output_names: tuple[str, ...]
    categorical: tuple[bool, ...]
    centered: bool = False

    def to_frame(self) -> pd.DataFrame:
        """Return the averages or the individual curves as a data frame with one row per point.

        Returns
        -------
        frame : DataFrame
            Columns ``output``, the feature names and ``average``. For ``kind="individual"`` and
            ``"both"``, one block per row of X: columns ``output``, ``row`` (its index in X), the
            feature names and ``individual``; for ``"both"`` also ``average``, the same in all rows
            of X.
        """
        if self.individual is None or self.kind == "average":
            return self._make_frame(self.average, average=self.average)
        values = {"individual": self.individual}
        if self.kind == "both":
            values["average"] = np.broadcast_to(self.average[:, np.newaxis], self.individual.shape)
        return self._make_frame(self.individual, **values)

    def _make_frame(self, shaped: Floats, **values: Floats) -> pd.DataFrame:
        """Return a frame with a column per axis of an array, and one per array of values."""
        places = np.indices(shaped.shape).reshape(shaped.ndim, -1)
        output, *rows = places[: shaped.ndim - len(self.grid)]
        points = zip(self.grid, places[shaped.ndim - len(self.grid) :], strict=True)
        columns = [
            np.array(self.output_names, dtype=object)[output],
            *rows,
            *(grid[place] for grid, place in points),
            *(array.ravel() for array in values.values()),
        ]
        frame = new_frame(dict(enumerate(columns)))
        frame.columns = ["output", *["row"][: len(rows)], *self.feature_names, *values]
        return frame

    def plot(self, ax: Axes | None = None, *, output: str | int | None = None) -> Axes:
        """Plot the dependence; see `arboleda.plot.dependence`."""
        from arboleda.plot import dependence

        return dependence(self, ax, output=output)

    def _summarize(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "features": self.feature_names,
            "n_points": [len(points) for points in self.grid],
            "n_outputs": len(self.output_names),
        }

    def _make_preview(self) -> pd.DataFrame:
        return self._make_frame(self.average, average=self.average)


def partial_dependence(
    estimator: Any,
    X: Any,
    features: Feature | Sequence[Feature],
    *,
    kind: Kind = "average",
    sample_weight: Any = None,
    categorical_features: Any = None,
    response_method: Literal["auto"] | Method = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int | None = None,
    custom_values: Mapping[Feature, Any] | None = None,
    centered: bool = False,
) -> Dependence:
    """Compute partial dependence, individual curves or accumulated effects of one or two columns.

    Partial dependence is the mean prediction if the column had the same value in all rows: Friedman
    (2001), "Greedy function approximation", Annals of Statistics 29, section 8.2. If columns are
    correlated, it averages over unrealistic rows. Individual curves are the predictions themselves,
    one curve per row: Goldstein, Kapelner, Bleich and Pitkin (2015), "Peeking inside the black
    box", Journal of Computational and Graphical Statistics 24; where they are not parallel, the
    column interacts with others. Accumulated local effects sum the changes of the prediction when
    the column moves within short intervals around the observed rows, and so remain valid with
    correlated columns: Apley and Zhu (2020), Journal of the Royal Statistical Society B 82.

    Parameters
    ----------
    estimator : estimator
        Fitted: a single-target classifier, a regressor, or a pipeline. Trees, forests, bagged and
        boosted trees of this library evaluate all points in one descent of each row through each
        tree; the result is bitwise equal to predicting each point.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Rows to average over, preferably from the distribution of the training rows.
    features : str, int or sequence of one or two of them
        One or two columns, by name or index.
    kind : {"average", "individual", "both", "ale"}, default="average"
        Partial dependence; the curve of each row; both; or accumulated local effects. For two
        columns, the latter are the interaction effects beyond the main effects.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in averages.
    categorical_features : array-like of bool, int or str, default=None
        Categorical columns, in addition to those recognized by dtype or values.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Method of a classifier to use; "auto": the first of these that it has. With "predict",
        averages are shares of the classes among the rows.
    percentiles : (float, float), default=(0.05, 0.95)
        Lower and upper percentile of a numeric column between which its points lie. Ignored for
        ``kind="ale"``, which covers the whole range.
    grid_resolution : int, default=None
        Number of points of a numeric column; all its values if there are fewer. With
        ``kind="ale"``, the number of intervals, which hold about equally many rows. None: 100
        points, 20 each for two columns, and 40 intervals.
    custom_values : mapping of feature to array-like, default=None
        Points to use for a column instead. With ``kind="ale"``, interval ends, outside which rows
        are left out, or an order of the categories.
    centered : bool, default=False
        Whether individual curves and their mean are differences from their first point.

    Returns
    -------
    dependence : Dependence
        With methods ``to_frame()`` and ``plot(ax=)``. A column with missing values has one more
        point, last, for a missing value; accumulated effects leave such rows out. Categories are
        sorted; with ``kind="ale"`` they are ordered so that neighbours occur in similar rows.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    ValueError
        If a column does not exist or is given twice, a parameter is out of range, a value or a
        prediction is not finite, or accumulated effects are requested for a column without values.

    Examples
    --------
    >>> from arboleda import RandomForestRegressor
    >>> from arboleda.explain import partial_dependence
    >>> X = [[float(i), float(j)] for i in range(4) for j in range(5)] * 5
    >>> y = [10 * row[0] for row in X]
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    >>> found = partial_dependence(forest, X, 0)
    >>> found
    Dependence(kind='average', features=['x[0]'], n_points=[4], n_outputs=1)
    >>> found.average.round(1)
    array([[ 0., 10., 20., 30.]])
    """
    _check_choices(kind, response_method)
    methods = METHODS if response_method == "auto" else (response_method,)
    read = make_output_reader(estimator, methods)
    rows = read_rows(X, estimator, categorical_features)
    columns = _select_columns(rows, features)
    if grid_resolution is None:
        of_average = _POINTS if len(columns) == 1 else _POINTS_OF_TWO
        grid_resolution = _INTERVALS if kind == "ale" else of_average
    check_resolution(grid_resolution, percentiles)
    custom = _read_custom_values(rows, custom_values, columns)
    weight = _read_weights(sample_weight, rows)
    # Predict one row to read the output names and to check the columns.
    names = read(rows.take(slice(0, 1)).native).names
    individual = None
    if kind == "ale":
        if centered:
            raise ValueError(
                "centered=True is not valid for kind='ale': accumulated effects are already centred"
            )
        points, average = compute_accumulated_effects(
            read, rows, columns, weight, grid_resolution, custom
        )
    else:
        points = [
            read_custom_points(rows, j, custom[j])
            if j in custom
            else make_grid(rows, j, grid_resolution, percentiles)
            for j in columns
        ]
        axes = dict(zip(columns, points, strict=True))
        average, individual = _compute_averages(
            read, rows, axes, weight, len(names), keep=kind != "average", centered=centered
        )
    return Dependence(
        tuple(rows.names[j] for j in columns),
        [as_display_values(rows, j, found) for j, found in zip(columns, points, strict=True)],
        average,
        individual,
        kind,
        [_compute_density(rows, j, found) for j, found in zip(columns, points, strict=True)],
        names,
        tuple(rows.categorical[j] for j in columns),
        centered,
    )


def _check_choices(kind: str, response_method: str) -> None:
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, got {kind!r}")
    if response_method not in ("auto", *METHODS):
        raise ValueError(
            f"response_method must be auto or one of {', '.join(METHODS)}, got {response_method!r}"
        )


def _select_columns(rows: TableRows, features: Any) -> list[int]:
    """Return the indices of the selected columns."""
    named = features if isinstance(features, list | tuple | np.ndarray) else [features]
    if isinstance(features, tuple) and features in getattr(rows.native, "columns", ()):
        named = [features]  # a column whose name is a tuple
    if len(named) not in (1, 2):
        raise ValueError(f"features must be one or two columns, got {len(named)}")
    columns = [rows.find_column(name) for name in named]
    if len(set(columns)) < len(columns):
        raise ValueError(f"features contains the column {rows.names[columns[0]]!r} twice")
    return columns


def _read_custom_values(rows: TableRows, given: Any, columns: list[int]) -> dict[int, Any]:
    """Return the user's custom points by column index."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"custom_values must map columns to their points, such as "
            f"{{{rows.names[columns[0]]!r}: [...]}}, got {given!r}"
        )
    custom = {rows.find_column(name): points for name, points in given.items()}
    for column in custom:
        if column not in columns:
            raise ValueError(
                f"custom_values has points for {rows.names[column]!r}, which is not among features"
            )
    return custom


def _read_weights(sample_weight: Any, rows: TableRows) -> Floats:
    """Return the weights of the rows, scaled so that the largest is 1."""
    if sample_weight is None:
        return np.ones(rows.n_rows)
    weight: Floats = _check_sample_weight(
        sample_weight, rows.native, dtype=np.float64, ensure_non_negative=True
    )
    largest = weight.max()
    if largest == 0.0:
        raise ValueError("sample_weight is 0 in every row: give some row a positive weight")
    return np.asarray(weight / largest)  # the sum itself may overflow


def _compute_averages(
    read: OutputReader,
    rows: TableRows,
    axes: dict[int, Floats],
    weight: Floats,
    n_outputs: int,
    *,
    keep: bool,
    centered: bool,
) -> tuple[Floats, Floats | None]:
    """Compute the mean predictions at grid points and, if ``keep``, those of each row."""
    shape = tuple(len(points) for points in axes.values())
    n_points = int(np.prod(shape))
    average = np.zeros((n_points, n_outputs))
    individual = np.empty((rows.n_rows, n_points, n_outputs)) if keep else None
    share = weight / weight.sum()
    for part, points, predictions in iter_ice_curves(read, rows, axes):
        average[points] += np.einsum("r,rpk->pk", share[part], predictions)
        if individual is not None:
            individual[part, points] = predictions
    if centered:
        average -= average[:1].copy()
        if individual is not None:
            individual -= individual[:, :1].copy()
    by_output = average.T.reshape(n_outputs, *shape)
    if individual is None:
        return by_output, None
    return by_output, np.moveaxis(individual, 2, 0).reshape(n_outputs, rows.n_rows, *shape)


def _compute_density(rows: TableRows, column: int, points: Floats) -> npt.NDArray[Any]:
    """Return the non-missing values of a column, or the number of rows at each category."""
    values = rows.values(column)
    missing = np.isnan(values)
    if not rows.categorical[column]:
        return values[~missing]
    counts = np.bincount(values[~missing].astype(np.intp), minlength=len(rows.levels(column)))
    places = np.where(np.isnan(points), 0, points).astype(np.intp)
    return np.where(np.isnan(points), missing.sum(), counts[places])
