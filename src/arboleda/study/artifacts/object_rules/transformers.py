"""The rule for the list of transformers that a column transformer holds."""

from dataclasses import dataclass
from typing import Any

from arboleda.study.artifacts.object_rules.kinds import (
    BrokenRuleError,
    Context,
    ListOf,
    Plain,
    Text,
    Whole,
)

__all__ = ["Transformers"]


@dataclass(frozen=True)
class Transformers:
    """Tuples of a name, a transformer and columns: those that are given, or those that are fitted.

    One that has no columns to transform is not fitted.
    """

    is_template: bool = False

    def check(self, value: Any, context: Context) -> None:
        """Check each of them."""
        if type(value) is not list:
            raise BrokenRuleError("is no list")
        for entry in value:
            if type(entry) is not tuple or len(entry) != 3 or type(entry[0]) is not str:
                raise BrokenRuleError("holds what is no transformer")
            _, transformer, columns = entry
            if self.is_template:
                Plain().check(columns, context)
            else:
                ListOf(Whole(0, below="n_features")).check(columns, context)
            if type(transformer) is str:
                Text("passthrough", "drop").check(transformer, context)
            else:
                is_fitted = context.is_fitted and not self.is_template and len(columns) > 0
                context.check_object(transformer, is_fitted)
