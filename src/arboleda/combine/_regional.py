"""One model for each region of a partition of the feature space."""

from __future__ import annotations

import warnings
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
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from arboleda._base.members import checked_table
from arboleda._base.mixins import copy_input_tags, restore_on_failure
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._engine.shared_binning import take_rows
from arboleda.combine._members import predict_member
from arboleda.combine._target import check_squares, read_classes, read_values

__all__ = ["Partition", "RegionalClassifier", "RegionalRegressor"]

Indices = npt.NDArray[np.intp]


class Partition:
    """Regions 0, 1, ..., and one more for rows outside all regions seen in fitting.

    Parameters
    ----------
    estimator : estimator or None
        Cloned and fitted. Its ``apply`` (the leaves of a tree), or else its ``predict`` (the
        clusters of a clustering), returns the region of a row. None: k-means.
    n_regions : int
        Number of clusters of k-means.
    random_state : int, RandomState or None
        Seed of k-means.

    Raises
    ------
    ValueError
        If k-means is used and a column does not hold finite numbers.
    """

    def __init__(self, estimator: Any, n_regions: int, random_state: Any, X: Any, y: Any) -> None:
        self._is_k_means = estimator is None
        if estimator is None:
            self.estimator = _fit_k_means(n_regions, random_state, X)
        else:
            self.estimator = clone(estimator).fit(X, y)
        self._labels, self.training = np.unique(self._predict_regions(X), return_inverse=True)

    @property
    def n_regions(self) -> int:
        """Number of regions that hold training rows."""
        return len(self._labels)

    def regions_of(self, X: Any) -> Indices:
        """Return the region of each row; ``n_regions`` for a row outside all regions."""
        labels = self._predict_regions(X)
        places = np.searchsorted(self._labels, labels).clip(max=self.n_regions - 1)
        return np.where(self._labels[places] == labels, places, self.n_regions)

    def _predict_regions(self, X: Any) -> npt.NDArray[Any]:
        assign = getattr(self.estimator, "apply", None) or self.estimator.predict
        labels = np.asarray(assign(_as_numeric_table(X) if self._is_k_means else X))
        if labels.ndim != 1:
            raise ValueError(
                f"partition={self.estimator!r} returns labels of shape {labels.shape}: it must "
                "return one region for each row, as a clustering or a single tree does"
            )
        return labels


def _fit_k_means(n_regions: int, random_state: Any, X: Any) -> KMeans:
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    clusters = KMeans(min(n_regions, _num_samples(X)), n_init=10, random_state=seed)
    try:
        with warnings.catch_warnings():  # raised if there are fewer distinct rows than clusters
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clusters.fit(_as_numeric_table(X))
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"k-means needs columns of finite numbers: {reason}. Preprocess the columns, for "
            "example with scikit-learn's make_pipeline(preprocessing, model), or set another "
            "partition"
        ) from error


def _as_numeric_table(X: Any) -> Any:
    """Return a table as float64, because k-means must predict the type that it was fitted on."""
    return check_array(X, accept_sparse="csr", dtype=np.float64)


Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Regional(NamesOtherParameters, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of regional models: a partition, and a model fitted to the rows of each region."""

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
        """Check the target and return it as the models learn it."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Self:
        """Partition the space, and fit a model to the rows of each region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            In a form that the partition and the estimator accept.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X or y is invalid. The estimator stays unchanged.
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
            row_sets = [np.flatnonzero(region == k) for k in range(self._regions.n_regions)]
            self.estimators_ = Parallel(n_jobs=self.n_jobs)(
                delayed(self._fit_region)(take_rows(table, rows), target[rows])
                for rows in [*row_sets, np.arange(len(region))]
            )
        return self

    def _fit_region(self, X: Any, target: Array) -> Any:
        return clone(self.estimator).fit(X, target)

    def _predict_by_region(self, X: Any, classes: Array | None) -> Floats:
        """Predict each row by the model of its region."""
        check_is_fitted(self)
        table = checked_table(self, X, reset=False)
        region = self._regions.regions_of(table)
        width = () if classes is None else (len(classes),)
        result = np.empty((len(region), *width))
        for number in np.unique(region):
            rows = np.flatnonzero(region == number)
            X_region = table if len(rows) == len(region) else take_rows(table, rows)
            member = (f"region {number}", self.estimators_[number])
            result[rows] = predict_member(member, X_region, classes, votes=False)
        return result

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.estimator)
        tags.input_tags.allow_nan &= self.partition is not None
        return tags


class RegionalClassifier(ClassifierMixin, Regional):  # type: ignore[misc]
    """One classifier for each region of the feature space.

    The space is divided by k-means or by another partition, and a clone of the estimator is fitted
    to the rows of each region. Several simple models can together fit a decision boundary that none
    of them could fit alone. Each model sees fewer rows, so use few regions.
    `StaticSelectionClassifier` selects among several models in each region.

    Parameters
    ----------
    estimator : estimator
        The model, which is cloned and fitted to each region.
    partition : estimator, default=None
        An estimator whose ``apply`` (such as a decision tree's), or else ``predict`` (such as a
        clustering's), returns the region of a row; it is cloned and fitted to X and y. None:
        k-means.
    n_regions : int, default=8
        Number of clusters of k-means.
    random_state : int, RandomState or None, default=None
        Seed of k-means.
    n_jobs : int, default=None
        Number of regions fitted in parallel, by joblib. The result does not depend on it.

    Attributes
    ----------
    estimators_ : list of estimators
        The model of each region, followed by a model of all rows, for new rows outside all regions
        seen in fitting. They are fitted on class numbers. A region with a single class has a
        ``ConstantClass``.
    partition_ : estimator
        The fitted partition.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.

    Notes
    -----
    The distances of k-means are Euclidean over the unscaled columns: scale them first, in a
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

    def _fit_region(self, X: Any, target: Array) -> Any:
        if len(np.unique(target)) == 1 < len(self.classes_):
            return ConstantClass().fit(X, target)
        return super()._fit_region(X, target)

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by the model of each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            0 for a class that the region does not have; 1 for the predicted class if the model has
            no probabilities.
        """
        check_is_fitted(self)
        return self._predict_by_region(X, np.arange(len(self.classes_)))

    def predict(self, X: Any) -> Array:
        """Predict the most probable class by the model of each row's region.

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
    """One regressor for each region of the feature space.

    See `RegionalClassifier`. With a decision tree as the partition and a linear model as the
    estimator, it is a model tree with independently fitted leaves.

    Parameters
    ----------
    estimator, partition, n_regions, random_state, n_jobs
        As in `RegionalClassifier`.

    Attributes
    ----------
    estimators_ : list of estimators
        The model of each region, followed by a model of all rows.
    partition_ : estimator
        The fitted partition.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.

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
        """Predict values by the model of each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._predict_by_region(X, None)


class ConstantClass(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for regions with a single class, which most classifiers cannot learn from."""

    def fit(self, X: Any, y: Array) -> Self:
        """Store the class."""
        del X
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Array:
        """Return the class for every row."""
        return np.full(X.shape[0], self.classes_[0])

    def predict_proba(self, X: Any) -> Floats:
        """Return 1 for every row."""
        return np.ones((X.shape[0], 1))
