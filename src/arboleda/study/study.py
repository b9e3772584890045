"""A study: from a table to facts, a leaderboard and a report in one folder."""

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
from arboleda.report import FIGURES, write_report
from arboleda.study.artifacts.files import MODELS, sweep
from arboleda.study.artifacts.held_out import keep_held_out
from arboleda.study.artifacts.index import INDEX, index_text
from arboleda.study.artifacts.loaded import LoadedStudy, load_study
from arboleda.study.artifacts.rows import keep_rows
from arboleda.study.combined.calibrating import calibrate_combined
from arboleda.study.combined.outcomes import combined_outcomes
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
    Found,
    Outcome,
    SkippedModel,
    calibrate_best,
    ranked,
    run_plan,
)

__all__ = ["Study", "StudyResult"]

RESULTS, LEADERBOARD, REPORT = "results.json", "leaderboard.csv", "report.html"


@dataclass(frozen=True)
class StudyResult:
    """What a study leaves: its ``facts`` (see results.json) and the ``folder`` of its files."""

    facts: dict[str, Any]
    folder: Path

    @property
    def report(self) -> Path:
        """The report, one HTML file that opens offline."""
        return self.folder / REPORT


class Study:
    """Study a table: describe it, tune and compare models by cross-validation, test, report.

    A fifth of the rows is held out. Every wanted model of the catalogue is tuned on the others by
    five-fold cross-validation, with all preparation learned inside each fold, then fitted to all
    of them and tested once on the fifth. Every finished fold is stored, so that a study that is
    killed goes on where it was when run again.

    Parameters
    ----------
    table : str, path or frame
        A CSV file (any common separator, encoding and compression), a Parquet file, a bundled
        table of scikit-learn by name (``breast_cancer``, ``diabetes``, ``digits``, ``iris``,
        ``wine``), or a pandas, polars or Arrow table.
    target : str
        The column to predict.
    out : str or path, optional
        The folder for the files; by default ``studies/<table>-<target>``.
    task : {"classification", "regression"}, optional
        By default classification if the target holds text, truth values, two distinct numbers or
        at most ten distinct whole numbers; else regression.
    metric : str, optional
        What models are chosen by: accuracy (the default), balanced_accuracy, f1_macro, mcc,
        roc_auc, log_loss, or cost, the mean cost of the cheapest decisions by ``cost_matrix``;
        rmse (the default), mae or r2 in a regression.
    preset : {"quick", "thesis", "best"}, default="quick"
        Which models are tried, and how hard each is tuned.
    models : str or sequence of str, optional
        The models to try in place of the preset's: keys of the catalogue, "core" for the
        textbook's models, or "all"; in one text they are separated by commas
        (``"core,kernel_ridge"``).
    search : str, optional
        How each model's candidates are proposed, in place of the preset's way: ``"grid"``,
        ``"halving"``, ``"random:30"`` or ``"tpe:30"`` (so many drawn candidates of each model).
    cv : str or int, default=5
        The cross-validation: a number of folds, ``"5x3"`` (three times five folds), ``"group:5"``,
        ``"time:5"``, ``"loo"`` or ``"bootstrap:50"``.
    groups : str, optional
        A column whose equal values are never on two sides of a split; ``cv`` is then
        ``"group:5"``.
    time : str, optional
        A column of dates or numbers by which the rows are ordered: models learn from earlier rows
        than they are scored on, and the latest are the test; ``cv`` is then ``"time:5"``.
    test_size : float, default=0.2
        Share of the rows that is held out for the test.
    test : str, path or frame, optional
        A table of its own for the test, with the columns of the first.
    time_budget : str or float, optional
        How long the search may take: seconds, or a text such as ``"15m"``.
    cost_matrix : mapping, array-like, pandas data frame or str, optional
        What it costs to predict a class where another is true, in any form that
        `arboleda.CostSensitiveClassifier` takes: ``{true: {predicted: cost}}``, ``{(true,
        predicted): cost}``, or an array with a row for each true and a column for each predicted
        class in sorted order. A text is JSON of such a mapping or array, or names a file of it.
    reject_cost : float, optional
        What it costs to answer nothing.
    by : str or sequence of str, optional
        Columns for whose values the test is told apart.
    where : str or sequence of str, optional
        Conditions that rows must satisfy to be used, such as ``"age >= 17 and country in US, CA"``,
        ``"age is not missing"``; see `arboleda.study.data.recipe`.
    drop_missing, drop_duplicates : bool, default=False
        Whether rows with a missing value in any column, and rows that repeat an earlier row in all
        columns, are dropped.
    merge : mapping, str or sequence of str, optional
        Values that become one: ``{"education": {"dropout": ["11th", "12th"]}}`` or
        ``"education: 11th, 12th -> dropout"``. Tables that are predicted are merged alike.
    drop : str or sequence of str, optional
        Columns that are not used.
    lang : {"en", "es"}, default="en"
        The report's language.
    member_time : str or float, optional
        How long a single fit may take.
    member_memory : str or int, optional
        How much memory a single fit may take: bytes, or a text such as ``"4GB"``.
    max_table_size : str or int, optional
        How large a table's file may be unpacked: bytes of its text, or of the columns of a Parquet
        file, or a text such as ``"2GB"``. By default a quarter of the memory that is available, so
        that a packed file that grows without end is refused before it fills the memory.
    seed : int, default=0
        Seed of the split, the folds and the models.
    jobs : int, optional
        Number of processes, by default one per core for all but small tables. Results do not
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
        # Columns of a frame may be named by numbers; a study knows them as text.
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
    def from_config(cls, path: str | Path, **asked: Any) -> Self:
        """The study that a file asks for, as ``study.toml`` in a study's folder does.

        Parameters
        ----------
        path : str or path
            A TOML file whose keys are parameters of a study, ``table`` among them.
        **asked
            Parameters of the study, which go before those of the file; None leaves them.

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
        found = read_config(path) | {k: v for k, v in asked.items() if v is not None}
        for key in ("table", "target"):
            if key not in found:
                raise StudyError(f"The file {path} names no {key}; add {key} = ... to it.")
        return cls(found.pop("table"), **found)

    def run(self, *, progress: bool = False) -> StudyResult:
        """Do what is not yet done, and write results.json, leaderboard.csv and report.html.

        Parameters
        ----------
        progress : bool, default=False
            Show on standard error how it goes on.

        Returns
        -------
        StudyResult

        Raises
        ------
        StudyError
            If the table, the target, a parameter or the folder cannot be used, or no model could
            be scored (the files are written all the same).
        """
        started, clock = datetime.now(UTC), monotonic()
        table = read_table(self.table, max_table_size=self.settings.max_table_size)
        plan = make_plan(table, self.target, self.settings)
        folder = Path(self.out) if self.out else default_folder(table.stem, self.target)
        with _Told(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with Ledger(folder, plan.identity()) as ledger:
            with _Told(folder):
                sweep(folder / MODELS)
                text = config_text(self.table, self.target, self.settings)
                write_atomically(folder / CONFIG, text)
            with make_watcher(progress) as watcher, _pool(plan, folder, clock) as (pool, budget):
                work = Executor(folder, ledger, pool, watcher, budget)
                found = run_plan(plan, work)
                found = _with_combinations(found, work)
                calibration = _calibrated(found, work)
                told = describe_best(found, work)
            answers = predictions_reader(found.plan, folder)
            facts = make_facts(found, calibration, told, answers, started, monotonic() - clock)
            with _Told(folder):
                _keep_index(found, answers, folder / MODELS)
                _publish(facts, folder)
        _check_scored(facts, folder)
        return StudyResult(facts, folder)

    @staticmethod
    def load(folder: str | Path) -> LoadedStudy:
        """Read a study that was run before: its facts, its fitted models and its rows.

        No code of the folder is run.

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
    """``studies/<table>-<target>``, with only characters that every file system takes."""
    name = re.sub(r"[^\w.-]+", "_", f"{stem}-{target}")[:80].strip("._")
    return Path("studies") / (name or "study")


def _calibrated(found: Found, work: Executor) -> tuple[Outcome, list[dict[str, Any]]] | None:
    """What calibrating the best model is worth; a combination's answers are there already."""
    if found.outcomes and ranked(found.plan, found.outcomes)[0].ensemble:
        return calibrate_combined(found.plan, found.outcomes, work.folder, work.budget)
    return calibrate_best(found.plan, work, found.outcomes)


class _Told:
    """Turn the system's refusals to write into one sentence that names the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StudyError(
                f"No space is left for the results in {self._folder}; free some and run the same "
                "command again: what is done is kept."
            ) from error
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            raise StudyError(
                f"{self._folder} is not a folder; choose another one with --out."
            ) from error
        raise StudyError(
            f"The folder {self._folder} cannot be written ({error.strerror}); choose another one "
            "with --out."
        ) from error


@contextmanager
def _pool(plan: Plan, folder: Path, started: float) -> Iterator[tuple[Pool, Budget | None]]:
    """What does the jobs, and the time it may take; nothing of it is at work afterwards."""
    settings = plan.settings
    processes = choose_processes(settings.jobs, plan.features.x.size)
    budget = None
    if settings.time_budget is not None:
        budget = Budget(settings.time_budget, started, processes)
    limits = Limits(settings.member_time, settings.member_memory)
    deadline = None if budget is None else budget.deadline
    with Pool(plan.shared, processes, folder, limits, deadline) as pool:
        yield pool, budget


def _with_combinations(found: Found, work: Executor) -> Found:
    """The outcomes with those of combined models, if there is time for them."""
    combined, late = combined_outcomes(found.plan, found.outcomes, work.folder, work.budget)
    left_out = [SkippedModel(method.key, method.name, 1, whole=True) for method in late]
    if late and not combined:
        left_out = [COMBINATIONS]
    return replace(
        found,
        outcomes=[*found.outcomes, *combined],
        left_out=(*found.left_out, *left_out),
    )


def _check_scored(facts: Mapping[str, Any], folder: Path) -> None:
    """Refuse to call it a study where no model could be scored."""
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


def _keep_index(found: Found, answers: ReadPredictions, folder: Path) -> None:
    """Keep the rows and the best model's answers, and list what is kept of all that is there."""
    tested = [o for o in found.outcomes if o.test and not o.test["error"]]
    kept = {o.model.key: o.test["kept"] for o in tested if o.test}
    best = next(iter(ranked(found.plan, found.outcomes)), None)
    said = None if best is None else held_out_predictions(found.plan, best, answers)
    held_out = keep_held_out(said, folder, found.plan.seed)
    text = index_text(found.plan, kept, keep_rows(found.plan, folder), held_out)
    write_atomically(folder / INDEX, text)


def _publish(facts: dict[str, Any], folder: Path) -> None:
    """Write all files aside, then put each in its place, so that a failure leaves the old ones."""
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
