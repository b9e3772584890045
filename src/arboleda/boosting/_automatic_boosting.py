"""Boosting that chooses its parameters from the training rows, with nothing to set.

The rows are split into folds, and a member is boosted without each, until the score of its fold
stops improving (as with ``max_iter="auto"``). Before that, changes of the parameters are tried one
after the other on the first fold, or on all folds of a small table. A change is kept if its loss on
held-out rows is smaller by more than a standard error of the difference, which is taken over pairs
of rows. At last the leaves of every member are refitted on all rows; its splits stay.

benchmarks/quality/rules.py measures every rule on tables of its own, and its README has the
results, with those of the rules that were dropped.

Held-out predictions come for free: each row was in the fold of one member. Barber, Candes, Ramdas
and Tibshirani (2021) make intervals from them.
"""

from __future__ import annotations

import copy
import math
import time
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils._param_validation import Interval, StrOptions

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
from arboleda.boosting._boosting import Boosting, Floats, ValidationData
from arboleda.boosting._boosting_report import BY_RULE, BoostingReport, Choice, ReportField
from arboleda.boosting._held_out import compute_row_losses
from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting
from arboleda.boosting._losses import regression_loss
from arboleda.boosting._round_monitor import BoostingRound, Callback
from arboleda.boosting._rows import FitProblem, TrainingRows
from arboleda.persist import Field

Effort = Literal["quick", "normal", "high"]
Auto = Literal["auto"]
Values = Mapping[str, Any]

# Parameters with the value "auto", and their values where no rule below chooses another.
CHOSEN: Values = {
    "learning_rate": HISTOGRAM_VALUES["learning_rate"],
    "max_leaf_nodes": 31,
    "max_depth": None,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "max_features": HISTOGRAM_VALUES["max_features"],
    "subsample": 1.0,
    "extra_trees": False,
    "linear_leaves": False,
    "multi_strategy": "one_output_per_tree",
    "output_sketch": None,
    "n_iter_no_change": HISTOGRAM_VALUES["n_iter_no_change"],
}

# A change must be better by this many standard errors of the difference.
_STANDARD_ERRORS = 1.0
# The share of `time_budget` for trying changes; the rest is for members.
_TRYING_SHARE = 0.5


@dataclass(frozen=True)
class Change:
    """A change of parameters that is kept if held-out rows show that it is better.

    Parameters
    ----------
    values : mapping
        The changed parameters, or "loss".
    applies : callable
        Whether a model and its problem allow the change.
    """

    values: Values
    applies: Callable[[AutomaticBoosting, FitProblem], bool]

    @property
    def name(self) -> str:
        """The change as it is written in code."""
        return ", ".join(f"{name}={value!r}" for name, value in self.values.items())


def _allows_linear_leaves(model: AutomaticBoosting, problem: FitProblem) -> bool:
    is_smooth = model.loss_.name not in {"absolute_error", "huber", "quantile"}
    is_plain = model.monotonic_cst is None and not (
        model.l1_regularization or model.max_delta_step or model.growth == "symmetric"
    )
    is_dense = isinstance(problem.rows.table, DenseTable)
    has_numbers = "numeric" in model.schema_.kinds
    return model.loss_.n_outputs == 1 and is_smooth and is_plain and is_dense and has_numbers


def _allows_log_link(model: AutomaticBoosting, problem: FitProblem) -> bool:
    """Whether a mean of non-negative targets can be fitted on a logarithmic scale."""
    targets = problem.rows.targets
    is_mean = model.loss_.name == "squared_error" and model.scoring == "loss"
    return is_mean and bool((targets >= 0.0).all() and (targets > 0.0).any())


def _is_log_loss(model: AutomaticBoosting, problem: FitProblem) -> bool:
    return model.loss_.name == "log_loss"


def _always(model: AutomaticBoosting, problem: FitProblem) -> bool:
    return True


_LOG_LINK = Change({"loss": "poisson"}, _allows_log_link)
_LINEAR_LEAVES = Change({"linear_leaves": True}, _allows_linear_leaves)
_SMALL_LEAVES = Change({"min_samples_leaf": 5}, _always)
_SMALL_TREES = Change({"max_leaf_nodes": 16}, _always)
_LARGE_TREES = Change({"max_leaf_nodes": 127}, _always)
_PENALTY = Change({"l2_regularization": 1.0}, _is_log_loss)


@dataclass(frozen=True)
class EffortLevel:
    """What a level of effort does.

    Parameters
    ----------
    members : sequence of pairs of int
        Numbers of members for numbers of rows.
    values : mapping
        Values instead of those of `CHOSEN`.
    changes : tuple of Change
        Changes to try, in this order.
    small_table : int
        Changes are tried on all folds up to this number of rows, on the first fold of more.
    """

    members: Members
    values: Values
    changes: tuple[Change, ...]
    small_table: int = 0


EFFORTS: Mapping[str, EffortLevel] = {
    "quick": EffortLevel(((50_000, 3),), {"learning_rate": 0.1, "n_iter_no_change": 20}, ()),
    "normal": EffortLevel(
        MEMBERS, {}, (_LOG_LINK, _LINEAR_LEAVES, _SMALL_LEAVES, _SMALL_TREES), 5_000
    ),
    "high": EffortLevel(
        ((50_000, 10), (500_000, 5)),
        {},
        (_LOG_LINK, _LINEAR_LEAVES, _SMALL_LEAVES, _SMALL_TREES, _LARGE_TREES, _PENALTY),
        50_000,
    ),
}


@dataclass
class Recipe:
    """Parameters of members, and those members that were fitted.

    Parameters
    ----------
    variants : list of mapping
        The members alternate between these parameters.
    members : list of Boosting
        By fold, as many as were fitted.
    scores : list of ndarray
        The raw scores of each member for the rows of its fold.
    """

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
            if name in CHOSEN
        },
        "effort": [StrOptions(set(EFFORTS))],
        "time_budget": [Interval(Real, 0.0, None, closed="neither"), None],
    }
    _automatic_attributes: ClassVar[dict[str, Field]] = {"report_": ReportField()}
    _n_outer_calls: ClassVar[int] = 1
    # Rounds are no parameter: other libraries set `max_iter` where an estimator has it.
    _rounds_parameter: ClassVar[str] = "_max_rounds"
    _max_rounds: int | Auto = "auto"

    effort: Effort
    time_budget: float | None
    report_: BoostingReport
    cv_predictions_: Floats
    _free: frozenset[str]  # names of the parameters to choose, in the copy that is fitted
    _deadline: float

    def _boost(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation_data: ValidationData,
        callbacks: Sequence[Callback],
    ) -> None:
        self._validate_params()
        # A copy with numbers instead of "auto" is fitted; the parameters of this one stay.
        fitted = copy.copy(self)
        fitted._free = frozenset(
            name
            for name in CHOSEN
            if isinstance(vars(self)[name], str) and vars(self)[name] == "auto"
        )
        values = {**CHOSEN, **EFFORTS[self.effort].values}
        fitted.__dict__.update({name: values[name] for name in fitted._free})
        fitted._deadline = math.inf
        if self.time_budget is not None:
            fitted._deadline = time.monotonic() + self.time_budget
            callbacks = [*callbacks, fitted._stop_at_deadline]
        super(AutomaticBoosting, fitted)._boost(X, y, sample_weight, validation_data, callbacks)
        for name in _find_fitted_attributes(self):
            delattr(self, name)
        self.__dict__.update({name: vars(fitted)[name] for name in _find_fitted_attributes(fitted)})

    def _stop_at_deadline(self, progress: BoostingRound) -> bool:
        return time.monotonic() >= self._deadline

    def _set_constant_model(self, rows: TrainingRows) -> None:
        super()._set_constant_model(rows)
        self.cv_predictions_ = np.ones((rows.table.n_rows, 1))
        self.report_ = BoostingReport((), "", 0, 0, math.nan, math.nan)

    def _fit_members(
        self, problem: FitProblem, coded: BinnedDataset, callbacks: Sequence[Callback]
    ) -> Ensemble:
        search = RecipeSearch(self, problem, coded, callbacks)
        recipe = search.run()
        members, parts = recipe.members, search.parts[: len(recipe.members)]
        self.loss_ = members[0].loss_
        self.report_ = search.make_report(recipe)
        self._keep_held_out(problem, parts, recipe)
        if parts[0].rows.numbers.size == problem.rows.numbers.size:  # no row was held out
            return Ensemble.mean_of([member.ensemble_ for member in members])
        return Ensemble.mean_of([refit_leaves(member, problem.rows, coded) for member in members])

    def _keep_held_out(
        self, problem: FitProblem, parts: Sequence[FitProblem], recipe: Recipe
    ) -> None:
        """Set the attributes about the rows that members were not fitted on."""
        predictions = [self.loss_.predictions(scores) for scores in recipe.scores]
        shape = (problem.rows.table.n_rows, predictions[0].shape[1])
        self.cv_predictions_ = np.full(shape, np.nan)
        for part, of_fold in zip(parts, predictions, strict=True):
            if part.validation is not None and part.validation.table is problem.rows.table:
                self.cv_predictions_[part.validation.numbers] = of_fold


def _find_fitted_attributes(model: AutomaticBoosting) -> list[str]:
    """Return the names of the attributes that a fit sets."""
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


class RecipeSearch:
    """The choice of the parameters of the members, and the fit of the members.

    Parameters
    ----------
    model : AutomaticBoosting
        With numbers in the place of "auto".
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
        self._coded = coded
        self._callbacks = callbacks
        self._level = EFFORTS[model.effort]
        self._objective = model.loss_  # what changes are compared by, whatever they minimize
        self._choices: list[Choice] = []
        self.parts = make_member_problems(
            problem,
            stratify=is_classifier(model),
            seed=model.seed_,
            members=self._level.members,
        )
        self._holds_out = self.parts[0].validation is not self.parts[0].rows
        is_small = problem.rows.numbers.size <= self._level.small_table
        self._n_trials = len(self.parts) if is_small else 1

    def run(self) -> Recipe:
        """Try the changes and fit all members.

        Returns
        -------
        recipe : Recipe
            With members of as many folds as `time_budget` allows, but at least one.
        """
        recipe = self._make_first_recipe()
        for change in self._level.changes if self._holds_out else ():
            recipe = self._try(change, recipe)
        for fold in range(len(self.parts)):
            if not self._is_over(1.0):
                self._fit_fold(recipe, fold)
        return recipe

    def make_report(self, recipe: Recipe) -> BoostingReport:
        """Return what was chosen and why, with the loss on held-out rows."""
        loss, error = math.nan, math.nan
        losses = self._compute_losses(recipe, len(recipe.members))
        if losses is not None and self._holds_out:
            loss, error = _mean_and_error(*losses)
        return BoostingReport(
            choices=tuple(self._choices),
            loss=self._objective.name,
            n_members=len(recipe.members),
            n_rounds=sum(member.ensemble_.n_rounds for member in recipe.members),
            cv_loss=loss,
            cv_loss_error=error,
        )

    def _make_first_recipe(self) -> Recipe:
        """Return the parameters before any change, and whether thresholds are random."""
        model = self._model
        rules = {**model._choose_automatic_values(), **self._level.values}
        values = {name: rules.get(name, CHOSEN[name]) for name in CHOSEN if name in model._free}
        alternates = VARIANTS if "extra_trees" in model._free and len(self.parts) > 1 else ({},)
        variants = [{**values, **changes} for changes in alternates]
        fitted = [self._fit(variant, 0) for variant in variants]
        scores = [compute_best_score(member.history_) for member in fitted]
        kept = select_variants(variants, scores, self.parts[0].scored_rows.numbers.size)
        self._choices = [
            Choice(name, value, BY_RULE)
            for name, value in values.items()
            if name != "extra_trees" or len(variants) == 1
        ]
        if len(kept) > 1:
            reason = "no clear difference between the two on the first fold"
            self._choices.append(Choice("extra_trees", "every second member", reason))
        elif len(variants) > 1:
            reason = "clearly better on the first fold"
            self._choices.append(Choice("extra_trees", False, reason))
        recipe = Recipe(kept)
        self._keep(recipe, fitted[int(np.argmax(scores))], 0)  # the first one in case of ties
        return recipe

    def _try(self, change: Change, recipe: Recipe) -> Recipe:
        """Return the recipe with a change, if that is better on held-out rows, or as it is."""
        model = self._model
        if not (
            change.values.keys() <= model._free | {"loss"} and change.applies(model, self._problem)
        ):
            return recipe
        if self._is_over(_TRYING_SHARE):
            self._choices.append(Choice(change.name, False, "not tried: time_budget"))
            return recipe
        values = dict(change.values)
        if "loss" in values:
            n_targets = self._problem.rows.n_targets
            values = {"loss_": regression_loss(values["loss"], (), 0.9, 1.5, n_targets)}
        changed = Recipe([{**variant, **values} for variant in recipe.variants])
        for fold in range(self._n_trials):
            self._fit_fold(recipe, fold)
            self._fit_fold(changed, fold)
        before = self._compute_losses(recipe, self._n_trials)
        after = self._compute_losses(changed, self._n_trials)
        if before is None or after is None:
            return recipe
        gain, error = _mean_and_error(before[0] - after[0], before[1])
        is_better = gain > _STANDARD_ERRORS * error
        losses = [_mean_and_error(*each)[0] for each in (after, before)]
        self._choices.append(
            Choice(
                change.name,
                is_better,
                f"held-out loss {losses[0]:.5g} instead of {losses[1]:.5g}; difference "
                f"{0.0 - gain:+.2g} with a standard error of {error:.2g}",
                0.0 - gain,
                error,
            )
        )
        return changed if is_better else recipe

    def _fit_fold(self, recipe: Recipe, fold: int) -> None:
        """Fit the member of a fold, if it is not fitted yet."""
        if fold == len(recipe.members):
            variant = recipe.variants[fold % len(recipe.variants)]
            self._keep(recipe, self._fit(variant, fold), fold)

    def _fit(self, variant: Values, fold: int) -> Boosting:
        model = self._model
        return fit_member(model, self.parts[fold], variant, fold, self._coded, self._callbacks)

    def _keep(self, recipe: Recipe, member: Boosting, fold: int) -> None:
        rows = self.parts[fold].scored_rows
        table = rows.table.take(rows.numbers.astype(np.intp))
        recipe.members.append(member)
        recipe.scores.append(member.ensemble_.scores(table, resolve_n_jobs(member.n_jobs)))

    def _compute_losses(self, recipe: Recipe, n_folds: int) -> tuple[Floats, Floats] | None:
        """Return the loss and the weight of every held-out row of the first folds.

        The loss is the one to minimize, whatever members minimize; None if it has no value for a
        single row.
        """
        losses, weights = [], []
        for fold in range(n_folds):
            rows = self.parts[fold].scored_rows
            predictions = recipe.members[fold].loss_.predictions(recipe.scores[fold])
            of_fold = compute_row_losses(self._objective, rows.targets, predictions)
            if of_fold is None:
                return None
            losses.append(of_fold)
            weights.append(np.ones(len(of_fold)) if rows.weights is None else rows.weights)
        return np.concatenate(losses), np.concatenate(weights)

    def _is_over(self, share: float) -> bool:
        """Whether a share of `time_budget` has passed."""
        budget = self._model.time_budget
        return (
            budget is not None and time.monotonic() > self._model._deadline - (1.0 - share) * budget
        )


def _mean_and_error(values: Floats, weights: Floats) -> tuple[float, float]:
    """Return a weighted mean and its standard error."""
    total = weights.sum()
    mean = float(weights @ values / total)
    return mean, float(np.sqrt(np.sum((weights * (values - mean)) ** 2)) / total)
