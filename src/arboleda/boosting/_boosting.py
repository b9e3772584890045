"""Gradient boosting: Friedman (2001), "Greedy function approximation: a gradient boosting machine".

What the four estimators share on the way from the arguments of `fit` to the engine.
"""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length

from arboleda._engine.boosting import BoostingOptions, fit_boosting
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.memory import check_output_size
from arboleda._engine.shared_binning import SharedBinning
from arboleda._engine.table import check_table
from arboleda._engine.target import read_target, read_weight
from arboleda._engine.threads import resolve_n_jobs
from arboleda.boosting._boosted_model import BoostedModel
from arboleda.boosting._category_encoding import (
    CategoryEncoding,
    missing_columns,
    with_statistics,
)
from arboleda.boosting._folds_judge import fit_with_cv_rounds
from arboleda.boosting._history import joined
from arboleda.boosting._losses import Loss, check_amounts
from arboleda.boosting._members import mean_of_members
from arboleda.boosting._no_trees import warn_if_no_trees
from arboleda.boosting._rows import Problem, Rows, holdout_split
from arboleda.boosting._target_statistics import TargetStatistics
from arboleda.boosting._watch import Callback, Judge, Stopping, Watcher, judge_with

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
CategoricalFeatures = Sequence[bool | int | str] | Array | Literal["from_dtype"] | None
Sampling = Literal["uniform", "goss", "gradient"]
Given = tuple[Any, Any, Any]  # X, y and weights of the validation rows, as `fit` got them


class Boosting(BoostedModel, metaclass=ABCMeta):
    """What fitting is alike in all of them: everything but target, loss and growth."""

    _uses_binned_data = True
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
    _rounds_parameter: ClassVar[str]  # name of the parameter that counts the rounds
    _automatic_values: ClassVar[Mapping[str, Any]]  # of parameters, where the rounds are "auto"

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

    # What the classes fill in

    @abstractmethod
    def _encode_target(self, y: Array) -> Floats:
        """Check y, remember what predictions need of it, and return what the engine learns."""

    @abstractmethod
    def _encode_more(self, y: Array) -> Floats:
        """Check y and return it in the form that `_encode_target` gave the first one."""

    @abstractmethod
    def _decode_target(self, target: Floats) -> Array:
        """Return the target as the caller knows it."""

    @abstractmethod
    def _row_weight(self, target: Floats, weight: Floats | None) -> Floats | None:
        """Weight of every row."""

    @abstractmethod
    def _make_loss(self) -> Loss:
        """Return the loss of this target."""

    @abstractmethod
    def _options(self, n_rows: int, *, watched: bool) -> BoostingOptions:
        """Parameters as the engine counts them; `watched`: somebody asks for losses."""

    @abstractmethod
    def _stopping(self, n_rows: int, validation_given: bool) -> Stopping | None:
        """When to stop before the last round; None: never."""

    @abstractmethod
    def _keep_scores(self, problem: Problem | None) -> None:
        """Set what scikit-learn's estimators tell of the rounds kept, by its conventions.

        None: there were no rounds.
        """

    # Fitting

    @property
    def _n_target_classes(self) -> int:
        """Classes of the target; 0 where it holds numbers."""
        return len(self.classes_) if is_classifier(self) else 0

    @property
    def _is_automatic(self) -> bool:
        """Whether rounds, and what else was left at its default, are chosen from the rows."""
        return bool(getattr(self, self._rounds_parameter) == "auto")

    @property
    def _n_judging_folds(self) -> int | None:
        """Folds that say in turns how many rounds there are; None: none do."""
        return None

    @property
    def _n_rounds(self) -> int:
        return int(getattr(self, self._rounds_parameter))

    def _boost(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        given: Given,
        callbacks: Sequence[Callback],
    ) -> None:
        """Check everything that `fit` is given, and fit."""
        self._validate_params()
        self._check_parameters()
        so_far = self._so_far()
        rows = self._read_rows(X, y, sample_weight, reset=so_far is None)
        validation = self._read_validation(given)
        self.loss_ = self._make_loss()
        if so_far is not None and so_far.n_outputs != self.loss_.n_outputs:
            raise ValueError(
                f"warm_start=True continues a model of {so_far.n_outputs} scores a row, but this "
                f"loss has {self.loss_.n_outputs}: fit a clone"
            )
        if so_far is None:
            random = check_random_state(self.random_state)
            self.seed_ = int(random.randint(np.iinfo(np.int32).max))
        stopping = (
            None
            if self._is_automatic
            else self._stopping(rows.numbers.size, validation is not None)
        )
        if (
            stopping is not None
            and validation is None
            and self._n_judging_folds is None
            and self.validation_fraction is not None
        ):
            rows, validation = holdout_split(
                rows, self.validation_fraction, stratify=is_classifier(self), seed=self.seed_
            )
        for part in (rows, validation):
            if part is not None:
                check_amounts(self.loss_, part)
        if self.loss_.link == "certain":
            self._keep_constant()
            return
        rows = self._with_offset(rows, learn=so_far is None)
        if validation is not None and validation.table is rows.table:
            validation = replace(validation, offset=rows.offset)
        elif validation is not None:
            validation = self._with_offset(validation, learn=False)
        problem = Problem(rows, validation, stopping)
        self._learn(problem, so_far, callbacks)
        if self._is_automatic or stopping is not None:
            warn_if_no_trees(self, problem, own_rows=given[0] is not None)

    def _with_offset(self, rows: Rows, *, learn: bool) -> Rows:
        """Give rows the scores of an initial model, where there is one, and learn that first."""
        return rows

    def _keep_constant(self) -> None:
        """Keep the model of a target with one class only."""
        self.ensemble_ = Ensemble.from_trees([0.0], [])
        self.history_ = {}
        self.missing_columns_ = np.empty(0, dtype=np.int64)
        self.statistics_ = TargetStatistics((), ())
        self._keep_scores(None)

    def _check_parameters(self) -> None:
        """Refuse parameters that do not go together."""
        for callback in self.callbacks or ():
            if not callable(callback):
                raise TypeError(f"callbacks holds {callback!r}, which cannot be called")
        if self._is_automatic:
            self._check_automatic()
        if self.sampling == "goss":
            if self.subsample < 1.0:
                raise ValueError(
                    f"subsample={self.subsample} has no meaning with sampling='goss', which draws "
                    "top_rate and other_rate of the rows: leave it at 1.0"
                )
            if self.top_rate + self.other_rate > 1.0:
                raise ValueError(
                    f"top_rate={self.top_rate} and other_rate={self.other_rate} are shares of the "
                    "same rows: their sum must not exceed 1"
                )

    def _check_automatic(self) -> None:
        """Refuse what does not go with rounds that are found by early stopping."""
        name = self._rounds_parameter
        if self.warm_start:
            raise ValueError(
                f"warm_start=True cannot add rounds to the mean of models that {name}='auto' "
                f"makes: set {name} to a number"
            )
        if self.drop_rate > 0.0:
            raise ValueError(
                f"{name}='auto' cannot go back to the best round with drop_rate="
                f"{self.drop_rate}: later rounds change the trees of earlier ones. Set {name} to a "
                "number"
            )

    def _sampling_options(self) -> dict[str, Any]:
        return {
            "sampling": self.sampling,
            "row_share": self.subsample,
            "top_share": self.top_rate,
            "other_share": self.other_rate,
            "drop_rate": self.drop_rate,
            "skip_drop": self.skip_drop,
            "max_drop": self.max_drop,
        }

    def _so_far(self) -> Ensemble | None:
        """Trees of an earlier fit, to which this one adds."""
        if not (self.warm_start and hasattr(self, "ensemble_")):
            return None
        if self._n_rounds < self.ensemble_.n_rounds:
            raise ValueError(
                f"{self._rounds_parameter}={self._n_rounds} must be larger than or equal to "
                f"n_iter_={self.ensemble_.n_rounds} when warm_start==True: raise it, or fit a clone"
            )
        return self.ensemble_

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        """Check rows to learn from; `reset` learns columns and classes from them."""
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
        given = read_target(y, numeric=is_regressor(self))
        target = self._encode_target(given) if reset else self._encode_more(given)
        check_consistent_length(table, target)
        weight = self._row_weight(target, read_weight(sample_weight, table))
        with np.errstate(over="ignore"):
            if weight is not None and not math.isfinite(weight.sum()):
                raise ValueError(
                    "the sum of sample_weight is beyond float64: divide all weights by the same "
                    "number"
                )
        return Rows.of_weight(X, table, target, weight)

    def _read_validation(self, given: Given) -> Rows | None:
        """Check the validation rows that `fit` was given."""
        X, y, sample_weight = given
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

    def _learn(
        self, problem: Problem, so_far: Ensemble | None, callbacks: Sequence[Callback]
    ) -> None:
        """Boost, go back to the best round, and keep what was seen on the way."""
        n_threads = resolve_n_jobs(self.n_jobs)
        missing = missing_columns(problem.rows.table)
        self.statistics_, problem = with_statistics(
            problem,
            self.category_encoding,
            None if so_far is None else self.statistics_,
            n_classes=self._n_target_classes,
            seed=self.seed_,
        )
        coded = self._code(problem.rows, n_threads)
        self.missing_columns_ = np.union1d(missing, coded.missing_columns())
        if self._is_automatic:
            self.ensemble_ = mean_of_members(self, problem, coded, callbacks)
            self.history_ = {}
        elif self._n_judging_folds and problem.stopping and problem.validation is None:
            fit_with_cv_rounds(self, problem, self._n_judging_folds, coded, callbacks)
            problem = replace(problem, validation=problem.rows)  # all have judged
        else:
            self._grow(problem, coded, so_far, callbacks)
        self._keep_scores(problem)

    def _grow(
        self,
        problem: Problem,
        coded: BinnedDataset,
        so_far: Ensemble | None,
        callbacks: Sequence[Callback],
    ) -> None:
        """Boost on codes that were made, and go back to the best round."""
        n_threads = resolve_n_jobs(self.n_jobs)
        rows, validation = problem.rows, problem.validation
        check_output_size(rows.numbers.size, self.loss_.n_outputs, task="fitting")
        judge = self._judge(problem)
        if judge is not None and validation is None:
            validation = rows
        before = {} if so_far is None else self.history_
        n_before = 0 if so_far is None else so_far.n_rounds
        watcher = Watcher(
            n_rounds=self._n_rounds,
            n_before=n_before,
            stopping=problem.stopping,
            judge=judge,
            scores=_watched(before, problem, judge),
            callbacks=callbacks,
            verbose=int(self.verbose),
        )
        judging = None
        if validation is not None:
            same = validation.table is rows.table
            judging = validation.coded(coded if same else self._code(validation, n_threads, coded))
        boosted = fit_boosting(
            rows.coded(coded),
            self.loss_.native,
            self._options(rows.numbers.size, watched=watcher.is_needed),
            validation=judging,
            resume=so_far,
            callback=watcher if watcher.is_needed else None,
            n_threads=n_threads,
            seed=self.seed_,
        )
        seen = boosted.history | ({} if judge is None else {"validation_score": watcher.seen})
        self.history_ = joined(before, seen, n_before, boosted.ensemble.n_rounds)
        self.ensemble_ = boosted.ensemble
        if problem.stopping is not None:
            self.ensemble_ = boosted.ensemble.truncated(watcher.best_round)

    def _code(
        self, rows: Rows, n_threads: int, learned: BinnedDataset | None = None
    ) -> BinnedDataset:
        """Codes of a table; bins are learned from the rows that trees are grown on, and no others.

        Without bins every distinct value has its code, and thresholds come from a node's rows.
        """
        if self.max_bins is not None and learned is not None:
            return rows.table.code_like(learned, n_threads)
        all_rows = self.max_bins is None or rows.numbers.size == rows.table.n_rows
        chosen = None if all_rows else rows.numbers.astype(np.uint32)
        if isinstance(rows.X, SharedBinning):
            return rows.X.code(rows.table, n_threads, self.max_bins, chosen)
        return rows.table.code(n_threads, self.max_bins, chosen)

    def _judge(self, problem: Problem) -> Judge | None:
        """What ``scoring`` says of the rows that decide when to stop; None: their loss."""
        if problem.stopping is None or self.scoring == "loss":
            return None
        rows = problem.judging
        scorer = check_scoring(self, self.scoring)
        X = _safe_indexing(rows.X, rows.numbers) if callable(self.scoring) else rows.numbers
        return judge_with(self, scorer, X, self._decode_target(rows.targets), rows.weights)


def _watched(history: Mapping[str, Floats], problem: Problem, judge: Judge | None) -> Floats:
    """Scores of an earlier fit that say when to stop; none where it did not keep them."""
    if judge is not None:
        return history.get("validation_score", np.empty(0))
    losses = "train_loss" if problem.validation is None else "validation_loss"
    return -history.get(losses, np.empty(0))
