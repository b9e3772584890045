"""What a study will do: its identity and every job, before anything is fitted."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import sklearn
from sklearn.pipeline import Pipeline

import arboleda
from arboleda.study.catalogue import ALL, CORE, Model, Setting, models_for
from arboleda.study.features import Features, make_features
from arboleda.study.preparation import make_preparation
from arboleda.study.roles import Role, decide_roles
from arboleda.study.scoring import Metric, choose_metric
from arboleda.study.settings import Settings
from arboleda.study.splitting import Split, make_split
from arboleda.study.table import Table
from arboleda.study.target import Target, make_target
from arboleda.study.work import CALIBRATION, TEST, Job, Shared

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True)
class Plan:
    """A study before it runs; nothing here depends on a fitted model."""

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

    @property
    def seed(self) -> int:
        """Seed of the split, the folds and the models."""
        return self.settings.seed

    @property
    def n_folds(self) -> int:
        """How many fold jobs a candidate has."""
        return len(self.split.folds)

    @property
    def shared(self) -> Shared:
        """What every job reads."""
        return Shared(self.features, self.target, self.metric.key, self.seed)

    def candidates(self, model: Model) -> list[dict[str, Any]]:
        """The parameters to try."""
        return model.grid(self.setting)

    def fold_jobs(self) -> list[Job]:
        """Every fold of every candidate.

        One job of each model comes first, so that there is early something to see and to estimate
        the time left from; then model by model.
        """
        jobs = [
            self._job(model, params, str(k), fit, score)
            for model in self.models
            for params in self.candidates(model)
            for k, (fit, score) in enumerate(self.split.folds)
        ]
        per_model = {job.model: job for job in reversed(jobs)}
        first = [per_model[model.key] for model in self.models]
        return first + [job for job in jobs if not any(job is f for f in first)]

    def test_job(self, model: Model, params: dict[str, Any]) -> Job:
        """The refit on all training rows, scored on the test rows."""
        return self._job(model, params, TEST, self.split.train, self.split.test)

    def calibration_jobs(self, model: Model, params: dict[str, Any]) -> list[Job]:
        """Methods of calibration on every fold, and on the test rows."""
        jobs = [
            self._job(model, params, f"{CALIBRATION}{k}", fit, score)
            for k, (fit, score) in enumerate(self.split.folds)
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
    ) -> Job:
        preparation = make_preparation(self.features, model.style, self.target.task, self.seed)
        pipeline = Pipeline(
            [("preparation", preparation), ("model", model.make(self.setting, params))]
        )
        return Job(model.key, params, fold, pipeline, self._at_most(model.max_rows, fit), score)

    def _at_most(self, limit: int | None, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if limit is None or len(rows) <= limit:
            return rows
        draw = np.random.default_rng([self.seed, len(rows)])
        return np.sort(draw.choice(rows, limit, replace=False))

    def note(self, model: Model) -> str | None:
        """What the reader must know of how this model was kept affordable."""
        notes = [model.note(self.setting)]
        if model.max_rows is not None and self.setting.n_rows > model.max_rows:
            notes.append(f"learned from a random part of {model.max_rows:,} rows")
        return "; ".join(n for n in notes if n) or None

    def identity(self) -> dict[str, Any]:
        """What a resumed study must share with the one it goes on with.

        All models of the catalogue are named, not those wanted: a study may go on with others.
        """
        return {
            "data": self.table.sha256,
            "target": self.target.name,
            "task": self.target.task,
            "metric": self.metric.key,
            "seed": self.seed,
            "folds": self.settings.scheme.text,
            "test size": self.settings.test_size,
            "catalogue": {
                m.key: [m.style, self.candidates(m)] for m in models_for(self.target.task, (ALL,))
            },
            "versions": {
                "arboleda": arboleda.__version__,
                "numpy": np.__version__,
                "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__,
                "machine": platform.machine(),
            },
        }


def make_plan(table: Table, target: str, settings: Settings) -> Plan:
    """Check the table and decide everything that can be decided without fitting.

    Raises
    ------
    StudyError
        If the table or the target cannot be studied, or the task has no such metric or model.
    """
    wanted = (CORE,) if settings.models is None else settings.models
    goal = make_target(table, target, settings.task)
    chosen = choose_metric(settings.metric, goal.task)
    models = models_for(goal.task, wanted)
    split = make_split(goal, settings)
    roles = decide_roles(table, target, split.train)
    features = make_features(table, roles)
    setting = Setting(
        n_rows=len(split.train),
        n_classes=len(goal.labels),
        seed=settings.seed,
        categorical=features.categorical,
        binary=features.binary,
    )
    return Plan(
        table=table,
        target=goal,
        metric=chosen,
        settings=settings,
        roles=roles,
        split=split,
        features=features,
        setting=setting,
        wanted=wanted,
        models=tuple(models),
    )
