"""Original boosting: Schapire (1990), "The strength of weak learnability", Machine Learning 5."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.members import checked_table, rows_of
from arboleda._base.mixins import copy_input_tags, restore_on_failure
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.targets import encode_classes
from arboleda._engine.target import read_target
from arboleda.adaboost._rounds import check_member_kind
from arboleda.bagging import set_random_states
from arboleda.tree import DecisionTreeClassifier

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class _Majority:
    """Majority vote of three hypotheses, each a member or a majority; the third may be missing."""

    parts: tuple[Any, ...]

    def predict(self, X: Any) -> Array:
        predictions: list[Array] = [part.predict(X) for part in self.parts]
        if len(predictions) == 2:
            return predictions[0]
        # If the first two agree, they are the majority; else the third decides.
        return np.where(predictions[0] == predictions[1], predictions[0], predictions[2])

    def members(self) -> list[Any]:
        """Return all members in the order in which they were fitted."""
        return [
            member
            for part in self.parts
            for member in (part.members() if isinstance(part, _Majority) else [part])
        ]


class SchapireBoostingClassifier(
    NamesOtherParameters,
    ClassifierMixin,  # type: ignore[misc]
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Boosting by three hypotheses and a majority vote, recursively: Schapire (1990).

    For two classes. The first member is fitted on randomly drawn rows, the second on rows half of
    which the first misclassifies, and the third on rows for which the first two differ. If each
    has an error of at most e on its rows, the majority has an error of at most
    ``g(e) = 3 e^2 - 2 e^3``. With ``depth=2`` each of the three is such a majority itself, and so
    on.

    The theorem assumes an unlimited source of rows. Here rows are drawn without replacement from
    the training data, so the method needs many rows. `AdaBoostClassifier` needs fewer.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier that the members are clones of; None: a `DecisionTreeClassifier` of depth 1.
    depth : int, default=1
        Levels of majorities: there are at most 3^depth members.
    random_state : int, RandomState or None, default=None
        Seed of the drawn rows and of the members.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels, sorted.
    n_classes_ : int
        Number of classes.
    estimator_ : estimator
        Classifier that the members are clones of.
    estimators_ : list of estimators
        Fitted members in the order of the recursion.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if all of them are strings.

    Notes
    -----
    A level draws a third of its rows for the first hypothesis. The second gets at most as many of
    the other rows, half of which the first misclassifies. The third gets all remaining rows for
    which the two differ. A hypothesis is not evaluated on its training rows. If the first
    misclassifies no other row, it is returned; if the first two differ on no remaining row, there
    is no third.

    References
    ----------
    R. Schapire (1990), "The strength of weak learnability", Machine Learning 5.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import SchapireBoostingClassifier
    >>> X = np.random.default_rng(0).uniform(size=(3000, 2))
    >>> y = X.sum(axis=1) > 1
    >>> scores = [
    ...     SchapireBoostingClassifier(depth=depth, random_state=0).fit(X, y).score(X, y)
    ...     for depth in (1, 3)
    ... ]
    >>> bool(0.75 < scores[0] < scores[1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "depth": [Interval(Integral, 1, 12, closed="both")],
        "random_state": ["random_state"],
    }

    classes_: Array
    estimator_: Any
    _hypothesis: Any

    def __init__(
        self,
        estimator: Any = None,
        *,
        depth: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.depth = depth
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the majority votes recursively.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Any table that the members accept; data frames are passed on as data frames.
        y : array-like of shape (n_samples,)
            At most two classes, without missing values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, there are more than two classes, the lengths differ, or
            fitting a member fails. The estimator stays unchanged.
        """
        self._validate_params()
        with restore_on_failure(self):
            self.classes_, target = encode_classes(read_target(y, numeric=False), self)
            if len(self.classes_) > 2:
                raise ValueError(
                    "Only binary classification is supported by SchapireBoostingClassifier, but y "
                    f"has {len(self.classes_)} classes: use AdaBoostClassifier."
                )
            X = checked_table(self, X, reset=True)
            check_consistent_length(X, target)
            self.estimator_ = self._resolve_estimator()
            random = check_random_state(self.random_state)
            rows = random.permutation(len(target))
            learner = _HypothesisFitter(self.estimator_, X, self.classes_[target], random)
            self._hypothesis = learner.fit_hypothesis(rows, self.depth)
        return self

    @staticmethod
    def error_bound(error: float) -> float:
        """Compute the bound of the error of a majority of three with errors of at most ``error``.

        Parameters
        ----------
        error : float
            Largest error of the three hypotheses, below 1/2.

        Returns
        -------
        bound : float
            g(e) = 3 e^2 - 2 e^3.

        Examples
        --------
        >>> from arboleda import SchapireBoostingClassifier
        >>> round(SchapireBoostingClassifier.error_bound(0.3), 3)
        0.216
        """
        return 3.0 * error**2 - 2.0 * error**3

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def estimators_(self) -> list[Any]:
        """Fitted members."""
        fitted = self._hypothesis
        return fitted.members() if isinstance(fitted, _Majority) else [fitted]

    def predict(self, X: Any) -> Array:
        """Predict the class of the majority vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        labels: Array = self._hypothesis.predict(checked_table(self, X, reset=False))
        return labels

    def _resolve_estimator(self) -> Any:
        if self.estimator is None:
            return DecisionTreeClassifier(max_depth=1)
        return check_member_kind(self.estimator, "classifier", "a classifier")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_hypothesis")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(
            tags, DecisionTreeClassifier() if self.estimator is None else self.estimator
        )
        tags.classifier_tags.multi_class = False
        return tags


@dataclass(frozen=True)
class _HypothesisFitter:
    """Recursive fitter of hypotheses on subsets of the rows."""

    template: Any
    X: Any
    y: Array
    random: np.random.RandomState

    def fit_hypothesis(self, rows: Indices, depth: int) -> Any:
        """Fit a hypothesis on rows, which are in random order."""
        if depth == 0:
            member = clone(self.template)
            set_random_states(member, self.random)
            try:
                return member.fit(rows_of(self.X, rows), self.y[rows])
            except ValueError as error:
                if len(np.unique(self.y[rows])) > 1 or len(np.unique(self.y)) == 1:
                    raise
                raise ValueError(
                    f"{type(member).__name__} failed on {len(rows)} rows of a single class "
                    f"({error}): use more rows, a smaller depth, or an estimator that accepts a "
                    "single class, such as a tree."
                ) from error
        if len(rows) < 3:
            return self.fit_hypothesis(rows, depth - 1)
        own = len(rows) // 3
        first = self.fit_hypothesis(rows[:own], depth - 1)
        others = rows[own:]
        half = self._draw_half_wrong(first, others, own)
        if not len(half):
            return first
        second = self.fit_hypothesis(half, depth - 1)
        left = np.setdiff1d(others, half, assume_unique=True)
        left = left[self._predict_rows(first, left) != self._predict_rows(second, left)]
        if not len(left):
            return _Majority((first, second))
        third = self.fit_hypothesis(self.random.permutation(left), depth - 1)
        return _Majority((first, second, third))

    def _draw_half_wrong(self, hypothesis: Any, rows: Indices, most: int) -> Indices:
        """Draw at most ``most`` rows, half of which the hypothesis misclassifies."""
        wrong = self._predict_rows(hypothesis, rows) != self.y[rows]
        n_each = min(np.count_nonzero(wrong), np.count_nonzero(~wrong), max(1, most // 2))
        both = np.concatenate([rows[wrong][:n_each], rows[~wrong][:n_each]])
        return self.random.permutation(both)

    def _predict_rows(self, hypothesis: Any, rows: Indices) -> Array:
        if not len(rows):
            return self.y[rows]
        predictions: Array = hypothesis.predict(rows_of(self.X, rows))
        return predictions
