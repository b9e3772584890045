"""What a fitted forest answers: mean votes, leaves, importances, and of the rows left out."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import is_regressor
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._engine.forest import Forest as Trees
from arboleda._engine.forest import Voting
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import SparseTable, Table
from arboleda._engine.target import check_squares, read_target
from arboleda._engine.threads import resolve_n_jobs, threads_for
from arboleda._out_of_bag import OobCurve
from arboleda._predictor import PredictsRows
from arboleda._staged_scores import StagedScores
from arboleda.forest._bags import Bags, BagsField
from arboleda.forest._kept_rows import KeptRows, KeptRowsField
from arboleda.forest._left_out import LeftOut
from arboleda.forest._members import LazySequence
from arboleda.forest._permutation_importance import PermutationImportance
from arboleda.persist import Field, ForestPart, Integer
from arboleda.tree._decision_tree import DecisionTree
from arboleda.tree._tree_learner import Array, Floats, TreeLearner


class ForestModel(StagedScores, PredictsRows, TreeLearner):
    """Trees, and how their rows were drawn."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **TreeLearner._fitted_attributes,
        "forest_": ForestPart(),
        "seed_": Integer(),
        "_bags": BagsField(),
        "kept_": KeptRowsField(),
    }

    _predicts_mean: ClassVar[bool] = True  # or something else of the trees, as their median

    forest_: Trees
    seed_: int
    _bags: Bags | None  # None where the trees of several fits saw different tables
    kept_: KeptRows | None  # the same, and None without keep_rows

    @abstractmethod
    def _has_the_target_of(self, other: Self) -> bool:
        """Whether another one learned a target of the same outputs and classes."""

    @property
    @abstractmethod
    def _voting(self) -> Voting:
        """How leaves vote."""

    @property
    @abstractmethod
    def estimator_(self) -> DecisionTree:
        """A tree like those of the forest, not fitted."""

    # Rows left out

    def _left_out(
        self, trees: Trees, table: Table | SparseTable, target: Array, first_tree: int = 0
    ) -> LeftOut:
        if self._bags is None:
            raise ValueError(
                "the trees of this forest saw different tables (warm_start=True), so the rows they "
                "left out are not known: fit a clone"
            )
        if self._bags.kind == "all":
            raise ValueError(
                "the trees of this forest saw all rows, so there is none to judge them by: set "
                "bootstrap=True and fit again"
            )
        return LeftOut(
            trees,
            table,
            target,
            () if is_regressor(self) else self._value_widths(),
            self._bags,
            self._voting,
            resolve_n_jobs(self.n_jobs),
            first_tree,
        )

    def _check_judged(self, target: Array) -> None:
        """Refuse targets whose error on the rows left out is beyond float64."""
        if is_regressor(self) and self._bags is not None:
            check_squares(np.delete(target, self._bags.unused, axis=0))

    def _training_rows(self, X: Any, y: Any) -> LeftOut:
        """The rows that `fit` was given, given again."""
        table = self._check_input(X)
        other = copy.copy(self)
        target = other._encode_target(read_target(y, numeric=is_regressor(self)))
        check_consistent_length(table, target)
        if self._bags is not None and table.n_rows != self._bags.n_rows:
            raise ValueError(
                f"X has {table.n_rows} rows, but the forest was fitted on {self._bags.n_rows}: "
                "give the training rows, in their order"
            )
        if not self._has_the_target_of(other):
            raise ValueError(
                "y has other classes or another number of outputs than the target that the forest "
                "was fitted on: give the training rows, in their order"
            )
        self._check_judged(target)
        return self._left_out(self.forest_, table, target)

    def oob_curve(self, X: Any = None, y: Any = None) -> OobCurve:
        """Out-of-bag error after each number of trees.

        Only trees that did not see a row vote on it. Breiman (2001), section 3.1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The training rows, in their order. Not needed where ``fit`` has looked at the rows left
            out: with ``oob_score`` or ``n_estimators="auto"``.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their target.

        Returns
        -------
        curve : OobCurve
            ``n_estimators``, ``error`` (share of misclassified rows, or mean squared error) and
            ``n_rows`` (rows judged: those that a tree so far left out).

        Raises
        ------
        ValueError
            If the trees saw all rows, or X and y are needed or are not those of ``fit``.
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("X and y belong together: give both or neither")
        if X is not None:
            return self._training_rows(X, y).curve()
        if not hasattr(self, "_oob_curve"):
            raise ValueError(
                "the curve was not kept: fit with oob_score=True, or give the training rows, "
                "oob_curve(X, y)"
            )
        curve: OobCurve = self._oob_curve
        return curve

    def oob_permutation_importance(self, X: Any, y: Any) -> PermutationImportance:
        """How much worse each tree gets on its left-out rows when a column is permuted there.

        Each tree judges by itself the rows that it did not see, as they are and with the values of
        one column permuted among them. A tree that does not ask a column loses nothing. Breiman
        (2001), section 10.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows, in their order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their target.

        Returns
        -------
        importance : PermutationImportance
            With ``importances`` of each tree, their ``mean``, ``standard_error`` and ``z_score``,
            and ``to_frame()``. The same forest and rows give the same numbers.

        Raises
        ------
        ValueError
            If the trees saw all rows, or X and y are not those of ``fit``.
        """
        increases = self._training_rows(X, y).permutation()
        judged = ~np.isnan(increases).any(axis=1)
        if not judged.any():
            raise ValueError("no tree left a row out: fit with more rows")
        return PermutationImportance(increases[judged], self.schema_)

    @property
    def estimators_samples_(self) -> Sequence[npt.NDArray[np.int64]]:
        """Rows that each tree saw, ascending, as often as they were drawn; made when asked for."""
        check_is_fitted(self)
        bags = self._bags
        if bags is None:
            raise ValueError(
                "the trees of this forest saw different tables (warm_start=True), so the rows they "
                "drew are not known"
            )
        return LazySequence(bags.drawn, self.n_estimators_)

    # Answers

    def _mean_votes(self, X: Any) -> Floats:
        table = self._check_input(X)
        return self.forest_.votes(table, self._voting, threads_for(table, self.n_jobs))

    def _staged_votes(self, X: Any) -> Iterator[Floats]:
        table = self._check_input(X)
        return self.forest_.iter_votes(table, self._voting, threads_for(table, self.n_jobs))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions of the first tree, the first two, ..., all trees.

        Each is what `predict` of the forest of so many trees returns; the last is that of
        `predict`, bit for bit. One pass over the trees computes all of them, and one stage at a
        time is held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return map(self._predictions_by, self._staged_votes(X))

    def _row_predictor(self) -> RowPredictor:
        return self.forest_.row_predictor(self._voting)

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Index of the leaf that each row reaches in each tree.

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
        """Nodes that each row passes in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, nodes of all trees)
            1 where the row passes the node.
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
        """The trees as decision trees, each made when it is asked for."""
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
        """Decrease of impurity by each column, mean over the trees, normalised to sum 1.

        All 0 if no tree has a split. Breiman (2001), section 10.
        """
        check_is_fitted(self)
        return self.forest_.compute_feature_importances()

    def relative_importance(self) -> Floats:
        """Decrease of impurity by each column, the largest being 100.

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
            return "the leaves do not hold as many numbers as the header implies"
        defect = self.forest_.defect(self.schema_.n_levels) or self._defect_of_rows()
        return defect or super()._defect()

    def _defect_of_rows(self) -> str | None:
        kept, bags = self.kept_, self._bags
        if kept is None:
            return None
        n_rows, n_outputs = kept.target.shape
        if not self.forest_.keeps_rows or bags is None or n_rows != bags.n_rows:
            return "targets are kept of other rows than those of the leaves"
        if n_outputs != self.n_outputs_:
            return "targets are kept of another number of outputs than the header implies"
        if is_regressor(self):
            return None
        labels = kept.target
        if (labels < 0).any() or (labels >= self._value_widths()).any() or (labels % 1).any():
            return "a target that is kept is none of the classes"
        return None
