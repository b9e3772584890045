"""Histogram-based gradient boosting for rankings: LambdaMART and its relatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_y, check_is_fitted

from arboleda._base.mixins import FixedParameters, restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda._engine.all_shards import AllShards
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.table import DenseTable, SparseTable
from arboleda._engine.target import read_target
from arboleda._utils.ranking import NdcgMeasure, compute_gains
from arboleda.boosting._boosting import Array, Boosting, Floats, Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._hist_gradient_boosting import (
    FeatureWeights,
    ForcedSplits,
    Growth,
    HistGradientBoosting,
    InteractionCst,
    MonotonicCst,
)
from arboleda.boosting._losses import RANKING, Loss
from arboleda.boosting._queries import (
    QueryColumn,
    choose_queries,
    drop_column,
    has_column,
    hold_out_queries,
    read_label_gain,
    read_queries,
    warn_without_pairs,
)
from arboleda.boosting._round_monitor import Callback, EnsembleScorer
from arboleda.boosting._rows import FitProblem, TrainingRows
from arboleda.boosting._shard_queries import make_ndcg_scorer, read_shard_queries
from arboleda.persist import Field, Integer

Codes = npt.NDArray[np.uint32]
RankingLoss = Literal["lambdarank", "pairwise", "xe_ndcg", "yetirank"]

_AT = 10  # ranks of the NDCG that early stopping and `score` use
_SCORED_ROWS = 10_000  # training scores use at most so many rows, and one query


class HistGradientBoostingRanker(FixedParameters, HistGradientBoosting):
    """Histogram-based gradient boosting for rankings (LambdaMART).

    Learns scores that order the rows of each query, such as the documents found for a search, by
    their relevance. Trees are grown as in `HistGradientBoostingRegressor`; the losses compare rows
    of the same query only. The same data and parameters give the same model, byte for byte, for any
    number of threads.

    Parameters
    ----------
    loss : {"lambdarank", "pairwise", "xe_ndcg", "yetirank"}, default="lambdarank"
        "lambdarank": the logistic loss of pairs of rows, each weighted by the change of NDCG if
        both swapped ranks (Burges 2010), and divided by 0.01 plus the difference of their scores as
        in LightGBM. "pairwise": all pairs with weight 1 (Burges et al. 2005). In both, the
        derivatives of a query are scaled so that queries with many pairs do not outweigh others.
        "xe_ndcg": a cross entropy with random targets (Bruch 2021). "yetirank": pairs of neighbours
        in ten random rankings near the present one, each weighted by the difference of their
        relevance divided by the rank (Gulin et al. 2011). Both draw in each round, from
        ``random_state``.
    truncation_level : int, default=30
        For "lambdarank": pairs are formed with the rows of so many first ranks, and NDCG is that of
        these ranks.
    label_gain : array-like, default=None
        Gain of relevance 0, 1, 2, ..: not negative, and not decreasing. None: ``2^y - 1``.
    learning_rate : float, default=0.05
        See `HistGradientBoostingClassifier`. This default, and that of ``min_samples_leaf``, have
        the best NDCG@10 in cross-validation by query on LightGBM's example of rankings.
    max_iter : int, default=100
        Maximum number of rounds.
    max_leaf_nodes, max_depth, l2_regularization, max_features, max_bins
        See `HistGradientBoostingClassifier`.
    min_samples_leaf : int, default=50
        Minimum number of rows of a leaf.
    categorical_features, interaction_cst, warm_start
        See `HistGradientBoostingClassifier`.
    monotonic_cst : array-like of int, dict of str to int, or None, default=None
        Constraint of each column, or of the named columns. 1: the score does not decrease as the
        column increases; -1: it does not increase; 0: unconstrained.
    early_stopping : "auto" or bool, default="auto"
        Hold out whole queries, stop when their mean NDCG@10 stops improving, and keep the rounds
        up to the best one. "auto": if there are more than 10,000 rows or validation rows are passed
        to `fit`.
    validation_fraction : float, int or None, default=0.1
        Share or number of the queries held out. None: the training rows are scored.
    n_iter_no_change, tol, verbose, random_state, growth, l1_regularization, min_split_gain
        See `HistGradientBoostingClassifier`.
    min_child_weight, max_delta_step, top_rate, other_rate, colsample_bytree, colsample_bylevel
        See `HistGradientBoostingClassifier`.
    feature_weights, forced_splits, extra_trees, drop_rate, skip_drop, max_drop, cat_smooth, cat_l2
        See `HistGradientBoostingClassifier`.
    linear_leaves, linear_l2
        See `HistGradientBoostingClassifier`.
    subsample, sampling
        As in `HistGradientBoostingClassifier`: rows are drawn for the trees, while the derivatives
        of the loss are those of whole queries.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        See `HistGradientBoostingClassifier`; the statistic of a category is the mean relevance.
    callbacks, n_jobs
        See `HistGradientBoostingClassifier`.

    Attributes
    ----------
    n_queries_ : int
        Number of queries with rows of positive weight.
    query_column_ : str or None
        Name of the column of the queries, which is no feature; None if they were given otherwise.
    n_iter_, best_iteration_ : int
        Number of rounds of the fitted model.
    n_trees_per_iteration_ : int
        1.
    do_early_stopping_ : bool
    train_score_, validation_score_ : ndarray
        Mean NDCG@10 after 0, 1, .. rounds; empty without early stopping. The training score uses
        random queries of at most 10,000 rows.
    history_, ensemble_, loss_, feature_importances_
        See `HistGradientBoostingClassifier`.
    is_categorical_, n_features_in_, feature_names_in_, schema_, missing_columns_, seed_
        See `HistGradientBoostingClassifier`.
    statistics_ : TargetStatistics
        See `HistGradientBoostingClassifier`.

    Notes
    -----
    In the losses, rows of a query with equal scores rank in their order in the table; in NDCG
    their discounts are averaged, as in scikit-learn's ``ndcg_score``. Shuffle the rows of a query
    if their order depends on the relevance.

    References
    ----------
    C. Burges et al. (2005), "Learning to rank using gradient descent", ICML.

    C. Burges (2010), "From RankNet to LambdaRank to LambdaMART: an overview", MSR-TR-2010-82.

    S. Bruch (2021), "An alternative cross entropy loss for learning-to-rank", WWW.

    A. Gulin, I. Kuralenok, D. Pavlov (2011), "Winning the transfer learning track of Yahoo!'s
    learning to rank challenge with YetiRank", PMLR 14.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import HistGradientBoostingRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> qid = np.repeat(np.arange(60), 10)  # 60 queries of 10 documents
    >>> y = np.digitize(X[:, 0] + 0.1 * X[:, 1], [-0.5, 0.5, 1.5])  # relevance 0 to 3
    >>> ranker = HistGradientBoostingRanker(max_iter=20).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid) > 0.95
    True
    >>> ranker.predict(X[:10]).argsort()[::-1][:3].shape  # the three best of the first query
    (3,)
    """

    # Queries are checked against the rows of X, which a shared binning does not have yet.
    _uses_binned_data = False
    _fits_shards: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Boosting._parameter_constraints,
        **HistGradientBoosting._parameter_constraints,
        "loss": [StrOptions(set(RANKING))],
        "truncation_level": [Interval(Integral, 1, None, closed="left")],
        "label_gain": ["array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **Boosting._fitted_attributes,
        **HistGradientBoosting._fitted_attributes,
        "n_queries_": Integer(),
        "query_column_": QueryColumn(),
    }

    # Parameters of the other estimators that have no meaning here.
    multi_strategy = "one_output_per_tree"
    output_sketch = None
    scoring = "ndcg"
    sketch_dim = 5
    validation_folds = None

    n_queries_: int
    query_column_: str | None

    def __init__(
        self,
        loss: RankingLoss = "lambdarank",
        *,
        truncation_level: int = 30,
        label_gain: npt.ArrayLike | None = None,
        learning_rate: float = 0.05,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 50,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotonicCst = None,
        interaction_cst: InteractionCst = None,
        warm_start: bool = False,
        early_stopping: Literal["auto"] | bool = "auto",
        validation_fraction: float | int | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        growth: Growth = "leaf_wise",
        l1_regularization: float = 0.0,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling: Sampling = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        feature_weights: FeatureWeights = None,
        forced_splits: ForcedSplits = None,
        extra_trees: bool = False,
        drop_rate: float = 0.0,
        skip_drop: float = 0.5,
        max_drop: int = 50,
        category_encoding: CategoryEncoding = "auto",
        cat_smooth: float = 10.0,
        cat_l2: float = 3.0,
        linear_leaves: bool = False,
        linear_l2: float = 1.0,
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss: RankingLoss = loss
        self.truncation_level = truncation_level
        self.label_gain = label_gain
        self.learning_rate = learning_rate
        self.max_iter: int = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins: int | None = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst: InteractionCst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping: Literal["auto"] | bool = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.growth: Growth = growth
        self.l1_regularization = l1_regularization
        self.min_split_gain = min_split_gain
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling: Sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.feature_weights: FeatureWeights = feature_weights
        self.forced_splits: ForcedSplits = forced_splits
        self.extra_trees = extra_trees
        self.drop_rate = drop_rate
        self.skip_drop = skip_drop
        self.max_drop = max_drop
        self.category_encoding: CategoryEncoding = category_encoding
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.linear_leaves = linear_leaves
        self.linear_l2 = linear_l2
        self.callbacks = callbacks
        self.n_jobs = n_jobs

    @name_other_arguments
    def fit(  # type: ignore[override]  # records no scores of other sets
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        qid_val: Any = None,
        group_val: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
    ) -> Self:
        """Boost trees on a table, its relevance, and its queries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, Arrow, lists, or sparse. See the guide's page "What
            goes in".
        y : array-like of shape (n_samples,)
            Relevance: integers from 0 on, larger ones for better rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' derivatives; give all rows of a query the same to weight the
            query. Rows of weight 0 are ignored.
        qid : array-like of shape (n_samples,), or str, default=None
            The query of each row: numbers or texts, in any order. A str is the name of a column of
            the data frame X, which is then no feature. With neither ``qid`` nor ``group`` the rows,
            at most 10,000, are one list.
        group : array-like of int, default=None
            Sizes of the queries, in the order of the rows, instead of ``qid``.
        X_val, y_val : array-like, default=None
            Validation rows for early stopping, instead of a fraction of the queries.
        sample_weight_val : array-like, default=None
            Weights of the validation rows; only rows of weight 0 differ, which are ignored.
        qid_val, group_val : array-like, default=None
            As ``qid`` and ``group``, for the validation rows. Not needed if ``qid`` names a column.
        init_score, init_score_val : array-like of shape (n_samples,), default=None
            Scores that the rows start from; see `HistGradientBoostingRegressor.fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, a relevance is negative, not an integer or has no gain,
            queries are missing or do not match X, or for the reasons of
            `HistGradientBoostingRegressor`. The estimator is left unchanged.

        Warns
        -----
        UserWarning
            If no query has rows of different relevance; if early stopping keeps no tree.
        """
        with restore_on_failure(self):
            X, queries = _read_queries(X, qid, group)
            validation_queries = None
            if X_val is not None:
                if qid_val is None and isinstance(qid, str):
                    qid_val = qid
                X_val, validation_queries = _read_queries(X_val, qid_val, group_val, "_val")
            self.query_column_ = qid if isinstance(qid, str) else None
            self._boost(
                X,
                y,
                sample_weight,
                (X_val, y_val, sample_weight_val),
                self.callbacks or (),
                (queries, validation_queries),
                (init_score, init_score_val),
            )
        return self

    def _encode_target(self, y: Array) -> Floats:
        y = column_or_1d(_check_y(y, y_numeric=True, estimator=self), warn=True)
        return np.ascontiguousarray(y, dtype=np.float64)

    def _encode_new_target(self, y: Array) -> Floats:
        return self._encode_target(y)

    def _decode_target(self, target: Floats) -> Array:
        return target

    def _compute_row_weight(
        self, target: Floats, weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        return weight

    def _make_loss(self, n_targets: int = 1) -> Loss:
        return Loss(
            self.loss,
            truncation_level=min(self.truncation_level, 2**31 - 1),
            label_gain=read_label_gain(self.label_gain),
        )

    def _fit_ensemble(self, problem: FitProblem, *arguments: Any) -> None:
        rows = problem.rows
        assert rows.query is not None
        for part in (rows, problem.validation):
            if part is not None:
                part.shards.run_together(partial(self._compute_gains, part))
        warn_without_pairs(rows)
        self.n_queries_ = rows.shards.count(len(np.unique(rows.query[rows.numbers])))
        super()._fit_ensemble(problem, *arguments)

    def _hold_out(self, rows: TrainingRows, fraction: float) -> tuple[TrainingRows, TrainingRows]:
        return hold_out_queries(rows, fraction, seed=self.seed_)

    def _make_ensemble_scorer(self, problem: FitProblem) -> EnsembleScorer | None:
        return None if problem.stopping is None else self._make_row_scorer(problem.scored_rows)

    def _make_row_scorer(self, rows: TrainingRows) -> EnsembleScorer:
        return make_ndcg_scorer(rows, self._compute_gains(rows), _AT)

    def _compute_gains(self, rows: TrainingRows) -> Floats:
        """Return the gains of rows; messages have their numbers in the whole table."""
        numbers = rows.first_row + rows.numbers.astype(np.int64)
        return compute_gains(rows.targets, self.loss_.label_gain or None, numbers)

    def _compute_train_scores(self, problem: FitProblem) -> Floats:
        rows = choose_queries(problem.rows, _SCORED_ROWS, seed=self.seed_)
        score = self._make_row_scorer(rows)
        table = rows.table.take(rows.numbers.astype(np.intp))
        start = np.tile(self.ensemble_.start, (rows.numbers.size, 1))
        offset = 0.0 if rows.offset is None else rows.offset[rows.numbers]
        stages = (start, *self.ensemble_.staged_scores(table))
        return np.array([score(raw + offset) for raw in stages])

    # Predictions

    def _check_input(self, X: Any) -> DenseTable | SparseTable:
        check_is_fitted(self)
        return super()._check_input(drop_column(X, self.query_column_))

    def _decode_predictions(self, raw: Floats) -> Floats:
        return raw[:, 0]

    def predict(self, X: Any, init_score: Any = None) -> Floats:
        """Predict scores; within a query, rows with larger scores rank first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With or without the column of the queries.
        init_score : array-like of shape (n_samples,), default=None
            Scores to which those of the model are added.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores of different queries cannot be compared.
        """
        return self._decode_predictions(self._offset_scores(X, init_score))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,)
        """
        return map(self._decode_predictions, self._staged_raw_scores(X))

    def score(self, X: Any, y: Any, *, qid: Any = None, group: Any = None) -> float:
        """Return the mean NDCG@10 over the queries that have a relevant row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Relevance.
        qid, group : array-like or str, default=None
            The queries, as in `fit`. Not needed if `fit` had the name of a column.

        Returns
        -------
        score : float
            From 0 to 1; NaN if no query has a relevant row.

        Raises
        ------
        ValueError
            If the model was fitted with several queries, and none are given.
        """
        check_is_fitted(self)
        if qid is None and group is None and has_column(X, self.query_column_):
            qid = self.query_column_
        self._check_queries_given(qid, group)
        X, queries = read_queries(X, qid, group)
        return self._compute_ndcg(y, queries, self.predict(X))

    def _check_queries_given(self, qid: Any, group: Any) -> None:
        """Raise an error if the model has several queries, and none are given."""
        if qid is None and group is None and self.n_queries_ > 1:
            raise ValueError(
                "score needs the query of each row: give qid or group, or fit and score data "
                "frames with the name of their column as qid"
            )

    def _compute_ndcg(self, y: Any, queries: Codes, predicted: Floats) -> float:
        relevance = self._encode_target(read_target(y, numeric=True))
        gains = compute_gains(relevance, read_label_gain(self.label_gain) or None)
        return NdcgMeasure(queries, gains, _AT).mean(predicted)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags


def _read_queries(X: Any, qid: Any, group: Any, suffix: str = "") -> tuple[Any, Codes]:
    """Return a table, which may be in shards, and the query of each row."""
    if isinstance(X, ShardParts):
        return read_shard_queries(X, qid, suffix)
    return read_queries(X, qid, group, suffix)
