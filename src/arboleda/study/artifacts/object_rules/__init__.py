"""What the objects of a study's `.skops` files must be: one table of rules, and their check."""

from arboleda.study.artifacts.object_rules.check import (
    RANDOM_STATE,
    RULES,
    check_estimators,
    iterate_objects,
)
from arboleda.study.artifacts.object_rules.kinds import BrokenRuleError

__all__ = ["RANDOM_STATE", "RULES", "BrokenRuleError", "check_estimators", "iterate_objects"]
