"""The options of a study, each declared once.

The field of an option states its type, limits, default and description, and its `Option` how it is
presented. The checks and messages, the flags and the help of ``arboleda study``, the keys and
comments of ``study.toml`` and the documentation of `arboleda.study.Study` derive from it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, InstanceOf, model_validator

from arboleda._utils.errors import OptionError
from arboleda.study.config.declaration import GROUPS, Option, declared_options
from arboleda.study.config.parsers import (
    Bytes,
    ColumnName,
    ColumnNames,
    CostMatrix,
    Float,
    Int,
    Names,
    Seconds,
    parse_cv,
    parse_metric,
    parse_search,
)
from arboleda.study.config.schemes import Scheme
from arboleda.study.config.table_settings import NO_NAMES, STRINGS, TableSettings

if TYPE_CHECKING:
    from arboleda.scoring.user_function import MetricFunction
    from arboleda.study.search.strategies import SearchStrategy
    from arboleda.tables.recipe import RowCondition
else:  # Heavy modules; the parsers return nothing else.
    MetricFunction = RowCondition = SearchStrategy = Any

__all__ = ["OPTIONS", "Costs", "Settings"]

# Misclassification costs: by the true label, then the predicted one; or rows of true and columns of
# predicted classes, in sorted order.
Costs = Mapping[str, Mapping[str, float]] | tuple[tuple[float, ...], ...]

_DATA, _COLUMNS, _MODELS, _EVALUATION, _LIMITS, _OUTPUT = GROUPS

_DURATIONS = "choose seconds, or a string such as 90s, 15m or 1h30m."
_SIZES = "choose bytes, or a string such as 512MB or 4GB."


class Settings(TableSettings):
    """The checked options of a study, beside its table and target; see `make_settings`."""

    task: Annotated[
        Literal["classification", "regression"] | None,
        Option(
            _EVALUATION,
            "There is no task {value}; choose classification or regression.",
            default="inferred from the target: classification for text, Booleans, two distinct "
            "numbers or at most ten distinct integers",
            metavar="TASK",
        ),
    ] = Field(
        default=None,
        description="Predict a class (``classification``) or a quantity (``regression``).",
    )
    metric: Annotated[
        Annotated[MetricFunction | str, BeforeValidator(parse_metric)] | None,
        Option(
            _EVALUATION,
            "The metric {value} is not a name or a function; choose one such as log_loss.",
            "str or callable",
            default="log_loss (preset thesis: accuracy); rmse",
        ),
    ] = Field(
        default=None,
        description="Choose models by this metric: a common name such as auc, f1, log_loss, "
        "mae, rmse or pinball:0.9; ``cost`` is the mean cost by the cost matrix, and "
        "``module:function`` is a Python function of the current folder or of a package.",
    )
    models: Annotated[
        Names | None,
        Option(
            _MODELS,
            "models must be names separated by commas, as in core,kernel_ridge, got {value}.",
            STRINGS,
            default="set by the preset",
            metavar="NAMES",
        ),
    ] = Field(
        default=None,
        description="Try these models, separated by commas: ``core`` (textbook models), ``all``, "
        "or keys such as ``cart,svm``; ``arboleda models`` lists them.",
    )
    preset: Annotated[
        Literal["quick", "thesis", "best"],
        Option(_MODELS, "There is no preset {value}; choose quick, thesis or best."),
    ] = Field(
        default="quick",
        description="Set the default models and the effort of the search: quick, thesis or best.",
    )
    search: Annotated[
        Annotated[SearchStrategy, BeforeValidator(parse_search)] | None,
        Option(
            _MODELS,
            "There is no search {value}; choose grid, halving, random:N or tpe:N.",
            "str",
            default="set by the preset",
            metavar="STRATEGY",
        ),
    ] = Field(
        default=None,
        description="Search parameters by ``grid``, ``halving``, ``random:N`` or ``tpe:N`` (N "
        "trials per model).",
    )
    cv: Annotated[
        InstanceOf[Scheme],
        BeforeValidator(parse_cv),
        Option(
            _EVALUATION,
            "The cross-validation {value} is not a scheme; choose one such as 5, 5x3, group:5, "
            "time:5, loo or bootstrap.",
            "str or int",
            default="5; group:5 with groups, time:5 with time",
            metavar="SCHEME",
        ),
    ] = Field(
        default=Scheme(),
        description="Cross-validate by ``5`` (folds), ``5x3`` (5 folds, 3 repeats), ``group:5``, "
        "``time:5``, ``loo`` (leave one out) or ``bootstrap:50`` (.632+).",
    )
    groups: Annotated[
        ColumnName | None,
        Option(
            _EVALUATION,
            "groups must be the name of a column, got {value}.",
            "str",
            metavar="COLUMN",
        ),
    ] = Field(
        default=None,
        description="Keep the rows of each group of this column on the same side of every split.",
    )
    time: Annotated[
        ColumnName | None,
        Option(
            _EVALUATION, "time must be the name of a column, got {value}.", "str", metavar="COLUMN"
        ),
    ] = Field(
        default=None,
        description="Train on earlier, test on the latest rows by this column of dates or numbers. "
        "With ``event``, it is instead the time to the event, which is predicted.",
    )
    event: Annotated[
        ColumnName | None,
        Option(_DATA, "event must be the name of a column, got {value}.", "str", metavar="COLUMN"),
    ] = Field(
        default=None,
        description="Predict the ``time`` to an event; this column says whether it took place: "
        "true and false, 1 and 0, or words such as dead and alive. ``status=2`` names the value of "
        "a column that means the event.",
    )
    query: Annotated[
        ColumnName | None,
        Option(_DATA, "query must be the name of a column, got {value}.", "str", metavar="COLUMN"),
    ] = Field(
        default=None,
        description="Rank the rows of each query of this column; the target is their relevance, 0, "
        "1, 2 and so on. The rows of a query are on the same side of every split.",
    )
    test_size: Annotated[
        float,
        Field(gt=0, lt=1),
        Float,
        Option(
            _EVALUATION,
            "test_size must be a fraction of the rows between 0 and 1, such as 0.2, got {value}.",
            "float",
            metavar="SHARE",
            argument=float,
        ),
    ] = Field(default=0.2, description="Hold out this share of the rows for the test.")
    test: Annotated[
        Any, Option(_EVALUATION, "", "str, path or frame", metavar="FILE", may_be_path=True)
    ] = Field(
        default=None,
        description="Test on this table of the same columns; no row of the first is then held out.",
    )
    cost_matrix: Annotated[
        CostMatrix | None,
        Option(
            _EVALUATION,
            "The cost matrix {value} cannot be read; give for each true class the finite costs of "
            'predicted classes, as in {{"good": {{"bad": 1}}, "bad": {{"good": 5}}}}, or a row of '
            "costs for each true class in sorted order, as in [[0, 5], [1, 0]].",
            "mapping, array-like, pandas data frame or str",
            default="1 for errors, 0 for correct predictions",
            metavar="COSTS",
            may_be_path=True,
        ),
    ] = Field(
        default=None,
        description="Use these costs of predictions by true and predicted class, as in "
        '``{"bad": {"good": 5}}``, or with a row for each true class as in ``[[0, 5], [1, 0]]`` '
        "(classes in sorted order); a string is JSON, or the path of a JSON file.",
    )
    reject_cost: Annotated[
        Annotated[float, Field(ge=0, allow_inf_nan=False), Float] | None,
        Option(
            _EVALUATION,
            "reject_cost must be >= 0, got {value}.",
            "float",
            metavar="COST",
            argument=float,
        ),
    ] = Field(
        default=None,
        description="Leave rows undecided at this cost, if their expected cost is higher.",
    )
    score_by: Annotated[ColumnNames, Option(_EVALUATION, NO_NAMES, STRINGS, metavar="COLUMNS")] = (
        Field(
            default=(),
            description="Also report scores per group of these columns, separated by commas.",
        )
    )
    lang: Annotated[
        Literal["en", "es"],
        Option(_OUTPUT, "There is no language {value}; choose en or es.", metavar="LANG"),
    ] = Field(default="en", description="Write the report in this language: en, or es for Spanish.")
    time_budget: Annotated[
        Seconds | None,
        Option(
            _LIMITS,
            "The time budget {value} is not a time above 0; " + _DURATIONS,
            "str or float",
            default="no limit",
            metavar="TIME",
        ),
    ] = Field(
        default=None, description="Finish within this time, as in ``90``, ``15m`` or ``1h30m``."
    )
    fit_timeout: Annotated[
        Seconds | None,
        Option(
            _LIMITS,
            "The time limit of a fit {value} is not a time above 0; " + _DURATIONS,
            "str or float",
            default="no limit",
            metavar="TIME",
        ),
    ] = Field(
        default=None, description="Stop a single fit after this time, as in ``60s`` or ``10m``."
    )
    fit_memory: Annotated[
        Bytes | None,
        Option(
            _LIMITS,
            "The memory limit of a fit {value} is not a size above 0; " + _SIZES,
            "str or int",
            default="no limit",
            metavar="SIZE",
        ),
    ] = Field(default=None, description="Stop a single fit that takes more memory, as in ``2GB``.")
    max_table_size: Annotated[
        Bytes | None,
        Option(
            _LIMITS,
            "The limit of a table's size {value} is not a size above 0; " + _SIZES,
            "str or int",
            default="a quarter of the available memory",
            metavar="SIZE",
            affects_results=False,  # but by the sample, which is part of the study's identity
        ),
    ] = Field(
        default=None,
        description="Read at most this much of a table, uncompressed, as in ``2GB``; a study takes "
        "a sample of a larger one.",
    )
    random_state: Annotated[
        int,
        Field(ge=0, lt=2**32),
        Int,
        Option(
            _MODELS,
            f"random_state (--seed) must be an integer from 0 to {2**32 - 1}, got {{value}}.",
            "int",
            metavar="N",
            argument=int,
            flag="--seed",
        ),
    ] = Field(default=0, description="Draw the split, the folds and the models by this seed.")
    n_jobs: Annotated[
        Annotated[int, Field(ge=1), Int] | None,
        Option(
            _LIMITS,
            "n_jobs (--jobs) must be an integer >= 1, got {value}.",
            "int",
            default="one per core; 1 for small studies",
            metavar="N",
            argument=int,
            flag="--jobs",
            affects_results=False,
        ),
    ] = Field(default=None, description="Run this number of processes.")

    @model_validator(mode="before")
    @classmethod
    def _choose_cv(cls, options: Any) -> Any:
        """Let a column of groups or times set the default cross-validation."""
        if options.get("cv") is not None:
            return options
        columns = {
            "groups": options.get("groups") or options.get("query"),
            "time": None if options.get("event") is not None else options.get("time"),
        }
        named = (kind for kind, name in _DIVIDERS.items() if columns[name] is not None)
        kind = next(named, None)
        return options if kind is None else {**options, "cv": kind}

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        self._check_problem()
        if self.groups is not None and self.split_time is not None:
            raise OptionError(
                f"Rows cannot be split by groups ({self.groups!r}) and by time ({self.time!r}) at "
                "once; name one of the two."
            )
        by_group = "--groups" if self.query is None else "--query"
        self._check_divider("group", self.split_groups, by_group)
        self._check_divider("time", self.split_time, "--time")
        if self.metric == "cost" and self.cost_matrix is None:
            raise OptionError(
                "The metric 'cost' needs the costs of misclassification; give --cost-matrix, as in "
                '\'{"good": {"bad": 1}, "bad": {"good": 5}}\', or choose --metric accuracy.'
            )
        if self.cost_matrix is not None and self.task == "regression":
            raise OptionError("A cost matrix needs a classification; leave it out of a regression.")
        return self

    @property
    def split_groups(self) -> str | None:
        """The column whose groups of rows stay together: groups, or queries."""
        return self.groups if self.query is None else self.query

    @property
    def split_time(self) -> str | None:
        """The column of times by which rows are split."""
        return self.time if self.event is None else None

    def _check_problem(self) -> None:
        """Check the options of times to an event and of rankings against the others."""
        if self.event is None and self.query is None:
            return
        flag = "--event" if self.event is not None else "--query"
        if self.event is not None and self.query is not None:
            raise OptionError("A study predicts times or ranks; name --event or --query, not both.")
        if self.event is not None and self.time is None:
            raise OptionError(
                f"The event {self.event!r} needs the column of the times; name it by --time."
            )
        if self.event is not None and self.cv.kind == "time":
            raise OptionError(
                f"The time {self.time!r} is predicted, so rows cannot be split by it; choose "
                f"--cv {max(self.cv.folds, 2)}."
            )
        if self.query is not None and self.groups is not None:
            raise OptionError(
                f"Rows cannot be split by queries ({self.query!r}) and by groups ({self.groups!r}) "
                "at once; the rows of a query stay together without --groups."
            )
        unusable = {
            "--task": self.task,
            "--positive": self.positive,
            "--cost-matrix": self.cost_matrix,
            "--reject-cost": self.reject_cost,
        }
        for other, value in unusable.items():
            if value is not None:
                raise OptionError(f"{other} is of no use with {flag}; leave one of the two out.")

    def _check_divider(self, kind: str, column: str | None, flag: str) -> None:
        """Check that a column of groups or times is named if and only if the scheme needs it."""
        if column is not None and self.cv.kind != kind:
            raise OptionError(
                f"The cross-validation {self.cv.text!r} does not use the column {column!r} of "
                f"{flag}; choose --cv {kind}:{max(self.cv.folds, 2)}, or leave out {flag}."
            )
        if column is None and self.cv.kind == kind:
            raise OptionError(
                f"The cross-validation {self.cv.text!r} needs a column; name it by {flag}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the options on which results depend as plain values."""
        names = (name for name, option in OPTIONS.items() if option.option.affects_results)
        return {name: self.plain_value(name) for name in names}

    def plain_value(self, name: str) -> Any:
        """Return an option as JSON and TOML write it."""
        return self.test_name if name == "test" else _to_plain(getattr(self, name))

    @property
    def test_name(self) -> str | None:
        """The name of the separate test table, or None."""
        if self.test is None:
            return None
        return Path(self.test).name if isinstance(self.test, (str, Path)) else "table"


# The columns that split the rows, by the kind of scheme that needs them.
_DIVIDERS = {"group": "groups", "time": "time"}
OPTIONS = declared_options(Settings)


def _to_plain(value: Any) -> Any:
    """Convert schemes, strategies and conditions to their texts, and containers to JSON's."""
    if isinstance(value, Mapping):
        return {key: _to_plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return [_to_plain(entry) for entry in value]
    return getattr(value, "text", value)
