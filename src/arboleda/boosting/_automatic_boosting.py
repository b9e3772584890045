"""Boosting that chooses its parameters from the training rows.

The rows are split into folds, and a member is boosted without each, until the loss of its fold
stops improving (as with ``max_iter="auto"``). On the first fold, or the first five with more
effort, changes of the parameters are tried one after the other. A change is kept if its mean loss
on the held-out rows is smaller by more than a standard error of the paired differences of the rows'
losses. Finally the leaves of every member are refitted on all rows; its splits stay.

benchmarks/quality/rules.py measures every rule on tables of its own;
docs/decisions/automatic_boosting.md has the results, with those of the rules that were dropped.

Each row was in the fold of one member, so there are held-out predictions of all of them. Prediction
intervals come from their errors: Barber, Candes, Ramdas and Tibshirani (2021).
"""

from __future__ import annotations

import copy
import math
import time
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._engine.column_options import read_feature_weights
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.table import DenseTable
from arboleda.boosting._auto import (
    HISTOGRAM_VALUES,
    MEMBERS,
    VARIANTS,
    Members,
    compute_best_score,
    fit_member,
    make_member_problems,
    refit_leaves,
    select_variants,
)
from arboleda.boosting._boosting import Boosting, Floats, Queries, ValidationData
from arboleda.boosting._boosting_report import BY_RULE, BoostingReport, Choice, ReportField
from arboleda.boosting._cross_columns import (
    MAX_CROSSED,
    append_crosses,
    select_crossed_columns,
)
from arboleda.boosting._held_out import ROW_LOSSES, compute_mean_and_error, compute_row_losses
from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting
from arboleda.boosting._options import check_cross_columns
from arboleda.boosting._round_monitor import BoostingRound, Callback
from arboleda.boosting._rows import FitProblem, TrainingRows, bin_rows
from arboleda.persist import Field, SavedArray

Effort = Literal["quick", "normal", "high"]
Auto = Literal["auto"]
Values = Mapping[str, Any]

# Parameters with the value "auto", and their values where no rule below chooses another.
DEFAULT_VALUES: Values = {
    "learning_rate": HISTOGRAM_VALUES["learning_rate"],
    "max_leaf_nodes": 31,
    "max_depth": None,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "max_features": HISTOGRAM_VALUES["max_features"],
    "subsample": 1.0,
    "extra_trees": False,
    "linear_leaves": False,
    "cross_columns": False,
    "multi_strategy": "one_output_per_tree",
    "output_sketch": None,
    "n_iter_no_change": HISTOGRAM_VALUES["n_iter_no_change"],
}

# A change must be better by this many standard errors of the difference.
_STANDARD_ERRORS = 1.0
# A change is given up when it is behind by more than this share of what all rounds have gained, a
# margin that falls to 0 towards the last of them. Earlier rounds than these are not compared.
_BEHIND = 0.002
_FIRST_COMPARED_ROUND, _FIRST_COMPARED_SHARE = 10, 0.15
# The share of `time_budget` for trying changes; the rest is for members.
_SEARCH_SHARE = 0.5


@dataclass(frozen=True)
class Change:
    """A change of parameters that is kept if held-out rows show that it is better.

    Parameters
    ----------
    values : mapping
        The changed parameters.
    applies : callable
        Whether a model and its problem allow the change.
    pace : float
        The rounds without the change that one with it is worth: less than 1 for smaller trees.
    """

    values: Values
    applies: Callable[[AutomaticBoosting, FitProblem], bool]
    pace: float = 1.0

    @property
    def name(self) -> str:
        """The change as it is written in code."""
        return ", ".join(f"{name}={value!r}" for name, value in self.values.items())


def _allows_linear_leaves(model: AutomaticBoosting, problem: FitProblem) -> bool:
    is_smooth = model.loss_.name not in {"absolute_error", "huber", "mape", "quantile"}
    is_plain = model.monotonic_cst is None and not (
        model.l1_regularization or model.max_delta_step or model.growth == "symmetric"
    )
    is_dense = isinstance(problem.rows.table, DenseTable)
    has_numbers = "numeric" in model.schema_.kinds
    is_single = model.loss_.n_outputs == 1
    return is_single and is_smooth and is_plain and is_dense and has_numbers


def _allows_cross_columns(model: AutomaticBoosting, problem: FitProblem) -> bool:
    is_free = model.monotonic_cst is None and model.interaction_cst is None
    is_free = is_free and not read_feature_weights(model.feature_weights, model.schema_)
    is_dense = isinstance(problem.rows.table, DenseTable)
    return is_free and is_dense and model.schema_.kinds.count("numeric") > 1


def _always(model: AutomaticBoosting, problem: FitProblem) -> bool:
    return True


_LINEAR_LEAVES = Change({"linear_leaves": True}, _allows_linear_leaves)
_CROSS_COLUMNS = Change({"cross_columns": True}, _allows_cross_columns)
_SMALL_LEAVES = Change({"min_samples_leaf": 5}, _always)
_SMALL_TREES = Change({"max_leaf_nodes": 16}, _always, pace=0.6)
_LARGE_TREES = Change({"max_leaf_nodes": 127}, _always)


class Race:
    """Ends the fit of a change that is behind the member without it, after as many rounds.

    Parameters
    ----------
    losses : ndarray of shape (n_rounds,)
        Of the held-out rows, before the first and after each round of the member without the
        change.
    change : Change
    """

    def __init__(self, losses: Floats, change: Change) -> None:
        self._best = np.minimum.accumulate(losses)
        self._n_rounds = int(np.argmin(losses))
        self._gained = float(self._best[0] - self._best[-1])
        self._change = change
        self._loss = math.inf
        self.given_up: Choice | None = None

    def __call__(self, progress: BoostingRound) -> bool:
        """Return whether to end the fit."""
        if progress.validation_loss is None:
            return False
        self._loss = min(self._loss, progress.validation_loss)
        n_rounds = progress.iteration
        if n_rounds <= max(_FIRST_COMPARED_ROUND, _FIRST_COMPARED_SHARE * self._n_rounds):
            return False
        n_without = min(int(self._change.pace * n_rounds), len(self._best) - 1)
        without = float(self._best[n_without])
        left = max(0.0, 1.0 - n_without / max(1, self._n_rounds))
        if not self._loss > without + _BEHIND * left * self._gained:
            return False
        reason = (
            f"given up after {n_rounds} rounds with a held-out loss of {self._loss:.5g}; "
            f"{without:.5g} after {n_without} rounds without it"
        )
        self.given_up = Choice(self._change.name, False, reason, self._loss - without)
        return True


@dataclass(frozen=True)
class EffortLevel:
    """What a level of effort does.

    Parameters
    ----------
    members : sequence of pairs of int
        Numbers of members for numbers of rows.
    values : mapping
        Values instead of those of `DEFAULT_VALUES`.
    changes : tuple of Change
        Changes to try, in this order.
    n_search_folds : int
        Number of folds, from the first on, whose rows a change is compared on.
    n_repeats : int
        Number of divisions of the rows into folds, each of which has members.
    """

    members: Members
    values: Values
    changes: tuple[Change, ...]
    n_search_folds: int = 1
    n_repeats: int = 1


EFFORTS: Mapping[str, EffortLevel] = {
    "quick": EffortLevel(((50_000, 3),), {"learning_rate": 0.1, "n_iter_no_change": 20}, ()),
    "normal": EffortLevel(
        MEMBERS, {}, (_LINEAR_LEAVES, _CROSS_COLUMNS, _SMALL_LEAVES, _SMALL_TREES)
    ),
    "high": EffortLevel(
        MEMBERS,
        {"n_iter_no_change": 150},
        (_LINEAR_LEAVES, _CROSS_COLUMNS, _SMALL_LEAVES, _SMALL_TREES, _LARGE_TREES),
        n_search_folds=5,
        n_repeats=2,
    ),
}


@dataclass(frozen=True)
class MemberData:
    """The rows that members are fitted on.

    Parameters
    ----------
    rows : TrainingRows
        All training rows.
    problems : list of FitProblem
        The training and validation rows of each member, by fold.
    n_folds : int
        Number of folds. Further members are those of further divisions into folds.
    coded : BinnedDataset
        The binned rows, which all members share.
    crossed : tuple of int
        Columns whose differences and products are columns of the table.
    """

    rows: TrainingRows
    problems: list[FitProblem]
    n_folds: int
    coded: BinnedDataset
    crossed: tuple[int, ...] = ()


@dataclass
class Candidate:
    """Parameters of members, and those members that were fitted.

    Parameters
    ----------
    data : MemberData
    variants : list of mapping
        The members alternate between these parameters.
    members : list of Boosting
        By fold, as many as were fitted.
    scores : list of ndarray
        The raw scores of each member for the rows of its fold.
    """

    data: MemberData
    variants: list[dict[str, Any]]
    members: list[Boosting] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)


class AutomaticBoosting(HistGradientBoosting, metaclass=ABCMeta):
    """Base class of the classifier and the regressor, for all but their parameters."""

    _automatic_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: [*allowed, StrOptions({"auto"})]
            for name, allowed in {
                **Boosting._parameter_constraints,
                **HistGradientBoosting._parameter_constraints,
            }.items()
            if name in DEFAULT_VALUES
        },
        "cross_columns": ["boolean", StrOptions({"auto"})],
        "effort": [StrOptions(set(EFFORTS))],
        "time_budget": [Interval(Real, 0.0, None, closed="neither"), None],
    }
    _automatic_attributes: ClassVar[dict[str, Field]] = {
        "crossed_columns_": SavedArray(np.int64),
        "report_": ReportField(),
    }
    _n_outer_calls: ClassVar[int] = 1
    # Rounds are no parameter: other libraries set `max_iter` where an estimator has it.
    _rounds_parameter: ClassVar[str] = "_max_rounds"
    _max_rounds: int | Auto = "auto"

    cross_columns: bool | Auto
    crossed_columns_: npt.NDArray[np.int64]
    effort: Effort
    time_budget: float | None
    report_: BoostingReport
    cv_predictions_: Floats
    # Set in the copy that is fitted: the names of the parameters to choose, and the time to end.
    _automatic_parameters: frozenset[str]
    _deadline: float

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
        self._validate_params()
        if any(scores is not None for scores in init_scores):
            kind = "Classifier" if is_classifier(self) else "Regressor"
            raise ValueError(
                f"{type(self).__name__} does not support init_score: use HistGradientBoosting{kind}"
            )
        # A copy with values instead of "auto" is fitted; the parameters of this one stay.
        fitted = copy.copy(self)
        fitted._automatic_parameters = frozenset(
            name
            for name in DEFAULT_VALUES
            if isinstance(vars(self)[name], str) and vars(self)[name] == "auto"
        )
        values = {**DEFAULT_VALUES, **EFFORTS[self.effort].values}
        fitted.__dict__.update({name: values[name] for name in fitted._automatic_parameters})
        fitted.crossed_columns_ = np.empty(0, dtype=np.int64)
        fitted._deadline = math.inf
        if self.time_budget is not None:
            fitted._deadline = time.monotonic() + self.time_budget
            callbacks = [*callbacks, fitted._stop_at_deadline]
        super(AutomaticBoosting, fitted)._boost(
            X, y, sample_weight, validation_data, callbacks, queries
        )
        for name in _find_fitted_attributes(self):
            delattr(self, name)
        self.__dict__.update({name: vars(fitted)[name] for name in _find_fitted_attributes(fitted)})

    def _stop_at_deadline(self, progress: BoostingRound) -> bool:
        return time.monotonic() >= self._deadline

    def _set_constant_model(self, rows: TrainingRows) -> None:
        super()._set_constant_model(rows)
        self.cv_predictions_ = np.ones((rows.shards.count(rows.table.n_rows), 1))
        self.report_ = BoostingReport((), "", 0, 0, math.nan, math.nan)

    def _fit_members(
        self, problem: FitProblem, coded: BinnedDataset, callbacks: Sequence[Callback]
    ) -> Ensemble:
        if self.cross_columns is True:
            check_cross_columns(self, problem.rows.table)
        search = ParameterSearch(self, problem, coded, callbacks)
        candidate = search.run()
        data, members = candidate.data, candidate.members
        self.crossed_columns_ = np.array(data.crossed, dtype=np.int64)
        self.report_ = search.make_report(candidate)
        self._keep_held_out(data.rows, data.problems[: len(members)], candidate)
        if not search.holds_out:
            return members[0].ensemble_
        return Ensemble.mean_of([refit_leaves(each, data.rows, data.coded) for each in members])

    @property
    def _crossed_columns(self) -> Sequence[int]:
        crossed: list[int] = self.crossed_columns_.tolist()
        return crossed

    def _defect(self) -> str | None:
        crossed = self._crossed_columns
        is_sorted = all(a < b for a, b in pairwise(crossed))
        kinds = self.schema_.kinds
        exist = all(0 <= j < len(kinds) and kinds[j] == "numeric" for j in crossed)
        if not is_sorted or not exist or len(crossed) > MAX_CROSSED:
            return "crossed_columns_ are not some numeric columns in ascending order"
        return super()._defect()

    def _choose_automatic_values(self) -> Mapping[str, Any]:
        """Return the values of rules; those for shared trees only if trees may be shared."""
        is_given = "multi_strategy" not in self._automatic_parameters
        if is_given and self.multi_strategy != "multi_output_tree":
            return self._automatic_values
        return super()._choose_automatic_values()

    def _keep_held_out(
        self, rows: TrainingRows, problems: Sequence[FitProblem], candidate: Candidate
    ) -> None:
        """Set the attributes about the rows, of all shards, that members were not fitted on."""
        predictions = [self.loss_.predictions(scores) for scores in candidate.scores]
        shape = (rows.table.n_rows, predictions[0].shape[1])
        sums, counts = np.zeros(shape), np.zeros((shape[0], 1))
        for member_problem, fold_predictions in zip(problems, predictions, strict=True):
            scored = member_problem.scored_rows
            if scored is not member_problem.rows and scored.table is rows.table:
                sums[scored.numbers] += fold_predictions
                counts[scored.numbers] += 1.0
        with np.errstate(invalid="ignore"):
            means = sums / counts  # NaN where there is none
        self.cv_predictions_ = rows.shards.join(means)


def _find_fitted_attributes(model: AutomaticBoosting) -> list[str]:
    """Return the names of the attributes that a fit sets."""
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


class ParameterSearch:
    """The choice of the parameters of the members, and the fit of the members.

    Parameters
    ----------
    model : AutomaticBoosting
        With values in the place of "auto".
    problem : FitProblem
    coded : BinnedDataset
        The binned rows, which all members share.
    callbacks : sequence of callables
    """

    def __init__(
        self,
        model: AutomaticBoosting,
        problem: FitProblem,
        coded: BinnedDataset,
        callbacks: Sequence[Callback],
    ) -> None:
        self._model = model
        self._problem = problem
        self._callbacks = callbacks
        self._level = EFFORTS[model.effort]
        self._choices: list[Choice] = []
        self._data = self._make_data(problem, coded)
        problems = self._data.problems
        self._n_search_folds = min(self._level.n_search_folds, self._data.n_folds)
        self.holds_out = problems[0].scored_rows is not problems[0].rows

    def run(self) -> Candidate:
        """Try the changes and fit all members.

        Returns
        -------
        candidate : Candidate
            With members of as many folds as `time_budget` allows, but at least one.
        """
        candidate = self._make_first_candidate()
        if self._model.cross_columns is True:
            candidate = Candidate(self._cross(candidate), candidate.variants)
        for change in self._level.changes if self.holds_out else ():
            candidate = self._try(change, candidate)
        for fold in range(len(candidate.data.problems)):
            self._fit_fold(candidate, fold)
        return candidate

    def make_report(self, candidate: Candidate) -> BoostingReport:
        """Return what was chosen and why, with the loss on held-out rows."""
        loss, error = math.nan, math.nan
        if self.holds_out and self._model.loss_.name in ROW_LOSSES:
            n_folds = min(len(candidate.members), self._data.n_folds)
            losses, weights = self._compute_losses(candidate, n_folds)
            loss, error = compute_mean_and_error(losses, weights)
        return BoostingReport(
            choices=tuple(self._choices),
            loss=self._model.loss_.name,
            n_members=len(candidate.members),
            n_rounds=sum(member.ensemble_.n_rounds for member in candidate.members),
            cv_loss=loss,
            cv_loss_error=error,
        )

    def _make_first_candidate(self) -> Candidate:
        """Return the parameters before any change, and whether thresholds are random."""
        model = self._model
        names = model._automatic_parameters
        rules = {**model._choose_automatic_values(), **self._level.values}
        values = {
            name: rules.get(name, DEFAULT_VALUES[name]) for name in DEFAULT_VALUES if name in names
        }
        variants = [{**values, **changes} for changes in VARIANTS]
        data = self._data
        if "extra_trees" not in names or len(data.problems) == 1:
            variants = [values]
        fitted = [self._fit(data, variants[0], 0)]
        if len(variants) > 1 and not self._is_over(1.0):
            fitted.append(self._fit(data, variants[1], 0))
        if self._is_over(1.0):  # the last member may be incomplete
            variants, fitted = variants[:1], fitted[:1]
        scores = [compute_best_score(member.history_) for member in fitted]
        kept = select_variants(variants, scores, data.problems[0].scored_rows.n_rows)
        self._choices = [
            Choice(name, value, BY_RULE)
            for name, value in values.items()
            if name != "extra_trees" or len(variants) == 1
        ]
        if len(kept) > 1:
            reason = "regular thresholds are not clearly better on the first fold"
            self._choices.append(Choice("extra_trees", "every second member", reason))
        elif len(variants) > 1:
            reason = "regular thresholds are clearly better on the first fold"
            self._choices.append(Choice("extra_trees", False, reason))
        candidate = Candidate(data, kept)
        self._keep(candidate, fitted[int(np.argmax(scores))], 0)  # the first one in case of ties
        return candidate

    def _try(self, change: Change, candidate: Candidate) -> Candidate:
        """Return the candidate with a change, if that is better on held-out rows, or as it is."""
        model = self._model
        names = change.values.keys()
        if not (names <= model._automatic_parameters and change.applies(model, self._problem)):
            return candidate
        if model.loss_.name not in ROW_LOSSES:
            reason = "not tried: the loss has no value for a single row"
            self._choices.append(Choice(change.name, False, reason))
            return candidate
        variants = [{**variant, **change.values} for variant in candidate.variants]
        crosses = "cross_columns" in change.values
        changed = Candidate(self._cross(candidate) if crosses else candidate.data, variants)
        if crosses and not changed.data.crossed:
            reason = "not tried: the trees split on fewer than two numeric columns"
            self._choices.append(Choice(change.name, False, reason))
            return candidate
        race = None
        for fold in range(self._n_search_folds):
            self._fit_fold(candidate, fold, _SEARCH_SHARE)
            if self._n_search_folds == 1:
                race = Race(candidate.members[0].history_["validation_loss"], change)
            self._fit_fold(changed, fold, _SEARCH_SHARE, race)
        if min(len(candidate.members), len(changed.members)) < self._n_search_folds:
            self._choices.append(Choice(change.name, False, "not tried to the end: time_budget"))
            return candidate
        given_up = race is not None and self._problem.rows.shards.choose_first(
            lambda: race.given_up
        )
        if given_up:
            self._choices.append(given_up)
            return candidate
        before, weights = self._compute_losses(candidate, self._n_search_folds)
        after, _ = self._compute_losses(changed, self._n_search_folds)
        difference, error = compute_mean_and_error(after - before, weights)
        is_better = difference < -_STANDARD_ERRORS * error
        mean_before = compute_mean_and_error(before, weights)[0]
        self._choices.append(
            Choice(
                change.name,
                is_better,
                f"held-out loss {mean_before + difference:.5g} instead of {mean_before:.5g}; "
                f"difference {difference:+.2g} with a standard error of {error:.2g}",
                difference,
                error,
            )
        )
        return changed if is_better else candidate

    def _fit_fold(
        self, candidate: Candidate, fold: int, share: float = 1.0, race: Race | None = None
    ) -> None:
        """Fit the member of a fold, if it is the next one and within a share of `time_budget`."""
        if fold != len(candidate.members) or self._is_over(share):
            return
        variant = candidate.variants[fold % len(candidate.variants)]
        member = self._fit(candidate.data, variant, fold, race)
        if not self._is_over(1.0):  # otherwise it may be incomplete
            self._keep(candidate, member, fold)

    def _fit(
        self, data: MemberData, variant: Values, fold: int, race: Race | None = None
    ) -> Boosting:
        problem = data.problems[fold]
        callbacks = list(self._callbacks)
        if race is not None:
            callbacks.append(race)
        return fit_member(self._model, problem, variant, fold, data.coded, callbacks)

    def _keep(self, candidate: Candidate, member: Boosting, fold: int) -> None:
        rows = candidate.data.problems[fold].scored_rows
        table = rows.table.take(rows.numbers.astype(np.intp))
        candidate.members.append(member)
        candidate.scores.append(member.ensemble_.scores(table, resolve_n_jobs(member.n_jobs)))

    def _make_data(
        self, problem: FitProblem, coded: BinnedDataset, crossed: tuple[int, ...] = ()
    ) -> MemberData:
        model = self._model
        divisions = [
            make_member_problems(
                problem,
                stratify=is_classifier(model),
                seed=model.seed_ + repeat,
                members=self._level.members,
            )
            for repeat in range(self._level.n_repeats)
        ]
        n_folds = len(divisions[0])
        # A single member is that of one hold-out, or of rows that were given.
        problems = list(chain(*divisions)) if n_folds > 1 else divisions[0]
        return MemberData(problem.rows, problems, n_folds, coded, crossed)

    def _cross(self, candidate: Candidate) -> MemberData:
        """Return the rows with crosses of the columns that are most important for a candidate."""
        model = self._model
        importances = candidate.members[0].feature_importances_
        crossed = select_crossed_columns(importances, model.schema_.kinds)
        if not crossed:
            return candidate.data
        rows, validation = self._problem.rows, self._problem.validation
        table = append_crosses(rows.table, crossed)
        if validation is not None:
            is_same = validation.table is rows.table
            wide = table if is_same else append_crosses(validation.table, crossed)
            validation = replace(validation, table=wide)
        rows = replace(rows, table=table)
        problem = replace(self._problem, rows=rows, validation=validation)
        coded = bin_rows(rows, model.max_bins, resolve_n_jobs(model.n_jobs))
        return self._make_data(problem, coded, crossed)

    def _compute_losses(self, candidate: Candidate, n_folds: int) -> tuple[Floats, Floats]:
        """Return the loss and the weight of every held-out row of the first folds."""
        losses, weights = [], []
        for problem, raw in zip(candidate.data.problems[:n_folds], candidate.scores, strict=False):
            rows = problem.scored_rows
            own = np.ones(rows.numbers.size) if rows.weights is None else rows.weights
            losses.append(
                rows.shards.join(compute_row_losses(self._model.loss_, rows.targets, raw))
            )
            weights.append(rows.shards.join(own))
        return np.concatenate(losses), np.concatenate(weights)

    def _is_over(self, share: float) -> bool:
        """Whether a share of `time_budget` has passed, by the clock of the first shard."""
        budget = self._model.time_budget
        if budget is None:
            return False
        end = self._model._deadline - (1.0 - share) * budget
        return self._problem.rows.shards.choose_first(lambda: time.monotonic() >= end)
