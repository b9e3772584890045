"""An entry of the catalogue, and the types of parameter ranges."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from sklearn.calibration import CalibratedClassifierCV

from arboleda.catalogue.preparation import Style
from arboleda.reports.fact_messages import write_message

__all__ = [
    "Choice",
    "Cost",
    "Engine",
    "Fidelity",
    "Grid",
    "IntegerRange",
    "Make",
    "Model",
    "Params",
    "Range",
    "RealRange",
    "Setting",
    "Size",
    "Space",
    "Task",
    "apply_approximation",
    "make_empty_grid",
    "make_estimator_pair",
    "make_product_grid",
    "make_seeded_options",
    "make_task_pair",
]


@dataclass(frozen=True)
class RealRange:
    """A number from ``low`` to ``high``; with ``log``, its logarithm is uniformly distributed."""

    low: float
    high: float
    log: bool = False

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high


@dataclass(frozen=True)
class IntegerRange:
    """An integer from ``low`` to ``high``, both included; ``log`` as in `RealRange`."""

    low: int
    high: int
    log: bool = False

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high


@dataclass(frozen=True)
class Choice:
    """One of some values without an order: numbers, strings, Booleans or None."""

    values: tuple[float | str | bool | None, ...]

    def __contains__(self, value: object) -> bool:
        return value in self.values


Range = RealRange | IntegerRange | Choice


# A candidate's parameter with this name is the style of its preparation, not one of the model's.
COLUMNS = "columns"
# Limit of rows times landmarks of an approximated kernel; a fit takes about 24 bytes for each.
MAX_MAPPED_CELLS = 60_000_000
# "binary": classification with two classes only.
Task = Literal["classification", "binary", "regression", "survival", "ranking"]
Engine = Literal["arboleda", "scikit-learn"]
Params = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """Sizes of a study's data and the seed: what models are built from.

    ``categorical`` and ``binary`` are the indices of such columns in the unprepared matrix, which
    models with style "none" take. ``min_fit_rows`` is the number of rows of the smallest fit, such
    as that of the first window of time; None means four fifths of the rows. With many rows, a
    support vector machine is exact only if a fit takes at most ``max_exact_seconds``. Classifiers
    without probabilities get them by calibration within each fit, on ``calibration_folds`` folds of
    its rows; 0: they keep their decision values. ``max_landmarks`` limits those of an approximated
    support vector machine.
    """

    n_rows: int
    n_classes: int
    seed: int
    categorical: tuple[int, ...] = ()
    binary: tuple[int, ...] = ()
    n_columns: int = 1
    min_fit_rows: int | None = None
    max_exact_seconds: float = math.inf
    calibration_folds: int = 0
    max_landmarks: int | None = None

    @property
    def max_neighbors(self) -> int:
        """The maximum number of neighbors that every fit supports; at most half of the rows."""
        half = self.n_rows // 2
        return max(1, half if self.min_fit_rows is None else min(half, self.min_fit_rows))


@dataclass(frozen=True)
class Size:
    """The size of one fit, and the number of rows that are predicted afterwards.

    ``columns`` are those of the prepared matrix, except that trees see a category as one column:
    the indicators of its levels are cheap for them. ``classes`` is 0 in a regression. ``points`` is
    the number of landmark rows by which a kernel is approximated; None if it is exact.
    """

    rows: int
    columns: int
    classes: int
    n_scored: int = 0
    points: int | None = None


Make = Callable[[Setting, Params], Any]
Grid = Callable[[Setting], list[dict[str, Any]]]
Space = Callable[[Setting], Mapping[str, Range]]
Fidelity = Callable[[Params, float], dict[str, Any]]
Cost = Callable[[Size, Params], float]


def _estimate_linear_cost(size: Size, params: Params) -> float:
    """Estimate the seconds of a fit that reads the table a few times."""
    return 5e-8 * size.rows * size.columns


@dataclass(frozen=True)
class Model:
    """An entry of the catalogue.

    ``make`` builds the estimator from the setting and one candidate's parameters; ``grid`` lists
    the candidates. With more than ``max_rows`` rows, the model is fitted on a random sample of that
    size. A model of the ``core`` is tried by every study, the others only if they are requested.

    Searches also use ``space``, the range of each parameter, from which candidates are sampled;
    ``fidelity``, which returns a candidate with a fraction (above 0, up to 1) of its rounds or
    trees, for fits at low fidelity; and ``cost``, the estimated seconds of a fit on one core. Once
    fits of the model have been timed, only ratios of costs matter.

    ``approximation`` returns the number of landmark rows by which the model's kernel is
    approximated in a setting; None if it is exact, or if the model has no kernel. The name of an
    approximated model says so, see `apply_approximation`.

    A ``baseline`` ignores the columns whatever its engine.

    A classifier that ``lacks_probabilities`` only has decision values.

    A model that is a ``bag`` is not refitted for the test: it is the mean of the models that were
    fitted in the folds.
    """

    key: str
    name: str
    task: Task
    make: Make
    grid: Grid
    style: Style = "scaled"
    engine: Engine = "scikit-learn"
    max_rows: int | None = None
    note: Callable[[Setting], str | None] = lambda setting: None
    core: bool = True
    space: Space | None = None
    fidelity: Fidelity | None = None
    cost: Cost = _estimate_linear_cost
    approximation: Callable[[Setting], int | None] = lambda setting: None
    bag: bool = False
    lacks_probabilities: bool = False
    baseline: bool = False

    @property
    def learns(self) -> bool:
        """Whether the model uses the columns; a baseline does not."""
        return not self.baseline and (self.style != "none" or self.engine == "arboleda")

    def get_style(self, params: Params) -> Style:
        """Return the style of preparation of a candidate, which may differ from the model's."""
        style: Style = params.get(COLUMNS, self.style)
        return style

    def build(self, setting: Setting, params: Params) -> Any:
        """Build the unfitted estimator of a candidate."""
        estimator = self.make(setting, {k: v for k, v in params.items() if k != COLUMNS})
        if not self.is_calibrated(setting):
            return estimator
        folds = setting.calibration_folds
        return CalibratedClassifierCV(estimator, method="sigmoid", cv=folds, ensemble=False)

    def is_calibrated(self, setting: Setting) -> bool:
        """Return whether each fit calibrates the decision values (Platt 1999)."""
        return self.lacks_probabilities and setting.calibration_folds > 1

    def estimate_seconds(self, setting: Setting, size: Size, params: Params) -> float:
        """Estimate the seconds of a fit on one core, by the catalogue."""
        seconds, folds = self.cost(size, params), setting.calibration_folds
        if not self.is_calibrated(setting):
            return seconds
        part = replace(size, rows=size.rows * (folds - 1) // folds, n_scored=size.rows // folds)
        return seconds + folds * self.cost(part, params)


def apply_approximation(model: Model, setting: Setting) -> Model:
    """Return a model with the name and the row limit that it has if it is approximated.

    The limit bounds the memory of the matrix of rows and landmarks.
    """
    points = model.approximation(setting)
    if points is None:
        return model
    max_rows = MAX_MAPPED_CELLS // points
    return replace(
        model,
        name=write_message("approximated", what=model.name, points=points),
        max_rows=max_rows if model.max_rows is None else min(max_rows, model.max_rows),
    )


def make_task_pair(
    key: str,
    name: str,
    classifier: Make,
    classes: Grid,
    regressor: Make,
    values: Grid,
    **options: Any,
) -> tuple[Model, Model]:
    """Make a model's entries for both tasks, each with its grid; ``options`` apply to both."""
    return (
        Model(key, name, "classification", classifier, classes, **options),
        Model(key, name, "regression", regressor, values, **options),
    )


def make_estimator_pair(
    key: str,
    name: str,
    estimators: tuple[Any, Any],
    make_options: Callable[[Setting, Params], dict[str, Any]],
    grid: Grid,
    **options: Any,
) -> tuple[Model, Model]:
    """Make the entries of a classifier and a regressor with the same parameters and grid."""
    classifier, regressor = estimators
    return make_task_pair(
        key,
        name,
        lambda setting, params: classifier(**make_options(setting, params)),
        grid,
        lambda setting, params: regressor(**make_options(setting, params)),
        grid,
        **options,
    )


def make_seeded_options(setting: Setting, params: Params) -> dict[str, Any]:
    """Add the seed and one thread to the parameters of a candidate."""
    return {"random_state": setting.seed, "n_jobs": 1, **params}


def make_product_grid(**values: Sequence[Any]) -> Grid:
    """Make the grid of all combinations of values; those of the last parameter vary fastest."""
    candidates = [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]
    return lambda setting: [dict(candidate) for candidate in candidates]


def make_empty_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of a model that has nothing to tune: one candidate."""
    return [{}]
