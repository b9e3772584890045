"""What a study will do: its identity and every job, before anything is fitted."""

import platform
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy
import sklearn
from sklearn.pipeline import Pipeline

import arboleda
from arboleda.study.artifacts.files import MODELS_VERSION
from arboleda.study.catalogue import ALL, Model, Params, Setting, Size, known_words, models_for
from arboleda.study.catalogue.model import named_as_approximated
from arboleda.study.config.presets import PRESETS, Preset
from arboleda.study.config.settings import Settings
from arboleda.study.data.external_test import join_test, target_of_both
from arboleda.study.data.features import Features, make_features
from arboleda.study.data.preparation import make_preparation
from arboleda.study.data.recipe import Step, apply_recipe
from arboleda.study.data.roles import Role, decide_roles
from arboleda.study.data.splitting import Split, make_split
from arboleda.study.data.table import Column, Table
from arboleda.study.data.target import Target, make_target
from arboleda.study.errors import StudyError
from arboleda.study.execution.job import CALIBRATION, TEST, Job, Shared
from arboleda.study.results.calibration import FITS
from arboleda.study.results.costs import check_costs, cost_matrix
from arboleda.study.results.scoring import COST, Metric, choose_metric
from arboleda.study.results.subgroups import check_score_by
from arboleda.study.search import FULL, Fidelity, SearchContext, SearchStrategy, Trial

__all__ = ["Plan", "make_plan"]

# Seconds of preparing columns and scoring answers: of any job, and of each cell it reads.
JOB_COST = 0.02
CELL_COST = 1e-7
# What it takes to read and ask the models of the folds, as a share of a fit: half where classes are
# many, less elsewhere.
BAG_TEST = 0.5
# Seconds of telling all that is told of a test: of any, and for each of its rows; of more classes
# more is told.
TELLING, REPORTING_SECONDS_PER_ROW = 0.15, 1.2e-5
# The part of a time budget that an exact method may take where it can be approximated; its test
# costs so many fits of a fold.
EXACT_SHARE, TEST_FITS = 0.25, 1.5
# A first look is scored on at most so many rows: the standard error of an accuracy is then a third
# of a percent.
LOOK_ROWS = 20_000
# Leaving out one row at a time takes a fit for each row and candidate.
MAX_FITS = 50_000
Kind = Literal["fold", "one_by_one", "apparent"]


@dataclass(frozen=True)
class Plan:
    """A study before it runs; nothing here depends on a fitted model.

    ``caps`` tells how many rows models may learn from, by key, where all of them would take longer
    than the preset or the time budget allows. ``steps`` are those that prepared the table.
    """

    table: Table
    target: Target
    metric: Metric
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

    @property
    def seed(self) -> int:
        """Seed of the split, the folds and the models."""
        return self.settings.seed

    @property
    def n_folds(self) -> int:
        """How many fold jobs a candidate has."""
        return len(self.split.folds)

    @property
    def test_size(self) -> float:
        """The share of the rows that is tested: as asked, or that of a table of its own."""
        if self.test_sha256 is None:
            return self.settings.test_size
        return len(self.split.test) / self.table.n_rows

    @property
    def test_kind(self) -> Literal["random", "grouped", "latest", "file"]:
        """How the test rows were found."""
        if self.test_sha256 is not None:
            return "file"
        kind = self.settings.scheme.kind
        return "grouped" if kind == "group" else "latest" if kind == "time" else "random"

    @property
    def shared(self) -> Shared:
        """What every job reads."""
        return Shared(
            self.features,
            self.target,
            self.metric.key,
            self.seed,
            self.split.groups,
            self.split.times,
            self.costs,
        )

    @property
    def costs(self) -> npt.NDArray[np.float64] | None:
        """What models are chosen by, where that is the cost: by true and predicted class."""
        return cost_matrix(self.settings, self.target) if self.metric.key == COST else None

    @property
    def preset(self) -> Preset:
        """How each model is tuned."""
        return PRESETS[self.settings.preset]

    def candidates(self, model: Model) -> list[dict[str, Any]]:
        """The candidates of its preset, or of the catalogue."""
        return (self.preset.entry(model.key).grid or model.grid)(self.setting)

    def search(self, model: Model) -> SearchStrategy:
        """How its candidates are proposed: as asked, or as its preset does."""
        return self.settings.search or self.preset.entry(model.key).search

    def question(self, model: Model) -> SearchContext:
        """What a search knows of a model."""
        space = self.preset.entry(model.key).space or model.space
        return SearchContext(
            grid=tuple(self.candidates(model)),
            space=space(self.setting) if space is not None else None,
            rows=self.fold_rows(model),
            # Models of one study draw differently.
            seed=zlib.crc32(f"{self.seed} {model.key}".encode()),
        )

    def trial_jobs(self, model: Model, trial: Trial) -> list[Job]:
        """The folds that a trial is scored on."""
        return [
            self._job(model, trial.params, str(k), fit, score, trial.stage, self._kind(k))
            for k, (fit, score) in enumerate(self.split.folds[: trial.stage.folds])
        ]

    def fold_rows(self, model: Model) -> int:
        """How many rows a candidate of the model learns from in a fold, at most."""
        most = max(len(fit) for fit, _ in self.split.folds)
        return min(most, self.most_rows(model) or most)

    def most_rows(self, model: Model) -> int | None:
        """How many rows a fit of the model may learn from; None: all."""
        known = [n for n in (model.max_rows, self.caps.get(model.key)) if n is not None]
        return min(known, default=None)

    def first_cost(self, model: Model, rows: int) -> float:
        """About how many seconds the first candidate takes in a fold, with so many rows."""
        asked = max(len(score) for _, score in self.split.folds)
        return self._cost(model, self.candidates(model)[0], rows, asked)

    def _cost(self, model: Model, params: Params, rows: int, asked: int) -> float:
        """About how many seconds of one core a fit and its answers take, by the catalogue."""
        columns, points = self.features.x.shape[1], model.approximation(self.setting)
        size = Size(rows, columns, self.setting.n_classes, asked, points)
        prepared = CELL_COST * (size.rows + size.asked) * size.columns
        return JOB_COST + prepared + model.cost(size, params)

    def _kind(self, fold: int) -> Kind:
        scheme = self.settings.scheme
        if scheme.kind == "loo":
            return "one_by_one"
        return "apparent" if scheme.kind == "bootstrap" and fold == scheme.folds else "fold"

    def test_job(self, model: Model, params: dict[str, Any]) -> Job:
        """The refit on all training rows, scored on the test rows."""
        return self._job(model, params, TEST, self.split.train, self.split.test)

    def calibration_jobs(self, model: Model, params: dict[str, Any]) -> list[Job]:
        """Methods of calibration on every fold, and on the test rows."""
        jobs = [
            self._job(model, params, f"{CALIBRATION}{k}", fit, score)
            for k, (fit, score) in enumerate(self.split.partition)
        ]
        test = self._job(model, params, CALIBRATION + TEST, self.split.train, self.split.test)
        return [*jobs, test]

    def _job(
        self,
        model: Model,
        params: dict[str, Any],
        fold: str,
        fit: npt.NDArray[np.int64],
        score: npt.NDArray[np.int64],
        stage: Fidelity = FULL,
        kind: Kind = "fold",
    ) -> Job:
        style = model.style_of(params)
        preparation = make_preparation(self.features, style, self.target.task, self.seed)
        made = params
        if stage.share < 1.0 and model.fidelity is not None:
            made = model.fidelity(params, stage.share)
        pipeline = Pipeline(
            [("preparation", preparation), ("model", model.build(self.setting, made))]
        )
        cap = self.caps.get(model.key)
        extent = "" if cap is None else f" of {cap} rows"
        points = model.approximation(self.setting)
        extent += "" if points is None else f" by {points} points"
        rows = self._at_most(self.most_rows(model), fit)
        if stage.share < 1.0:
            rows = self._at_most(max(1, round(stage.share * len(rows))), rows)
            score = self._at_most(LOOK_ROWS, score)
        cost = self._cost(model, made, len(rows), 1 if kind == "one_by_one" else len(score))
        if fold.startswith(CALIBRATION):
            cost *= FITS
        telling = 0.0
        if fold == TEST:
            telling = TELLING + REPORTING_SECONDS_PER_ROW * len(score) * (
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
            extent=extent + stage.label,
            is_low_fidelity=not stage.is_full,
            cost=cost,
            reporting_seconds=telling,
            kind=kind,
            bag=model.bag and kind == "fold",
            style=style,
        )

    def _at_most(self, limit: int | None, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if limit is None or len(rows) <= limit:
            return rows
        draw = np.random.default_rng([self.seed, len(rows)])
        return rows[np.sort(draw.choice(len(rows), limit, replace=False))]

    def note(self, model: Model) -> str | None:
        """What the reader must know of how this model was kept affordable."""
        notes = [model.note(self.setting)]
        most = self.most_rows(model)
        if most is not None and self.setting.n_rows > most:
            notes.append(f"learned from a random part of {most:,} rows")
        return "; ".join(n for n in notes if n) or None

    def _recipe_asked(self) -> dict[str, Any]:
        """What is done to the table first, as plain values."""
        names = ("where", "drop_missing", "drop_duplicates", "merge", "drop")
        told = self.settings.told()
        return {name: told[name] for name in names}

    def identity(self) -> dict[str, Any]:
        """What a resumed study must share with the one it goes on with.

        All models of the catalogue are named, not those wanted: a study may go on with others.
        """
        return {
            "data": self.table.sha256,
            "target": self.target.name,
            "task": self.target.task,
            "metric": self.metric.key,
            "costs": None if self.costs is None else self.costs.tolist(),
            "seed": self.seed,
            "folds": self.settings.scheme.text,
            "groups": self.settings.groups,
            "time": self.settings.time,
            "test size": self.settings.test_size,
            "test": self.test_sha256,
            "recipe": None if self.settings.recipe.is_empty else self._recipe_asked(),
            "catalogue": {
                m.key: [m.style, m.grid(self.setting)] for m in models_for(self.target.task, (ALL,))
            },
            "versions": {
                "arboleda": arboleda.__version__,
                "numpy": np.__version__,
                "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__,
                "machine": platform.machine(),
                "models": MODELS_VERSION,
            },
        }


def make_plan(table: Table, target: str, settings: Settings) -> Plan:
    """Check the table and decide everything that can be decided without fitting.

    Raises
    ------
    StudyError
        If the table, the target or a column that is named cannot be used, the task has no such
        metric or model, or the scheme would take too many fits.
    """
    _check_dropped(target, settings)
    raw, prepared = table, apply_recipe(table, settings.recipe)
    table, steps = prepared.table, prepared.steps
    goal = make_target(table, target, settings.task)
    wanted = settings.models
    if wanted is None:
        wanted = known_words(goal.task, PRESETS[settings.preset].models)
    chosen = choose_metric(settings.metric, goal.task)
    check_costs(settings, goal)
    check_score_by(table, target, settings.by)
    models = models_for(goal.task, wanted)
    given = None
    if settings.test_table is not None:
        given = join_test(
            raw, settings.test_table, settings.recipe, max_table_size=settings.max_table_size
        )
        table, goal, steps = given.table, target_of_both(goal, given), given.steps
    split = make_split(
        goal, settings, _divided_by(table, goal, settings), None if given is None else given.n_train
    )
    roles = decide_roles(table, target, split.train, settings.groups)
    features = make_features(table, roles)
    setting = Setting(
        n_rows=len(split.train),
        n_classes=len(goal.labels),
        seed=settings.seed,
        categorical=features.categorical,
        binary=features.binary,
        n_columns=features.x.shape[1],
        fewest_rows=_fewest_rows(split),
        exact_s=_exact_seconds(settings, len(split.folds)),
    )
    plan = Plan(
        table=table,
        target=goal,
        metric=chosen,
        settings=settings,
        roles=roles,
        split=split,
        features=features,
        setting=setting,
        wanted=wanted,
        models=tuple(named_as_approximated(model, setting) for model in models),
        test_sha256=None if given is None else given.sha256,
        steps=steps,
    )
    if settings.scheme.kind == "loo":
        n_candidates = sum(plan.search(model).n_tried(plan.question(model)) for model in models)
        _check_fits(len(split.train), n_candidates)
    return plan


def _exact_seconds(settings: Settings, n_folds: int) -> float:
    """Seconds that an exact fit may take of a method that can be approximated.

    With a time budget one candidate, on all folds and tested, may take a part of it.
    """
    most = PRESETS[settings.preset].exact_fit
    if settings.time_budget is None:
        return most
    return min(most, EXACT_SHARE * settings.time_budget / (n_folds + TEST_FITS))


def _fewest_rows(split: Split) -> int:
    """What the smallest fit learns from: for calibration a fold's rows are divided once more."""
    fewest = min(len(fit) for fit, _ in split.folds)
    return fewest // (FITS + 1) if split.ordered else fewest * (FITS - 1) // FITS


def _divided_by(table: Table, goal: Target, settings: Settings) -> Column | None:
    """The column of groups or times, if one is asked for."""
    divider = settings.groups if settings.groups is not None else settings.time
    if divider is None:
        return None
    if divider == goal.name:
        raise StudyError(
            f"The target {divider!r} cannot divide the rows, too; name another column of groups or "
            "times."
        )
    return table.column(divider)


def _check_dropped(target: str, settings: Settings) -> None:
    needed = [("--target", target), ("--groups", settings.groups), ("--time", settings.time)]
    for flag, name in (*needed, *(("--by", name) for name in settings.by)):
        if name is not None and name in settings.drop:
            raise StudyError(
                f"The column {name[:60]!r} cannot be dropped, as {flag} names it; leave it out of "
                "--drop."
            )


def _check_fits(n_rows: int, n_candidates: int) -> None:
    if n_rows * n_candidates > MAX_FITS:
        raise StudyError(
            f"Leaving out each of {n_rows:,} training rows for {n_candidates:,} candidates takes "
            f"{n_rows * n_candidates:,} fits, more than {MAX_FITS:,}; choose --cv 10, or name "
            "fewer models with --models."
        )
