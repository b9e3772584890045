"""Quick check that an estimator is fitted."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


def check_fitted(estimator: Any) -> None:
    """Check that an estimator is fitted, like scikit-learn's `check_is_fitted`.

    The columns of the table, which every fit sets, are enough; scikit-learn's check looks at all
    attributes and at the tags, which takes longer than predicting a row.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    """
    if "schema_" not in vars(estimator):
        check_is_fitted(estimator)
