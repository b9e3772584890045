"""The first boosting: Schapire (1990), "The strength of weak learnability", Machine Learning 5."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._engine.target import read_target
from arboleda.bagging._members import set_random_states
from arboleda.bagging._tables import checked_table, rows_of
from arboleda.tree import DecisionTreeClassifier
from arboleda.tree._class_target import numbered_classes
from arboleda.tree._restore_on_failure import restore_on_failure

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class _Majority:
    """Three hypotheses, each a member or a majority itself; the third may be missing."""

    parts: tuple[Any, ...]

    def predict(self, X: Any) -> Array:
        predictions: list[Array] = [part.predict(X) for part in self.parts]
        if len(predictions) == 2:
            return predictions[0]
        # Where the first two agree they are the majority; else the third decides.
        return np.where(predictions[0] == predictions[1], predictions[0], predictions[2])

    def members(self) -> list[Any]:
        """All members, in the order in which they were fitted."""
        return [
            member
            for part in self.parts
            for member in (part.members() if isinstance(part, _Majority) else [part])
        ]


class SchapireBoostingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Boosting by three hypotheses and a majority vote, recursively: Schapire (1990).

    Of two classes. The first member learns from rows drawn at random. The second learns from rows
    half of which the first gets wrong, so that the first is as good as a coin there. The third
    learns from rows on which the two differ. The majority of the three errs with probability at
    most ``g(e) = 3 e^2 - 2 e^3`` where each errs with at most e on its rows. With ``depth=2`` each
    of the three is such a majority itself, and so on.

    The theorem is about a source of rows that never ends; here rows are drawn without replacement
    from those that are given, so the method needs many. `AdaBoostClassifier` needs fewer.

    Parameters
    ----------
    estimator : estimator, default=None
        What the members are clones of; None: a `DecisionTreeClassifier` of depth 1.
    depth : int, default=1
        Levels of majorities: there are at most 3^depth members.
    random_state : int, RandomState or None, default=None
        Draws the rows, and seeds of the members.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels, sorted.
    n_classes_ : int
    estimator_ : estimator
        What the members are clones of.
    estimators_ : list of estimators
        The members, in the order of the recursion.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names that are text.

    Notes
    -----
    A level draws a third of its rows for the first hypothesis; the second gets as many of the
    others, half of which the first gets wrong, as there are; the third all others on which the two
    differ. Rows that a hypothesis has learned from do not judge it. If the first errs on none of
    the others it is the answer; if the two differ on no row that is left, there is no third.

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
        """Fit the members.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            What the members can learn from; frames stay frames.
        y : array-like of shape (n_samples,)
            At most two classes, without missing values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, there are more than two classes, the lengths differ, or
            a member refuses its rows. The estimator stays as it was.
        """
        self._validate_params()
        with restore_on_failure(self):
            self.classes_, target = numbered_classes(read_target(y, numeric=False), self)
            if len(self.classes_) > 2:
                raise ValueError(
                    "Only binary classification is supported by SchapireBoostingClassifier, but y "
                    f"has {len(self.classes_)} classes: AdaBoostClassifier is for several"
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
        """Bound of a majority's error where each of the three errs with at most ``error``.

        Parameters
        ----------
        error : float
            Below 1/2.

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
        """The members."""
        found = self._hypothesis
        return found.members() if isinstance(found, _Majority) else [found]

    def predict(self, X: Any) -> Array:
        """Class that the majority votes for.

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
        if hasattr(self.estimator, "__sklearn_tags__") and not is_classifier(self.estimator):
            raise ValueError(
                f"estimator is a {type(self.estimator).__name__}, which is no classifier: give one"
            )
        return self.estimator

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_hypothesis")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        member = get_tags(DecisionTreeClassifier() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = member.input_tags.sparse
        tags.input_tags.allow_nan = member.input_tags.allow_nan
        tags.classifier_tags.multi_class = False
        return tags


@dataclass(frozen=True)
class _HypothesisFitter:
    """The recursion: learns a hypothesis from some of the rows."""

    template: Any
    X: Any
    y: Array
    random: np.random.RandomState

    def fit_hypothesis(self, rows: Indices, depth: int) -> Any:
        """Learn from rows, which are in a random order."""
        if depth == 0:
            member = clone(self.template)
            set_random_states(member, self.random)
            try:
                return member.fit(rows_of(self.X, rows), self.y[rows])
            except ValueError as error:
                if len(np.unique(self.y[rows])) > 1 or len(np.unique(self.y)) == 1:
                    raise
                raise ValueError(
                    f"a member was to learn from {len(rows)} rows of one class alone, which "
                    f"{type(member).__name__} refuses ({error}): give more rows, a smaller depth, "
                    "or members that can learn one class, such as trees"
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
        """Rows, at most so many, half of which the hypothesis gets wrong, in a random order."""
        wrong = self._predict_rows(hypothesis, rows) != self.y[rows]
        n_each = min(np.count_nonzero(wrong), np.count_nonzero(~wrong), max(1, most // 2))
        both = np.concatenate([rows[wrong][:n_each], rows[~wrong][:n_each]])
        return self.random.permutation(both)

    def _predict_rows(self, hypothesis: Any, rows: Indices) -> Array:
        if not len(rows):
            return self.y[rows]
        found: Array = hypothesis.predict(rows_of(self.X, rows))
        return found
