"""Base of the fitted boosting models: raw scores, leaves and shape functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from arboleda._base.fitted import check_fitted
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.predictor import RowPredictorMixin
from arboleda._engine.coded_rows import iterate_thresholds
from arboleda._engine.coded_table import CodedTable
from arboleda._engine.columns import Schema
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import DenseTable, SparseTable, check_table
from arboleda.boosting._category_encoding import find_statistics_defect, replaced_table
from arboleda.boosting._cross_columns import append_crosses, count_crosses, extend_row
from arboleda.boosting._init_score import read_init_score
from arboleda.boosting._losses import Loss, LossField
from arboleda.boosting._round_monitor import HistoryField
from arboleda.boosting._shape_functions import ShapeFunctions, shape_functions
from arboleda.boosting._target_statistics import TargetStatistics, TargetStatisticsField
from arboleda.persist import EnsemblePart, Field, Integer, SavedArray, SavedModel

Floats = npt.NDArray[np.float64]


class BoostedModel(NamesOtherParameters, SavedModel, RowPredictorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted model: initial scores, trees, schema of the columns, and history of the rounds."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "ensemble_": EnsemblePart(),
        "history_": HistoryField(),
        "loss_": LossField(),
        "missing_columns_": SavedArray(np.int64),
        "seed_": Integer(),
        "statistics_": TargetStatisticsField(),
    }

    ensemble_: Ensemble
    history_: dict[str, Floats]
    loss_: Loss
    missing_columns_: npt.NDArray[np.int64]
    n_features_in_: int
    n_jobs: int | None
    schema_: Schema
    seed_: int
    statistics_: TargetStatistics

    @property
    def _crossed_columns(self) -> Sequence[int]:
        """Columns whose differences and products the trees read, too."""
        return ()

    @property
    def best_iteration_(self) -> int:
        """Number of rounds of the fitted model; early stopping keeps those up to the best one."""
        check_is_fitted(self)
        return self.ensemble_.n_rounds

    @property
    def n_trees_per_iteration_(self) -> int:
        """Number of trees per round: 1, or that of classes (if > 2), labels or quantiles."""
        check_is_fitted(self)
        return self.ensemble_.n_outputs

    def _check_input(self, X: Any) -> DenseTable | SparseTable:
        check_fitted(self)
        if isinstance(X, CodedTable):
            X._file_rows.refuse()
        return self._encode_table(check_table(self, X, reset=False))

    def _encode_table(self, table: DenseTable | SparseTable) -> DenseTable | SparseTable:
        """Return a checked table as the trees read it."""
        return append_crosses(replaced_table(self.statistics_, table), self._crossed_columns)

    @property
    def _n_tree_columns(self) -> int:
        """Number of columns that the trees read."""
        return len(self._tree_levels)

    @property
    def _tree_levels(self) -> tuple[int, ...]:
        """Number of levels of each column that the trees read; 0 for a numeric one."""
        n_levels = self.statistics_.n_levels(self.schema_.n_levels)
        return (*n_levels, *[0] * count_crosses(self._crossed_columns))

    def _raw_scores(self, X: Any) -> Floats:
        """Return raw scores of shape (n_samples, n_trees_per_iteration_)."""
        if isinstance(X, CodedTable):
            return self._coded_scores(X)
        table = self._check_input(X)
        return self.ensemble_.scores(table, resolve_threads(table, self.n_jobs))

    def _coded_scores(self, X: CodedTable) -> Floats:
        """Return the raw scores of the rows of a file."""
        check_fitted(self)
        if self.statistics_.columns or len(self._crossed_columns):
            raise ValueError(
                "the trees read values that are computed from columns, and a CodedTable has none: "
                "pass the original table"
            )
        rows = X._file_rows
        ensemble, n_threads = self.ensemble_, resolve_n_jobs(self.n_jobs)
        thresholds = iterate_thresholds(ensemble.trees, self.schema_.n_levels)
        if ensemble.has_linear_leaves:
            rows.refuse()
        return rows.predict_blocks(lambda part: ensemble.scores(part, n_threads), self, thresholds)

    def _offset_scores(self, X: Any, init_score: Any) -> Floats:
        """Return the raw scores plus the initial scores, if there are any."""
        raw = self._raw_scores(X)
        if init_score is None:
            return raw
        n_rows, n_outputs = raw.shape
        summed: Floats = raw + read_init_score(init_score, n_rows, n_outputs, "init_score")
        return summed

    def _row_predictor(self) -> RowPredictor:
        return self.ensemble_.row_predictor(self._n_tree_columns)

    def _category_numbers(self) -> Mapping[int, Floats]:
        return dict(zip(self.statistics_.columns, self.statistics_.values, strict=True))

    def _row_extension(self) -> Callable[[list[float]], list[float]] | None:
        if not len(self._crossed_columns):
            return None
        return partial(extend_row, crossed=self._crossed_columns)

    def _staged_raw_scores(self, X: Any) -> Iterator[Floats]:
        """Yield the raw scores after each round."""
        table = self._check_input(X)
        return self.ensemble_.staged_scores(table, resolve_n_jobs(self.n_jobs))

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the index of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_rounds) or (n_samples, n_rounds, n_trees)
            Three dimensions for classifiers and for several quantiles: a round has one tree per
            class (a single one for two classes) or quantile.
        """
        table = self._check_input(X)
        leaves = self.ensemble_.apply(table, resolve_n_jobs(self.n_jobs))
        n_trees = self.ensemble_.n_outputs
        if n_trees == 1 and not is_classifier(self):
            return leaves
        return leaves.reshape(table.n_rows, self.ensemble_.n_rounds, n_trees)

    def shape_functions(self) -> ShapeFunctions:
        """Return the shape functions of an additive model, one per column.

        A model whose trees split on one column each is a sum of functions of single columns: trees
        of depth 1 (``max_depth=1`` or ``max_leaf_nodes=2``), or larger ones grown with
        ``interaction_cst="no_interactions"``. Hastie and Tibshirani (1990), "Generalized additive
        models"; Lou, Caruana and Gehrke (2012).

        Returns
        -------
        shapes : ShapeFunctions
            A sequence of functions whose sum with ``intercept`` is the raw score: the log-odds in
            classification, the logarithm of the mean for the Poisson, gamma and Tweedie losses,
            and the prediction itself otherwise. It has methods ``to_frame()`` and ``plot(ax=)``.

        Raises
        ------
        ValueError
            If a tree splits on more than one column or on crosses of them, or leaves are linear.

        Examples
        --------
        >>> from arboleda import HistGradientBoostingRegressor
        >>> X = [[float(i), float(j)] for i in range(4) for j in range(2)] * 20
        >>> y = [row[0] + 2 * row[1] for row in X]
        >>> model = HistGradientBoostingRegressor(max_leaf_nodes=2).fit(X, y)
        >>> shapes = model.shape_functions()
        >>> shapes[1].at([0.0, 1.0]).round(1).tolist()
        [-1.0, 1.0]
        """
        check_is_fitted(self)
        if len(self._crossed_columns):
            raise ValueError(
                "the trees split on differences and products of columns, and the model is not a "
                "sum of functions of single columns: fit with cross_columns=False"
            )
        return shape_functions(self.ensemble_, self.schema_, self.statistics_)

    def _defect(self) -> str | None:
        if self.loss_.n_outputs != self.ensemble_.n_outputs:
            return "the trees and the loss have different numbers of scores"
        if not np.isin(self.missing_columns_, np.arange(self.n_features_in_)).all():
            return "missing_columns_ holds numbers of columns that do not exist"
        defect = find_statistics_defect(self.statistics_, self.schema_)
        return defect or self.ensemble_.defect(self._tree_levels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
