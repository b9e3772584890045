"""Rules that the objects of a study's `.skops` files must satisfy, and their check.

`own` and the two files of scikit-learn list a rule for each attribute of each trusted class, built
from `attribute_rules`; `agreements` compares several attributes of an object;
`check` applies the rules to an object and to all objects that it refers to.
"""

from arboleda.persist.object_rules.check import (
    RANDOM_STATE,
    RULES,
    check_estimators,
    iterate_objects,
)
from arboleda.persist.object_rules.context import BrokenRuleError

__all__ = ["RANDOM_STATE", "RULES", "BrokenRuleError", "check_estimators", "iterate_objects"]
