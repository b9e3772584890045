"""Jobs: fit a model on some rows and score it on others. They run in any process."""

import json
import time
import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import ThreadpoolController

from arboleda.catalogue.preparation import PreparedRows, Style
from arboleda.scoring.choice import StudyMetric
from arboleda.scoring.evaluate import describe_tree, evaluate_test, evaluate_variants
from arboleda.scoring.measures import FunctionMetric, ScoredOutputs
from arboleda.scoring.scores import (
    Predictions,
    all_scores,
    are_probabilities,
    compute_chance_scores,
    name_loss,
)
from arboleda.study.artifacts.model_files import save_model
from arboleda.study.execution.fitting import fit_model
from arboleda.study.execution.prediction_store import hash_params, save_predictions
from arboleda.study.execution.single_pass import predict_once
from arboleda.study.execution.whole_table import WholeTable, iterate_prepared
from arboleda.study.results.calibration import calibrated, make_inner_folds
from arboleda.tables.features import Features
from arboleda.tables.target import StudyTarget
from arboleda.tables.timed_target import RELEVANCE

__all__ = [
    "TEST",
    "Job",
    "JobStatus",
    "Limits",
    "Shared",
    "error_sentence",
    "limit_threads",
    "make_failed_result",
    "make_fold_pattern",
    "run_job",
    "to_plain",
    "warning_texts",
]

TEST = "test"
# Digits of the hash that distinguishes the saved folds of a model's candidates.
HASH_DIGITS = 8
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Limits:
    """Maximum seconds and bytes of one job; None: no limit."""

    seconds: float | None = None
    memory: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit, which needs worker processes that can be stopped."""
        return self.seconds is not None or self.memory is not None


class JobStatus(StrEnum):
    """How a job ended; the ledger stores the value with the job's result."""

    DONE = "done"
    # The model raised an error, as it would in any other run.
    FAILED = "failed"
    # The model raised a MemoryError, under no limit of ours.
    OUT_OF_MEMORY = "out_of_memory"
    # A limit or the kernel stopped the fit, or its process ended.
    STOPPED = "stopped"

    @property
    def is_final(self) -> bool:
        """Whether another run would end in the same way, so the job need not run again."""
        return self in (JobStatus.DONE, JobStatus.FAILED)


@dataclass(frozen=True)
class Shared:
    """The data that all jobs read: the features, the target, the metric and the seed.

    ``groups`` holds the group of each row and ``times`` the rank of its time, if the rows are split
    by these. ``costs``, by true and predicted class, are those of metric "cost". ``prepared``
    caches preprocessed rows for the fits of one process.
    """

    features: Features
    target: StudyTarget
    metric: StudyMetric
    seed: int
    groups: Rows | None = None
    times: Rows | None = None
    costs: npt.NDArray[np.float64] | None = None
    prepared: PreparedRows = field(default_factory=PreparedRows, compare=False, repr=False)


@dataclass(frozen=True)
class Job:
    """Fit ``pipeline`` on ``fit_rows``, score it on ``score_rows``.

    ``fold`` is the number of the fold as text, or "test" for the refit on all training rows; a job
    that ``calibrates`` tries calibration methods there. If ``keep`` is a folder, the fitted
    pipeline's files are written there; if ``predictions_file`` is a path, the predictions for the
    scored rows are written to that file. ``extent`` distinguishes its result in the ledger from
    others of the same fold that are fitted on another part of the rows; ``is_low_fidelity`` marks
    the cheap first evaluations of a candidate; ``cost`` estimates the seconds of one core by the
    catalogue, excluding the ``reporting_seconds`` spent on the facts of a test. ``fitted_s`` counts
    the seconds of earlier fits that the job only reads. ``style`` is the preprocessing of its
    columns: jobs of the same style and rows share it. ``kind`` is "fold"; or "one_by_one", which
    fits once per scored row, each time without that row; or "apparent", which scores the training
    rows and also computes the scores of chance. The fold models of a ``bag`` are saved. The
    progress display shows jobs that are ``is_shown``. With a ``whole`` table, the model is fitted
    to that instead, and the preparation of the pipeline is fitted already.
    """

    model: str
    params: dict[str, Any]
    fold: str
    pipeline: Pipeline
    fit_rows: Rows
    score_rows: Rows
    keep: Path | None = None
    predictions_file: Path | None = None
    extent: str = ""
    is_low_fidelity: bool = False
    cost: float = 0.0
    reporting_seconds: float = 0.0
    fitted_s: float = 0.0
    kind: Literal["fold", "one_by_one", "apparent"] = "fold"
    bag: bool = False
    style: Style = "none"
    calibrates: bool = False
    is_shown: bool = True
    whole: WholeTable | None = None

    @property
    def entry(self) -> str:
        """The job's key in the ledger, beside its model and parameters."""
        return ("calibration " if self.calibrates else "") + self.fold + self.extent

    @property
    def candidate(self) -> tuple[str, str]:
        """The model and the text of its parameters."""
        return self.model, json.dumps(self.params, sort_keys=True)

    @property
    def identity(self) -> tuple[str, str, str]:
        """What identifies the job among all of a study: its candidate and its entry."""
        return (*self.candidate, self.entry)

    @property
    def is_test(self) -> bool:
        """Whether the job refits to all training rows and scores the test rows."""
        return self.fold == TEST

    @property
    def kept_as(self) -> str:
        """The name under which the fitted model is saved."""
        if self.is_test:
            return self.model
        # For example "0_of_4096_rows": a model may be refitted with more rows.
        fold = self.entry.replace(" ", "_")
        return f"{self.model}_{hash_params(self.params)[:HASH_DIGITS]}_fold{fold}"


def make_fold_pattern(model: str) -> str:
    """Return the glob pattern of the saved fold models of this model alone."""
    return f"{model}_{'?' * HASH_DIGITS}_fold*"


def run_job(job: Job, shared: Shared) -> dict[str, Any]:
    """Run one job; the result holds JSON values only.

    It contains its ``status``, ``error`` (a sentence, or None), ``warnings`` (the distinct texts),
    ``scores`` (every metric), ``timing``, the total ``seconds``, ``test`` and ``tree`` facts of the
    test, ``kept`` if the model is saved, and ``answers`` (the reason why its predictions could not
    be written, or None) if they are saved. The numeric libraries run one thread, so results do not
    depend on the number of processes.
    """
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with limit_threads():
                result = (_calibrate if job.calibrates else _fit_and_score)(job, shared)
        except MemoryError as error:
            result = make_failed_result(JobStatus.OUT_OF_MEMORY, error_sentence(error))
        except Exception as error:  # noqa: BLE001 - a model that fails is a result
            result = make_failed_result(JobStatus.FAILED, error_sentence(error))
    if job.keep is not None and result["status"] is JobStatus.DONE:
        result["kept"] = save_model(job.pipeline, job.keep, job.kept_as)
    seconds = time.perf_counter() - started
    return {**to_plain(result), "warnings": warning_texts(caught), "seconds": seconds}


def make_failed_result(status: JobStatus, error: str) -> dict[str, Any]:
    """Return the result of a job that has no scores, for the reason ``error``."""
    return {"status": status, "error": error, "scores": {}, "timing": {}, "warnings": []}


def _fit_and_score(job: Job, shared: Shared) -> dict[str, Any]:
    n_classes, y_score = len(shared.target.labels), shared.target.y[job.score_rows]
    if job.whole is not None:
        predictions, timing = _fit_whole_and_predict(job, job.whole, shared)
    else:
        predict = _predict_one_by_one if job.kind == "one_by_one" else _fit_and_predict
        predictions, timing = predict(job, shared)
    predicted, score = predictions.predicted, predictions.score
    metric = shared.metric
    scores = to_plain(all_scores(y_score, predicted, score, n_classes, shared.costs, metric))
    if scores[metric.key] is None:
        outputs = ScoredOutputs(y_score, predicted, score, n_classes)
        raise ValueError(_explain_undefined(metric, outputs, job.fold))
    result: dict[str, Any] = {
        "status": JobStatus.DONE,
        "error": None,
        "scores": scores,
        "n_scored": len(y_score),
        "timing": timing,
    }
    if job.whole is not None:
        result["whole_rows"] = job.whole.n_rows
    if job.kind == "apparent":
        result["chance"] = compute_chance_scores(
            y_score, predicted, score, n_classes, shared.costs, metric
        )
        result["losses"] = {key: name_loss(key, metric) for key in scores}
    if job.predictions_file is not None:
        result["predictions"] = save_predictions(job.predictions_file, predictions)
    if job.is_test:
        groups = None if shared.groups is None else shared.groups[job.score_rows]
        result["test"] = evaluate_test(
            y_score,
            predicted,
            score,
            shared.target,
            metric,
            shared.seed,
            groups,
            shared.costs,
        )
        result["tree"] = describe_tree(job.model, job.pipeline, shared.features, shared.target)
    return result


def _fit_and_predict(job: Job, shared: Shared) -> tuple[Predictions, dict[str, float]]:
    """Fit the pipeline and predict the rows to score; return predictions and seconds."""
    x, y = shared.features.x, shared.target.y
    n_classes = len(shared.target.labels)
    (name, preparation), (_, model) = job.pipeline.steps
    rows = shared.prepared.prepare(job.style, preparation, x, y, job.fit_rows, job.score_rows)
    started = time.perf_counter()
    fit_model(model, rows.get_training_rows(model), y[job.fit_rows])
    fitted = time.perf_counter()
    job.pipeline.steps[0] = name, rows.preparation
    times = shared.target.times
    predictions, seconds = predict_once(model, rows.iter_scored(), n_classes, times)
    # The job's own time, even if another job has prepared the rows.
    timing = {
        "fit_s": job.fitted_s + rows.fit_s + fitted - started,
        "predict_s": rows.score_s + seconds,
    }
    return predictions, timing


def _fit_whole_and_predict(
    job: Job, whole: WholeTable, shared: Shared
) -> tuple[Predictions, dict[str, float]]:
    """Fit the model to the rows of the whole table, and predict the rows to score."""
    preparation, model = job.pipeline["preparation"], job.pipeline["model"]
    started = time.perf_counter()
    whole.fit(model)
    fitted = time.perf_counter()
    parts = iterate_prepared(preparation, shared.features.x, job.score_rows)
    predictions, seconds = predict_once(model, parts, len(shared.target.labels))
    return predictions, {"fit_s": fitted - started, "predict_s": seconds}


def _predict_one_by_one(job: Job, shared: Shared) -> tuple[Predictions, dict[str, float]]:
    """Predict each row by a model fitted to all others (leave-one-out)."""
    parts, times = [], []
    for row in job.score_rows:
        others = replace(
            job,
            pipeline=clone(job.pipeline),
            fit_rows=job.fit_rows[job.fit_rows != row],
            score_rows=np.array([row]),
        )
        part, seconds = _fit_and_predict(others, shared)
        parts.append(part)
        times.append(seconds)
    scores = [part.score for part in parts if part.score is not None]
    predicted = np.concatenate([part.predicted for part in parts])
    timing = {name: float(sum(t[name] for t in times)) for name in times[0]}
    return Predictions(predicted, np.concatenate(scores) if scores else None), timing


def _calibrate(job: Job, shared: Shared) -> dict[str, Any]:
    """Score the uncalibrated model and its calibrated variants, by method."""
    x, y, target = shared.features.x, shared.target.y, shared.target
    n_classes = len(target.labels)
    started = time.perf_counter()
    found = calibrated(
        job.pipeline,
        x[job.fit_rows],
        y[job.fit_rows],
        x[job.score_rows],
        n_classes,
        make_inner_folds(
            y[job.fit_rows],
            shared.seed,
            None if shared.groups is None else shared.groups[job.fit_rows],
            None if shared.times is None else shared.times[job.fit_rows],
        ),
    )
    seconds = time.perf_counter() - started
    y_score = y[job.score_rows]
    variants = evaluate_variants(
        found,
        y_score,
        target,
        shared.seed,
        is_test=job.is_test,
        costs=shared.costs,
        metric=shared.metric,
    )
    return {
        "status": JobStatus.DONE,
        "error": None,
        "scores": {},
        "timing": {"fit_s": seconds},
        "variants": variants,
    }


def _explain_undefined(metric: StudyMetric, outputs: ScoredOutputs, fold: str) -> str:
    """Return why a metric has no value for a model's outputs."""
    key, measure = metric.key, metric.measure
    if metric.needs_probabilities and (
        outputs.score is None or not are_probabilities(outputs.score)
    ):
        return f"the model gives no probabilities, which {key} needs"
    if isinstance(measure, FunctionMetric):
        try:
            value = measure.call(outputs, np.arange(len(outputs.y)))
        except Exception as error:  # noqa: BLE001 - code of the user, which may raise anything
            return f"{key} raises {error_sentence(error)}"
        return f"{key} returns {value}, which is not a finite number"
    if key == "concordance":
        return "no pair of the scored rows is comparable, which concordance needs"
    if outputs.y.dtype == RELEVANCE:
        return f"no query of the scored rows has a relevant row, which {key} needs"
    if outputs.n_classes and len(np.unique(outputs.y)) < outputs.n_classes:
        where = "the test, whose rows" if fold == TEST else f"fold {int(fold) + 1}, whose rows"
        return f"{key} is not defined in {where} lack a class"
    if key in ("poisson", "gamma", "msle", "rmsle"):
        lowest = f"{outputs.predicted.min():.3g}"
        return f"{key} is not defined for the model's predictions, which go down to {lowest}"
    return f"{key} is not a finite number"


def limit_threads() -> AbstractContextManager[Any]:
    """Limit the numeric libraries to one thread, so that results do not depend on the number."""
    limit: AbstractContextManager[Any] = _find_thread_pools().limit(limits=1)
    return limit


@cache
def _find_thread_pools() -> ThreadpoolController:
    """Find the numeric libraries' thread pools once: the search costs as much as a small fit."""
    return ThreadpoolController()


def to_plain(value: Any) -> Any:
    """Replace numbers that JSON cannot represent (NaN, infinity) by None."""
    if isinstance(value, dict):
        return {k: to_plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [to_plain(v) for v in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def error_sentence(error: Exception) -> str:
    """Return the type of an error and its first line."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else "no reason given"
    return f"{type(error).__name__}: {text[:300]}"


def warning_texts(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the distinct texts of warnings, sorted."""
    texts = {error_sentence(w.message) for w in caught if isinstance(w.message, Exception)}
    return sorted(texts)
