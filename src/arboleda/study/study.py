"""Studies: from a table to facts, a leaderboard and a report in one folder."""

import errno
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Self

from arboleda._files import write_atomically
from arboleda._visible import json_escaped
from arboleda.reports.fact_messages import collect_messages
from arboleda.reports.study.page import FIGURES, write_report
from arboleda.study.artifacts.files import MODELS, sweep
from arboleda.study.artifacts.held_out import save_held_out
from arboleda.study.artifacts.index import INDEX, index_text
from arboleda.study.artifacts.loaded import LoadedStudy, load_study
from arboleda.study.artifacts.rows import save_rows
from arboleda.study.combined.calibrating import calibrate_combined
from arboleda.study.combined.outcomes import combine_outcomes
from arboleda.study.config.options import make_settings
from arboleda.study.config.study_file import CONFIG, config_text, read_config
from arboleda.study.data.reading import read_table
from arboleda.study.errors import StudyError
from arboleda.study.execution.budget import Budget
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.ledger import Ledger
from arboleda.study.execution.limits import Limits
from arboleda.study.execution.pool import Pool, choose_processes
from arboleda.study.execution.progress import make_watcher
from arboleda.study.plan import Plan, make_plan
from arboleda.study.results.best_model import describe_best
from arboleda.study.results.facts import leaderboard_csv, make_facts
from arboleda.study.results.holdout_facts import (
    ReadPredictions,
    held_out_predictions,
    predictions_reader,
)
from arboleda.study.runner import (
    COMBINATIONS,
    Outcome,
    RunResult,
    SkippedModel,
    calibrate_best,
    ranked,
    search_models,
    test_models,
)

__all__ = ["Study", "StudyResult"]

RESULTS, LEADERBOARD, REPORT = "results.json", "leaderboard.csv", "report.html"


@dataclass(frozen=True)
class StudyResult:
    """Results of a study: its ``facts`` (see results.json) and the ``folder`` of its files."""

    facts: dict[str, Any]
    folder: Path

    @property
    def report(self) -> Path:
        """The report, one HTML file that opens offline."""
        return self.folder / REPORT


class Study:
    """Study a table: describe it, tune and compare models by cross-validation, test, report.

    A fifth of the rows is held out for the test. Every selected model of the catalogue is tuned on
    the other rows by five-fold cross-validation, with all preprocessing fitted inside each fold,
    then refitted to all training rows and tested once on the held-out rows. Every finished fold is
    stored, so a study that was killed resumes where it stopped when it is run again.

    Parameters
    ----------
    table : str, path or frame
        A CSV file (any common separator, encoding and compression), a Parquet file, a bundled
        table of scikit-learn by name (``breast_cancer``, ``diabetes``, ``digits``, ``iris``,
        ``wine``), or a pandas, polars or Arrow table.
    target : str
        The column to predict.
    out : str or path, optional
        The output folder; by default ``studies/<table>-<target>``.
    task : {"classification", "regression"}, optional
        By default classification if the target holds text, booleans, two distinct numbers or at
        most ten distinct integers; regression otherwise.
    metric : str, optional
        The metric by which models are selected. Classification: accuracy (the default),
        balanced_accuracy, f1_macro, mcc, roc_auc, log_loss, or cost (the mean cost of the cheapest
        decisions under ``cost_matrix``). Regression: rmse (the default), mae or r2.
    preset : {"quick", "thesis", "best"}, default="quick"
        Which models are tried, and how thoroughly each is tuned.
    models : str or sequence of str, optional
        The models to try instead of the preset's: keys of the catalogue, "core" for the textbook
        models, or "all". A single string separates them by commas (``"core,kernel_ridge"``).
    search : str, optional
        The search strategy for hyperparameters instead of the preset's: ``"grid"``, ``"halving"``,
        ``"random:N"`` or ``"tpe:N"`` (N trials per model).
    cv : str or int, default=5
        The cross-validation: a number of folds, ``"5x3"`` (three times five folds), ``"group:5"``,
        ``"time:5"``, ``"loo"`` or ``"bootstrap:50"``.
    groups : str, optional
        A column of group labels; rows of one group are never on both sides of a split. ``cv`` then
        defaults to ``"group:5"``.
    time : str, optional
        A column of dates or numbers that orders the rows: models are fitted on earlier rows than
        those they are scored on, and the latest rows are the test. ``cv`` then defaults to
        ``"time:5"``.
    test_size : float, default=0.2
        Fraction of the rows that is held out for the test.
    test : str, path or frame, optional
        A separate table for the test, with the same columns as ``table``.
    time_budget : str or float, optional
        Maximum duration of the search: seconds, or a string such as ``"15m"``.
    cost_matrix : mapping, array-like, pandas data frame or str, optional
        Costs of misclassification, in any form that `arboleda.CostSensitiveClassifier` accepts:
        ``{true: {predicted: cost}}``, ``{(true, predicted): cost}``, or an array with one row per
        true class and one column per predicted class, in sorted order. A string is JSON of such a
        mapping or array, or the path of a JSON file.
    reject_cost : float, optional
        Cost of rejecting a row, that is, of making no prediction for it.
    by : str or sequence of str, optional
        Also report test scores per group of these columns.
    where : str or sequence of str, optional
        Keep only the rows that satisfy these conditions, such as ``"age >= 17 and country in US,
        CA"`` or ``"age is not missing"``; see `arboleda.study.data.recipe`.
    drop_missing, drop_duplicates : bool, default=False
        Whether to drop rows with a missing value in any column, and rows that repeat an earlier
        row in all columns.
    merge : mapping, str or sequence of str, optional
        Values to merge into one: ``{"education": {"dropout": ["11th", "12th"]}}`` or
        ``"education: 11th, 12th -> dropout"``. The same merges are applied at prediction.
    drop : str or sequence of str, optional
        Columns to drop.
    lang : {"en", "es"}, default="en"
        The report's language.
    member_time : str or float, optional
        Maximum duration of a single fit: seconds, or a string such as ``"90s"``.
    member_memory : str or int, optional
        Maximum memory of a single fit: bytes, or a string such as ``"4GB"``.
    max_table_size : str or int, optional
        Maximum decompressed size of a table's file: bytes of its text, or of the columns of a
        Parquet file, or a string such as ``"2GB"``. By default a quarter of the available memory,
        so a decompression bomb is rejected before it fills the memory.
    seed : int, default=0
        Seed of the split, the folds and the models.
    jobs : int, optional
        Number of processes; by default one per core, and one for small tables. Results do not
        depend on it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result = Study("iris", target="target", out=folder, models="lda,cart").run()
    >>> result.facts["models"][0]["name"]
    'Linear discriminant analysis'
    """

    def __init__(
        self,
        table: Any,
        *,
        target: str,
        out: str | Path | None = None,
        task: str | None = None,
        metric: str | None = None,
        preset: str | None = None,
        models: str | Sequence[str] | None = None,
        search: str | None = None,
        cv: str | int | None = None,
        groups: str | None = None,
        time: str | None = None,
        test_size: float | None = None,
        test: Any = None,
        time_budget: str | float | None = None,
        cost_matrix: Any = None,
        reject_cost: float | None = None,
        by: str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        drop_missing: bool | None = None,
        drop_duplicates: bool | None = None,
        merge: Mapping[str, Mapping[str, Sequence[str]]] | str | Sequence[str] | None = None,
        drop: str | Sequence[str] | None = None,
        lang: str | None = None,
        member_time: str | float | None = None,
        member_memory: str | int | None = None,
        max_table_size: str | int | None = None,
        seed: int | None = None,
        jobs: int | None = None,
    ) -> None:
        self.table = table
        # Columns of a frame may be named by numbers; a study uses strings.
        self.target = str(target)
        self.out = out
        self.settings = make_settings(
            task=task,
            metric=metric,
            preset=preset,
            models=models,
            search=search,
            cv=cv,
            groups=groups,
            time=time,
            test_size=test_size,
            test=test,
            time_budget=time_budget,
            cost_matrix=cost_matrix,
            reject_cost=reject_cost,
            by=by,
            where=where,
            drop_missing=drop_missing,
            drop_duplicates=drop_duplicates,
            merge=merge,
            drop=drop,
            lang=lang,
            member_time=member_time,
            member_memory=member_memory,
            max_table_size=max_table_size,
            seed=seed,
            jobs=jobs,
        )

    @classmethod
    def from_config(cls, path: str | Path, **overrides: Any) -> Self:
        """Create a study from a configuration file such as a study's own ``study.toml``.

        Parameters
        ----------
        path : str or path
            A TOML file whose keys are parameters of a study, including ``table``.
        **overrides
            Parameters of the study that replace those of the file; None keeps the file's.

        Returns
        -------
        Study

        Raises
        ------
        StudyError
            If the file cannot be read, has an unknown key, or names no table or no target.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Study("iris", target="target", out=folder, models="lda").run()
        ...     again = Study.from_config(f"{folder}/study.toml", models="lda,cart")
        >>> again.settings.models
        ('lda', 'cart')
        """
        options = read_config(path) | {k: v for k, v in overrides.items() if v is not None}
        for key in ("table", "target"):
            if key not in options:
                raise StudyError(f"The file {path} names no {key}; add {key} = ... to it.")
        return cls(options.pop("table"), **options)

    def run(self, *, progress: bool = False) -> StudyResult:
        """Run the study, or resume it, and write results.json, leaderboard.csv and report.html.

        Parameters
        ----------
        progress : bool, default=False
            Whether to show progress on standard error.

        Returns
        -------
        StudyResult

        Raises
        ------
        StudyError
            If the table, the target, a parameter or the folder cannot be used, or no model could
            be scored (the files are written in that case too).
        """
        started, clock = datetime.now(UTC), monotonic()
        table = read_table(self.table, max_table_size=self.settings.max_table_size)
        plan = make_plan(table, self.target, self.settings)
        folder = Path(self.out) if self.out else default_folder(table.stem, self.target)
        with _explain_write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with Ledger(folder, plan.identity()) as ledger:
            with _explain_write_errors(folder):
                self._write_config(folder)
            with (
                make_watcher(progress) as watcher,
                _open_pool(plan, folder, clock) as (pool, budget),
            ):
                executor = Executor(folder, ledger, pool, watcher, budget)
                searched = search_models(plan, executor)
                result = test_models(searched, executor)
                result = _combine_models(result, executor)
                calibration = _calibrate_best(result, executor)
                explanations = describe_best(result, executor)
            read_predictions = predictions_reader(result.plan, folder)
            seconds = monotonic() - clock
            facts = make_facts(
                result, calibration, explanations, read_predictions, started, seconds
            )
            facts["messages"] = collect_messages(facts)
            with _explain_write_errors(folder):
                _write_index(result, read_predictions, folder / MODELS)
                _write_results(facts, folder)
        _check_scored(facts, folder)
        return StudyResult(facts, folder)

    def _write_config(self, folder: Path) -> None:
        """Remove unfinished files of a killed run, and write the study's configuration."""
        sweep(folder / MODELS)
        write_atomically(folder / CONFIG, config_text(self.table, self.target, self.settings))

    @staticmethod
    def load(folder: str | Path) -> LoadedStudy:
        """Load a finished study: its facts, its fitted models and its rows.

        No code in the folder is executed.

        Parameters
        ----------
        folder : str or path
            The study's folder.

        Returns
        -------
        LoadedStudy

        Raises
        ------
        StudyFormatError
            If there is no study in the folder, or one of its files is damaged or of another
            version. It is a `StudyError`.

        Warns
        -----
        UserWarning
            If the models were fitted with another version of scikit-learn.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> with TemporaryDirectory() as folder:
        ...     result = Study("iris", target="target", out=folder, models="lda").run()
        ...     model = Study.load(folder).best_model_
        >>> flowers = load_iris(as_frame=True).data
        >>> model.predict(flowers[:2]).tolist()
        ['setosa', 'setosa']
        """
        return load_study(folder)


def default_folder(stem: str, target: str) -> Path:
    """Return ``studies/<table>-<target>``, with characters that every file system accepts."""
    name = re.sub(r"[^\w.-]+", "_", f"{stem}-{target}")[:80].strip("._")
    return Path("studies") / (name or "study")


def _calibrate_best(
    result: RunResult, executor: Executor
) -> tuple[Outcome, list[dict[str, Any]]] | None:
    """Try calibrating the best model; a combination's predictions are already on the disk."""
    if result.outcomes and ranked(result.plan, result.outcomes)[0].ensemble:
        return calibrate_combined(result.plan, result.outcomes, executor.folder, executor.budget)
    return calibrate_best(result.plan, executor, result.outcomes)


@contextmanager
def _explain_write_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError of writing into a StudyError that names the folder and the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StudyError(
                f"No space is left for the results in {folder}; free some and run the same "
                "command again: finished work is kept."
            ) from error
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            raise StudyError(f"{folder} is not a folder; choose another one with --out.") from error
        raise StudyError(
            f"The folder {folder} cannot be written ({error.strerror}); choose another one "
            "with --out."
        ) from error


@contextmanager
def _open_pool(plan: Plan, folder: Path, started: float) -> Iterator[tuple[Pool, Budget | None]]:
    """Open the pool that runs the jobs, with its time budget; close it afterwards."""
    settings = plan.settings
    processes = choose_processes(settings.jobs, plan.features.x.size)
    budget = None
    if settings.time_budget is not None:
        budget = Budget(settings.time_budget, started, processes)
    limits = Limits(settings.member_time, settings.member_memory)
    deadline = None if budget is None else budget.deadline
    with Pool(plan.shared, processes, folder, limits, deadline) as pool:
        yield pool, budget


def _combine_models(result: RunResult, executor: Executor) -> RunResult:
    """Add the outcomes of combined models, as far as there is time for them."""
    combined, late = combine_outcomes(
        result.plan, result.outcomes, executor.folder, executor.budget
    )
    skipped = [SkippedModel(method.key, method.name, 1, whole=True) for method in late]
    if late and not combined:
        skipped = [COMBINATIONS]
    return replace(
        result,
        outcomes=[*result.outcomes, *combined],
        skipped=(*result.skipped, *skipped),
    )


def _check_scored(facts: Mapping[str, Any], folder: Path) -> None:
    """Raise a StudyError if no model could be scored."""
    models = facts["models"]
    if not models:
        raise StudyError(
            "No model could be scored within the time budget; allow more time. The report is at "
            f"{folder / REPORT}."
        )
    if all(model["status"] == "failed" for model in models):
        raise StudyError(
            f"No model could be scored, the first because of {models[0]['error']}; the report is "
            f"at {folder / REPORT}."
        )


def _write_index(result: RunResult, read_predictions: ReadPredictions, folder: Path) -> None:
    """Save the rows and the best model's held-out predictions, and list all saved files."""
    tested = [o for o in result.outcomes if o.test and not o.test["error"]]
    kept = {o.model.key: o.test["kept"] for o in tested if o.test}
    best = next(iter(ranked(result.plan, result.outcomes)), None)
    predictions = None
    if best is not None:
        predictions = held_out_predictions(result.plan, best, read_predictions)
    held_out = save_held_out(predictions, folder, result.plan.seed)
    text = index_text(result.plan, kept, save_rows(result.plan, folder), held_out)
    write_atomically(folder / INDEX, text)


def _write_results(facts: dict[str, Any], folder: Path) -> None:
    """Write all files to a draft folder, then move each: a failure leaves the old ones."""
    draft = folder / ".draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    try:
        text = json.dumps(facts, indent=1, allow_nan=False, ensure_ascii=False)
        write_atomically(draft / RESULTS, json_escaped(text) + "\n")
        write_atomically(draft / LEADERBOARD, leaderboard_csv(facts))
        write_report(facts, draft / REPORT)
        for name in (RESULTS, LEADERBOARD, REPORT):
            (draft / name).replace(folder / name)
        shutil.rmtree(folder / FIGURES, ignore_errors=True)
        (draft / FIGURES).replace(folder / FIGURES)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
