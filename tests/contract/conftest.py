"""What the tests of the input contract share."""

from typing import Any

import pytest
from sklearn.base import BaseEstimator

from arboleda._engine.table import DenseTable, check_table


class Reader(BaseEstimator):  # type: ignore[misc]
    """An estimator that does nothing but read tables."""

    def fit(self, X: Any, categorical_features: Any = "from_dtype") -> DenseTable:
        """Read the table of a fit."""
        return check_table(self, X, reset=True, categorical_features=categorical_features)

    def read(self, X: Any) -> DenseTable:
        """Read the table of a prediction."""
        return check_table(self, X, reset=False)


@pytest.fixture
def reader() -> Reader:
    """Return a fresh estimator that only reads."""
    return Reader()
