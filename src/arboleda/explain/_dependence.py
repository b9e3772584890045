"""How a model's answer depends on one column, or on two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from arboleda._frames import new_frame
from arboleda.explain._accumulated import accumulated_effects
from arboleda.explain._curves import curves
from arboleda.explain._grids import check_resolution, given_points, points_of, shown
from arboleda.explain._outputs import METHODS, Method, OutputReader, output_reader
from arboleda.explain._rows import Rows, read_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Dependence", "partial_dependence"]

Floats = npt.NDArray[np.float64]
Feature = str | int
Kind = Literal["average", "individual", "both", "ale"]

# Points of one column and of each of two; intervals of an effect that is accumulated.
_POINTS, _POINTS_OF_TWO, _INTERVALS = 100, 20, 40


@dataclass(frozen=True, eq=False, repr=False)
class Dependence:
    """How a model's answer depends on one column or on two.

    Attributes
    ----------
    feature_names : tuple of str
        Of the one column or the two, m and perhaps m2 points each.
    grid : list of ndarray
        For each column its points: numbers, NaN for a missing value; or labels of categories, None
        for a missing one.
    average : ndarray of shape (n_outputs, m) or (n_outputs, m, m2)
        Partial dependence, or accumulated effects.
    individual : ndarray of shape (n_outputs, n_rows, m) or (n_outputs, n_rows, m, m2), or None
        A curve for each row, where they were asked for.
    kind : {"average", "individual", "both", "ale"}
        What was asked for.
    density : list of ndarray
        For each column the values that its rows hold, none missing; or, of categories, the number
        of rows at each point.
    output_names : tuple of str
        Labels of classes, or ``"value"``.
    categorical : tuple of bool
        Which of the columns hold categories.
    centered : bool
        Whether curves begin at 0.
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
        """Return the averages or the individual curves as a data frame, a row for each point.

        Returns
        -------
        frame : DataFrame
            Columns ``output``, the names of the features, and ``average``. Of ``kind="individual"``
            and ``"both"`` the rows of X one after the other: columns ``output``, ``row`` (its
            number in X), the names of the features, and ``individual``; of ``"both"`` also
            ``average``, the same in all rows of X.
        """
        if self.individual is None or self.kind == "average":
            return self._frame(self.average, average=self.average)
        values = {"individual": self.individual}
        if self.kind == "both":
            values["average"] = np.broadcast_to(self.average[:, np.newaxis], self.individual.shape)
        return self._frame(self.individual, **values)

    def _frame(self, shaped: Floats, **values: Floats) -> pd.DataFrame:
        """A column for each axis of an array, and those of values of its shape."""
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
        """Draw it; see `arboleda.plot.dependence`."""
        from arboleda.plot import dependence

        return dependence(self, ax, output=output)

    def __repr__(self) -> str:
        """Say what it is of."""
        what = " and ".join(map(repr, self.feature_names))
        points = " x ".join(str(len(points)) for points in self.grid)
        outputs = f"{len(self.output_names)} output{'s'[: len(self.output_names) != 1]}"
        return f"Dependence({self.kind} of {what}, {points} points, {outputs})"


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
    """How a model's answer depends on one column, or on two: on average, row by row, or locally.

    Partial dependence is the mean answer if the column had the same value in all rows: Friedman
    (2001), "Greedy function approximation", Annals of Statistics 29, section 8.2. It asks about
    rows that may be unlike all others where columns are correlated. Individual curves are the
    answers themselves, one a row: Goldstein, Kapelner, Bleich and Pitkin (2015), "Peeking inside
    the black box", Journal of Computational and Graphical Statistics 24; where they are not
    parallel, the column interacts with others. Accumulated local effects add up how much the answer
    changes when the column moves a little in the rows that are there, and so are right with
    correlated columns: Apley and Zhu (2020), Journal of the Royal Statistical Society B 82.

    Parameters
    ----------
    estimator : estimator
        Fitted: a classifier of one target, a regressor, or a pipeline. Trees, forests, bagged and
        boosted trees of this library are asked for all points in one walk of each row down each
        tree, with the same bits as by a prediction for each point.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Rows to average over, best such as the model was trained on.
    features : str, int or sequence of one or two of them
        The column or the two, by name or number.
    kind : {"average", "individual", "both", "ale"}, default="average"
        Partial dependence; the curve of each row; the same, drawn together; or accumulated local
        effects. Of two columns the latter are what they do together beyond what each does alone.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in means.
    categorical_features : array-like of bool, int or str, default=None
        Columns that hold categories, beside those whose types or values say so.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What a classifier is asked for; "auto": the first of these that it has. With "predict", the
        shares of the classes among the rows.
    percentiles : (float, float), default=(0.05, 0.95)
        Between which of a column's values its points lie, except with ``kind="ale"``, which goes
        over all of them.
    grid_resolution : int, default=None
        Points of a column of numbers: all its values if there are fewer. With ``kind="ale"`` the
        number of intervals, of about as many rows each. None: 100, of two columns 20 each; 40
        intervals.
    custom_values : mapping of feature to array-like, default=None
        Points to use for a column instead. With ``kind="ale"`` ends of intervals, rows beyond which
        are left out, or an order of the categories.
    centered : bool, default=False
        Whether individual curves and their mean are told as differences from their first point.

    Returns
    -------
    dependence : Dependence
        With methods ``to_frame()`` and ``plot(ax=)``. A column with missing values has one point
        more, the missing one, last; accumulated effects leave its rows out. Categories are sorted,
        or with ``kind="ale"`` ordered so that neighbours occur in alike rows.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    ValueError
        If a column is not there or named twice, a parameter is out of its range, a value or an
        answer is not finite, or a column without values has effects to accumulate.

    Examples
    --------
    >>> from arboleda import RandomForestRegressor
    >>> from arboleda.explain import partial_dependence
    >>> X = [[float(i), float(j)] for i in range(4) for j in range(5)] * 5
    >>> y = [10 * row[0] for row in X]
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    >>> found = partial_dependence(forest, X, 0)
    >>> found
    Dependence(average of 'x[0]', 4 points, 1 output)
    >>> found.average.round(1)
    array([[ 0., 10., 20., 30.]])
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}; got {kind!r}")
    if response_method not in ("auto", *METHODS):
        raise ValueError(
            f"response_method must be auto or one of {', '.join(METHODS)}; got {response_method!r}"
        )
    methods = METHODS if response_method == "auto" else (response_method,)
    read = output_reader(estimator, methods)
    rows = read_rows(X, estimator, categorical_features)
    columns = _columns(rows, features)
    if grid_resolution is None:
        of_average = _POINTS if len(columns) == 1 else _POINTS_OF_TWO
        grid_resolution = _INTERVALS if kind == "ale" else of_average
    check_resolution(grid_resolution, percentiles)
    custom = _custom(rows, custom_values, columns)
    weight = _weights(sample_weight, rows)
    # One row tells what the outputs are, and that the columns are those of fit.
    names = read(rows.take(slice(0, 1)).native).names
    individual = None
    if kind == "ale":
        if centered:
            raise ValueError("accumulated effects are centred already: leave centered out")
        points, average = accumulated_effects(read, rows, columns, weight, grid_resolution, custom)
    else:
        points = [
            given_points(rows, j, custom[j])
            if j in custom
            else points_of(rows, j, grid_resolution, percentiles)
            for j in columns
        ]
        axes = dict(zip(columns, points, strict=True))
        average, individual = _averages(
            read, rows, axes, weight, len(names), keep=kind != "average", centered=centered
        )
    return Dependence(
        tuple(rows.names[j] for j in columns),
        [shown(rows, j, found) for j, found in zip(columns, points, strict=True)],
        average,
        individual,
        kind,
        [_density(rows, j, found) for j, found in zip(columns, points, strict=True)],
        names,
        tuple(rows.categorical[j] for j in columns),
        centered,
    )


def _columns(rows: Rows, features: Any) -> list[int]:
    """Numbers of the columns asked for."""
    named = features if isinstance(features, list | tuple | np.ndarray) else [features]
    if isinstance(features, tuple) and features in getattr(rows.native, "columns", ()):
        named = [features]  # a column whose name is a tuple
    if len(named) not in (1, 2):
        raise ValueError(f"features must be one column or two; got {len(named)}")
    columns = [rows.place_of(name) for name in named]
    if len(set(columns)) < len(columns):
        raise ValueError(f"features names the column {rows.names[columns[0]]!r} twice")
    return columns


def _custom(rows: Rows, given: Any, columns: list[int]) -> dict[int, Any]:
    """Points that a user gave, by the numbers of their columns."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"custom_values must map columns to their points, as {{{rows.names[columns[0]]!r}: "
            f"[...]}}; got {given!r}"
        )
    custom = {rows.place_of(name): points for name, points in given.items()}
    for column in custom:
        if column not in columns:
            raise ValueError(
                f"custom_values has points for {rows.names[column]!r}, which is not among features"
            )
    return custom


def _weights(sample_weight: Any, rows: Rows) -> Floats:
    """Weights of the rows, of which the largest is 1."""
    if sample_weight is None:
        return np.ones(rows.n_rows)
    weight: Floats = _check_sample_weight(
        sample_weight, rows.native, dtype=np.float64, ensure_non_negative=True
    )
    largest = weight.max()
    if largest == 0.0:
        raise ValueError("sample_weight is 0 in every row: give some row a positive weight")
    return np.asarray(weight / largest)  # the sum itself may be beyond float64


def _averages(
    read: OutputReader,
    rows: Rows,
    axes: dict[int, Floats],
    weight: Floats,
    n_outputs: int,
    *,
    keep: bool,
    centered: bool,
) -> tuple[Floats, Floats | None]:
    """Mean answers at the points of a grid, and those of each row."""
    shape = tuple(len(points) for points in axes.values())
    n_points = int(np.prod(shape))
    average = np.zeros((n_points, n_outputs))
    individual = np.empty((rows.n_rows, n_points, n_outputs)) if keep else None
    share = weight / weight.sum()
    for part, points, said in curves(read, rows, axes):
        average[points] += np.einsum("r,rpk->pk", share[part], said)
        if individual is not None:
            individual[part, points] = said
    if centered:
        average -= average[:1].copy()
        if individual is not None:
            individual -= individual[:, :1].copy()
    by_output = average.T.reshape(n_outputs, *shape)
    if individual is None:
        return by_output, None
    return by_output, np.moveaxis(individual, 2, 0).reshape(n_outputs, rows.n_rows, *shape)


def _density(rows: Rows, column: int, points: Floats) -> npt.NDArray[Any]:
    """Values that the rows hold, or how many rows are at each point."""
    values = rows.values(column)
    missing = np.isnan(values)
    if not rows.categorical[column]:
        return values[~missing]
    counts = np.bincount(values[~missing].astype(np.intp), minlength=len(rows.levels(column)))
    places = np.where(np.isnan(points), 0, points).astype(np.intp)
    return np.where(np.isnan(points), missing.sum(), counts[places])
