"""Fitted forests: mean votes, leaves, importances and out-of-bag estimates."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.fitted import check_fitted
from arboleda._base.held_out import OobCurve
from arboleda._base.mixins import LazySequence, StagedScores
from arboleda._base.predictor import RowPredictorMixin
from arboleda._base.tree_learner import Array, Floats, TreeLearner
from arboleda._engine.coded_rows import iterate_thresholds
from arboleda._engine.coded_table import CodedTable
from arboleda._engine.forest import Forest as Trees
from arboleda._engine.forest import Voting
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import DenseTable, SparseTable
from arboleda._engine.target import check_squares, read_target
from arboleda.forest._out_of_bag import OobPredictions, PermutationImportance
from arboleda.forest._training_rows import Bags, BagsField, KeptRows, KeptRowsField
from arboleda.persist import Field, ForestPart, Integer
from arboleda.tree import DecisionTree


class ForestModel(StagedScores, RowPredictorMixin, TreeLearner):
    """A fitted forest and the sampling scheme of its rows."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **TreeLearner._fitted_attributes,
        "forest_": ForestPart(),
        "seed_": Integer(),
        "_bags": BagsField(),
        "kept_": KeptRowsField(),
    }

    _predicts_mean: ClassVar[bool] = True  # False: another statistic, such as the median

    forest_: Trees
    seed_: int
    _bags: Bags | None  # None if several fits used different tables
    kept_: KeptRows | None  # None likewise, and without keep_rows

    @abstractmethod
    def _has_same_target(self, other: Self) -> bool:
        """Return whether another forest was fitted on the same outputs and classes."""

    @property
    @abstractmethod
    def _voting(self) -> Voting:
        """Voting of the leaves."""

    @property
    @abstractmethod
    def estimator_(self) -> DecisionTree:
        """An unfitted tree with the parameters of the forest's trees."""

    # Out-of-bag estimates

    def _make_oob_predictions(
        self, trees: Trees, table: DenseTable | SparseTable, target: Array, first_tree: int = 0
    ) -> OobPredictions:
        if self._bags is None:
            raise ValueError(
                "the trees of this forest were fitted on different tables (warm_start=True), so "
                "their out-of-bag rows are unknown: fit a clone"
            )
        if self._bags.kind == "all":
            raise ValueError(
                "the trees of this forest were fitted on all rows, so there are no out-of-bag "
                "rows: set bootstrap=True and refit"
            )
        return OobPredictions(
            trees,
            table,
            target,
            self._value_widths() if is_classifier(self) else (),
            self._bags,
            self._voting,
            resolve_n_jobs(self.n_jobs),
            first_tree,
        )

    def _check_oob_target(self, target: Array) -> None:
        """Raise an error if the out-of-bag error would overflow float64."""
        if is_regressor(self) and self._bags is not None:
            check_squares(np.delete(target, self._bags.unused, axis=0))

    def _training_rows(self, X: Any, y: Any) -> OobPredictions:
        """Check that X and y match the training rows; return their out-of-bag predictions."""
        table = self._check_input(X)
        other = copy.copy(self)
        target = other._encode_target(read_target(y, numeric=is_regressor(self)))
        check_consistent_length(table, target)
        if self._bags is not None and table.n_rows != self._bags.n_rows:
            raise ValueError(
                f"X has {table.n_rows} rows, but the forest was fitted on {self._bags.n_rows}: "
                "pass the training rows, in their order"
            )
        if not self._has_same_target(other):
            raise ValueError(
                "y has different classes or a different number of outputs than the training "
                "target: pass the training rows, in their order"
            )
        self._check_oob_target(target)
        return self._make_oob_predictions(self.forest_, table, target)

    def oob_curve(self, X: Any = None, y: Any = None) -> OobCurve:
        """Compute the out-of-bag error for each number of trees.

        Only trees fitted without a row vote on it. Breiman (2001), section 3.1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The training rows, in their order. Not needed if the forest was fitted with
            ``oob_score`` or ``n_estimators="auto"``.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their target.

        Returns
        -------
        curve : OobCurve
            ``n_estimators``, ``error`` (misclassification rate or mean squared error) and
            ``n_rows`` (rows that are out of bag for at least one of the trees).

        Raises
        ------
        ValueError
            If the trees were fitted on all rows, or X and y are required, or are not those of
            ``fit``.
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("X and y must be passed together: pass both or neither")
        if X is not None:
            return self._training_rows(X, y).compute_curve()
        if not hasattr(self, "_oob_curve"):
            raise ValueError(
                "the out-of-bag curve was not computed: fit with oob_score=True, or pass the "
                "training rows: oob_curve(X, y)"
            )
        curve: OobCurve = self._oob_curve
        return curve

    def oob_permutation_importance(self, X: Any, y: Any) -> PermutationImportance:
        """Compute the increase of each tree's out-of-bag error when a column is permuted.

        Each tree predicts its out-of-bag rows, unchanged and with the values of one column permuted
        among them. The increase is 0 for columns that the tree does not split on. Breiman (2001),
        section 10.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows, in their order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their target.

        Returns
        -------
        importance : PermutationImportance
            With ``importances`` per tree, their ``mean``, ``standard_error`` and ``z_score``, and
            ``to_frame()``. The result is deterministic.

        Raises
        ------
        ValueError
            If the trees were fitted on all rows, or X and y are not those of ``fit``.
        """
        increases = self._training_rows(X, y).compute_permutation_increases()
        has_votes = ~np.isnan(increases).any(axis=1)
        if not has_votes.any():
            raise ValueError("no tree has an out-of-bag row: fit on more rows")
        return PermutationImportance(increases[has_votes], self.schema_)

    @property
    def estimators_samples_(self) -> Sequence[npt.NDArray[np.int64]]:
        """Training rows of each tree, ascending, with repeats; drawn again on access."""
        check_is_fitted(self)
        bags = self._bags
        if bags is None:
            raise ValueError(
                "the trees of this forest were fitted on different tables (warm_start=True), so "
                "their bootstrap samples are unknown: fit a clone"
            )
        return LazySequence(bags.draw_rows, self.n_estimators_)

    # Predictions

    def _mean_votes(self, X: Any) -> Floats:
        if isinstance(X, CodedTable):
            return self._coded_votes(X)
        table = self._check_input(X)
        return self.forest_.votes(table, self._voting, resolve_threads(table, self.n_jobs))

    def _coded_votes(self, X: CodedTable) -> Floats:
        """Return the mean votes for the rows of a file."""
        check_fitted(self)
        forest, n_threads = self.forest_, resolve_n_jobs(self.n_jobs)
        trees = (forest.tree(number) for number in range(forest.n_trees))
        thresholds = iterate_thresholds(trees, self.schema_.n_levels)
        return X._file_rows.predict_blocks(
            lambda part: forest.votes(part, self._voting, n_threads), self, thresholds
        )

    def _staged_votes(self, X: Any) -> Iterator[Floats]:
        table = self._check_input(X)
        return self.forest_.iter_votes(table, self._voting, resolve_threads(table, self.n_jobs))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions of the first tree, the first two, ..., all trees.

        Each is the result of `predict` for a forest of that many trees; the last equals that of
        `predict`, bit for bit. All are computed in one pass over the trees, and only one stage is
        in memory at a time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return map(self._decode_predictions, self._staged_votes(X))

    def _row_predictor(self) -> RowPredictor:
        return self.forest_.row_predictor(self._voting)

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the index of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
            Indices into the arrays of each tree's ``tree_``.
        """
        table = self._check_input(X)
        return self.forest_.apply(table, resolve_n_jobs(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[csr_matrix, npt.NDArray[np.int64]]:
        """Return the nodes on each row's path in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, nodes of all trees)
            1 if the row passes through the node.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The columns of tree i are those from ``n_nodes_ptr[i]`` up to ``n_nodes_ptr[i + 1]``.
        """
        table = self._check_input(X)
        return self.forest_.decision_path(table, resolve_n_jobs(self.n_jobs))

    @property
    def n_estimators_(self) -> int:
        """Number of trees."""
        check_is_fitted(self)
        return self.forest_.n_trees

    @property
    def estimators_(self) -> Sequence[DecisionTree]:
        """The trees as decision trees, created on access."""
        check_is_fitted(self)
        return LazySequence(self._member, self.n_estimators_)

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.n_estimators_

    def __getitem__(self, number: int) -> DecisionTree:
        """Return a tree as a decision tree."""
        return self.estimators_[number]

    def __iter__(self) -> Iterator[DecisionTree]:
        """Iterate over the trees as decision trees."""
        return iter(self.estimators_)

    def _member(self, number: int) -> DecisionTree:
        tree = self.estimator_
        fitted = {*tree._fitted_attributes, "schema_", "n_features_in_", "feature_names_in_"}
        for name in sorted(fitted - {"tree_"}):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree.tree_ = self.forest_.tree(number)
        return tree

    @property
    def feature_importances_(self) -> Floats:
        """Mean decrease of impurity by each column, normalised to sum 1.

        All 0 if no tree has a split. Breiman (2001), section 10.
        """
        check_is_fitted(self)
        return self.forest_.compute_feature_importances()

    def relative_importance(self) -> Floats:
        """Compute the decrease of impurity by each column, scaled to a maximum of 100.

        Hastie, Tibshirani, Friedman (2009), section 10.13.1.

        Returns
        -------
        importance : ndarray of shape (n_features,)
            `feature_importances_`, divided by its largest entry, times 100; all 0 if no tree has a
            split.
        """
        importance = self.feature_importances_
        largest = importance.max()
        return 100.0 * (importance / largest) if largest > 0.0 else importance

    def _defect(self) -> str | None:
        if self.forest_.widths != self._value_widths():
            return "the leaves hold a different number of values than the header implies"
        defect = self.forest_.defect(self.schema_.n_levels) or self._find_defect_of_rows()
        return defect or super()._defect()

    def _find_defect_of_rows(self) -> str | None:
        kept, bags = self.kept_, self._bags
        if kept is None:
            return None
        n_rows, n_outputs = kept.target.shape
        if not self.forest_.keeps_rows or bags is None or n_rows != bags.n_rows:
            return "the kept targets do not belong to the rows of the leaves"
        if n_outputs != self.n_outputs_:
            return "the kept targets have a different number of outputs than the header implies"
        if is_regressor(self):
            return None
        labels = kept.target
        if (labels < 0).any() or (labels >= self._value_widths()).any() or (labels % 1).any():
            return "a kept target is not one of the classes"
        return None
