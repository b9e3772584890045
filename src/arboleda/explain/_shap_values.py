"""SHAP values: exact contributions of the columns to the predictions of a tree ensemble."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from arboleda._engine.parallel import resolve_n_jobs
from arboleda._utils.frames import new_frame
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse
from arboleda.explain._explainable import Scale, ShapRequest
from arboleda.explain._rows import TableRows, read_rows
from arboleda.explain._tree_models import as_explainable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ShapValues", "shap_values"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# Largest number of background rows: more add little and take long.
MAX_BACKGROUND = 4096


@dataclass(frozen=True, eq=False, repr=False)
class ShapValues(Result):
    """Contribution of each column to the prediction for each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_outputs)
        Together with ``base_values`` they sum to the model's scores. Two dimensions if there is one
        output. Exactly 0 for a column that no tree splits on. For interactions, (n_rows, n_columns,
        n_columns), with the outputs last: one symmetric matrix per row, whose rows sum to the
        values.
    base_values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Expected scores if no column is known.
    data : ndarray of shape (n_rows, n_columns)
        The rows: float64, or objects if there are categorical columns.
    feature_names : tuple of str
    output_names : tuple of str
        Classes, or ``("value",)``.
    scale : {"margin", "probability", "value"}
        Scale of the values: raw scores of boosting, such as log-odds; class probabilities; or the
        values that a regressor predicts.
    """

    values: Floats
    base_values: Floats
    data: Array
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    scale: Scale

    @property
    def scores(self) -> Floats:
        """Scores of the model for the rows: the sum of the values and the base values."""
        found: Floats = self.base_values + self._of_columns.sum(axis=1)
        return found

    @property
    def of_pairs(self) -> bool:
        """Whether the values are interactions of pairs of columns."""
        return self.values.ndim - self.base_values.ndim == 2

    @property
    def _of_columns(self) -> Floats:
        """The values of single columns."""
        found: Floats = self.values.sum(axis=2) if self.of_pairs else self.values
        return found

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_rows": len(self.values),
            "features": self.feature_names,
            "outputs": self.output_names,
            "scale": self.scale,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one line per row, output and column as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            Columns ``row``, ``output``, ``feature``, ``data`` and ``value``; for interactions also
            ``other``, the second column of a pair.
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

    def _make_preview(self) -> pd.DataFrame:
        size = np.abs(self._of_columns).mean(axis=0).reshape(len(self.feature_names), -1)
        order = np.argsort(-size.max(axis=1), kind="stable")
        several = len(self.output_names) > 1
        titles = [f"mean |value| of {name}" for name in self.output_names]
        columns = dict(zip(titles if several else ["mean |value|"], size[order].T, strict=True))
        return new_frame({"feature": [self.feature_names[j] for j in order]} | columns)

    def plot(self, ax: Axes | None = None, **options: Any) -> Any:
        """Plot a summary of all rows: see `arboleda.plot.shap_summary`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: those of a new figure.
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

        return shap_summary(self._sum_pairs(), ax, **options)

    def plot_row(self, row: int, ax: Axes | None = None, **options: Any) -> Any:
        """Plot the contributions for one row: see `arboleda.plot.shap_waterfall`.

        Parameters
        ----------
        row : int
            Index of the row, from 0.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: those of a new figure.
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

        return shap_waterfall(self._sum_pairs(), ax, row=row, **options)

    def _sum_pairs(self) -> ShapValues:
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
            raise ImportError("to_shap requires the package shap: pip install shap") from error
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
    """Compute exact SHAP values of a tree ensemble.

    The Shapley value of a column is the mean, over all orders of the columns, of how much the
    expected score changes when the column becomes known after those before it. Unknown columns are
    averaged over with the weights of the training rows in the nodes of the trees ("path
    dependent"), or take the values of background rows ("interventional").

    Parameters
    ----------
    model : estimator
        A fitted decision tree, forest, bagged trees, random subspaces, class switching, gradient
        boosting or boosted classifier of this library, a mean of these (`VotingClassifier` with
        ``voting="soft"``, `VotingRegressor`, `EnsembleSelectionClassifier`), or a pipeline that
        ends in one.
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        The rows to explain, in the form that the model expects. For a pipeline, the columns of its
        last step are explained.
    background : array-like, frame or sparse matrix of shape (n_background, n_columns), default=None
        1 to 4,096 rows like X. The time is proportional to their number.
    interactions : bool, default=False
        Whether to compute interaction values of pairs of columns: half of the joint contribution of
        two columns beyond their separate ones, with the rest of a column's value on the diagonal.
        It needs two traversals of a tree for each column that the tree splits on. Not with a
        background.
    n_jobs : int, default=None
        Number of threads; None: all cores. The result does not depend on it.

    Returns
    -------
    ShapValues

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    TypeError
        If the model does not consist of trees of this library.
    ValueError
        If the prediction is not a sum over trees, the columns of X or of the background are not
        those that the model was fitted on, the background has too many rows, or interactions are
        combined with a background.

    Notes
    -----
    The explained score is the raw score of boosting (log-odds, or the logarithm of the mean for
    count losses), or the mean of the leaf values of trees, forests and bagging, which is a
    probability or a value. A categorical column that boosting encodes by target statistics is one
    column, however many statistics encode it.

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
            "interactions=True does not support a background: leave out one of the two"
        )
    check_sparse(X)
    check_sparse(background, "background")
    preceding_steps, model = _split_pipeline(model)
    X = _transform(preceding_steps, X)
    explained_model = as_explainable(model)
    n_threads = resolve_n_jobs(n_jobs)
    if background is not None:
        X, background = _match_sparsity(
            X, _check_background(_transform(preceding_steps, background))
        )
    found = explained_model.attribute(ShapRequest(X, background, bool(interactions), n_threads))
    rows = read_rows(X, model)
    names = _read_output_names(preceding_steps)
    order = _find_fitted_order(model, rows)
    one = len(explained_model.output_names) == 1
    base = np.tile(found.base, (rows.n_rows, 1))
    return ShapValues(
        found.values[..., 0] if one else found.values,
        base[:, 0] if one else base,
        _read_data(rows, order),
        tuple(rows.names[j] for j in order) if names is None else names,
        explained_model.output_names,
        explained_model.scale,
    )


def _split_pipeline(model: Any) -> tuple[list[Any], Any]:
    """Split nested pipelines into the preceding transformers, in order, and the model."""
    preceding_steps = []
    while isinstance(model, Pipeline):
        if len(model) > 1:
            check_is_fitted(model[:-1])
            preceding_steps.append(model[:-1])
        model = model[-1]
    return preceding_steps, model


def _transform(preceding_steps: list[Any], X: Any) -> Any:
    """Transform rows with all preceding steps."""
    for step in preceding_steps:
        X = step.transform(X)
    return X


def _read_output_names(preceding_steps: list[Any]) -> tuple[str, ...] | None:
    """Return the names of a pipeline's output columns, if all its steps provide them."""
    if not preceding_steps:
        return None
    try:
        names = preceding_steps[-1].get_feature_names_out()
    except (AttributeError, ValueError):
        return None
    return None if names is None else tuple(map(str, names))


def _check_background(background: Any) -> Any:
    n_rows = _num_samples(background)
    if not 1 <= n_rows <= MAX_BACKGROUND:
        raise ValueError(
            f"background must have 1 to {MAX_BACKGROUND:,} rows, got {n_rows:,}: give a random "
            "sample of a few hundred training rows"
        )
    return background


def _match_sparsity(X: Any, background: Any) -> tuple[Any, Any]:
    """Return both tables unchanged, or both dense if only one is sparse."""
    if issparse(X) == issparse(background):
        return X, background
    return tuple(part.toarray() if issparse(part) else part for part in (X, background))


def _find_fitted_order(model: Any, rows: TableRows) -> list[int]:
    """Return the indices of the model's columns in a frame, which may have another order."""
    fitted = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if sorted(fitted) != sorted(rows.names):
        return list(range(rows.n_columns))
    return [rows.names.index(name) for name in fitted]


def _read_data(rows: TableRows, order: list[int]) -> Array:
    """Return the values of the rows: numbers, and labels of categories."""
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
