"""Base of the boosting of times to an event: targets, early stopping, and curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import StagedScores
from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.shard_parts import ShardParts
from arboleda._utils.concordance import concordance_index
from arboleda._utils.survival_times import (
    SurvivalIntervals,
    SurvivalTimes,
    has_intervals,
    read_survival_intervals,
    read_survival_times,
)
from arboleda.boosting import (
    Boosting,
    EnsembleScorer,
    EvalsResult,
    FitProblem,
    HistGradientBoosting,
    Loss,
    MultiStrategy,
    TrainingRows,
    holdout_split,
    replaced_table,
    score_all_shards,
)
from arboleda.persist import Field, SavedArray
from arboleda.survival._curve_predictions import CurveEvaluator, CurvePredictions
from arboleda.survival._failure_scale import estimate_scale
from arboleda.survival._periods import choose_periods, encode_periods
from arboleda.survival._score_curves import (
    compute_accelerated_hazards,
    compute_discrete_hazards,
    compute_proportional_hazards,
)
from arboleda.survival._shard_times import count_values, make_part_reader
from arboleda.survival._survival_targets import (
    compute_breslow_hazard,
    compute_martingale_residuals,
    compute_partial_likelihood,
    decode_times,
    encode_times,
    find_event_times,
    find_range,
)

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def check_has_event(times: SurvivalTimes, shards: AllShards = ALONE) -> None:
    """Raise an error if no row of all shards has the event."""
    if not shards.is_any(np.array([times.event.any()]))[0]:
        raise ValueError(
            "no row of positive weight has the event, so nothing can be learned about the time "
            "to it: give rows with the event a positive weight"
        )


class SurvivalBoosting(EvalsResult, StagedScores, HistGradientBoosting, CurvePredictions):
    """Base class of boosting of times to an event: targets, early stopping, and curves.

    Targets of the engine are numbers. For "cox", times, negative if the row was censored; for
    "discrete_time", numbers of periods, likewise; for "aft", both ends of intervals.
    """

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **Boosting._fitted_attributes,
        **HistGradientBoosting._fitted_attributes,
        "unique_times_": SavedArray(np.float64),
        "time_range_": SavedArray(np.float64),
        "baseline_hazard_": SavedArray(np.float64),
    }

    _fits_shards: ClassVar[bool] = True

    # Parameters of the other estimators that have no meaning here.
    output_sketch = None
    sketch_dim = 5
    validation_folds = None

    baseline_hazard_: Floats
    distribution: str
    loss: str
    periods: Any
    scale: float | None
    ties: str

    @property
    def multi_strategy(self) -> MultiStrategy:  # type: ignore[override]
        """How the trees of several periods are grown: with the same splits if options allow it."""
        has_own_trees = self.monotonic_cst is not None or self.linear_leaves
        if has_own_trees or self.growth == "symmetric":
            return "one_output_per_tree"
        return "multi_output_tree"

    @property
    def scoring(self) -> str:  # type: ignore[override]
        """Score for early stopping."""
        return "partial_likelihood" if self.loss == "cox" else "loss"

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> TrainingRows:
        rows = super()._read_rows(X, y, sample_weight, reset=reset)
        if reset and self.loss == "aft":
            self._set_scale(rows)
        return rows

    def _set_scale(self, rows: TrainingRows) -> None:
        intervals = SurvivalIntervals(*rows.targets.T)
        check_has_event(intervals.times, rows.shards)
        scale = (
            estimate_scale(intervals, rows.weights, self.distribution, rows.shards)
            if self.scale is None
            else float(self.scale)
        )
        self.loss_ = Loss(f"aft_{self.distribution}", scale=scale)

    def _read_target(self, y: Any) -> Any:
        return self._read_part(y)

    def _read_part(self, y: Any, *, requires_event: bool = True, event_field: Any = None) -> Any:
        """Return y as an array; of a part of it, the field of the event may be known."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        options = {"requires_event": requires_event, "event_field": event_field}
        if self.loss == "aft":
            intervals = read_survival_intervals(y, **options)
            return np.column_stack([intervals.lower, intervals.upper])
        if has_intervals(y):
            raise ValueError(
                f"y holds intervals, which loss={self.loss!r} does not support: set loss='aft', or "
                "give an event indicator and a time"
            )
        return encode_times(read_survival_times(y, **options))

    def _make_part_reader(self, X: ShardParts, y: Sequence[Any]) -> Callable[[Any], Any]:
        return make_part_reader(X, y, self._read_part)

    def _encode_target(self, y: Array) -> Floats:
        return self._unite_target(y, ALONE)

    def _encode_shard_target(self, y: Array) -> Floats:
        return y

    def _unite_target(self, target: Floats, shards: AllShards) -> Floats:
        if not self._is_discrete:
            return target
        times = decode_times(target)
        event_times, counts = count_values(times.time[times.event], shards)
        self.unique_times_ = choose_periods(event_times, counts, self.periods)
        first, last = find_range(times.time, shards)
        # After the last period, hazards are known to be 0 if there was no event.
        is_later = event_times[-1] > self.unique_times_[-1]
        self.time_range_ = np.array([first, self.unique_times_[-1] if is_later else last])
        return encode_periods(times, self.unique_times_)

    def _encode_new_target(self, y: Array) -> Floats:
        return encode_periods(decode_times(y), self.unique_times_) if self._is_discrete else y

    def _decode_target(self, target: Floats) -> Array:
        return target

    def _decode_times(self, target: Floats) -> SurvivalTimes:
        """Return times; of intervals their middles, of discrete time numbers of periods."""
        return decode_times(target) if target.ndim == 1 else read_survival_intervals(target).times

    def _compute_row_weight(
        self, target: Floats, weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        return weight

    def _compute_statistics_target(self, rows: TrainingRows) -> Floats:
        return compute_martingale_residuals(
            self._decode_times(rows.target), rows.weight, rows.shards
        )

    @property
    def _is_discrete(self) -> bool:
        return self.loss == "discrete_time"

    def _make_loss(self, n_targets: int = 1) -> Loss:
        if self.loss == "cox":
            return Loss(f"cox_{self.ties}")
        if self.loss == "aft":
            # The scale was chosen with the rows, or in the fit that is continued.
            return Loss(f"aft_{self.distribution}", scale=self.loss_.scale)
        return Loss("discrete_time", len(self.unique_times_), n_classes=len(self.unique_times_))

    def _hold_out(self, rows: TrainingRows, fraction: float) -> tuple[TrainingRows, TrainingRows]:
        event = self._decode_times(rows.target).event.astype(np.float64)
        parts = holdout_split(replace(rows, target=event), fraction, stratify=True, seed=self.seed_)
        training, validation = (replace(part, target=rows.target) for part in parts)
        return training, validation

    def _fit_ensemble(self, problem: FitProblem, *arguments: Any) -> None:
        rows = problem.rows
        times, shards = self._decode_times(rows.targets), rows.shards
        check_has_event(times, shards)
        # Before the rounds, since the model files of checkpoints have them.
        if self.loss == "aft":
            self._set_interval_ends(rows.targets, shards)
        elif self.loss == "cox":
            self.unique_times_ = find_event_times(times, shards)
            self.time_range_ = find_range(times.time, shards)
        self.baseline_hazard_ = np.zeros(len(self.unique_times_) if self.loss == "cox" else 0)
        super()._fit_ensemble(problem, *arguments)
        if self.loss == "cox":
            table = replaced_table(self.statistics_, rows.table)
            raw = self.ensemble_.scores(table, resolve_n_jobs(self.n_jobs))[rows.numbers, 0]
            self.baseline_hazard_ = compute_breslow_hazard(
                times, raw, rows.weights, self.unique_times_, shards
            )

    def _set_interval_ends(self, target: Floats, shards: AllShards) -> None:
        lower, upper = target.T
        ends = np.concatenate([lower[lower == upper], upper[upper > lower], lower[lower < upper]])
        known = np.isfinite(ends) & (ends > 0.0)
        self.time_range_ = find_range(ends[known], shards)
        of_events = np.isfinite(upper)
        ends = np.concatenate([lower[of_events], upper[of_events]])
        self.unique_times_, _ = count_values(ends[ends > 0.0], shards)

    @property
    def scale_(self) -> float:
        """For ``loss="aft"``, the scale of the logarithm of the time; else 1."""
        check_is_fitted(self)
        return self.loss_.scale

    # Early stopping

    def _make_ensemble_scorer(self, problem: FitProblem) -> EnsembleScorer | None:
        if problem.stopping is None or self.loss != "cox":
            return None
        return self._make_row_scorer(problem.scored_rows)

    def _make_row_scorer(self, rows: TrainingRows) -> EnsembleScorer:
        times = decode_times(rows.shards.join(rows.targets))
        weights = None if rows.weights is None else rows.shards.join(rows.weights)
        is_efron = self.ties == "efron"
        return score_all_shards(
            lambda raw: compute_partial_likelihood(times, raw[:, 0], weights, is_efron=is_efron),
            rows.shards,
        )

    # Predictions

    def _decode_predictions(self, raw: Floats) -> Floats:
        if self.loss_.name != "discrete_time":
            return raw[:, 0]
        periods_left = np.arange(raw.shape[1], 0, -1)
        risk: Floats = np.logaddexp(0.0, raw) @ periods_left
        return risk

    def _ends_at_last_time(self) -> bool:
        return not self.loss_.name.startswith("aft_")

    def _make_evaluator(self, table: Any, *, is_survival: bool) -> CurveEvaluator:
        raw = self.ensemble_.scores(table, resolve_threads(table, self.n_jobs))

        def evaluate(rows: slice, times: Floats) -> Floats:
            if self.loss_.name == "discrete_time":
                hazard = compute_discrete_hazards(raw[rows], self.unique_times_, times)
            elif self.loss_.name.startswith("aft_"):
                hazard = compute_accelerated_hazards(raw[rows, 0], self.loss_, times)
            else:
                hazard = compute_proportional_hazards(
                    raw[rows, 0], self.baseline_hazard_, self.unique_times_, times
                )
            return np.exp(-hazard) if is_survival else hazard

        return evaluate

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        if not has_intervals(y):
            times = read_survival_times(y, requires_event=False)
            check_consistent_length(times.time, predicted)
            return concordance_index(times, predicted, sample_weight=sample_weight)
        intervals = read_survival_intervals(y)
        check_consistent_length(intervals.lower, predicted)
        return concordance_index(intervals, predicted, sample_weight=sample_weight)

    def _defect(self) -> str | None:
        times, hazard = self.unique_times_, self.baseline_hazard_
        if not len(times) or not (np.diff(times) > 0.0).all() or not np.isfinite(times).all():
            return "unique_times_ is not ascending"
        if self.time_range_.shape != (2,) or not np.isfinite(self.time_range_).all():
            return "time_range_ does not hold two times"
        if len(hazard) != (len(times) if self.loss_.name.startswith("cox_") else 0):
            return "baseline_hazard_ does not belong to unique_times_"
        if not (np.diff(hazard) >= 0.0).all() or not (hazard >= 0.0).all():
            return "baseline_hazard_ is not ascending"
        if self.loss_.name == "discrete_time" and len(times) != self.loss_.n_outputs:
            return "the numbers of periods and of the scores of the trees differ"
        return super()._defect()
