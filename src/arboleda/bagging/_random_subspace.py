"""What random subspaces of classifiers and of regressors share: columns drawn for every member."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, RealNotInt

from arboleda.bagging._draws import RowsToDraw
from arboleda.bagging._ensemble import Array, MemberEnsemble
from arboleda.bagging._plan import Plan, n_columns_of_member


class RandomSubspace(MemberEnsemble):
    """Columns drawn for every member, from all rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "bootstrap_features": ["boolean"],
        "random_n_features": ["boolean"],
    }

    max_features: int | float
    bootstrap_features: bool
    random_n_features: bool

    def _plan(self, target: Array, rows: RowsToDraw) -> Plan:
        return Plan(
            n_features=self.n_features_in_,
            n_drawn=rows.n_able,
            n_columns=n_columns_of_member(self.max_features, self.n_features_in_),
            columns_with_replacement=self.bootstrap_features,
            random_n_columns=self.random_n_features,
        )
