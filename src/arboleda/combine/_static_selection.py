"""Static selection: of several models, the best one in each disjoint region of the space."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import indexable
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.shared_binning import take_rows
from arboleda._sparse import check_sparse
from arboleda.combine._learned import (
    ClassCombination,
    Given,
    LearnedCombination,
    ValueCombination,
)
from arboleda.combine._members import Named
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._partition import Partition

__all__ = ["StaticSelectionClassifier", "StaticSelectionRegressor"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class StaticSelection(LearnedCombination):
    """What selection of classifiers and of regressors share: regions, and a member for each."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LearnedCombination._parameter_constraints,
        "partition": [None, HasMethods(["fit", "predict"]), HasMethods(["fit", "apply"])],
        "n_regions": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    partition: Any
    n_regions: int
    random_state: int | np.random.RandomState | None
    partition_: Any
    competence_: Floats
    chosen_: Indices
    _regions: Partition

    @abstractmethod
    def _quality(self, found: MemberOutputs, target: Array) -> Floats:
        """How well each member does on each judged row: (n_members, n_rows), greater is better."""

    def _learn(self, given: Given) -> None:
        found = self._held_out(given)
        X, y = given.training.X, given.training.y
        self._regions = Partition(self.partition, self.n_regions, self.random_state, X, y)
        self.partition_ = self._regions.estimator
        quality = self._quality(found, y[found.rows])
        weight = given.weight[found.rows]
        region = self._regions.training[found.rows]
        # The last line is that of all rows: of new rows that lie in no region.
        n_regions = self._regions.n_regions
        competence = np.empty((n_regions + 1, len(quality)))
        competence[n_regions] = np.average(quality, axis=1, weights=weight)
        mass = np.bincount(region, weights=weight, minlength=n_regions)
        for member, values in enumerate(quality):
            sums = np.bincount(region, weights=weight * values, minlength=n_regions)
            # A region without judged rows takes the member that is best overall.
            competence[:n_regions, member] = np.where(
                mass > 0, sums / np.where(mass > 0, mass, 1.0), competence[n_regions, member]
            )
        self.competence_ = competence
        self.chosen_ = competence.argmax(axis=1)

    def _selected(self, X: Any) -> Floats:
        """What the member chosen for its region says of each row."""
        check_is_fitted(self)
        check_sparse(X)
        (X,) = indexable(X)
        member = self.chosen_[self._regions.regions_of(X)]
        result: Floats | None = None
        for number in np.unique(member):
            rows = np.flatnonzero(member == number)
            part = X if len(rows) == len(member) else take_rows(X, rows)
            said = self._ask(part, [int(number)]).outputs[0]
            if result is None:
                result = np.empty((len(member), *said.shape[1:]))
            result[rows] = said
        assert result is not None  # the partition refuses a table without rows
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.partition is None:
            tags.input_tags.allow_nan = False  # k-means needs numbers, whatever the members take
        return tags


class StaticSelectionClassifier(StaticSelection, ClassCombination):
    """Static selection: in each disjoint region of the space, the classifier that is best there.

    The space is divided once, by k-means or by a partition of your own, and the members are judged
    in each region on rows that they have not seen. A new row is classified by the member that was
    right most often in its region: divide and conquer, where `DynamicSelectionClassifier` looks at
    the neighbours of each row anew. Dasarathy and Sheela (1979) divide in two: a linear classifier
    far from the border between the classes, nearest neighbours near it.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. A `RegionalClassifier` as a member is fitted to each
        part of the space by itself.
    partition : estimator, default=None
        Its ``apply``, as that of a decision tree, or else its ``predict``, as that of a clustering,
        says in which region a row lies; it is cloned and fitted to X and y. Put one that is fitted
        already into scikit-learn's ``FrozenEstimator``. None: k-means.
    n_regions : int, default=8
        Clusters of k-means.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the answers that members are judged by; None: 5, stratified. "prefit": the
        members are fitted, and `fit` is given rows that they have not seen.
    random_state : int, RandomState or None, default=None
        Seed of k-means.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows. They know the classes by their numbers, but with
        ``cv="prefit"``.
    named_estimators_ : Bunch
    partition_ : estimator
        The fitted partition.
    competence_ : ndarray of shape (n_regions + 1, n_members)
        Held-out accuracy of each member in each region; the last line is that of all rows, for new
        rows that lie in no region seen in fitting.
    chosen_ : ndarray of shape (n_regions + 1,)
        Number of the member chosen for each region: the most accurate, of equals the first.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    Notes
    -----
    Distances of k-means are Euclidean over the columns as they are: scale them first, in a
    pipeline. ``sample_weight`` reaches the members and weighs their accuracies.

    References
    ----------
    B. V. Dasarathy, B. V. Sheela (1979), "A composite classifier system design: concepts and
    methodology", Proceedings of the IEEE 67.
    L. I. Kuncheva (2000), "Clustering-and-selection model for classifier combination", KES 2000.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, StaticSelectionClassifier
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_moons(400, noise=0.25, random_state=0)
    >>> members = [
    ...     ("line", LogisticRegression()),
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ... ]
    >>> model = StaticSelectionClassifier(members, random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.85)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        partition: Any = None,
        n_regions: int = 8,
        cv: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.partition = partition
        self.n_regions = n_regions
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _quality(self, found: MemberOutputs, target: Array) -> Floats:
        return np.asarray(found.choices() == target, dtype=np.float64)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the member chosen for each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            1 for the class that the member predicts, where it has no probabilities.
        """
        return self._selected(X)

    def predict(self, X: Any) -> Array:
        """Most probable class by the member chosen for each row's region, the first of equals.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


class StaticSelectionRegressor(StaticSelection, ValueCombination):
    """Static selection: in each disjoint region of the space, the regressor that is best there.

    The space is divided once, by k-means or by a partition of your own; the value of a new row is
    predicted by the member with the least mean squared error in its region, on rows that the
    members have not seen. See `StaticSelectionClassifier`.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. A `RegionalRegressor` as a member is fitted to each part
        of the space by itself.
    partition, n_regions, random_state, n_jobs
        As in `StaticSelectionClassifier`.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the answers that members are judged by; None: 5. "prefit": the members are
        fitted, and `fit` is given rows that they have not seen.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    partition_ : estimator
        The fitted partition.
    competence_ : ndarray of shape (n_regions + 1, n_members)
        Held-out mean squared error, negative, of each member in each region; the last line is that
        of all rows.
    chosen_ : ndarray of shape (n_regions + 1,)
        Number of the member chosen for each region.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    References
    ----------
    As for `StaticSelectionClassifier`.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor, StaticSelectionRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import Ridge
    >>> X, y = make_friedman1(500, random_state=0)
    >>> members = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=5))]
    >>> model = StaticSelectionRegressor(members, random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.6)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        partition: Any = None,
        n_regions: int = 8,
        cv: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.partition = partition
        self.n_regions = n_regions
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _quality(self, found: MemberOutputs, target: Array) -> Floats:
        quality: Floats = -((found.outputs - target) ** 2)
        return quality

    def predict(self, X: Any) -> Floats:
        """Value predicted by the member chosen for each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._selected(X)
