"""The checked settings of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from arboleda.study.config.schemes import Scheme
from arboleda.study.data.recipe import Condition, Merges, Recipe
from arboleda.study.search import SearchStrategy

__all__ = ["Costs", "Settings"]

# Misclassification costs: by the true label, then the predicted one; or rows of true and columns of
# predicted classes, in sorted order.
Costs = Mapping[str, Mapping[str, float]] | tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Settings:
    """The settings of a study beside its table and target, with their defaults.

    Attributes
    ----------
    task, metric : str or None
        None: inferred from the table.
    preset : {"quick", "thesis", "best"}
        Which models are tried, and how thoroughly each is tuned.
    models : tuple of str or None
        Names of models instead of the preset's.
    search : SearchStrategy or None
        The search strategy instead of the preset's.
    scheme : Scheme
        The cross-validation scheme.
    test_size : float
        Fraction of the rows that is held out for the test.
    test_table : str, path, frame or None
        A separate table for the test; then no row of the first table is held out.
    time_budget : float or None
        Seconds that the search may take.
    jobs : int or None
        Number of processes.
    seed : int
    cost_matrix : mapping, tuple of tuples or None
        Costs of predicted classes by true class, where an absent pair has the cost 1, a correct
        prediction 0; or a row of costs for each true class, in sorted order.
    reject_cost : float or None
        Cost of rejecting a row.
    groups : str or None
        The column of groups, whose rows are kept together.
    time : str or None
        The column that orders the rows.
    by : tuple of str
        Columns whose groups get separate test scores.
    where : tuple of Condition
        Conditions that rows must satisfy.
    drop_missing, drop_duplicates : bool
        Whether rows with a missing value, and rows that repeat an earlier one, are dropped.
    merge : mapping
        By column and new value, the old values merged into it.
    drop : tuple of str
        Columns that are dropped.
    lang : {"en", "es"}
        The report's language.
    member_time : float or None
        Seconds that a single fit may take.
    member_memory : int or None
        Bytes that a single fit may take.
    max_table_size : int or None
        Maximum decompressed bytes of a table; None: a fraction of the available memory.
    """

    task: str | None = None
    metric: str | None = None
    preset: Literal["quick", "thesis", "best"] = "quick"
    models: tuple[str, ...] | None = None
    search: SearchStrategy | None = None
    scheme: Scheme = field(default_factory=Scheme)
    test_size: float = 0.2
    test_table: Any = None
    time_budget: float | None = None
    jobs: int | None = None
    seed: int = 0
    cost_matrix: Costs | None = None
    reject_cost: float | None = None
    groups: str | None = None
    time: str | None = None
    by: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    drop_missing: bool = False
    drop_duplicates: bool = False
    merge: Merges = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    lang: Literal["en", "es"] = "en"
    member_time: float | None = None
    member_memory: int | None = None
    max_table_size: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, by the names of the parameters.

        The number of processes and the size limit of tables are omitted: no result depends on them.
        """
        return {
            "task": self.task,
            "metric": self.metric,
            "preset": self.preset,
            "models": None if self.models is None else list(self.models),
            "search": None if self.search is None else self.search.text,
            "cv": self.scheme.text,
            "test_size": self.test_size,
            "test": self.test_name,
            "time_budget": self.time_budget,
            "seed": self.seed,
            "cost_matrix": _plain(self.cost_matrix),
            "reject_cost": self.reject_cost,
            "groups": self.groups,
            "time": self.time,
            "by": list(self.by),
            "where": [condition.text for condition in self.where],
            "drop_missing": self.drop_missing,
            "drop_duplicates": self.drop_duplicates,
            "merge": {
                column: {new: list(old) for new, old in groups.items()}
                for column, groups in self.merge.items()
            },
            "drop": list(self.drop),
            "lang": self.lang,
            "member_time": self.member_time,
            "member_memory": self.member_memory,
        }

    @property
    def recipe(self) -> Recipe:
        """The recipe that prepares the table before the split."""
        return Recipe(self.drop_missing, self.drop_duplicates, self.where, self.merge, self.drop)

    @property
    def test_name(self) -> str | None:
        """The name of the separate test table, or None."""
        if self.test_table is None:
            return None
        given = isinstance(self.test_table, (str, Path))
        return Path(self.test_table).name if given else "table"


def _plain(costs: Costs | None) -> Any:
    """Convert costs to JSON values."""
    if isinstance(costs, tuple):
        return [list(row) for row in costs]
    return None if costs is None else {true: dict(row) for true, row in costs.items()}
