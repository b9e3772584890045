"""Shapley values of the columns: what each adds to what a tree ensemble says of a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from arboleda._bridge.threads import resolve_n_jobs
from arboleda._frames import new_frame
from arboleda.explain._explainable import Scale
from arboleda.explain._rows import Rows, read_rows
from arboleda.explain._tree_models import explainable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ShapValues", "shap_values"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ShapValues:
    """What each column adds to what a model says of each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_outputs)
        With ``base_values`` they add up to what the model says. Two dimensions where it says one
        number. Exactly 0 for a column that no tree asks.
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
    scale: Scale = field(default="value")

    @property
    def scores(self) -> Floats:
        """What the model says of the rows: the values and the base together."""
        return self.base_values + self.values.sum(axis=1)

    def to_frame(self) -> pd.DataFrame:
        """Return one line for each row, output and column, where pandas is installed.

        Returns
        -------
        frame : DataFrame
            With the columns ``row``, ``output``, ``feature``, ``data`` and ``value``.
        """
        n_rows, n_columns = self.values.shape[:2]
        n_outputs = len(self.output_names)
        by_output = self.values.reshape(n_rows, n_columns, n_outputs).transpose(0, 2, 1)
        each = n_columns * n_outputs
        return new_frame(
            {
                "row": np.repeat(np.arange(n_rows), each),
                "output": np.tile(np.repeat(np.array(self.output_names), n_columns), n_rows),
                "feature": np.tile(np.array(self.feature_names), n_rows * n_outputs),
                "data": np.repeat(self.data[:, np.newaxis], n_outputs, axis=1).ravel(),
                "value": by_output.ravel(),
            }
        )

    def to_shap(self) -> Any:
        """Return a ``shap.Explanation`` for the plots of the package shap.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        try:
            from shap import Explanation
        except ModuleNotFoundError as error:
            raise ImportError("shap.Explanation needs shap: pip install shap") from error
        several = self.values.ndim == 3
        return Explanation(
            self.values,
            base_values=self.base_values,
            data=self.data,
            feature_names=list(self.feature_names),
            output_names=list(self.output_names) if several else None,
        )


def shap_values(model: Any, X: Any, *, n_jobs: int | None = None) -> ShapValues:
    """Part what a tree ensemble says of each row over the columns, exactly.

    The Shapley value of a column is the mean, over all orders of the columns, of how much the
    expected score changes when the column becomes known after those before it. What is not known
    is averaged over by the weights of the training rows in the nodes of the trees ("path
    dependent").

    Parameters
    ----------
    model : estimator
        A fitted decision tree, forest, bagged trees, random subspaces, class switching, gradient
        boosting or boosted classifier of this library, a mean of such (`VotingClassifier` with
        ``voting="soft"``, `VotingRegressor`), or a pipeline that ends in one.
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        The rows to explain, as the model takes them. A pipeline explains the columns that its last
        step gets.
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
        If what it says is no sum over trees, or X has other columns than the model was fitted on.

    Notes
    -----
    What is parted: of boosting, the raw score (log-odds, or the logarithm of the mean for losses of
    counts); of trees, forests and bagging, the mean of what leaves say, which is a probability or a
    value. A categorical column that boosting reads through statistics of the target is one column,
    however many numbers stand for it.

    References
    ----------
    Lundberg, S. M., Erion, G., Lee, S.-I. (2018), "Consistent individualized feature attribution
    for tree ensembles", algorithm 1. Owen, G. (1972), "Multilinear extensions of games", Management
    Science 18. Yu, P., Bifet, A., Read, J., Xu, C. (2022), "Linear TreeSHAP", NeurIPS 35.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor
    >>> from arboleda.explain import shap_values
    >>> tree = DecisionTreeRegressor().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 4])
    >>> shap_values(tree, [[1, 1], [0, 1]]).values.tolist()
    [[1.5, 1.5], [-1.5, 0.5]]
    """
    model, X, names = _last_step(model, X)
    read = explainable(model)
    n_threads = resolve_n_jobs(n_jobs)
    found = read.shares(X, n_threads)
    rows = read_rows(X, model)
    order = _fitted_order(model, rows)
    one = len(read.output_names) == 1
    values = found.values[:, :, 0] if one else found.values
    base = np.tile(found.base, (rows.n_rows, 1))
    return ShapValues(
        values,
        base[:, 0] if one else base,
        _data_of(rows, order),
        tuple(rows.names[j] for j in order) if names is None else names,
        read.output_names,
        read.scale,
    )


def _last_step(model: Any, X: Any) -> tuple[Any, Any, tuple[str, ...] | None]:
    """Return the model at the end of pipelines, the rows as it gets them, and names they got."""
    names = None
    while isinstance(model, Pipeline):
        before, model = model[:-1], model[-1]
        if len(before) > 0:
            check_is_fitted(before)
            X = before.transform(X)
            names = _names_from(before)
    return model, X, names


def _names_from(before: Pipeline) -> tuple[str, ...] | None:
    """Names of the columns that a pipeline makes, where all its steps tell them."""
    try:
        return tuple(map(str, before.get_feature_names_out()))
    except (AttributeError, ValueError):
        return None


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
