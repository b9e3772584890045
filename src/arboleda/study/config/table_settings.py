"""The options of a study that choose and prepare the rows and columns of its table."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from arboleda.study.config.declaration import GROUPS, Option
from arboleda.study.config.parsers import (
    ColumnNames,
    ColumnTypes,
    MergedValues,
    parse_conditions,
    to_label,
)

if TYPE_CHECKING:
    from arboleda.tables.recipe import Recipe, RowCondition
else:  # A heavy module; the parser returns nothing else.
    RowCondition = Any

__all__ = ["NO_NAMES", "STRINGS", "TableSettings"]

_DATA, _COLUMNS = GROUPS[:2]

STRINGS = "str or sequence of str"
NO_NAMES = "Names of columns must be separated by commas, got {value}."


class TableSettings(BaseModel):
    """The rows and columns to use, and their types."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        strict=True, frozen=True, extra="forbid", arbitrary_types_allowed=True
    )

    where: Annotated[
        tuple[RowCondition, ...],
        BeforeValidator(parse_conditions),
        Option(
            _DATA,
            "Conditions must be strings such as 'age >= 17', got {value}.",
            STRINGS,
            metavar="CONDITION",
            argument=list[str],
        ),
    ] = Field(
        default=(),
        description="Use only rows that satisfy this condition, as in "
        "``'age >= 17 and country in US, Canada'`` or ``'age is not missing'``; of several "
        "conditions, all must hold.",
    )
    drop_missing: Annotated[
        bool,
        Option(_DATA, "drop_missing must be true or false, got {value}.", "bool", argument=bool),
    ] = Field(default=False, description="Drop rows with any missing value.")
    drop_duplicates: Annotated[
        bool,
        Option(_DATA, "drop_duplicates must be true or false, got {value}.", "bool", argument=bool),
    ] = Field(default=False, description="Drop rows that repeat an earlier row in all columns.")
    drop_missing_target: Annotated[
        bool,
        Option(
            _DATA,
            "drop_missing_target must be true or false, got {value}.",
            "bool",
            argument=bool,
        ),
    ] = Field(default=False, description="Drop rows without a value of the target.")
    merge: Annotated[
        MergedValues,
        Option(
            _COLUMNS,
            "The merges {value} cannot be read; write them as in 'education: 11th, 12th -> "
            'dropout\', or as a mapping {{"education": {{"dropout": ["11th", "12th"]}}}}.',
            "mapping, str or sequence of str",
            metavar="MERGE",
            argument=list[str],
        ),
    ] = Field(
        default={},
        description="Merge several values into one, as in "
        "``'education: 11th, 12th -> dropout'``; also applied to new data.",
    )
    drop: Annotated[ColumnNames, Option(_COLUMNS, NO_NAMES, STRINGS, metavar="COLUMNS")] = Field(
        default=(),
        description="Exclude these columns, separated by commas; a pattern such as ``tmp_*`` "
        "excludes all that match.",
    )
    keep: Annotated[ColumnNames, Option(_COLUMNS, NO_NAMES, STRINGS, metavar="COLUMNS")] = Field(
        default=(),
        description="Use these columns (or patterns) even if they look like identifiers.",
    )
    types: Annotated[
        ColumnTypes,
        Option(
            _COLUMNS,
            "The types {value} cannot be read; write each as COLUMN=TYPE, as in zip=category, with "
            "a type of number, category, date, text, identifier or list.",
            "mapping, str or sequence of str",
            default="inferred from the values",
            metavar="COLUMN=TYPE",
            argument=list[str],
            flag="--type",
        ),
    ] = Field(
        default=(),
        description="Set the type of a column (or pattern), as in ``zip=category``: number, "
        "category, date, text, identifier or list.",
    )
    positive: Annotated[
        str | None,
        BeforeValidator(to_label),
        Option(
            _DATA,
            "The positive class {value} is not a label.",
            "str",
            default="the last in sorted order",
            metavar="LABEL",
        ),
    ] = Field(default=None, description="Take this one of two classes as the positive class.")

    @property
    def recipe(self) -> "Recipe":
        """The recipe that prepares the table before the split."""
        from arboleda.tables.recipe import Recipe

        return Recipe(self.drop_missing, self.drop_duplicates, self.where, self.merge, self.drop)
