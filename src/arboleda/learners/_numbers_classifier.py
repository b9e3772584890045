"""Classifiers by Bayes' rule over columns of numbers, whatever the scale of these."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from arboleda._engine.table import check_table
from arboleda.learners._bayes_rule import BayesRuleClassifier, Floats, class_priors
from arboleda.learners._class_rows import ClassRows, dense_table, read_class_rows
from arboleda.learners._units import Units, complete_matrix


class NumbersClassifier(BayesRuleClassifier, metaclass=ABCMeta):
    """What they share: rows are read, and entered in units in which nothing overflows."""

    priors: Any
    _class_weight: Floats
    _units: Units

    def _enter_rows(
        self, X: Any, y: Any, sample_weight: Any, *, common: bool
    ) -> tuple[ClassRows, Floats]:
        """Check what `fit` is given and keep what all predictions need of it.

        Returns the rows, and their numbers in units of each column's own, or of one ``common`` to
        all.
        """
        rows = read_class_rows(self, X, y, sample_weight)
        self.classes_ = rows.classes
        self.class_prior_ = class_priors(self.priors, rows.class_weight, rows.classes)
        self._class_weight = rows.class_weight
        table = complete_matrix(self, rows.table, self.schema_)
        self._units = Units.of(table, common=common)
        return rows, self._units.enter(table)

    def _entered(self, X: Any) -> Floats:
        """Numbers of rows that are asked about, in the same units."""
        table = dense_table(self, check_table(self, X, reset=False))
        return self._units.enter(complete_matrix(self, table, self.schema_))
