"""Static selection: the best of several models in each region of the feature space."""

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
from arboleda._utils.sparse import check_sparse
from arboleda.combine._combination import (
    ClassCombination,
    FitInputs,
    LearnedCombination,
    ValueCombination,
)
from arboleda.combine._members import Named
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._regional import Partition

__all__ = ["StaticSelectionClassifier", "StaticSelectionRegressor"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class StaticSelection(LearnedCombination):
    """Base class of static selection: regions, and the selected member of each region."""

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
    def _compute_quality(self, held_out: MemberOutputs, target: Array) -> Floats:
        """Score each member on each held-out row: (n_members, n_rows); greater is better."""

    def _learn(self, inputs: FitInputs) -> None:
        held_out = self._held_out(inputs)
        X, y = inputs.training.X, inputs.training.y
        self._regions = Partition(self.partition, self.n_regions, self.random_state, X, y)
        self.partition_ = self._regions.estimator
        quality = self._compute_quality(held_out, y[held_out.rows])
        weight = inputs.weight[held_out.rows]
        region = self._regions.training[held_out.rows]
        # The last row is for all rows; it applies to new rows outside all regions.
        n_regions = self._regions.n_regions
        competence = np.empty((n_regions + 1, len(quality)))
        competence[n_regions] = np.average(quality, axis=1, weights=weight)
        mass = np.bincount(region, weights=weight, minlength=n_regions)
        for member, values in enumerate(quality):
            sums = np.bincount(region, weights=weight * values, minlength=n_regions)
            # A region without held-out rows gets the member that is best overall.
            competence[:n_regions, member] = np.where(
                mass > 0, sums / np.where(mass > 0, mass, 1.0), competence[n_regions, member]
            )
        self.competence_ = competence
        self.chosen_ = competence.argmax(axis=1)

    def _predict_selected(self, X: Any) -> Floats:
        """Predict each row by the selected member of its region."""
        check_is_fitted(self)
        check_sparse(X)
        (X,) = indexable(X)
        member = self.chosen_[self._regions.regions_of(X)]
        result: Floats | None = None
        for number in np.unique(member):
            rows = np.flatnonzero(member == number)
            X_member = X if len(rows) == len(member) else take_rows(X, rows)
            predicted = self._predict_members(X_member, [int(number)]).outputs[0]
            if result is None:
                result = np.empty((len(member), *predicted.shape[1:]))
            result[rows] = predicted
        assert result is not None  # the partition refuses a table without rows
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.partition is None:
            tags.input_tags.allow_nan = False  # k-means needs numbers, even if members accept NaN
        return tags


class StaticSelectionClassifier(StaticSelection, ClassCombination):
    """Static selection: each row is classified by the best classifier of its region.

    The feature space is divided once, by k-means or another partition, and the accuracy of the
    members in each region is estimated on held-out rows. A new row is classified by the most
    accurate member of its region, whereas `DynamicSelectionClassifier` uses the neighbours of each
    row. Dasarathy and Sheela (1979) use two regions: a linear classifier far from the boundary
    between the classes, and nearest neighbours near it.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. A `RegionalClassifier` can be used as a member with a
        separate model for each region.
    partition : estimator, default=None
        An estimator whose ``apply`` (such as a decision tree's), or else ``predict`` (such as a
        clustering's), returns the region of a row; it is cloned and fitted to X and y. Wrap a
        prefitted one in scikit-learn's ``FrozenEstimator``. None: k-means.
    n_regions : int, default=8
        Number of clusters of k-means.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5, stratified.
        "prefit": the members are already fitted; `fit` takes rows that they have not seen.
    random_state : int, RandomState or None, default=None
        Seed of k-means.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows. They are fitted on class numbers, except with
        ``cv="prefit"``.
    named_estimators_ : Bunch
    partition_ : estimator
        The fitted partition.
    competence_ : ndarray of shape (n_regions + 1, n_members)
        Held-out accuracy of each member in each region; the last row is for all rows, and applies
        to new rows outside all regions seen in fitting.
    chosen_ : ndarray of shape (n_regions + 1,)
        Index of the most accurate member of each region; ties go to the first.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

    Notes
    -----
    The distances of k-means are Euclidean over the unscaled columns: scale them first, in a
    pipeline. ``sample_weight`` is passed to the members, and weights their accuracies.

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

    def _compute_quality(self, held_out: MemberOutputs, target: Array) -> Floats:
        return np.asarray(held_out.choices() == target, dtype=np.float64)

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by the selected member of each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            1 for the predicted class if the member has no probabilities.
        """
        return self._predict_selected(X)

    def predict(self, X: Any) -> Array:
        """Predict the most probable class by the selected member of each row's region.

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
    """Static selection: each row is predicted by the best regressor of its region.

    The feature space is divided once, by k-means or another partition. A new row is predicted by
    the member with the least mean squared error on held-out rows of its region. See
    `StaticSelectionClassifier`.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. A `RegionalRegressor` can be used as a member with a
        separate model for each region.
    partition, n_regions, random_state, n_jobs
        As in `StaticSelectionClassifier`.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5. "prefit": the
        members are already fitted; `fit` takes rows that they have not seen.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    partition_ : estimator
        The fitted partition.
    competence_ : ndarray of shape (n_regions + 1, n_members)
        Negative held-out mean squared error of each member in each region; the last row is for all
        rows.
    chosen_ : ndarray of shape (n_regions + 1,)
        Index of the selected member of each region.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

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

    def _compute_quality(self, held_out: MemberOutputs, target: Array) -> Floats:
        quality: Floats = -((held_out.outputs - target) ** 2)
        return quality

    def predict(self, X: Any) -> Floats:
        """Predict values by the selected member of each row's region.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._predict_selected(X)
