"""Gradient boosting: Friedman (2001), "Greedy function approximation: a gradient boosting machine".

The base class of the estimators: from the arguments of `fit` to the engine.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length

from arboleda._base.tree_learner import CategoricalFeatures
from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.boosting import BoostingOptions, fit_boosting
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.parallel import check_output_size, resolve_n_jobs
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.shared_binning import SharedBinning
from arboleda._engine.table import check_table
from arboleda._engine.target import check_total_weight, read_target, read_weight
from arboleda._utils.errors import ShardLostError
from arboleda.boosting._auto import fit_mean_of_members, fit_with_cv_rounds
from arboleda.boosting._boosted_model import BoostedModel
from arboleda.boosting._category_encoding import (
    CategoryEncoding,
    encode_categories,
)
from arboleda.boosting._init_score import read_init_score
from arboleda.boosting._losses import Loss, check_target_range
from arboleda.boosting._options import check_sampling
from arboleda.boosting._round_monitor import (
    Callback,
    EnsembleScorer,
    PausingMonitor,
    RoundMonitor,
    Stopping,
    get_scores,
    join_histories,
    list_finished_rounds,
    make_ensemble_scorer,
    score_all_shards,
    warn_if_no_trees,
)
from arboleda.boosting._rows import (
    FinishedRounds,
    FitProblem,
    TrainingRows,
    bin_rows,
    check_complete,
    holdout_split,
    without_rounds,
)
from arboleda.boosting._shard_rows import read_shard_rows
from arboleda.boosting._target_statistics import TargetStatistics

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Sampling = Literal["uniform", "goss", "gradient", "auto"]
ValidationData = tuple[Any, Any, Any]  # X_val, y_val and sample_weight_val of `fit`
Queries = tuple[npt.NDArray[np.uint32] | None, npt.NDArray[np.uint32] | None]  # of both tables


class Boosting(BoostedModel, metaclass=ABCMeta):
    """Base class of fitting, for everything but the target, the loss and tree growth."""

    _uses_binned_data = True
    _fits_shards: ClassVar[bool] = False  # whether `fit_shard` takes the estimator
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "subsample": [Interval(Real, 0.0, 1.0, closed="right")],
        "sampling": [StrOptions({"uniform", "goss", "gradient"})],
        "top_rate": [Interval(Real, 0.0, 1.0, closed="left")],
        "other_rate": [Interval(Real, 0.0, 1.0, closed="right")],
        "drop_rate": [Interval(Real, 0.0, 1.0, closed="left")],
        "skip_drop": [Interval(Real, 0.0, 1.0, closed="both")],
        "max_drop": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "category_encoding": [StrOptions({"auto", "native", "ordered"})],
        "warm_start": ["boolean"],
        "scoring": [str, callable, None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "callbacks": [list, tuple, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }
    _rounds_parameter: ClassVar[str]  # name of the parameter for the number of rounds
    _automatic_values: ClassVar[Mapping[str, Any]]  # parameter values if the rounds are "auto"
    _n_outer_calls: ClassVar[int] = 0  # of `_boost` by subclasses, for the place of warnings

    callbacks: Sequence[Callback] | None
    categorical_features: CategoricalFeatures
    category_encoding: CategoryEncoding
    drop_rate: float
    max_drop: int
    skip_drop: float
    max_bins: int | None
    other_rate: float
    random_state: int | np.random.RandomState | None
    sampling: Sampling
    scoring: str | Callable[..., float] | None
    subsample: float
    top_rate: float
    validation_fraction: float | int | None
    verbose: int
    warm_start: bool
    statistics_: TargetStatistics

    # Hooks of the subclasses

    def _read_target(self, y: Any) -> Any:
        """Return y as an array."""
        return read_target(y, numeric=not is_classifier(self))

    @abstractmethod
    def _encode_target(self, y: Array) -> Floats:
        """Check y, set the attributes that depend on it, and return the engine's target."""

    @abstractmethod
    def _encode_new_target(self, y: Array) -> Floats:
        """Check a further y and encode it like the one that `_encode_target` was called with."""

    @abstractmethod
    def _decode_target(self, target: Floats) -> Array:
        """Return the target in the caller's labels or numbers."""

    def _make_part_reader(self, X: ShardParts, y: Sequence[Any]) -> Callable[[Any], Any]:
        """Return what reads the target of a partition; all shards may agree on it first."""
        return self._read_target

    def _encode_shard_target(self, y: Array) -> Floats:
        """Check y and encode it, as far as this shard's rows suffice for it."""
        return self._encode_target(y)

    def _unite_target(self, target: Floats, shards: AllShards) -> Floats:
        """Set what depends on the targets of all shards, and return that of this one encoded by it.

        There may be no row, for which `_encode_shard_target` was not called.
        """
        return target

    @abstractmethod
    def _compute_row_weight(
        self, target: Floats, weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        """Return the weight of every row, or None if all are 1."""

    @abstractmethod
    def _make_loss(self, n_targets: int = 1) -> Loss:
        """Return the loss of the target."""

    @abstractmethod
    def _make_options(self, n_rows: int, *, record_losses: bool) -> BoostingOptions:
        """Return the engine's options; `record_losses` computes the training loss every round."""

    @abstractmethod
    def _make_stopping(self, n_rows: int, validation_given: bool) -> Stopping | None:
        """Return the early stopping rule; None without early stopping."""

    @abstractmethod
    def _set_scores(self, problem: FitProblem | None) -> None:
        """Set the attributes that scikit-learn's estimators have about the rounds kept.

        `problem` is None if there were no rounds.
        """

    # Fitting

    @property
    def _n_target_classes(self) -> int:
        """Number of classes of the target; 0 if it is numeric."""
        return 0

    def _compute_statistics_target(self, rows: TrainingRows) -> Floats:
        """Return the numbers or classes whose means are the statistics of categories."""
        return rows.target

    @property
    def _is_automatic(self) -> bool:
        """Whether the number of rounds, and parameters left at their defaults, are "auto"."""
        return bool(getattr(self, self._rounds_parameter) == "auto")

    def _choose_automatic_values(self) -> Mapping[str, Any]:
        """Return the parameter values for this target if the rounds are "auto"."""
        return self._automatic_values

    @property
    def _n_validation_folds(self) -> int | None:
        """Number of folds that choose the number of rounds; None without cross-validation."""
        return None

    def _get_n_rounds(self) -> int:
        """Return the number of rounds, which must not be "auto".

        It is not a property: a notebook's view of an estimator reads all properties.
        """
        return int(getattr(self, self._rounds_parameter))

    def _boost(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation_data: ValidationData,
        callbacks: Sequence[Callback],
        queries: Queries = (None, None),
        init_scores: tuple[Any, Any] = (None, None),
    ) -> None:
        """Check all arguments of `fit`, and fit.

        `queries` are those of a ranker's rows; they and `init_scores` are of the training rows and
        of the validation rows.
        """
        self._validate_params()
        self._check_parameters()
        earlier = self._earlier_ensemble()
        rows = self._read_rows(X, y, sample_weight, reset=earlier is None)
        validation = self._read_validation(validation_data)
        rows = replace(rows, query=queries[0])
        if validation is not None:
            validation = replace(validation, query=queries[1])
        self.loss_: Loss = self._make_loss(rows.n_targets)
        if validation is not None and validation.n_targets != rows.n_targets:
            raise ValueError(
                f"y has {rows.n_targets} targets, and y_val {validation.n_targets}: give as many"
            )
        if earlier is not None and earlier.n_outputs != self.loss_.n_outputs:
            raise ValueError(
                f"warm_start=True cannot continue a model of {earlier.n_outputs} scores per row "
                f"with a loss of {self.loss_.n_outputs}: fit a clone"
            )
        rows, validation = self._add_init_scores(rows, validation, init_scores)
        if earlier is None:
            self.seed_: int = rows.shards.choose_first(self._draw_seed)
        stopping = (
            None if self._is_automatic else self._make_stopping(rows.n_rows, validation is not None)
        )
        if (
            stopping is not None
            and validation is None
            and self._n_validation_folds is None
            and self.validation_fraction is not None
        ):
            rows, validation = self._hold_out(rows, self.validation_fraction)
        for part in (rows, validation):
            if part is not None:
                check_target_range(self.loss_, part)
        if self.loss_.link == "certain":
            self._set_constant_model(rows)
            return
        rows = self._add_offset(rows, learn=earlier is None)
        if validation is not None and validation.table is rows.table:
            validation = replace(validation, offset=rows.offset)
        elif validation is not None:
            validation = self._add_offset(validation, learn=False)
        problem = FitProblem(rows, validation, stopping)
        if isinstance(X, ShardParts) and not self._is_automatic:  # rounds are kept of one model
            problem = replace(problem, finished=X.finished, keeping=X.keeping)
        self._fit_ensemble(problem, earlier, callbacks)
        if self._is_automatic or stopping is not None:
            warn_if_no_trees(self, problem, own_rows=validation_data[0] is not None)

    def _draw_seed(self) -> int:
        random_state = check_random_state(self.random_state)
        return int(random_state.randint(np.iinfo(np.int32).max))

    def _add_init_scores(
        self,
        rows: TrainingRows,
        validation: TrainingRows | None,
        init_scores: tuple[Any, Any],
    ) -> tuple[TrainingRows, TrainingRows | None]:
        """Return the rows with the initial scores that were passed to `fit`, if any."""
        of_rows, of_validation = init_scores
        if of_rows is None and of_validation is None:
            return rows, validation
        if of_rows is None or (of_validation is None) is not (validation is None):
            raise ValueError(
                "init_score and init_score_val must be given together if there are validation "
                "rows, and init_score alone if there are none"
            )
        k = self.loss_.n_outputs
        rows = replace(rows, offset=read_init_score(of_rows, len(rows.target), k, "init_score"))
        if validation is not None:
            n_rows = len(validation.target)
            scores = read_init_score(of_validation, n_rows, k, "init_score_val")
            validation = replace(validation, offset=scores)
        return rows, validation

    def _hold_out(self, rows: TrainingRows, fraction: float) -> tuple[TrainingRows, TrainingRows]:
        """Split rows at random into training and validation rows."""
        return holdout_split(rows, fraction, stratify=is_classifier(self), seed=self.seed_)

    def _add_offset(self, rows: TrainingRows, *, learn: bool) -> TrainingRows:
        """Return the rows with the scores of the initial model, if there is one.

        `learn` fits the initial model first.
        """
        return rows

    def _set_constant_model(self, rows: TrainingRows) -> None:
        """Set the attributes of the model for a target with a single class."""
        self.ensemble_: Ensemble = Ensemble.from_trees([0.0], [])
        self.history_: dict[str, Floats] = {}
        self.missing_columns_: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.statistics_ = TargetStatistics((), ())
        self._set_scores(None)

    def _check_parameters(self) -> None:
        """Raise an error for parameters that cannot be combined."""
        for callback in self.callbacks or ():
            if not callable(callback):
                raise TypeError(f"callbacks must be callables, got {callback!r}")
        if self._is_automatic:
            self._check_automatic()
        check_sampling(self)

    def _check_automatic(self) -> None:
        """Raise an error for parameters that an automatic number of rounds does not support."""
        name = self._rounds_parameter
        if self.warm_start:
            raise ValueError(
                f"warm_start=True is not supported with {name}='auto', which averages several "
                f"models: set {name} to a number"
            )
        if self.drop_rate > 0.0:
            raise ValueError(
                f"{name}='auto' cannot go back to the best round with drop_rate="
                f"{self.drop_rate}: later rounds change the trees of earlier ones. Set {name} to a "
                "number"
            )

    def _earlier_ensemble(self) -> Ensemble | None:
        """Return the ensemble of an earlier fit that this one continues, if any."""
        if not (self.warm_start and hasattr(self, "ensemble_")):
            return None
        n_rounds = self._get_n_rounds()
        if n_rounds < self.ensemble_.n_rounds:
            raise ValueError(
                f"{self._rounds_parameter}={n_rounds} must be larger than or equal to "
                f"n_iter_={self.ensemble_.n_rounds} when warm_start==True: raise it, or fit a clone"
            )
        return self.ensemble_

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> TrainingRows:
        """Check and return rows; `reset` learns the schema and the classes from them."""
        if isinstance(X, ShardParts):
            return read_shard_rows(self, X, y, sample_weight, reset=reset)
        if isinstance(X, SharedBinning):
            table = X.table_for(self)
        else:
            table = check_table(
                self,
                X,
                reset=reset,
                categorical_features=self.categorical_features,
                many_levels=self.category_encoding != "native",
            )
        y = self._read_target(y)
        target = self._encode_target(y) if reset else self._encode_new_target(y)
        check_consistent_length(table, target)
        weight = self._compute_row_weight(target, read_weight(sample_weight, table), ALONE)
        check_total_weight(weight)
        return TrainingRows.of_weight(X, table, target, weight)

    def _read_validation(self, validation_data: ValidationData) -> TrainingRows | None:
        """Check and return the validation rows that were passed to `fit`, if any."""
        X, y, sample_weight = validation_data
        if X is None and y is None:
            if sample_weight is not None:
                raise ValueError("sample_weight_val needs X_val and y_val")
            return None
        if y is None:
            raise ValueError("X_val is provided, but y_val was not provided: give both or neither")
        if X is None:
            raise ValueError("y_val is provided, but X_val was not provided: give both or neither")
        try:
            return self._read_rows(X, y, sample_weight, reset=False)
        except ValueError as error:
            raise ValueError(f"among the validation rows: {error}") from error

    def _fit_ensemble(
        self, problem: FitProblem, earlier: Ensemble | None, callbacks: Sequence[Callback]
    ) -> None:
        """Boost, truncate to the best round, and set the fitted attributes."""
        n_threads = resolve_n_jobs(self.n_jobs)
        missing = problem.rows.find_missing_columns()
        self.statistics_, problem = encode_categories(
            problem,
            self.category_encoding,
            self._compute_statistics_target,
            None if earlier is None else self.statistics_,
            n_classes=self._n_target_classes,
            seed=self.seed_,
        )
        coded = bin_rows(problem.rows, self.max_bins, n_threads)
        finished: FinishedRounds | None = None
        self.missing_columns_ = np.union1d(missing, coded.missing_columns())
        if self._is_automatic:
            with without_rounds():
                self.ensemble_ = self._fit_members(problem, coded, callbacks)
            self.history_ = {}
        elif self._n_validation_folds and problem.stopping and problem.validation is None:
            with without_rounds():
                fit_with_cv_rounds(self, problem, self._n_validation_folds, coded, callbacks)
            problem = replace(problem, validation=problem.rows)  # each row was in a fold
        else:
            finished = self._fit_rounds(problem, coded, earlier, callbacks)
        try:
            self._set_scores(problem)
        except ShardLostError as error:
            error.rounds = finished  # all of them
            raise

    def _fit_members(
        self, problem: FitProblem, coded: BinnedDataset, callbacks: Sequence[Callback]
    ) -> Ensemble:
        """Fit a model whose rounds are "auto"."""
        return fit_mean_of_members(self, problem, coded, callbacks)

    def _fit_rounds(
        self,
        problem: FitProblem,
        coded: BinnedDataset,
        earlier: Ensemble | None,
        callbacks: Sequence[Callback],
    ) -> FinishedRounds:
        """Boost on binned rows, and truncate to the best round; return all rounds."""
        rows = problem.rows
        check_output_size(rows.numbers.size, self.loss_.n_outputs, task="fitting")
        scorer = self._make_ensemble_scorer(problem)
        fit = partial(self._fit_until_pause, scorer=scorer)
        while True:
            finished, is_paused = fit(problem, coded, earlier, callbacks)
            if not is_paused:
                return finished
            problem = replace(problem, finished=finished._replace(are_reported=True))

    def _fit_until_pause(
        self,
        problem: FitProblem,
        coded: BinnedDataset,
        earlier: Ensemble | None,
        callbacks: Sequence[Callback],
        scorer: EnsembleScorer | None,
    ) -> tuple[FinishedRounds, bool]:
        """Boost until rounds are kept, or to the end and set the ensemble; return all rounds.

        Also whether the fit has to go on from them.
        """
        n_threads = resolve_n_jobs(self.n_jobs)
        rows, validation = problem.rows, problem.validation
        if scorer is not None and validation is None:
            validation = rows
        n_earlier, earlier_history = 0, {}
        if earlier is not None:
            n_earlier, earlier_history = earlier.n_rounds, self.history_
        facts = {
            "has_scorer": scorer is not None,
            "has_validation": problem.validation is not None,
        }
        scores = get_scores(earlier_history, n_earlier, **facts)
        n_before = n_earlier
        missed = None
        if problem.finished is not None:
            earlier = problem.finished.ensemble
            n_before = earlier.n_rounds
            history = problem.finished.history
            finished_scores = get_scores(history, n_before - n_earlier, **facts)
            scores = np.append(scores, finished_scores)
            if not problem.finished.are_reported:
                missed = list_finished_rounds(
                    history, finished_scores, n_earlier, self._get_n_rounds()
                )
        monitor = RoundMonitor(
            n_rounds=self._get_n_rounds(),
            n_before=n_before,
            n_earlier=n_earlier,
            stopping=problem.stopping,
            scorer=scorer,
            scores=scores,
            callbacks=callbacks if rows.shards.number == 0 else (),
            missed=missed,
            shards=rows.shards,
            verbose=int(self.verbose) if rows.shards.number == 0 else 0,
        )
        is_monitored = bool(problem.stopping or callbacks or self.verbose)
        validation_rows = None
        if validation is not None:
            if validation.table is not rows.table:
                validation_rows = validation.coded(
                    bin_rows(validation, self.max_bins, n_threads, coded)
                )
            else:
                validation_rows = validation.coded(coded)
        followed = monitor if is_monitored else None
        pauses = None
        if problem.keeping is not None:
            pauses = PausingMonitor(followed, n_before, problem.keeping.every)
        boosted = fit_boosting(
            rows.coded(coded),
            self.loss_.native,
            self._make_options(rows.n_rows, record_losses=is_monitored),
            validation=validation_rows,
            resume=earlier,
            callback=pauses or followed,
            n_threads=n_threads,
            seed=self.seed_,
            shards=rows.shards.connection,
            first_row=rows.first_row,
            history=None if problem.finished is None else problem.finished.history,
        )
        history = boosted.history
        if scorer is not None:
            history = history | {"validation_score": monitor.scores}
        check_complete(boosted, history)
        n_rounds = boosted.ensemble.n_rounds
        finished = FinishedRounds(boosted.ensemble, history)
        if pauses is not None and rows.shards.choose_first(lambda: pauses.is_paused):
            if problem.keeping is not None and rows.shards.number == 0:
                problem.keeping.keep(n_rounds, finished)
            return finished, True
        self.history_ = join_histories(earlier_history, history, n_earlier, n_rounds)
        self.ensemble_ = boosted.ensemble
        if problem.stopping is not None:
            self.ensemble_ = boosted.ensemble.truncated(monitor.best_round)
        return finished, False

    def _make_ensemble_scorer(self, problem: FitProblem) -> EnsembleScorer | None:
        """Return the scorer for early stopping; None if it uses the loss."""
        if problem.stopping is None or self.scoring == "loss":
            return None
        return self._make_row_scorer(problem.scored_rows)

    def _make_row_scorer(self, rows: TrainingRows) -> EnsembleScorer:
        """Return the scorer of the rows of all shards; it is called with the scores of these."""
        scorer, shards = check_scoring(self, self.scoring), rows.shards
        X: Any
        if not callable(self.scoring):
            X = shards.join(rows.numbers)
        elif isinstance(rows.X, ShardParts):
            X = rows.X.gather_rows(rows.numbers)
        else:
            X = _safe_indexing(rows.X, rows.numbers)
        weights = None if rows.weights is None else shards.join(rows.weights)
        targets = self._decode_target(shards.join(rows.targets))
        return score_all_shards(make_ensemble_scorer(self, scorer, X, targets, weights), shards)
