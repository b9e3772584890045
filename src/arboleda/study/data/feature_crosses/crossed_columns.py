"""The matrix as it is, and beside it columns made of others."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from arboleda.study.data.feature_crosses.candidate_search import choose_crosses, outputs_of
from arboleda.study.data.feature_crosses.feature_cross import FeatureCross
from arboleda.study.data.feature_crosses.generated_columns import Made, make

__all__ = ["CrossedColumns"]

Floats = npt.NDArray[np.float64]


class CrossedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add the few made columns that a cheap look at the rows finds worth it.

    They are sums, differences, products and ratios of two numbers; means and standard deviations of
    a number within a category's level, and how far a row is from that mean; the number of a level's
    rows; and the target's mean within a level, or a pair of levels. All is learned from the rows
    that it is fitted on, and means of the target are cross-fitted: `fit_transform` gives each row
    what other rows teach, so that a model may be fitted on it.

    What cannot be told is missing: a ratio with a zero denominator, anything made of a missing
    number. Rows of a level that was not learned from have the mean of all rows, and the count 0.

    Parameters
    ----------
    names : tuple of str
        Of the matrix's columns.
    categorical : tuple of int
        Columns that hold codes of categories, -1 where missing; all others hold numbers, NaN where
        missing.
    task : {"binary", "multiclass", "regression"}
    seed : int, default=0

    Attributes
    ----------
    made_ : list of NumberColumn or GroupColumn
        The most useful first.
    n_classes_ : int
        0 in a regression.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> x = draw.lognormal(0, 1, (600, 2))
    >>> y = np.log(x[:, 0] / x[:, 1])
    >>> found = CrossedColumns(("price", "size"), (), "regression").fit(x, y)
    >>> found.get_feature_names_out()[2]
    'size / price'
    """

    made_: list[Made]
    n_classes_: int
    n_features_in_: int

    def __init__(
        self, names: Sequence[str], categorical: Sequence[int], task: str, seed: int = 0
    ) -> None:
        self.names = names
        self.categorical = categorical
        self.task = task
        self.seed = seed

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Choose the columns, and learn what they need.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        y : ndarray of shape (n_rows,)
            Numbers of classes, or values.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Floats, y: npt.NDArray[Any]) -> Floats:
        """Fit, and give the same rows with the made columns; no row meets its own target."""
        return np.column_stack([X, *self._fit(X, y)])

    def transform(self, X: Floats) -> Floats:
        """The matrix, and the made columns after its own.

        Raises
        ------
        ValueError
            If it has another number of columns.
        """
        check_is_fitted(self, "made_")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the columns were made of {self.n_features_in_}"
            )
        return np.column_stack([X, *(made.values(X) for made in self.made_)])

    def _fit(self, X: Floats, y: npt.NDArray[Any]) -> list[Floats]:
        if X.shape[1] != len(self.names):
            raise ValueError(f"X has {X.shape[1]} columns, but {len(self.names)} are named")
        self.n_features_in_ = X.shape[1]
        few = 2 if self.task == "binary" else 0
        # A class after the last that is met has no rows to tell of it.
        self.n_classes_ = int(np.max(y)) + 1 if self.task == "multiclass" else few
        ideas = choose_crosses(X, y, self.categorical, self.n_classes_, self.seed)
        outputs = outputs_of(y, self.n_classes_)
        both = [make(idea, X, outputs, self.seed) for idea in ideas]
        self.made_ = [made for made, _ in both]
        return [values for _, values in both]

    @property
    def crosses_(self) -> list[FeatureCross]:
        """What the made columns are of."""
        return [made.idea for made in self.made_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of all columns, those of the made ones in words.

        Classes are told by their numbers: ``FeatureCross.name`` takes their labels.
        """
        check_is_fitted(self, "made_")
        names = list(self.names if input_features is None else input_features)
        labels = [str(k) for k in range(self.n_classes_)]
        made = [idea.name(names, labels) for idea in self.crosses_]
        return np.array([*names, *made], dtype=object)
