"""Shapley values of the columns of tree models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.adaboost import WeightedForest
from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.forest import Forest, Voting
from arboleda._engine.tree import Tree

Floats = npt.NDArray[np.float64]


class TreeSum:
    """A fitted model as a sum of trees, whose leaf values add up to the scores.

    Created by `of_tree`, `of_ensemble`, `of_forest` (whose score is the mean vote) and
    `of_members`.

    Parameters
    ----------
    native : _native.ExplainedModel
    """

    def __init__(self, native: _native.ExplainedModel) -> None:
        self._native = native

    @classmethod
    def of_tree(cls, tree: Tree) -> TreeSum:
        """Explain the values of the leaves of one tree."""
        return cls(_native.ExplainedModel.of_tree(tree._native))

    @classmethod
    def of_ensemble(cls, ensemble: Ensemble) -> TreeSum:
        """Explain the scores of an additive ensemble.

        Raises
        ------
        ValueError
            If leaves are linear.
        """
        return cls(_native.ExplainedModel.of_ensemble(ensemble._native))

    @classmethod
    def of_forest(cls, forest: Forest, voting: Voting) -> TreeSum:
        """Explain the mean vote of a forest."""
        native = _native.ExplainedModel.of_forest(forest._native, voting, list(forest.widths))
        return cls(native)

    @classmethod
    def of_members(cls, members: WeightedForest) -> TreeSum:
        """Explain the sums of the votes of weighted members."""
        return cls(_native.ExplainedModel.of_members(members._native))

    @property
    def n_outputs(self) -> int:
        """Number of scores per row."""
        return self._native.n_outputs

    def expected_scores(self) -> Floats:
        """Compute the mean scores of the training rows from leaf weights, of shape (n_outputs,)."""
        return self._native.expected_scores()

    def values(
        self, table: Table | SparseTable, players: Sequence[int], n_players: int, n_threads: int
    ) -> Floats:
        """Compute the Shapley values of players, with absent players averaged by node weights.

        Parameters
        ----------
        table : Table or SparseTable
            The rows.
        players : sequence of int
            Player of each column.
        n_players : int
        n_threads : int
            Number of threads; the result does not depend on it.

        Returns
        -------
        values : ndarray of shape (n_samples, n_players, n_outputs)
            They sum over players to the scores minus `expected_scores`.
        """
        compute: Callable[..., Floats] = self._native.shap_values
        return compute(*table.native, n_threads, list(players), n_players)

    def interactions(
        self, table: Table | SparseTable, players: Sequence[int], n_players: int, n_threads: int
    ) -> Floats:
        """Compute the Shapley interaction values of pairs of players.

        Parameters
        ----------
        table, players, n_players, n_threads
            As in `values`.

        Returns
        -------
        values : ndarray of shape (n_samples, n_players, n_players, n_outputs)
            Symmetric; rows sum to `values`.
        """
        compute: Callable[..., Floats] = self._native.shap_interactions
        return compute(*table.native, n_threads, list(players), n_players)

    def values_against(
        self,
        table: Table | SparseTable,
        background: Table | SparseTable,
        players: Sequence[int],
        n_players: int,
        n_threads: int,
    ) -> tuple[Floats, Floats]:
        """Compute the Shapley values with absent players set to background rows.

        Parameters
        ----------
        table, background : Table or SparseTable
            The rows and the background rows, both dense or both sparse.
        players, n_players, n_threads
            As in `values`.

        Returns
        -------
        values : ndarray of shape (n_samples, n_players, n_outputs)
        base : ndarray of shape (n_outputs,)
            Mean scores of the background rows.
        """
        compute: Callable[..., tuple[Floats, Floats]] = self._native.shap_values_against
        return compute(*table.native, *background.native, n_threads, list(players), n_players)
