"""A recipe: which rows, columns and values of a table a study uses."""

from dataclasses import dataclass, field

from arboleda.study.data.recipe.conditions import Condition
from arboleda.study.data.recipe.merges import Merges

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """The steps that prepare a study's table, in the order in which they are done.

    Attributes
    ----------
    drop_missing : bool
        Drop rows with a missing value in any column.
    drop_duplicates : bool
        Drop rows that repeat an earlier row in all columns.
    where : tuple of Condition
        Keep the rows that satisfy all of these.
    merge : mapping
        By column and new value, the values that become it.
    drop : tuple of str
        Drop these columns.
    """

    drop_missing: bool = False
    drop_duplicates: bool = False
    where: tuple[Condition, ...] = ()
    merge: Merges = field(default_factory=dict)
    drop: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the table stays as it is."""
        return self == Recipe()
