"""Tests of models that are fitted to all rows of a table, of which the study has a sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.pipeline import Pipeline

from arboleda.catalogue import Model
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job
from arboleda.study.execution.whole_rows import WholeRows, reads_codes
from arboleda.study.execution.whole_table import WholeTable
from arboleda.study.plan import Plan

__all__ = ["WholeFits", "fit_whole_table"]

_NO_TIME = "the time budget has no room for all rows of the file"
_NOT_CODED = "only boosting by histograms is fitted to all rows of the file"
# To read, prepare and code all rows takes about so many times as long as to read them.
_WRITING = 5.0


@dataclass(frozen=True)
class WholeFits:
    """The tests of models that were fitted to the whole table, and why others were not.

    ``tests`` are the jobs by the key of the model, ``plan`` is the plan that has them; ``reasons``
    are words without a final period.
    """

    plan: Plan
    tests: Mapping[str, Job] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


def fit_whole_table(
    plan: Plan, chosen: Sequence[tuple[Model, dict[str, Any]]], executor: Executor
) -> WholeFits:
    """Fit boosting to all rows of a table larger than memory, and test it on the study's test rows.

    Their prepared rows are written to a file, which is removed afterwards. A fit that fails or
    takes too long leaves the test to the fit to the sample.

    Parameters
    ----------
    plan : Plan
    chosen : sequence of (Model, dict)
        The models and the parameters of their best candidates.
    executor : Executor
    """
    sample = plan.sample
    if sample is None or sample.is_whole:
        return WholeFits(plan)
    obstacle = _find_obstacle(plan)
    if obstacle is not None:
        executor.watcher.announce(f"All models learn from the sample alone: {obstacle}.")
        return WholeFits(plan, reasons={model.key: obstacle for model, _ in chosen})
    with TemporaryDirectory(prefix=".codes-", dir=executor.folder) as folder:
        return _Fitting(plan, executor, Path(folder)).run(chosen)


def _find_obstacle(plan: Plan) -> str | None:
    """Return why no model can be fitted to all rows of the file, or None."""
    settings = plan.settings
    if plan.target.second is not None or settings.cv.kind in ("group", "time"):
        return "rows of groups, queries and times must be split together"
    if settings.test is not None:
        return "the test is a table of its own"
    if settings.where or settings.drop_missing or settings.drop_duplicates:
        return "rows are selected by --where, --drop-missing or --drop-duplicates"
    return None


class _Fitting:
    """The fits of one study, which share the files of prepared rows."""

    def __init__(self, plan: Plan, executor: Executor, folder: Path) -> None:
        self._plan = plan
        self._executor = executor
        self._folder = folder
        self._rows = WholeRows(plan)
        self._threads = max(1, executor.pool.threads)
        self._files: dict[str, tuple[Any, WholeTable] | str] = {}

    def run(self, chosen: Sequence[tuple[Model, dict[str, Any]]]) -> WholeFits:
        """Fit the models one after the other, each with all threads."""
        tests, reasons = {}, {}
        for model, params in chosen:
            if not reads_codes(model.build(self._plan.setting, params), model.get_style(params)):
                reasons[model.key] = _NOT_CODED
                continue
            found = self._test(model, params)
            if isinstance(found, Job):
                tests[model.key] = found
            else:
                reasons[model.key] = found
                self._executor.watcher.announce(
                    f"{model.name} learns from the sample alone: {found}."
                )
        whole = dict.fromkeys(tests, self._rows.n_rows)
        return WholeFits(replace(self._plan, whole=whole), tests, reasons)

    def _test(self, model: Model, params: dict[str, Any]) -> Job | str:
        """Return the job, which is done; or the reason why it is not."""
        executor = self._executor
        plan = replace(self._plan, whole={model.key: self._rows.n_rows})
        job = executor.scored_job(plan.test_job(model, params))
        job = replace(job, keep=executor.model_folder, cost=job.cost / self._threads)
        if executor.has_predictions(job):
            return self._get_done(job)
        if not self._has_time(job):
            return _NO_TIME
        prepared = self._prepare(job)
        if isinstance(prepared, str):
            return prepared
        preparation, table = prepared
        executor.watcher.announce(f"{model.name} is fitted to {table.n_rows:,} rows of the file.")
        pipeline = Pipeline([("preparation", preparation), ("model", job.pipeline["model"])])
        executor.run_folds([replace(job, pipeline=pipeline, whole=table)])
        return self._get_done(job)

    def _has_time(self, job: Job) -> bool:
        """Return whether a budget has time for the fit, and for writing what it reads."""
        budget, sample = self._executor.budget, self._plan.sample
        if budget is None or sample is None:
            return True
        writing = 0.0 if self._get_key(job) in self._files else _WRITING * sample.seconds
        return budget.has_time_for(job) and budget.has_room(budget.estimate(job) + writing)

    def _get_done(self, job: Job) -> Job | str:
        result = self._executor.result(job)
        if result is None:
            return _NO_TIME
        return str(result["error"]).rstrip(".") if result["error"] else job

    @staticmethod
    def _get_key(job: Job) -> str:
        """Return what the rows in a file depend on."""
        return f"{job.style} {job.pipeline['model'].categorical_features}"

    def _prepare(self, job: Job) -> tuple[Any, WholeTable] | str:
        """Return the fitted preparation and the file of the rows; or why there is none."""
        key, categorical = self._get_key(job), job.pipeline["model"].categorical_features
        if key not in self._files:
            path = self._folder / f"{len(self._files)}.coded"
            preparation = self._rows.fit_preparation(job.style, job.pipeline["preparation"])
            try:
                n_rows = self._rows.write(path, preparation, categorical, self._threads)
                self._files[key] = preparation, WholeTable(path, n_rows, self._threads)
            except (ValueError, OSError) as error:
                self._files[key] = str(error).rstrip(".")
        return self._files[key]
