"""One model for each disjoint part of the space."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
)
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._engine.shared_binning import take_rows
from arboleda.bagging._tables import checked_table
from arboleda.combine._members import answer_of
from arboleda.combine._partition import Partition
from arboleda.combine._target import check_squares, read_classes, read_values
from arboleda.tree._restore_on_failure import restore_on_failure

__all__ = ["RegionalClassifier", "RegionalRegressor"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Regional(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Regions, and a model fitted to the rows of each."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "partition": [None, HasMethods(["fit", "predict"]), HasMethods(["fit", "apply"])],
        "n_regions": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    estimator: Any
    partition: Any
    n_regions: int
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    estimators_: list[Any]
    partition_: Any
    _regions: Partition

    def __init__(
        self,
        estimator: Any,
        *,
        partition: Any = None,
        n_regions: int = 8,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.partition = partition
        self.n_regions = n_regions
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _read_target(self, y: Any) -> Array:
        """Return what the models learn; remember what predictions need of it."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Self:
        """Divide the space, and fit a model to the rows of each region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            What the partition and the estimator can learn from.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X or y cannot be used. The estimator stays as it was.
        """
        with restore_on_failure(self):
            self._validate_params()
            check_consistent_length(X, y)
            target = self._read_target(y)
            table = checked_table(self, X, reset=True)
            self._regions = Partition(
                self.partition, self.n_regions, self.random_state, table, target
            )
            self.partition_ = self._regions.estimator
            region = self._regions.training
            parts = [np.flatnonzero(region == k) for k in range(self._regions.n_regions)]
            self.estimators_ = Parallel(n_jobs=self.n_jobs)(
                delayed(self._fitted)(take_rows(table, rows), target[rows])
                for rows in [*parts, np.arange(len(region))]
            )
        return self

    def _fitted(self, X: Any, target: Array) -> Any:
        return clone(self.estimator).fit(X, target)

    def _answers(self, X: Any, classes: Array | None) -> Floats:
        """What the model of its region says of each row."""
        check_is_fitted(self)
        table = checked_table(self, X, reset=False)
        region = self._regions.regions_of(table)
        width = () if classes is None else (len(classes),)
        result = np.empty((len(region), *width))
        for number in np.unique(region):
            rows = np.flatnonzero(region == number)
            part = table if len(rows) == len(region) else take_rows(table, rows)
            member = (f"region {number}", self.estimators_[number])
            result[rows] = answer_of(member, part, classes, votes=False)
        return result

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = of_estimator.sparse
        tags.input_tags.allow_nan = of_estimator.allow_nan and self.partition is not None
        return tags


class RegionalClassifier(ClassifierMixin, Regional):  # type: ignore[misc]
    """One classifier for each disjoint part of the space.

    The space is divided by k-means or by a partition of your own, and a clone of the estimator is
    fitted to the rows of each part. Simple models together follow a border that none of them could
    follow alone. Each sees fewer rows, so keep the parts few; `StaticSelectionClassifier` chooses
    among several models in each part.

    Parameters
    ----------
    estimator : estimator
        What is fitted to each region.
    partition : estimator, default=None
        Its ``apply``, as that of a decision tree, or else its ``predict``, as that of a clustering,
        says in which region a row lies; it is cloned and fitted to X and y. None: k-means.
    n_regions : int, default=8
        Clusters of k-means.
    random_state : int, RandomState or None, default=None
        Seed of k-means.
    n_jobs : int, default=None
        Regions that are fitted at the same time, by joblib. The result does not depend on it.

    Attributes
    ----------
    estimators_ : list of estimators
        The model of each region, and last one of all rows, for new rows that lie in no region seen
        in fitting. They know the classes by their numbers. In a region of one class there is no
        model but a ``ConstantClass``.
    partition_ : estimator
        The fitted partition.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.

    Notes
    -----
    Distances of k-means are Euclidean over the columns as they are: scale them first, in a
    pipeline.

    References
    ----------
    L. I. Kuncheva (2014), "Combining Pattern Classifiers", second edition, section 7.1 (divide and
    conquer; selection of classifiers).

    Examples
    --------
    >>> from arboleda import RegionalClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> line = LogisticRegression().fit(X[:300], y[:300])
    >>> lines = RegionalClassifier(LogisticRegression(), random_state=0).fit(X[:300], y[:300])
    >>> bool(lines.score(X[300:], y[300:]) > line.score(X[300:], y[300:]))
    True
    """

    classes_: Array

    def _read_target(self, y: Any) -> Array:
        self.classes_, numbers = read_classes(y)
        return numbers

    def _fitted(self, X: Any, target: Array) -> Any:
        if len(np.unique(target)) == 1 < len(self.classes_):
            return ConstantClass().fit(X, target)
        return super()._fitted(X, target)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities by the model of each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            0 for a class that the region does not hold; 1 for the class that the model predicts,
            where it has no probabilities.
        """
        check_is_fitted(self)
        return self._answers(X, np.arange(len(self.classes_)))

    def predict(self, X: Any) -> Array:
        """Most probable class by the model of each row's region, the first of equals.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


class RegionalRegressor(RegressorMixin, Regional):  # type: ignore[misc]
    """One regressor for each disjoint part of the space.

    See `RegionalClassifier`. With a decision tree as the partition and a linear model as the
    estimator it is a model tree of independent pieces.

    Parameters
    ----------
    estimator, partition, n_regions, random_state, n_jobs
        As in `RegionalClassifier`.

    Attributes
    ----------
    estimators_ : list of estimators
        The model of each region, and last one of all rows.
    partition_ : estimator
        The fitted partition.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.

    References
    ----------
    As for `RegionalClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import DecisionTreeRegressor, RegionalRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.linspace(-1, 1, 200)[:, np.newaxis]
    >>> y = np.abs(X[:, 0])
    >>> quarters = DecisionTreeRegressor(max_leaf_nodes=4)
    >>> lines = RegionalRegressor(LinearRegression(), partition=quarters).fit(X, y)
    >>> bool(lines.score(X, y) > LinearRegression().fit(X, y).score(X, y) + 0.5)
    True
    """

    def _read_target(self, y: Any) -> Array:
        values = read_values(y)
        check_squares(values, "y holds")
        return values

    def predict(self, X: Any) -> Floats:
        """Value predicted by the model of each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._answers(X, None)


class ConstantClass(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The only class of a region, which most classifiers cannot learn from."""

    def fit(self, X: Any, y: Array) -> Self:
        """Keep the class."""
        del X
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Array:
        """Return the class for every row."""
        return np.full(X.shape[0], self.classes_[0])

    def predict_proba(self, X: Any) -> Floats:
        """Return 1 for every row."""
        return np.ones((X.shape[0], 1))
