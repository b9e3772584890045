"""The problem of a study: the prepared table, the target, the metric and the models to compare."""

from dataclasses import dataclass

from arboleda.study.catalogue import Model, filter_known_words, select_models
from arboleda.study.config.presets import PRESETS
from arboleda.study.config.settings import Settings
from arboleda.study.data.external_test import join_test, make_joint_target
from arboleda.study.data.recipe import Step, apply_recipe
from arboleda.study.data.splitting import check_score_by
from arboleda.study.data.table import Column, StudyTable
from arboleda.study.data.target import StudyTarget, make_target
from arboleda.study.errors import StudyError
from arboleda.study.results.scoring import StudyMetric, check_costs, choose_metric

__all__ = ["StudyProblem", "check_problem"]


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
    raw, prepared = table, apply_recipe(table, settings.recipe)
    table, steps = prepared.table, prepared.steps
    goal = make_target(table, target, settings.task)
    wanted = settings.models
    if wanted is None:
        wanted = filter_known_words(goal.task, PRESETS[settings.preset].models)
    metric = choose_metric(settings.metric, goal.task)
    check_costs(settings, goal)
    check_score_by(table, target, settings.score_by)
    models = tuple(select_models(goal.task, wanted))
    n_train = sha256 = None
    if settings.test is not None:
        joined = join_test(
            raw, settings.test, settings.recipe, max_table_size=settings.max_table_size
        )
        table, goal, steps = joined.table, make_joint_target(goal, joined), joined.steps
        n_train, sha256 = joined.n_train, joined.sha256
    divider = _find_divider(table, goal, settings)
    return StudyProblem(table, goal, metric, wanted, models, divider, steps, n_train, sha256)


def _find_divider(table: StudyTable, goal: StudyTarget, settings: Settings) -> Column | None:
    """Return the column of groups or times, or None."""
    divider = settings.groups if settings.groups is not None else settings.time
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
    needed = [("--target", target), ("--groups", settings.groups), ("--time", settings.time)]
    for flag, name in (*needed, *(("--score-by", name) for name in settings.score_by)):
        if name is not None and name in settings.drop:
            raise StudyError(
                f"The column {name[:60]!r} cannot be dropped, as {flag} names it; leave it out of "
                "--drop."
            )
