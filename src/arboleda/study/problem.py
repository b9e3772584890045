"""The problem of a study: its table, target, metric and models, and their setting."""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from arboleda._utils.errors import StudyError
from arboleda.catalogue import CORE, Model, Setting, filter_known_words, select_models
from arboleda.scoring.choice import StudyMetric, check_metric, choose_metric
from arboleda.study.config.costs import check_costs
from arboleda.study.config.presets import PRESETS
from arboleda.study.config.settings import Settings
from arboleda.study.results.calibration import FITS
from arboleda.study.splitting import Split, check_score_by
from arboleda.tables.features import Features
from arboleda.tables.recipe import Step, apply_recipe
from arboleda.tables.table import Column, StudyTable
from arboleda.tables.target import StudyTarget, make_target
from arboleda.tables.test_table import join_test, make_joint_target
from arboleda.tables.timed_target import make_ranking_target, make_survival_target

__all__ = ["StudyProblem", "check_problem", "describe_setting"]

# The fraction of a time budget that an exact method may take if an approximation exists, and the
# cost of its test in fits of a fold.
EXACT_SHARE, TEST_FITS = 0.25, 1.5
# Folds within a fit that give probabilities to a classifier of decision values.
CALIBRATION_FOLDS = 3


@dataclass(frozen=True)
class StudyProblem:
    """What a study is to solve, after all checks that need no split.

    ``table`` was prepared by ``steps``. A separate test table of the hash ``test_sha256`` follows
    its first ``n_train`` rows; both are None without one. ``divider`` is the column of groups or
    times. ``wanted`` are the names by which the models were chosen.
    """

    table: StudyTable
    target: StudyTarget
    metric: StudyMetric
    wanted: tuple[str, ...]
    models: tuple[Model, ...]
    divider: Column | None
    steps: tuple[Step, ...]
    n_train: int | None = None
    test_sha256: str | None = None


def check_problem(table: StudyTable, target: str, settings: Settings) -> StudyProblem:
    """Check a table, its target and the settings against each other, and prepare the table.

    Raises
    ------
    StudyError
        If the table, the target or a named column cannot be used, or the task has no such metric
        or model.
    """
    _check_dropped(target, settings)
    recipe = settings.recipe
    if settings.drop_missing_target:
        recipe = replace(recipe, target=target)
    raw, prepared = table, apply_recipe(table, recipe)
    table, steps = prepared.table, prepared.steps
    goal = _make_goal(table, target, settings)
    wanted = settings.models
    if wanted is None:
        # The portfolio and the thesis have no models of times and rankings.
        usual = PRESETS[settings.preset].models if goal.second is None else (CORE,)
        wanted = filter_known_words(goal.task, usual)
    default = PRESETS[settings.preset].class_metric
    metric = choose_metric(settings.metric, goal.task, goal.labels, default)
    check_metric(metric, goal)
    check_costs(settings, goal)
    check_score_by(table, target, settings.score_by)
    models = tuple(select_models(goal.task, wanted))
    n_train = sha256 = None
    if settings.test is not None:
        joined = join_test(raw, settings.test, recipe, max_table_size=settings.max_table_size)
        table, goal, steps = joined.table, make_joint_target(goal, joined), joined.steps
        n_train, sha256 = joined.n_train, joined.sha256
    divider = _find_divider(table, goal, settings)
    return StudyProblem(table, goal, metric, wanted, models, divider, steps, n_train, sha256)


def _make_goal(table: StudyTable, target: str, settings: Settings) -> StudyTarget:
    if settings.event is not None:
        return make_survival_target(table, target, settings.event)
    if settings.query is not None:
        return make_ranking_target(table, target, settings.query)
    return make_target(table, target, settings.task, settings.positive)


def _find_divider(table: StudyTable, goal: StudyTarget, settings: Settings) -> Column | None:
    """Return the column of groups or times, or None."""
    divider = settings.split_groups or settings.split_time
    if divider is None:
        return None
    if divider == goal.name:
        raise StudyError(
            f"The target {divider!r} cannot also split the rows; name another column of groups or "
            "times."
        )
    return table.column(divider)


def _check_dropped(target: str, settings: Settings) -> None:
    """Check that no column is dropped that another option names."""
    needed = [
        ("--target", target),
        ("--groups", settings.groups),
        ("--time", settings.time),
        ("--event", settings.event),
        ("--query", settings.query),
    ]
    for flag, name in (*needed, *(("--score-by", name) for name in settings.score_by)):
        if name is not None and any(fnmatchcase(name, pattern) for pattern in settings.drop):
            raise StudyError(
                f"The column {name[:60]!r} cannot be dropped, as {flag} names it; leave it out of "
                "--drop."
            )


def describe_setting(
    problem: StudyProblem, split: Split, features: Features, settings: Settings
) -> Setting:
    """Return what the catalogue needs to know of the table."""
    return Setting(
        n_rows=len(split.train),
        n_classes=len(problem.target.labels),
        seed=settings.random_state,
        categorical=features.categorical,
        binary=features.binary,
        n_columns=features.shape[1],
        min_fit_rows=_fewest_rows(split),
        max_exact_seconds=_exact_seconds(settings, len(split.folds)),
        calibration_folds=_count_calibration_folds(problem, split, settings),
        max_landmarks=None if settings.time_budget else PRESETS[settings.preset].max_landmarks,
    )


def _count_calibration_folds(problem: StudyProblem, split: Split, settings: Settings) -> int:
    """Return the folds that calibrate decision values in a fit: as many as each class has rows."""
    n_classes = len(problem.target.labels)
    if not n_classes or not PRESETS[settings.preset].calibrates:
        return 0
    counts = [np.bincount(problem.target.y[fit], minlength=n_classes) for fit, _ in split.folds]
    return min(CALIBRATION_FOLDS, *(int(count.min()) for count in counts))


def _exact_seconds(settings: Settings, n_folds: int) -> float:
    """Return the maximum seconds of an exact fit by a method that can be approximated.

    With a time budget, one candidate on all folds and its test may take a fraction of it.
    """
    most = PRESETS[settings.preset].exact_fit
    if settings.time_budget is None:
        return most
    return min(most, EXACT_SHARE * settings.time_budget / (n_folds + TEST_FITS))


def _fewest_rows(split: Split) -> int:
    """Return the rows of the smallest fit: calibration splits the rows of a fold once more."""
    fewest = min(len(fit) for fit, _ in split.folds)
    return fewest // (FITS + 1) if split.ordered else fewest * (FITS - 1) // FITS
