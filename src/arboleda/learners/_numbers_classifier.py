"""Base class of Bayes classifiers for numeric columns of any scale."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from arboleda._engine.table import check_table
from arboleda.learners._bayes_rule import BayesRuleClassifier, Floats, compute_class_priors
from arboleda.learners._class_rows import ClassRows, dense_table, read_class_rows
from arboleda.learners._units import Units, complete_matrix


class NumbersClassifier(BayesRuleClassifier, metaclass=ABCMeta):
    """Base class that checks rows and rescales them to units in which nothing overflows."""

    priors: Any
    _class_weight: Floats
    _units: Units

    def _enter_rows(
        self, X: Any, y: Any, sample_weight: Any, *, common: bool
    ) -> tuple[ClassRows, Floats]:
        """Check the arguments of `fit` and set the attributes that predictions need.

        Returns the rows, and their values in rescaled units of each column, or in a ``common`` unit
        of all columns.
        """
        rows = read_class_rows(self, X, y, sample_weight)
        self.classes_ = rows.classes
        self.class_prior_ = compute_class_priors(self.priors, rows.class_weight, rows.classes)
        self._class_weight = rows.class_weight
        table = complete_matrix(self, rows.table, self.schema_)
        self._units = Units.of(table, common=common)
        return rows, self._units.enter(table)

    def _enter_new_rows(self, X: Any) -> Floats:
        """Check rows to predict, and return their values in the same units."""
        table = dense_table(self, check_table(self, X, reset=False))
        return self._units.enter(complete_matrix(self, table, self.schema_))
