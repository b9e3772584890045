"""An entry of the catalogue, and the types of its parameters' ranges."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from arboleda.reports.fact_messages import write_message
from arboleda.study.data.preparation import Style

__all__ = [
    "Choice",
    "Cost",
    "Engine",
    "Fidelity",
    "Grid",
    "Make",
    "Model",
    "Params",
    "Range",
    "Real",
    "Setting",
    "Size",
    "Space",
    "Task",
    "Whole",
    "both_tasks",
    "named_as_approximated",
    "no_parameters",
]


@dataclass(frozen=True)
class Real:
    """A number from ``low`` to ``high``; with ``log`` every factor is as likely as any other."""

    low: float
    high: float
    log: bool = False

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``, both included; ``log`` as in `Real`."""

    low: int
    high: int
    log: bool = False

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high


@dataclass(frozen=True)
class Choice:
    """One of some values, in no order; each is a number, a text, a truth value or None."""

    values: tuple[float | str | bool | None, ...]

    def __contains__(self, value: object) -> bool:
        return value in self.values


Range = Real | Whole | Choice


# A candidate's parameter of this name is the style of its preparation, and none of the model's.
COLUMNS = "columns"
# Of an approximated kernel: rows times points. A fit takes about 24 bytes for each.
MAPPED_CELLS = 60_000_000
# "binary": classification of two classes alone.
Task = Literal["classification", "binary", "regression"]
Engine = Literal["arboleda", "scikit-learn"]
Params = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """What a model may know of the study before it is built: sizes and the seed, no values.

    ``categorical`` and ``binary`` are the indices of such columns in the matrix as it is, which
    models of style "none" are given. ``fewest_rows`` is what the smallest fit learns from, as that
    of the first window of time; None: four fifths of the rows.
    """

    n_rows: int
    n_classes: int
    seed: int
    categorical: tuple[int, ...] = ()
    binary: tuple[int, ...] = ()
    n_columns: int = 1
    fewest_rows: int | None = None
    exact_s: float = math.inf

    @property
    def most_neighbours(self) -> int:
        """So many rows, half of them at most, every fit has."""
        half = self.n_rows // 2
        return max(1, half if self.fewest_rows is None else min(half, self.fewest_rows))


@dataclass(frozen=True)
class Size:
    """How much one fit learns from, and the rows it is asked about then.

    ``classes`` is 0 in a regression. ``points`` is the number of rows by which a kernel is
    approximated; None where it is exact.
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


def _linear_cost(size: Size, params: Params) -> float:
    """Of a method that goes over the table a few times."""
    return 5e-8 * size.rows * size.columns


@dataclass(frozen=True)
class Model:
    """An entry of the catalogue.

    ``make`` builds the estimator from the setting and one candidate's parameters, ``grid`` lists
    the candidates. Above ``max_rows`` rows the model learns from a random part of that size.
    A model of the ``core`` is tried by every study, the others where they are asked for.

    What a search may use besides: ``space``, the range of each parameter, where candidates are
    drawn; ``fidelity``, a candidate with a share (above 0, up to 1) of its rounds or trees, for a
    first look at it; and ``cost``, about how many seconds of one core a fit takes. Only ratios
    of costs matter once fits of the model were timed.

    ``approximation`` is the number of rows by which the kernel of a model is approximated in a
    setting; None: it is exact, or has no kernel. A model that is approximated is named so, see
    `named_as_approximated`.

    A model that is a ``bag`` is not fitted again for the test: the models that the folds fitted are
    kept, and it is their mean.
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
    cost: Cost = _linear_cost
    approximation: Callable[[Setting], int | None] = lambda setting: None
    bag: bool = False

    @property
    def learns(self) -> bool:
        """Whether it looks at the columns; a baseline does not."""
        return self.style != "none" or self.engine == "arboleda"

    def style_of(self, params: Params) -> Style:
        """How the columns are prepared for a candidate, who may ask for another style."""
        style: Style = params.get(COLUMNS, self.style)
        return style

    def build(self, setting: Setting, params: Params) -> Any:
        """The estimator of a candidate, unfitted."""
        return self.make(setting, {k: v for k, v in params.items() if k != COLUMNS})


def named_as_approximated(model: Model, setting: Setting) -> Model:
    """The model as a study shows it: one that is approximated says so and learns from fewer rows.

    What it learns from is then held by rows and points, each of which takes memory.
    """
    points = model.approximation(setting)
    if points is None:
        return model
    most = MAPPED_CELLS // points
    return replace(
        model,
        name=write_message("approximated", what=model.name, points=points),
        max_rows=most if model.max_rows is None else min(most, model.max_rows),
    )


def both_tasks(
    key: str,
    name: str,
    classifier: Make,
    classes: Grid,
    regressor: Make,
    values: Grid,
    **options: Any,
) -> tuple[Model, Model]:
    """The entries of a model for both tasks, each with its grid; ``options`` are those of both."""
    return (
        Model(key, name, "classification", classifier, classes, **options),
        Model(key, name, "regression", regressor, values, **options),
    )


def no_parameters(setting: Setting) -> list[dict[str, Any]]:
    """The grid of a model that has nothing to tune: one candidate."""
    return [{}]
