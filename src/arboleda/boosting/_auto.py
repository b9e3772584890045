"""``max_iter="auto"`` and ``n_estimators="auto"``: rounds and defaults chosen from the data.

The rows are split into folds. For each fold a model is boosted on the other rows with a small
learning rate until the score of the fold stops improving, and is truncated to its best round. The
final model is the mean of the raw scores of these models. Every row thus contributes to the trees
of all members but one, and to the number of rounds of that one, and the mean has a lower variance
than each of its members: Breiman (1996), "Bagging predictors"; Parmanto, Munro and Doyle (1996),
"Improving committee diagnosis with resampling techniques", whose committees are cross-validated
like this one. Rows are binned once, since bins do not depend on the target, and all folds share the
codes.

The constants below come from the study in benchmarks/quality, which measures the effect of each.

Stone (1974), "Cross-validatory choice and assessment of statistical predictions".
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from arboleda._engine.boosting import fit_boosting
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.parallel import resolve_n_jobs
from arboleda.boosting._round_monitor import find_best_index
from arboleda.boosting._rows import FitProblem, TrainingRows, check_complete, kfold_splits

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._round_monitor import Callback

Floats = npt.NDArray[np.float64]
Members = Sequence[tuple[int, int]]

# Maximum number of rounds of a member; no model of the study came near it.
MAX_ROUNDS = 5000

# (maximum number of rows, number of folds). With more rows a mean helps less and takes longer.
MEMBERS: Members = ((50_000, 5), (500_000, 3))

# Beyond the largest of these sizes a single model is fitted, with a tenth of the rows held out for
# early stopping. Its leaves are then refitted on all rows; its splits stay.
_SINGLE_MEMBER_FOLDS = 10

# Values of the parameters that were left at their defaults, by name.
HISTOGRAM_VALUES: Mapping[str, Any] = {
    "early_stopping": True,
    "n_iter_no_change": 50,
    "tol": 0.0,
    "learning_rate": 0.05,
    "max_features": 0.5,
}

# Values for more than two classes: one tree for all of them, which needs more leaves. From the
# second number of classes on, splits that are searched by random projections are better, and found
# sooner; with fewer classes and more columns than the first number, separate trees are better.
SHARED_COLUMNS = 100
SHARED_VALUES: Mapping[str, Any] = {"multi_strategy": "multi_output_tree", "max_leaf_nodes": 63}
SKETCHED_VALUES: Mapping[str, Any] = {"output_sketch": "projection"}
SKETCHED_FROM = 10

EXACT_VALUES: Mapping[str, Any] = {
    "n_iter_no_change": 50,
    "tol": 0.0,
    "learning_rate": 0.05,
}

# Variants of the parameters that the members alternate between, since a mean of diverse models is
# better. All are fitted on the first fold; if the first variant is clearly better there, all
# members use it.
VARIANTS: tuple[Mapping[str, Any], ...] = ({}, {"extra_trees": True})


def fit_mean_of_members(
    model: Boosting, problem: FitProblem, coded: BinnedDataset, callbacks: Sequence[Callback]
) -> Ensemble:
    """Fit the members, with the parameters of `model` except those that "auto" chooses.

    Parameters
    ----------
    model : Boosting
    problem : Problem
    coded : BinnedDataset
        The binned rows, which all members share.
    callbacks : sequence of callables
        Called after each round of each member.

    Returns
    -------
    ensemble : Ensemble
        The mean of the members.
    """
    parts = make_member_problems(problem, stratify=is_classifier(model), seed=model.seed_)
    variants = make_variants(model, model._choose_automatic_values(), len(parts))
    fitted = [fit_member(model, parts[0], values, 0, coded, callbacks) for values in variants]
    scores = [compute_best_score(member.history_) for member in fitted]
    members = [fitted[int(np.argmax(scores))]]  # the first one in case of ties
    variants = select_variants(variants, scores, parts[0].scored_rows.n_rows)
    for number, part in enumerate(parts[1:], start=1):
        values = variants[number % len(variants)]
        members.append(fit_member(model, part, values, number, coded, callbacks))
    if len(parts) == 1 and parts[0].rows.n_rows < problem.rows.n_rows:
        return refit_leaves(members[0], problem.rows, coded)
    return Ensemble.mean_of([member.ensemble_ for member in members])


def choose_n_members(n_rows: int, members: Members | None = None) -> int:
    """Return the number of members for a number of rows, by `MEMBERS` or a table like it."""
    table = MEMBERS if members is None else members
    return next((number for max_rows, number in table if n_rows <= max_rows), 1)


def make_variants(model: Any, values: Mapping[str, Any], n_members: int) -> list[dict[str, Any]]:
    """Return the values of the parameters that were left at their defaults, for each variant.

    Parameters that the user set are kept, and variants that become equal by that are dropped. A
    single member uses the first variant only.
    """
    defaults = type(model)().get_params()
    params = model.get_params(deep=False)
    variants: list[dict[str, Any]] = []
    for changes in VARIANTS if n_members > 1 else VARIANTS[:1]:
        variant = {
            name: value
            for name, value in {**values, **changes}.items()
            if name in params and params[name] == defaults[name]
        }
        if variant not in variants:
            variants.append(variant)
    return variants


def select_variants(
    variants: list[dict[str, Any]], scores: list[float], n_scored_rows: int
) -> list[dict[str, Any]]:
    """Return the variants that members alternate between, given the scores on the first fold.

    Only the first variant is returned if its score is better than the others by more than
    1/sqrt(n) of its absolute value, where n is the number of scored rows. This is about two
    standard errors if the losses of single rows vary as much as their mean and are similar for both
    variants. Otherwise all are returned, the best first.
    """
    if len(variants) > 1 and scores[0] - max(scores[1:]) > abs(scores[0]) / math.sqrt(
        n_scored_rows
    ):
        return variants[:1]
    order = sorted(range(len(variants)), key=lambda i: -scores[i])  # stable in case of ties
    return [variants[i] for i in order]


def compute_best_score(history: Mapping[str, Floats]) -> float:
    """Return the best score of the validation rows; 0 if none was recorded."""
    if "validation_score" in history:
        return float(np.nanmax(history["validation_score"]))
    if "validation_loss" in history:
        return -float(np.nanmin(history["validation_loss"]))
    return 0.0


def make_member_problems(
    problem: FitProblem, *, stratify: bool, seed: int, members: Members | None = None
) -> list[FitProblem]:
    """Return the training and validation rows of each member.

    Parameters
    ----------
    problem : Problem
        If it has validation rows, there is one member, which uses them.
    stratify : bool
        Whether the target holds classes.
    seed : int
        Seed of the random folds.
    members : sequence of pairs of int, optional
        Numbers of members for numbers of rows, as `MEMBERS`.

    Returns
    -------
    problems : list of Problem
        One per member.
    """
    rows = problem.rows
    if problem.validation is not None:
        return [problem]
    n_rows = rows.n_rows
    n_members = choose_n_members(n_rows, members)
    n_folds = n_members if n_members > 1 else _SINGLE_MEMBER_FOLDS
    splits = []
    if n_rows >= n_folds:
        splits = kfold_splits(rows, n_folds, stratify=stratify, seed=seed)
    if not splits:  # too few rows, or a class for every row: nothing can be held out
        return [FitProblem(rows, rows, None)]
    return [FitProblem(train, validation, None) for train, validation in splits[:n_members]]


def fit_member(
    model: Boosting,
    problem: FitProblem,
    values: Mapping[str, Any],
    number: int,
    coded: BinnedDataset,
    callbacks: Sequence[Callback],
) -> Boosting:
    """Fit a copy of a model with some attributes replaced, stopped by the validation rows."""
    member = copy.copy(model)
    member.__dict__.update(values, seed_=model.seed_ + number)
    setattr(member, model._rounds_parameter, MAX_ROUNDS)
    stopping = member._make_stopping(problem.rows.n_rows, True)
    member._fit_rounds(replace(problem, stopping=stopping), coded, None, callbacks)
    return member


def refit_leaves(member: Boosting, rows: TrainingRows, coded: BinnedDataset) -> Ensemble:
    """Fit the values of the leaves to more rows; the splits stay."""
    setattr(member, member._rounds_parameter, member.ensemble_.n_rounds)
    boosted = fit_boosting(
        rows.coded(coded),
        member.loss_.native,
        member._make_options(rows.n_rows, record_losses=False),
        refit_leaves=member.ensemble_,
        n_threads=resolve_n_jobs(member.n_jobs),
        seed=member.seed_,
        shards=rows.shards.connection,
        first_row=rows.first_row,
    )
    check_complete(boosted)
    return boosted.ensemble


def fit_with_cv_rounds(
    model: Boosting,
    problem: FitProblem,
    n_folds: int,
    coded: BinnedDataset,
    callbacks: Sequence[Callback],
) -> None:
    """Boost on the rows outside each fold, then on all rows with the best mean number of rounds.

    The scores of a fold are weighted by the total weight of its rows. If a fold stopped before
    others, its last score is repeated. The history of the model is the mean over the folds.

    Raises
    ------
    ValueError
        If there are fewer rows than folds, or as many classes as rows.
    """
    rows = problem.rows
    n_rows = rows.n_rows
    splits = []
    if n_rows >= n_folds:
        splits = kfold_splits(rows, n_folds, stratify=is_classifier(model), seed=model.seed_)
    if not splits:
        raise ValueError(
            f"validation_folds={n_folds} is too many for n_samples={n_rows} rows of positive "
            "weight: every fold needs a row, and every class must stay in the training rows. "
            "Lower validation_folds, give more rows, or set early_stopping=False"
        )
    histories, weights = [], []
    for train, validation in splits:
        member = copy.copy(model)
        member._fit_rounds(FitProblem(train, validation, problem.stopping), coded, None, callbacks)
        histories.append(member.history_)
        weights.append(_sum_weights(validation))
    history = _average_histories(histories, np.array(weights))
    has_scores = "validation_score" in history
    best = find_best_index(
        history["validation_score"] if has_scores else -history["validation_loss"]
    )
    final = copy.copy(model)
    # The engine fits at least one round.
    setattr(final, model._rounds_parameter, max(1, best))
    final._fit_rounds(FitProblem(rows, None, None), coded, None, ())
    model.ensemble_ = final.ensemble_.truncated(best)
    model.history_ = history


def _sum_weights(rows: TrainingRows) -> float:
    return float(rows.n_rows if rows.weights is None else rows.shards.join(rows.weights).sum())


def _average_histories(
    histories: Sequence[Mapping[str, Floats]], weights: Floats
) -> dict[str, Floats]:
    """Return the weighted mean of the histories of the folds, as long as the longest one."""
    shares = weights / weights.sum()
    longest = max(len(curve) for history in histories for curve in history.values())
    means = {}
    for name in histories[0]:
        curves = [history[name] for history in histories]
        padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
        means[name] = shares @ np.array(padded)
    return means
