"""The plan of a study: its identity and every job, before anything is fitted."""

import platform
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy
import sklearn
from sklearn.pipeline import Pipeline

import arboleda
from arboleda._utils.errors import StudyError
from arboleda.catalogue import ALL, Model, Params, Setting, Size, select_models
from arboleda.catalogue.model import apply_approximation
from arboleda.catalogue.preparation import count_prepared_columns, make_preparation
from arboleda.facts.study import SCHEMA_VERSION
from arboleda.reports.fact_messages import write_message
from arboleda.scoring.choice import COST, StudyMetric
from arboleda.scoring.ranking import bind_ranking_metric
from arboleda.scoring.survival import bind_survival_metric, choose_times
from arboleda.study.artifacts.files import MODELS_VERSION
from arboleda.study.config.costs import cost_matrix
from arboleda.study.config.presets import PRESETS, Preset
from arboleda.study.config.settings import Settings
from arboleda.study.execution.job import TEST, Job, Shared
from arboleda.study.execution.ledger import LEDGER_VERSION
from arboleda.study.problem import StudyProblem, check_problem, describe_setting
from arboleda.study.results.calibration import FITS
from arboleda.study.search.strategies import FULL, Fidelity, SearchContext, SearchStrategy, Trial
from arboleda.study.splitting import Split, make_split
from arboleda.tables.features import (
    Features,
    Role,
    decide_roles,
    make_features,
    match_kept_columns,
    share_values,
)
from arboleda.tables.recipe import Step
from arboleda.tables.sampled_table import Sample
from arboleda.tables.table import StudyTable
from arboleda.tables.target import StudyTarget
from arboleda.tables.timed_target import read_target_times

__all__ = ["Plan", "make_plan"]

# Seconds of preprocessing and scoring: per job, and per cell that it reads.
JOB_COST = 0.02
CELL_COST = 1e-7
# Time to load the models of the folds and predict with them, as a fraction of a fit: half with many
# classes, less otherwise.
BAG_TEST = 0.5
# Seconds to compute the facts of a test: per test, and per row (more with more classes).
REPORTING_SECONDS, REPORTING_SECONDS_PER_ROW = 0.15, 1.2e-5
# Maximum rows that score a low-fidelity trial: the standard error of an accuracy is then a third of
# a percent.
MAX_LOW_FIDELITY_ROWS = 20_000
# Leave-one-out takes a fit for each row and candidate.
MAX_FITS = 50_000
Kind = Literal["fold", "one_by_one", "apparent"]


@dataclass(frozen=True)
class Plan:
    """A study before it runs; nothing here depends on a fitted model.

    ``caps`` maps keys of models to the number of training rows, for models whose fit to all rows
    would take longer than the preset or the time budget allows. ``steps`` are the recipe's steps
    that prepared the table. ``sample`` is given if the table is a sample of one that is larger than
    memory; ``whole`` then maps keys of models to the number of its rows to which they are fitted
    for the test.
    """

    table: StudyTable
    target: StudyTarget
    metric: StudyMetric
    settings: Settings
    roles: Mapping[str, Role]
    split: Split
    features: Features
    setting: Setting
    wanted: tuple[str, ...]
    models: tuple[Model, ...]
    caps: Mapping[str, int] = field(default_factory=dict)
    test_sha256: str | None = None
    steps: tuple[Step, ...] = ()
    sample: Sample | None = None
    whole: Mapping[str, int] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """Seed of the split, the folds and the models."""
        return self.settings.random_state

    @property
    def n_folds(self) -> int:
        """Number of fold jobs of a candidate."""
        return len(self.split.folds)

    @property
    def test_size(self) -> float:
        """Fraction of the rows in the test: the setting, or that of a separate test table."""
        if self.test_sha256 is None:
            return self.settings.test_size
        return len(self.split.test) / self.table.n_rows

    @property
    def test_kind(self) -> Literal["random", "grouped", "latest", "file"]:
        """How the test rows were selected."""
        if self.test_sha256 is not None:
            return "file"
        kind = self.settings.cv.kind
        return "grouped" if kind == "group" else "latest" if kind == "time" else "random"

    def move_features(self, features: Features) -> "Plan":
        """Return the plan with its features at another place in memory.

        The columns of the table that are features of the same values become views of them.
        """
        table = share_values(self.table, self.roles, features)
        return replace(self, features=features, table=table)

    @property
    def shared(self) -> Shared:
        """The data that every job reads."""
        return Shared(
            self.features,
            self.target,
            self.metric,
            self.seed,
            self.split.groups,
            self.split.times,
            self.costs,
        )

    @property
    def costs(self) -> npt.NDArray[np.float64] | None:
        """Costs by true and predicted class, if models are selected by cost; else None."""
        return cost_matrix(self.settings, self.target) if self.metric.key == COST else None

    @property
    def preset(self) -> Preset:
        """The preset, which defines how each model is tuned."""
        return PRESETS[self.settings.preset]

    def candidates(self, model: Model) -> list[dict[str, Any]]:
        """Return the model's grid of candidates: the preset's, or the catalogue's."""
        return (self.preset.entry(model.key).grid or model.grid)(self.setting)

    def search(self, model: Model) -> SearchStrategy:
        """Return the model's search strategy: the user's, or the preset's."""
        return self.settings.search or self.preset.entry(model.key).search

    def search_context(self, model: Model) -> SearchContext:
        """Return what a search needs to know about a model."""
        space = self.preset.entry(model.key).space or model.space
        return SearchContext(
            grid=tuple(self.candidates(model)),
            space=space(self.setting) if space is not None else None,
            rows=self.fold_rows(model),
            # Each model of a study draws its own candidates.
            seed=zlib.crc32(f"{self.seed} {model.key}".encode()),
        )

    def trial_jobs(self, model: Model, trial: Trial) -> list[Job]:
        """Return the jobs of the folds on which a trial is scored."""
        return [
            self._job(model, trial.params, str(k), fit, score, trial.fidelity, self._kind(k))
            for k, (fit, score) in enumerate(self.split.folds[: trial.fidelity.folds])
        ]

    def fold_rows(self, model: Model) -> int:
        """Return the maximum number of training rows of the model in a fold."""
        most = max(len(fit) for fit, _ in self.split.folds)
        return min(most, self.row_limit(model) or most)

    def row_limit(self, model: Model) -> int | None:
        """Return the maximum number of rows for a fit of the model; None: all rows."""
        known = [n for n in (model.max_rows, self.caps.get(model.key)) if n is not None]
        return min(known, default=None)

    def first_candidate_cost(self, model: Model, rows: int) -> float:
        """Estimate the seconds of the first candidate in a fold with this number of rows."""
        n_scored = max(len(score) for _, score in self.split.folds)
        return self._cost(model, self.candidates(model)[0], rows, n_scored)

    def estimate_seconds(self) -> float:
        """Estimate the seconds of one core for all candidates of the grids on all folds."""
        n_scored = max(len(score) for _, score in self.split.folds)
        costs = [
            self._cost(model, params, self.fold_rows(model), n_scored)
            for model in self.models
            for params in self.candidates(model)
        ]
        if self.settings.cv.kind == "loo":  # one job fits a candidate for every row
            return n_scored * (sum(costs) - JOB_COST * len(costs))
        return self.n_folds * sum(costs)

    def _cost(self, model: Model, params: Params, rows: int, n_scored: int) -> float:
        """Estimate the seconds of one core for a fit and its predictions, by the catalogue."""
        columns = count_prepared_columns(self.features, model.get_style(params))
        points = model.approximation(self.setting)
        size = Size(rows, columns, self.setting.n_classes, n_scored, points)
        prepared = CELL_COST * (size.rows + size.n_scored) * len(self.features.names)
        return JOB_COST + prepared + model.estimate_seconds(self.setting, size, params)

    def _kind(self, fold: int) -> Kind:
        scheme = self.settings.cv
        if scheme.kind == "loo":
            return "one_by_one"
        return "apparent" if scheme.kind == "bootstrap" and fold == scheme.folds else "fold"

    def test_job(self, model: Model, params: dict[str, Any]) -> Job:
        """Return the job that refits a candidate to all training rows and scores the test rows."""
        job = self._job(model, params, TEST, self.split.train, self.split.test)
        n_rows = self.whole.get(model.key)
        return job if n_rows is None else self._read_all_rows(job, model, n_rows)

    def _read_all_rows(self, job: Job, model: Model, n_rows: int) -> Job:
        """Return a test job as it is named and estimated with the rows of the whole table."""
        columns = count_prepared_columns(self.features, job.style)
        size = Size(n_rows, columns, self.setting.n_classes, len(job.score_rows))
        cost = JOB_COST + model.estimate_seconds(self.setting, size, job.params)
        return replace(job, extent=f" of all {n_rows} rows", cost=cost, bag=False)

    def calibration_jobs(self, model: Model, params: dict[str, Any]) -> list[Job]:
        """Return the jobs that try calibration methods on every fold and on the test rows."""
        jobs = [
            self._job(model, params, str(k), fit, score, calibrates=True)
            for k, (fit, score) in enumerate(self.split.partition)
        ]
        rows = self.split.train, self.split.test
        return [*jobs, self._job(model, params, TEST, *rows, calibrates=True)]

    def _job(
        self,
        model: Model,
        params: dict[str, Any],
        fold: str,
        fit: npt.NDArray[np.int64],
        score: npt.NDArray[np.int64],
        fidelity: Fidelity = FULL,
        kind: Kind = "fold",
        *,
        calibrates: bool = False,
    ) -> Job:
        style = model.get_style(params)
        # Categories are encoded by numbers of the target: see `convert_to_numbers`.
        task = self.target.task if self.target.labels else "regression"
        preparation = make_preparation(self.features, style, task, self.seed)
        fitted_params = params
        if fidelity.share < 1.0 and model.fidelity is not None:
            fitted_params = model.fidelity(params, fidelity.share)
        pipeline = Pipeline(
            [("preparation", preparation), ("model", model.build(self.setting, fitted_params))]
        )
        cap = self.caps.get(model.key)
        extent = "" if cap is None else f" of {cap} rows"
        points = model.approximation(self.setting)
        extent += "" if points is None else f" by {points} points"
        rows = self._at_most(self.row_limit(model), fit)
        if fidelity.share < 1.0:
            rows = self._at_most(max(1, round(fidelity.share * len(rows))), rows)
            score = self._at_most(MAX_LOW_FIDELITY_ROWS, score)
        n_scored = 1 if kind == "one_by_one" else len(score)
        cost = self._cost(model, fitted_params, len(rows), n_scored)
        if calibrates:
            cost *= FITS
        reporting = 0.0
        if fold == TEST and not calibrates:
            reporting = REPORTING_SECONDS + REPORTING_SECONDS_PER_ROW * len(score) * (
                1 + self.setting.n_classes / 4
            )
            cost *= BAG_TEST if model.bag else 1.0
        if kind == "one_by_one":
            cost *= len(score)
        return Job(
            model.key,
            params,
            fold,
            pipeline,
            rows,
            score,
            extent=extent + fidelity.label,
            is_low_fidelity=not fidelity.is_full,
            cost=cost,
            reporting_seconds=reporting,
            kind=kind,
            bag=model.bag and kind == "fold",
            style=style,
            calibrates=calibrates,
        )

    def _at_most(self, limit: int | None, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if limit is None or len(rows) <= limit:
            return rows
        draw = np.random.default_rng([self.seed, len(rows)])
        return rows[np.sort(draw.choice(len(rows), limit, replace=False))]

    def note(self, model: Model) -> str | None:
        """Return a note for the report on how this model's cost was reduced, or None."""
        notes = [model.note(self.setting)]
        most = self.row_limit(model)
        if most is not None and self.setting.n_rows > most:
            notes.append(write_message("part", rows=most))
        return "; ".join(n for n in notes if n) or None

    def _recipe_facts(self) -> dict[str, Any]:
        """Return the settings of the recipe as plain values."""
        names = ("where", "drop_missing", "drop_duplicates", "drop_missing_target", "merge", "drop")
        settings = self.settings.to_dict()
        return {name: settings[name] for name in names}

    def identity(self) -> dict[str, Any]:
        """Return what a resumed study must have in common with the stored one.

        It lists all models of the catalogue, not only the selected ones: a study may be resumed
        with other models.
        """
        return {
            "data": self.table.sha256,
            "target": self.target.name,
            "task": self.target.task,
            "metric": self.metric.key,
            "metric function": self.metric.source_sha256,
            "costs": None if self.costs is None else self.costs.tolist(),
            "seed": self.seed,
            "folds": self.settings.cv.text,
            "groups": self.settings.groups,
            "time": self.settings.time,
            "event": self.settings.event,
            "query": self.settings.query,
            "test size": self.settings.test_size,
            "test": self.test_sha256,
            "recipe": self._recipe_facts() if self.steps else None,
            "columns": {
                name: [
                    role.kind,
                    role.role,
                    role.encoding and role.encoding.to_dict(),
                    list(role.parts),
                ]
                for name, role in self.roles.items()
            },
            "positive": self.target.positive,
            "catalogue": {
                m.key: [m.style, m.grid(self.setting)]
                for m in select_models(self.target.task, (ALL,))
            },
            # Other studies have no such entry.
            **({} if self.sample is None else {"sample": len(self.sample.rows)}),
            "versions": {
                "arboleda": arboleda.__version__,
                "numpy": np.__version__,
                "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__,
                "machine": platform.machine(),
                "models": MODELS_VERSION,
                "facts": SCHEMA_VERSION,
                "ledger": LEDGER_VERSION,
            },
        }


def make_plan(
    table: StudyTable, target: str, settings: Settings, sample: Sample | None = None
) -> Plan:
    """Check the table, split its rows, and plan everything that needs no fit.

    ``sample`` is given if the table has some rows of one that is larger than memory.

    Raises
    ------
    StudyError
        If the table, the target or a named column cannot be used, the task has no such metric or
        model, or the scheme would take too many fits.
    """
    problem = check_problem(table, target, settings)
    if sample is not None and settings.drop_missing_target:
        sample = sample.select(~table.column(target).missing)
    split = make_split(problem.target, settings, problem.divider, problem.n_train)
    kept = match_kept_columns(problem.table, settings.keep)
    roles = decide_roles(problem.table, target, split.train, settings.split_groups, kept)
    if problem.target.task == "survival" and problem.target.second is not None:
        roles[problem.target.second] = replace(roles[problem.target.second], role="target")
    problem = _bind_to_training_rows(problem, split)
    features = make_features(problem.table, roles)
    setting = describe_setting(problem, split, features, settings)
    plan = Plan(
        table=problem.table,
        target=problem.target,
        metric=problem.metric,
        settings=settings,
        roles=roles,
        split=split,
        features=features,
        setting=setting,
        wanted=problem.wanted,
        models=tuple(apply_approximation(model, setting) for model in problem.models),
        test_sha256=problem.test_sha256,
        steps=problem.steps,
        sample=sample,
    )
    _check_fits(plan)
    return plan


def _bind_to_training_rows(problem: StudyProblem, split: Split) -> StudyProblem:
    """Return the problem with what its metric takes from the training rows."""
    target, metric = problem.target, problem.metric
    if target.task == "survival":
        train = read_target_times(target.y[split.train])
        target = replace(target, times=choose_times(train, target.name))
        metric = bind_survival_metric(metric, train, target.times)
    elif target.task == "ranking":
        metric = bind_ranking_metric(metric)
    return replace(problem, target=target, metric=metric)


def _check_fits(plan: Plan) -> None:
    """Check the number of fits of leave-one-out."""
    if plan.settings.cv.kind != "loo":
        return
    n_rows = len(plan.split.train)
    n_candidates = sum(
        plan.search(model).count_trials(plan.search_context(model)) for model in plan.models
    )
    if n_rows * n_candidates > MAX_FITS:
        raise StudyError(
            f"Leave-one-out on {n_rows:,} training rows with {n_candidates:,} candidates takes "
            f"{n_rows * n_candidates:,} fits, more than {MAX_FITS:,}; choose --cv 10, or name "
            "fewer models with --models."
        )
