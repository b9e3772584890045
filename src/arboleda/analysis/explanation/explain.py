"""Explanation of a study: from its folder to the facts of a model or a row."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

import arboleda
from arboleda._utils.errors import StudyError
from arboleda._utils.number_types import is_integer
from arboleda.analysis.explanation.contributions import (
    describe_contributions,
    describe_lime,
    describe_shap,
    draw_background,
)
from arboleda.analysis.explanation.explanation import Explanation
from arboleda.analysis.explanation.prediction import (
    describe_change,
    describe_coverage,
    describe_effects,
    describe_prediction,
    describe_range,
    make_histogram,
)
from arboleda.analysis.explanation.rows import (
    count_rows_beyond_training,
    describe_values,
    find_correlated_columns,
    find_instructive_rows,
    make_proximity_forest,
)
from arboleda.facts.explained_row import ContributionsFacts, ExplainedRowFacts
from arboleda.facts.explanation import (
    SCHEMA_VERSION,
    BaselineFacts,
    CalibrationSummary,
    ExplainedStudy,
    ModelExplanation,
    ModelImportance,
    ModelSummary,
    ModelSurrogate,
    RowExplanation,
    ScoreSummary,
)
from arboleda.facts.exploration import LibraryVersions
from arboleda.facts.model import FactsModel
from arboleda.reports.fact_messages import collect_messages
from arboleda.study import Study
from arboleda.study.artifacts.files import check_language
from arboleda.study.execution.progress import Progress
from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset
from arboleda.study.results.importance import describe_importance, describe_surrogate

__all__ = [
    "ExplainedRow",
    "explain",
    "load_row",
    "load_subject",
    "make_frame_facts",
    "make_model_facts",
    "make_row_facts",
]


@dataclass(frozen=True)
class ExplainedRow:
    """The row to explain.

    ``number`` is the index of the data row in the table, from 0; ``part`` is "train" if the model
    was fitted on the row, else "test"; ``truth`` is the code or value of its target.
    """

    number: int
    n_rows: int
    part: Literal["train", "test"]
    x: Floats
    truth: float


def explain(
    folder: str | Path,
    row: int | None = None,
    *,
    model: str | None = None,
    seed: int = 0,
    progress: bool = False,
    lang: str | None = None,
) -> Explanation:
    """Explain a model of a study as a whole, or its prediction for one row.

    Parameters
    ----------
    folder : str or path
        The folder of the study.
    row : int, optional
        A row of the table of the study: the number of the data row, counted from 1 without the
        header. By default, the model as a whole is explained.
    model : str, optional
        Key or name of a saved model; by default the best.
    seed : int, default=0
        Seed of the samples and of the randomized methods.
    progress : bool, default=False
        Show progress on standard error.
    lang : {"en", "es"}, optional
        Language of the page; by default, that of the study.

    Returns
    -------
    Explanation
        An object with ``facts`` (plain values, described by `explanation.schema.json`) and
        ``save(path)``, which writes the page. The same study, row and seed give the same facts.

    Raises
    ------
    StudyError
        If the folder contains no finished study with its models, or the table has no such row.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     result = Study("iris", target="target", output_dir=folder, models="random_forest").run()
    ...     found = explain(folder, row=7)
    >>> found.facts["prediction"]["value"]
    'setosa'
    """
    if not is_integer(seed) or not 0 <= seed < 2**32:
        raise StudyError(
            f"The seed {seed!r} is out of range; choose a whole number from 0 to {2**32 - 1}."
        )
    if lang is not None:
        check_language(lang)
    reporter = Progress(progress)
    # One thread: the result must not depend on the number of threads.
    with threadpool_limits(limits=1):
        with reporter.step("Reading the study"):
            subject = load_subject(Path(folder), int(seed), model)
        if row is None:
            typed: FactsModel = make_model_facts(subject, reporter)
        else:
            typed = make_row_facts(subject, load_row(subject, row), reporter)
    facts = typed.model_dump(mode="json", exclude_unset=True)
    facts["messages"] = subject.facts.get("messages", {}) | collect_messages(facts)
    return Explanation(facts, lang or subject.facts["study"]["settings"].get("lang", "en"))


def load_subject(folder: Path, seed: int, name: str | None = None) -> ExplainedModel:
    """Load a model of a study, by its key or name, and its rows; None: the best model.

    Raises
    ------
    StudyError
        If the folder contains no finished study, or the model or the rows cannot be read.
    """
    study = Study.load(folder)
    key, layout = study.find_key(name), study.layout
    return ExplainedModel(
        folder=str(folder),
        facts=study.facts,
        key=key,
        pipeline=study.model(key).pipeline_,
        names=tuple(layout.names),
        levels=layout.levels,
        binary=tuple(layout.binary),
        labels=tuple(study.class_names),
        train=_encode_rows(layout, study.training_rows()),
        test=_encode_rows(layout, study.test_rows()),
        seed=seed,
        task=study.task,
    )


def _encode_rows(layout: Any, rows: Any) -> RowSubset:
    return RowSubset(layout.encode(rows.X).x, rows.codes, rows.numbers)


def load_row(subject: ExplainedModel, row: int) -> ExplainedRow:
    """Find a row of the table by its number, counted from 1.

    Raises
    ------
    StudyError
        If the table has no such row, or the study did not keep it.
    """
    study = subject.facts["study"]
    if subject.is_timed:
        what = "a risk" if subject.task == "survival" else "a score of ranks"
        raise StudyError(
            f"Rows are explained for models of classes and quantities, and this one predicts "
            f"{what}; leave out --row to explain the model as a whole."
        )
    n_rows = subject.facts["data"]["n_rows"]
    if not is_integer(row) or not 1 <= row <= n_rows:
        raise StudyError(
            f"There is no row {row} in {study['table']}; choose one from 1 to {n_rows:,}."
        )
    number = int(row) - 1
    parts: dict[Literal["test", "train"], RowSubset] = {
        "test": subject.test,
        "train": subject.train,
    }
    for name, part in parts.items():
        result = np.flatnonzero(part.numbers == number)
        if result.size:
            at = int(result[0])
            return ExplainedRow(number, n_rows, name, part.x[at], float(part.y[at]))
    raise StudyError(
        f"Row {row} of {study['table']} was not saved: the study saves only a sample of a large "
        f"table; choose another row, such as {int(subject.test.numbers[0]) + 1}."
    )


_BASELINES = ("most_frequent", "mean", "kaplan_meier", "unranked")
# Packages of models that extrapolate as constants.
_TREES = (
    *("arboleda.adaboost", "arboleda.bagging", "arboleda.boosting", "arboleda.forest"),
    *("arboleda.survival._extra", "arboleda.survival._random", "arboleda.survival._survival"),
    "arboleda.tree",
)


def make_frame_facts(subject: ExplainedModel) -> dict[str, Any]:
    """Collect the facts about the study, its best model and the package versions."""
    study = subject.facts["study"]
    return {
        "schema_version": SCHEMA_VERSION,
        "arboleda_version": arboleda.__version__,
        "study": ExplainedStudy(
            folder=subject.folder,
            table=study["table"],
            target=study["target"],
            task=study["task"],
            labels=list(subject.labels) or None,
            positive_class=study["positive_class"],
            metric=study["metric"],
            metric_label=study["metric_label"],
            greater_is_better=study["greater_is_better"],
            n_train=subject.facts["split"]["n_train"],
            n_test=subject.facts["split"]["n_test"],
            data_sha256=study["data_sha256"],
        ),
        "model": _describe_model(subject),
        "seed": subject.seed,
        "environment": LibraryVersions(
            python=platform.python_version(),
            arboleda=arboleda.__version__,
            numpy=np.__version__,
            scikit_learn=sklearn.__version__,
        ),
    }


def _describe_model(subject: ExplainedModel) -> ModelSummary:
    models = [m for m in subject.facts["models"] if m["status"] == "ok"]
    result = next(m for m in models if m["key"] == subject.key)
    metric, test = subject.facts["study"]["metric"], result["test"]
    baseline = next((m for m in models if m["key"] in _BASELINES and m is not result), None)
    return ModelSummary(
        key=result["key"],
        name=result["name"],
        engine=result["engine"],
        params=dict(result["candidates"][result["best"]]["params"]),
        n_models=len(models),
        rank=models.index(result) + 1,
        cv=ScoreSummary(mean=result["cv"]["mean"], sd=result["cv"]["sd"]),
        test=test["metrics"].get(metric),
        interval=dict(test["interval"]),
        baseline=None
        if baseline is None
        else BaselineFacts(name=baseline["name"], test=baseline["test"]["metrics"].get(metric)),
        calibration=_describe_calibration(test["calibration"]),
        probabilities=subject.predicts_probabilities,
        by_trees=type(subject.pipeline[-1]).__module__.startswith(_TREES),
    )


def _describe_calibration(result: Mapping[str, Any] | None) -> CalibrationSummary | None:
    """Return the calibration error on the test rows and its quantile under chance."""
    if result is None:
        return None
    return CalibrationSummary(
        error=result["error"],
        largest_by_chance=result["largest_by_chance"],
        level=result["level"],
        bins=result["bins"],
    )


def make_model_facts(subject: ExplainedModel, progress: Progress) -> ModelExplanation:
    """Compute the facts of a model; the same study and seed give the same facts.

    Parts that cannot be computed for the model or its rows are None.
    """
    with progress.step("Computing permutation importance"):
        found = describe_importance(subject)
        importance = None if found is None else ModelImportance.model_validate(found)
    with progress.step("Computing effects of columns"):
        effects = describe_effects(subject, importance)
    with progress.step("Computing contributions of columns"):
        shap = describe_shap(subject)
    # Risks and scores of ranks have no errors of rows: no tree, intervals or instructive rows.
    with progress.step("Fitting a surrogate tree"):
        found = None if subject.is_timed else describe_surrogate(subject)
        surrogate = None if found is None else ModelSurrogate.model_validate(found)
    with progress.step("Checking calibration and coverage"):
        coverage = None if subject.is_timed else describe_coverage(subject)
    return ModelExplanation(
        **make_frame_facts(subject),
        about="model",
        names=list(subject.names),
        importance=importance,
        effects=effects,
        surrogate=surrogate,
        shap=shap,
        promise=coverage,
        rows=[] if subject.is_timed else find_instructive_rows(subject),
        correlated=find_correlated_columns(subject),
        beyond=count_rows_beyond_training(subject),
    )


CHANGED = 4
BINS = 30


def make_row_facts(
    subject: ExplainedModel, row: ExplainedRow, progress: Progress
) -> RowExplanation:
    """Compute the facts of a row; the same study, row and seed give the same facts."""
    own = row.number
    with progress.step("Predicting the row"):
        values = describe_values(subject, row.x)
        prediction = describe_prediction(subject, row.x, own)
        prediction_range = describe_range(subject, row.x, own)
    with progress.step("Computing contributions of columns"):
        contributions = describe_contributions(subject, row.x)
        simple = describe_lime(subject, row.x, contributions)
        background = draw_background(subject).x
        changes = [
            describe_change(subject, row.x, j, background)
            for j in _find_leading_columns(subject, contributions)
        ]
    with progress.step("Finding similar rows"):
        forest = make_proximity_forest(subject)
        neighbours = forest.facts(row.x, own)
        near_test_rows = forest.test_rows(row.x) if row.part == "train" else []
    return RowExplanation(
        **make_frame_facts(subject),
        about="row",
        row=ExplainedRowFacts(
            number=row.number + 1,
            n_rows=row.n_rows,
            part=row.part,
            truth=subject.prediction_text(row.truth),
            near_test_rows=near_test_rows,
        ),
        prediction=prediction,
        range=prediction_range,
        targets=None if subject.classes else make_histogram(subject.train.y, BINS),
        values=values,
        contributions=contributions,
        lime=simple,
        changes=changes,
        neighbours=neighbours,
    )


def _find_leading_columns(subject: ExplainedModel, contributions: ContributionsFacts) -> list[int]:
    """Return the columns with the largest contributions."""
    names = dict.fromkeys(column.name for column in contributions.columns)
    return [subject.names.index(name) for name in names][:CHANGED]
