"""Shapley values of the columns: what each adds to what a tree ensemble says of a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from arboleda._engine.threads import resolve_n_jobs
from arboleda._frames import new_frame
from arboleda._sparse import check_sparse
from arboleda.explain._explainable import Question, Scale
from arboleda.explain._rows import Rows, read_rows
from arboleda.explain._tree_models import explainable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ShapValues", "shap_values"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# Rows of a background: more tell no more, and take long.
MOST_BACKGROUND = 4096


@dataclass(frozen=True, eq=False)
class ShapValues:
    """What each column adds to what a model says of each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_outputs)
        With ``base_values`` they add up to what the model says. Two dimensions where it says one
        number. Exactly 0 for a column that no tree asks. Of interactions (n_rows, n_columns,
        n_columns) or with the outputs at the end: a symmetric matrix a row, whose rows sum to the
        values.
    base_values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        What it says where nothing is known of a row.
    data : ndarray of shape (n_rows, n_columns)
        The rows: float64, or objects where columns hold categories.
    feature_names : tuple of str
    output_names : tuple of str
        Classes, or ``("value",)``.
    scale : {"margin", "probability", "value"}
        What the numbers are: raw scores of boosting, such as log-odds; probabilities of classes;
        or the values that a regressor predicts.
    """

    values: Floats
    base_values: Floats
    data: Array
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    scale: Scale

    @property
    def scores(self) -> Floats:
        """What the model says of the rows: the values and the base together."""
        found: Floats = self.base_values + self._of_columns.sum(axis=1)
        return found

    @property
    def of_pairs(self) -> bool:
        """Whether the values are those of pairs of columns."""
        return self.values.ndim - self.base_values.ndim == 2

    @property
    def _of_columns(self) -> Floats:
        """The values of columns by themselves."""
        found: Floats = self.values.sum(axis=2) if self.of_pairs else self.values
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one line for each row, output and column, where pandas is installed.

        Returns
        -------
        frame : DataFrame
            With the columns ``row``, ``output``, ``feature``, ``data`` and ``value``; of
            interactions also ``other``, the second column of a pair.
        """
        n_rows, n_columns = self.values.shape[:2]
        n_outputs, n_others = len(self.output_names), n_columns if self.of_pairs else 1
        by_output = np.moveaxis(self.values.reshape(n_rows, n_columns, n_others, n_outputs), 3, 1)
        row, output, column, other = (
            place.ravel() for place in np.indices(by_output.shape, dtype=np.intp)
        )
        names = np.array(self.feature_names, dtype=object)
        table = {
            "row": row,
            "output": np.array(self.output_names, dtype=object)[output],
            "feature": names[column],
            "data": self.data[row, column],
            "value": by_output.ravel(),
        }
        return new_frame({**table, "other": names[other]} if self.of_pairs else table)

    def plot(self, ax: Axes | None = None, **options: Any) -> Any:
        """Draw a summary of all rows: see `arboleda.plot.shap_summary`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **options : dict
            Passed to `arboleda.plot.shap_summary`.

        Returns
        -------
        ax : Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from arboleda.plot import shap_summary

        return shap_summary(self._without_pairs(), ax, **options)

    def plot_row(self, row: int, ax: Axes | None = None, **options: Any) -> Any:
        """Draw how the columns add up for one row: see `arboleda.plot.shap_waterfall`.

        Parameters
        ----------
        row : int
            Number of the row, from 0.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **options : dict
            Passed to `arboleda.plot.shap_waterfall`.

        Returns
        -------
        ax : Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from arboleda.plot import shap_waterfall

        return shap_waterfall(self._without_pairs(), ax, row=row, **options)

    def _without_pairs(self) -> ShapValues:
        return replace(self, values=self._of_columns)

    def to_shap(self) -> Any:
        """Return a ``shap.Explanation`` for the plots of the package shap.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        try:
            explanation = import_module("shap").Explanation
        except ModuleNotFoundError as error:
            raise ImportError("shap.Explanation needs shap: pip install shap") from error
        several = self.base_values.ndim == 2
        return explanation(
            self.values,
            base_values=self.base_values,
            data=self.data,
            feature_names=list(self.feature_names),
            output_names=list(self.output_names) if several else None,
        )


def shap_values(
    model: Any,
    X: Any,
    *,
    background: Any = None,
    interactions: bool = False,
    n_jobs: int | None = None,
) -> ShapValues:
    """Part what a tree ensemble says of each row over the columns, exactly.

    The Shapley value of a column is the mean, over all orders of the columns, of how much the
    expected score changes when the column becomes known after those before it. What is not known is
    averaged over by the weights of the training rows in the nodes of the trees ("path dependent"),
    or takes the values of the rows of a background ("interventional").

    Parameters
    ----------
    model : estimator
        A fitted decision tree, forest, bagged trees, random subspaces, class switching, gradient
        boosting or boosted classifier of this library, a mean of such (`VotingClassifier` with
        ``voting="soft"``, `VotingRegressor`, `EnsembleSelectionClassifier`), or a pipeline that
        ends in one.
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        The rows to explain, as the model takes them. A pipeline explains the columns that its last
        step gets.
    background : array-like, frame or sparse matrix of shape (n_background, n_columns), default=None
        1 to 4,096 rows like X. The time grows with their number.
    interactions : bool, default=False
        Whether to tell pairs of columns apart: half of what two columns are worth together beyond
        what each is by itself, and on the diagonal what is left of a column's value. It takes twice
        as many walks through a tree as that asks columns. Not with a background.
    n_jobs : int, default=None
        Number of threads, all cores if None. It changes no bit of the result.

    Returns
    -------
    ShapValues

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    TypeError
        If it does not consist of trees of this library.
    ValueError
        If what it says is no sum over trees, X or the background has other columns than the model
        was fitted on, the background has too many rows, or interactions are asked for against one.

    Notes
    -----
    What is parted: of boosting, the raw score (log-odds, or the logarithm of the mean for losses of
    counts); of trees, forests and bagging, the mean of what leaves say, which is a probability or a
    value. A categorical column that boosting reads through statistics of the target is one column,
    however many numbers stand for it.

    References
    ----------
    Lundberg, S. M., Erion, G., Lee, S.-I. (2018), "Consistent individualized feature attribution
    for tree ensembles", algorithm 1 and equations 8 to 10. Lundberg, S. M., et al. (2020), "From
    local explanations to global understanding with explainable AI for trees", Nature Machine
    Intelligence 2. Owen, G. (1972), "Multilinear extensions of games", Management Science 18. Yu,
    P., Bifet, A., Read, J., Xu, C. (2022), "Linear TreeSHAP", NeurIPS 35.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor
    >>> from arboleda.explain import shap_values
    >>> tree = DecisionTreeRegressor().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 4])
    >>> shap_values(tree, [[1, 1], [0, 1]]).values.tolist()
    [[1.5, 1.5], [-1.5, 0.5]]
    >>> shap_values(tree, [[1, 1]], background=[[0, 1]]).values.tolist()
    [[4.0, 0.0]]
    """
    if interactions and background is not None:
        raise ValueError(
            "interactions=True knows no background: leave background out, or interactions"
        )
    check_sparse(X)
    check_sparse(background, "background")
    before, model = _parted(model)
    X = _after(before, X)
    read = explainable(model)
    n_threads = resolve_n_jobs(n_jobs)
    if background is not None:
        X, background = _of_one_kind(X, _checked_background(_after(before, background)))
    found = read.shares(Question(X, background, bool(interactions), n_threads))
    rows = read_rows(X, model)
    names = _names_from(before)
    order = _fitted_order(model, rows)
    one = len(read.output_names) == 1
    base = np.tile(found.base, (rows.n_rows, 1))
    return ShapValues(
        found.values[..., 0] if one else found.values,
        base[:, 0] if one else base,
        _data_of(rows, order),
        tuple(rows.names[j] for j in order) if names is None else names,
        read.output_names,
        read.scale,
    )


def _parted(model: Any) -> tuple[list[Any], Any]:
    """Return what stands before the model in pipelines, first things first, and the model."""
    before = []
    while isinstance(model, Pipeline):
        if len(model) > 1:
            check_is_fitted(model[:-1])
            before.append(model[:-1])
        model = model[-1]
    return before, model


def _after(before: list[Any], X: Any) -> Any:
    """Return rows as the model gets them."""
    for step in before:
        X = step.transform(X)
    return X


def _names_from(before: list[Any]) -> tuple[str, ...] | None:
    """Names of the columns that a pipeline makes, where all its steps tell them."""
    if not before:
        return None
    try:
        names = before[-1].get_feature_names_out()
    except (AttributeError, ValueError):
        return None
    return None if names is None else tuple(map(str, names))


def _checked_background(background: Any) -> Any:
    n_rows = _num_samples(background)
    if not 1 <= n_rows <= MOST_BACKGROUND:
        raise ValueError(
            f"background has {n_rows:,} rows, and 1 to {MOST_BACKGROUND:,} are needed: give a "
            "random sample of the training rows; a few hundred say as much"
        )
    return background


def _of_one_kind(X: Any, background: Any) -> tuple[Any, Any]:
    """Return both as they are, or both dense where one is sparse."""
    if issparse(X) == issparse(background):
        return X, background
    return tuple(part.toarray() if issparse(part) else part for part in (X, background))


def _fitted_order(model: Any, rows: Rows) -> list[int]:
    """Places of the model's columns: a frame may hold them in another order."""
    fitted = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if sorted(fitted) != sorted(rows.names):
        return list(range(rows.n_columns))
    return [rows.names.index(name) for name in fitted]


def _data_of(rows: Rows, order: list[int]) -> Array:
    """Return the rows' values: numbers, or labels where there are categories."""
    if not any(rows.categorical):
        return np.column_stack([rows.values(j) for j in order])
    data = np.empty((rows.n_rows, rows.n_columns), dtype=object)
    for place, j in enumerate(order):
        values = rows.values(j)
        if not rows.categorical[j]:
            data[:, place] = values
            continue
        labels = np.array([*rows.levels(j), None], dtype=object)
        data[:, place] = labels[np.where(np.isnan(values), -1, values).astype(np.intp)]
    return data
