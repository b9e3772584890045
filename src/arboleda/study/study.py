"""Studies: from a table to facts, a leaderboard and a report in one folder."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from arboleda._utils.errors import StudyError
from arboleda._utils.memory import release_arrow_memory
from arboleda.study.artifacts.index import read_index
from arboleda.study.artifacts.loaded import StudyModel, StudyResult, load_study
from arboleda.study.combination.combined_calibration import calibrate_combined
from arboleda.study.combination.outcomes import combine_models
from arboleda.study.config.options import (
    NAMES,
    config_text,
    document_options,
    make_settings,
    read_config,
)
from arboleda.study.config.other_names import name_study_arguments, name_study_parameters
from arboleda.study.config.settings import Settings
from arboleda.study.execution.executor import Budget, Executor
from arboleda.study.execution.job import Limits
from arboleda.study.execution.ledger import Ledger
from arboleda.study.execution.pool import Pool
from arboleda.study.execution.progress import make_watcher
from arboleda.study.execution.worker import choose_processes
from arboleda.study.output_folder import (
    check_scored,
    default_folder,
    explain_write_errors,
    write_config,
    write_index,
    write_results,
)
from arboleda.study.plan import Plan, make_plan
from arboleda.study.results.best_model import describe_best
from arboleda.study.results.holdout_facts import predictions_reader
from arboleda.study.results.make_facts import make_facts
from arboleda.study.runner import (
    Outcome,
    RunResult,
    calibrate_best,
    ranked,
    search_models,
    test_models,
)
from arboleda.tables.fitted_table import join_columns, join_target, join_times_of_events
from arboleda.tables.sampled_table import read_table_or_sample

if TYPE_CHECKING:
    from arboleda.study.execution.dask_pool import DaskPool

__all__ = ["Study"]


@document_options
class Study:
    """Study a table: describe it, tune and compare models by cross-validation, test, report.

    A fifth of the rows is held out for the test. Every selected model of the catalogue is tuned on
    the other rows by five-fold cross-validation, with all preprocessing fitted inside each fold,
    then refitted to all training rows and tested once on the held-out rows. Every finished fold is
    stored, so a study that was killed resumes where it stopped when it is run again.

    Parameters
    ----------
    table : str, path, frame or CodedTable, optional
        A CSV file (any common separator, encoding and compression), a Parquet file, a bundled
        table of scikit-learn by name (``breast_cancer``, ``diabetes``, ``digits``, ``iris``,
        ``wine``), or a pandas, polars or Arrow table. Without it, call `fit`. Of a file that is
        larger than ``max_table_size`` and of a `CodedTable`, a random sample of the rows is
        studied, and boosting is fitted to all rows for its test.
    target : str, optional
        The column to predict.
    output_dir : str or path, optional
        The output folder; by default ``studies/<table>-<target>``.
    {options}
    client : distributed.Client, optional
        Run the fits on the workers of this client of Dask instead of processes of this machine,
        ``n_jobs`` at a time or as many as the workers have threads. The results are the same, byte
        for byte. See the guide's page "Beyond one machine".

    Attributes
    ----------
    result_ : arboleda.study.StudyResult
        The results, after `run` or `fit`.
    best_model_ : StudyClassifier, StudyRegressor, StudySurvivalModel or StudyRanker
        The best model, fitted on all training rows.
    leaderboard_ : pandas.DataFrame
        The models, best first; an Arrow table if pandas is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result = Study("iris", target="target", output_dir=folder, models="lda,cart").run()
    >>> result.facts["models"][0]["name"]
    'Linear discriminant analysis'
    """

    @name_study_parameters
    def __init__(
        self,
        table: Any = None,
        *,
        target: str | None = None,
        output_dir: str | Path | None = None,
        where: str | Sequence[str] | None = None,
        drop_missing: bool = False,
        drop_duplicates: bool = False,
        drop_missing_target: bool = False,
        merge: Mapping[str, Mapping[str, Sequence[str]]] | str | Sequence[str] | None = None,
        drop: str | Sequence[str] | None = None,
        keep: str | Sequence[str] | None = None,
        types: Mapping[str, str] | str | Sequence[str] | None = None,
        positive: str | float | None = None,
        task: str | None = None,
        metric: str | None = None,
        models: str | Sequence[str] | None = None,
        preset: str = "quick",
        search: str | None = None,
        cv: str | int | None = None,
        groups: str | None = None,
        time: str | None = None,
        event: str | None = None,
        query: str | None = None,
        test_size: float = 0.2,
        test: Any = None,
        cost_matrix: Any = None,
        reject_cost: float | None = None,
        score_by: str | Sequence[str] | None = None,
        lang: str = "en",
        time_budget: str | float | None = None,
        fit_timeout: str | float | None = None,
        fit_memory: str | int | None = None,
        max_table_size: str | int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        client: Any = None,
    ) -> None:
        arguments = locals()
        self.table = table
        # Columns of a frame may be named by numbers; a study uses strings.
        self.target: str | None = None if target is None else str(target)
        self.output_dir = output_dir
        self.settings: Settings = make_settings(**{name: arguments[name] for name in NAMES})
        if client is not None:
            from arboleda.dask.tasks import check_client

            check_client(client)
        self.client = client
        if self.settings.event is not None:
            if self.target not in (None, self.settings.time):
                raise StudyError(
                    f"The target {self.target!r} is not the time to the event, "
                    f"{self.settings.time!r}; leave the target out."
                )
            self.target = self.settings.time

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
        ...     _ = Study("iris", target="target", output_dir=folder, models="lda").run()
        ...     again = Study.from_config(f"{folder}/study.toml", models="lda,cart")
        >>> again.settings.models
        ('lda', 'cart')
        """
        options = read_config(path) | {k: v for k, v in overrides.items() if v is not None}
        for key in ("table", "target"):
            if key not in options and not (key == "target" and "event" in options):
                raise StudyError(f"The file {path} names no {key}; add {key} = ... to it.")
        return cls(options.pop("table"), **options)

    def make_plan(self) -> Plan:
        """Read the table, check it, split its rows and decide what becomes of each column.

        Nothing is fitted or written.

        Raises
        ------
        StudyError
            If the table, the target or a parameter cannot be used.

        Examples
        --------
        >>> plan = Study("iris", target="target").make_plan()
        >>> plan.roles["sepal length (cm)"].kind
        'numeric'
        """
        if self.table is None or self.target is None:
            raise StudyError(
                "The study has no table or no target; pass Study(table, target=...), or call "
                "fit(X, y)."
            )
        types = {choice.column: choice.type for choice in self.settings.types}
        limit = self.settings.max_table_size
        table, sample = read_table_or_sample(self.table, max_table_size=limit, types=types)
        return make_plan(table, self.target, self.settings, sample)

    def run(self, *, progress: bool | None = None) -> StudyResult:
        """Run the study, or resume it, and write results.json, leaderboard.csv and report.html.

        Parameters
        ----------
        progress : bool, optional
            Whether to show progress; by default, in terminals and notebooks.

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
        plan = self.make_plan()
        folder = Path(self.output_dir or default_folder(plan.table.stem, plan.target.name))
        with self._open_ledger(folder, plan.identity(), plan.target.name) as ledger:
            # No name may hold the plan before: its matrix would be in memory twice.
            opened = _open_executor(plan, folder, ledger, progress, clock, self.client)
            with opened as (plan, executor):
                release_arrow_memory()  # of the columns that the plan before had
                if plan.sample is not None and not plan.sample.is_whole:
                    executor.watcher.announce(plan.sample.describe())
                executor.reserve_for_explanation()
                searched = search_models(plan, executor)
                tested = test_models(searched, executor)
                result = combine_models(tested, executor)
                executor.begin_explanation()
                calibration = _calibrate_best(result, executor)
                explanations = describe_best(result, executor)
            reader = predictions_reader(result.plan, folder)
            seconds = monotonic() - clock
            facts = make_facts(result, calibration, explanations, reader, started, seconds)
            with explain_write_errors(folder):
                write_index(result, reader, folder)
                write_results(facts, folder, self.table)  # draws the report
        check_scored(facts, folder)
        self.result_ = StudyResult(folder, facts, read_index(folder))
        return self.result_

    @name_study_arguments
    def fit(self, X: Any, y: Any, *, progress: bool | None = None) -> Self:
        """Study a table whose target is apart from it, and keep the results.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            A pandas, polars or Arrow table, or an array, whose columns are named x0, x1, ...
        y : Series or array of shape (n_samples,)
            The target. Its name, or "target" without one, is that of the target. With the
            parameter ``event``, a structured array or a frame of two columns: whether the event
            was observed, and its time; the columns get the names ``event`` and ``time`` of the
            study. With ``query``, X has that column.
        progress : bool, optional
            Whether to show progress; by default, in terminals and notebooks.

        Returns
        -------
        self : Study

        Raises
        ------
        StudyError
            As `run` does, and if X and y have different lengths or a column of X has the name of
            the target.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> with TemporaryDirectory() as folder:
        ...     study = Study(output_dir=folder, models="lda,cart").fit(X, y)
        ...     score = study.best_model_.score(X, y)
        >>> score > 0.95
        True
        """
        time, event = self.settings.time, self.settings.event
        if time is not None and event is not None:
            self.table = join_times_of_events(X, y, time, event)
        else:
            self.table, self.target = join_target(X, y)
        self.run(progress=progress)
        return self

    def _get_result(self) -> StudyResult:
        if not hasattr(self, "result_"):
            raise NotFittedError("This Study has no results yet; call run(), or fit(X, y).")
        return self.result_

    @property
    def best_model_(self) -> StudyModel:
        """The best model, fitted on all training rows."""
        return self._get_result().best_model_

    @property
    def leaderboard_(self) -> Any:
        """The models, best first: `StudyResult.leaderboard`."""
        return self._get_result().leaderboard

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict with the best model; see `StudyResult.predict`.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            As in `fit`, with the same columns.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._get_result().predict(join_columns(X))

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the probability of each class; see `StudyResult.predict_proba`.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            As in `fit`, with the same columns.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        return self._get_result().predict_proba(join_columns(X))

    @contextmanager
    def _open_ledger(self, folder: Path, identity: dict[str, Any], target: str) -> Iterator[Ledger]:
        """Make the folder, lock it for this study, and write the study's configuration."""
        with explain_write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with Ledger(folder, identity) as ledger:
            with explain_write_errors(folder):
                write_config(config_text(self.table, target, self.settings), folder)
            yield ledger

    @staticmethod
    def load(folder: str | Path) -> StudyResult:
        """Load a finished study: its facts, its fitted models and its rows.

        No code in the folder is executed.

        Parameters
        ----------
        folder : str or path
            The study's folder.

        Returns
        -------
        StudyResult

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
        ...     result = Study("iris", target="target", output_dir=folder, models="lda").run()
        ...     model = Study.load(folder).best_model_
        >>> flowers = load_iris(as_frame=True).data
        >>> model.predict(flowers[:2]).tolist()
        ['setosa', 'setosa']
        """
        return load_study(folder)


def _calibrate_best(
    result: RunResult, executor: Executor
) -> tuple[Outcome, list[dict[str, Any]]] | None:
    """Try calibrating the best model; a combination's predictions are already on the disk."""
    if result.outcomes and ranked(result.plan, result.outcomes)[0].ensemble:
        return calibrate_combined(
            result.plan,
            result.outcomes,
            executor.folder,
            executor.budget,
            executor.pool.threads,
        )
    return calibrate_best(result.plan, executor, result.outcomes)


@contextmanager
def _open_executor(
    plan: Plan, folder: Path, ledger: Ledger, progress: bool | None, started: float, client: Any
) -> Iterator[tuple[Plan, Executor]]:
    """Open what runs the jobs: a pool, its time budget, and the progress display.

    The plan that it yields reads the matrix that the processes read.
    """
    with make_watcher(progress) as watcher, ExitStack() as stack:
        pool, budget = _open_pool(plan, folder, started, client)
        stack.enter_context(pool)
        plan = plan.move_features(pool.features)
        yield plan, Executor(folder, ledger, pool, watcher, budget)


def _open_pool(
    plan: Plan, folder: Path, started: float, client: Any
) -> "tuple[Pool | DaskPool, Budget | None]":
    """Open the workers of a client of Dask, or processes of this machine, and the time budget."""
    settings, shared = plan.settings, plan.shared
    limits = Limits(settings.fit_timeout, settings.fit_memory)
    if client is not None:
        from arboleda.study.execution.dask_pool import DaskPool

        names = {model.key: model.name for model in plan.models}
        workers = DaskPool(client, shared, folder, limits, names, settings.n_jobs)
        budget = _make_budget(settings, started, workers.processes)
        workers.deadline = None if budget is None else budget.deadline
        return workers, budget
    n_cells = math.prod(plan.features.shape)
    processes = choose_processes(settings.n_jobs, n_cells, plan.estimate_seconds())
    budget = _make_budget(settings, started, processes)
    deadline = None if budget is None else budget.deadline
    return Pool(shared, processes, folder, limits, deadline), budget


def _make_budget(settings: Settings, started: float, processes: int) -> Budget | None:
    seconds = settings.time_budget
    return None if seconds is None else Budget(seconds, started, processes)
