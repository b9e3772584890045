"""Ensemble selection: a mean of members chosen greedily from a library, some more than once."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from arboleda._errors import ModelFormatError
from arboleda.combine._greedy_selection import Selection, select_greedily
from arboleda.combine._judges import Scoring, judge_of
from arboleda.combine._learned import Given
from arboleda.combine._members import Named
from arboleda.combine._weighted_mean import (
    WeightedMean,
    WeightedMeanClassifier,
    WeightedMeanRegressor,
)
from arboleda.persist import Array as SavedArray
from arboleda.persist import Field
from arboleda.persist._fields import Sections
from arboleda.persist._values import decode, encode

__all__ = ["EnsembleSelectionClassifier", "EnsembleSelectionRegressor"]

Floats = npt.NDArray[np.float64]
# With fewer members there is little to choose from.
_SMALLEST_BAG = 3


class SelectionsPart:
    """What was chosen, and the scores, in the header of a model file."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return the lists."""
        return [
            [encode(list(map(int, s.chosen))), encode(list(map(float, s.scores)))] for s in value
        ]

    def decode(self, name: str, stored: Any, sections: Sections) -> list[Selection]:
        """Return the selections, checked."""
        found = []
        for pair in stored if isinstance(stored, list) else [None]:
            chosen, scores = decode(pair) if isinstance(pair, list) and len(pair) == 2 else ([], [])
            right = isinstance(chosen, list) and chosen and all(type(m) is int for m in chosen)
            if (
                not right
                or not isinstance(scores, list)
                or not all(type(s) is float for s in scores)
            ):
                raise ModelFormatError(f"{name} does not say what was chosen")
            found.append(Selection(chosen, scores))
        return found


class EnsembleSelection(WeightedMean):
    """What both kinds share: bags of the library, and a greedy choice from each."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **WeightedMean._fitted_attributes,
        "scores_": SavedArray(np.float64),
        "selections_": SelectionsPart(),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedMean._parameter_constraints,
        "scoring": [str, callable],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "n_initial": [None, Interval(Integral, 1, None, closed="left")],
        "n_bags": [Interval(Integral, 1, None, closed="left")],
        "bag_fraction": [Interval(Real, 0, 1, closed="right")],
        "random_state": ["random_state"],
    }

    scoring: Scoring
    n_rounds: int
    n_initial: int | None
    n_bags: int
    bag_fraction: float
    random_state: Any
    scores_: Floats
    selections_: list[Selection]

    def _defect(self) -> str | None:
        defect = super()._defect()
        if defect is not None:
            return defect
        n_members = len(self.estimators_)
        chosen = {member for each in self.selections_ for member in each.chosen}
        if not hasattr(self, "weights_") or self.scores_.shape != (n_members,):
            return "the scores are not one for each member, or there are no weights"
        return None if chosen <= set(range(n_members)) else "a member is chosen that is not there"

    def _learn(self, given: Given) -> None:
        found = self._held_out(given)
        target, weight = given.training.y[found.rows], given.weight[found.rows]
        judge = judge_of(self.scoring, found.outputs, target, weight, given.training.classes)
        n_members = len(found.names)
        self.scores_ = np.array([judge.score_with(member) for member in range(n_members)])
        self.selections_ = [
            select_greedily(judge, library, self.n_initial, self.n_rounds)
            for library in self._libraries(n_members)
        ]
        self.weights_ = np.mean([s.shares(n_members) for s in self.selections_], axis=0)

    def _libraries(self, n_members: int) -> list[list[int]]:
        """Members that each greedy choice is made from: one of all, or random parts."""
        size = min(n_members, max(_SMALLEST_BAG, round(self.bag_fraction * n_members)))
        if self.n_bags == 1 or size == n_members:
            return [list(range(n_members))]
        random = check_random_state(self.random_state)
        return [
            np.sort(random.choice(n_members, size, replace=False)).tolist()
            for _ in range(self.n_bags)
        ]


class EnsembleSelectionClassifier(EnsembleSelection, WeightedMeanClassifier):
    """Ensemble selection: a mean of classifiers chosen greedily from a library.

    From members fitted in whatever ways, the mean of their probabilities is built up: the best
    alone come first, then again and again the member with which the mean's out-of-fold score is
    best. Members may be chosen more than once, which makes weights of counts. A poor member is
    never chosen, so a library may be large and mixed.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The library of classifiers; "drop" leaves one out.
    scoring : str or callable, default="neg_log_loss"
        What is made greatest: a name that scikit-learn knows, or ``scorer(estimator, X, y)`` of
        probabilities or labels. The sums behind "neg_log_loss", "accuracy" and "neg_brier_score"
        are kept from round to round.
    n_rounds : int, default=50
        Members added one by one; the best of all rounds stays.
    n_initial : int, default=None
        How many of the best members come first. None: as many as have the best mean.
    n_bags : int, default=20
        How often the greedy choice is made, each time from another random part of the library; the
        weights are means over them, so that less is learned by heart. 1: once, from all of it.
    bag_fraction : float, default=0.5
        Share of the library in each part, which has at least three members; without meaning if
        ``n_bags=1``.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the answers that members are judged by; None: 5, stratified. "prefit": the
        members are fitted, and `fit` is given rows that they have not seen.
    random_state : int, RandomState or None, default=None
        Seed of the parts of the library.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Weight of each member that is not dropped; their sum is one.
    scores_ : ndarray of shape (n_members,)
        Out-of-fold score of each member alone.
    selections_ : list of Selection
        For each part of the library: ``chosen``, the members' numbers in order, and ``scores``, the
        mean's score after each round. A library of three members is one part.
    estimators_ : list of estimators
        The members, fitted on all rows. They know the classes by their numbers.
    named_estimators_ : Bunch
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    References
    ----------
    R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004), "Ensemble selection from libraries of
    models", ICML.

    Examples
    --------
    >>> from arboleda import EnsembleSelectionClassifier, RandomForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> library = [
    ...     ("forest", RandomForestClassifier(random_state=0)),
    ...     ("logistic", LogisticRegression(max_iter=1000)),
    ...     ("bayes", GaussianNB()),
    ... ]
    >>> ensemble = EnsembleSelectionClassifier(library).fit(X, y)
    >>> bool(ensemble.weights_.sum().round(9) == 1)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        scoring: Scoring = "neg_log_loss",
        n_rounds: int = 50,
        n_initial: int | None = None,
        n_bags: int = 20,
        bag_fraction: float = 0.5,
        cv: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.scoring = scoring
        self.n_rounds = n_rounds
        self.n_initial = n_initial
        self.n_bags = n_bags
        self.bag_fraction = bag_fraction
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs


class EnsembleSelectionRegressor(EnsembleSelection, WeightedMeanRegressor):
    """Ensemble selection: a mean of regressors chosen greedily from a library.

    As `EnsembleSelectionClassifier`, with the members' predicted values.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The library of regressors; "drop" leaves one out.
    scoring : str or callable, default="neg_root_mean_squared_error"
        What is made greatest: a name that scikit-learn knows, or ``scorer(estimator, X, y)``. For
        squared errors and "r2" a round does not look at the rows at all; sums are kept for
        "neg_mean_absolute_error" too.
    n_rounds : int, default=50
        Members added one by one; the best of all rounds stays.
    n_initial : int, default=None
        How many of the best members come first. None: as many as have the best mean.
    n_bags : int, default=20
        How often the greedy choice is made, each time from another random part of the library; the
        weights are means over them, so that less is learned by heart. 1: once, from all of it.
    bag_fraction : float, default=0.5
        Share of the library in each part, which has at least three members; without meaning if
        ``n_bags=1``.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the answers that members are judged by; None: 5. "prefit": the members are
        fitted, and `fit` is given rows that they have not seen.
    random_state : int, RandomState or None, default=None
        Seed of the parts of the library.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Weight of each member that is not dropped; their sum is one.
    scores_ : ndarray of shape (n_members,)
        Out-of-fold score of each member alone.
    selections_ : list of Selection
        For each part of the library: ``chosen``, the members' numbers in order, and ``scores``, the
        mean's score after each round. A library of three members is one part.
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    References
    ----------
    R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004), "Ensemble selection from libraries of
    models", ICML.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor, EnsembleSelectionRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> library = [("ridge", Ridge(0.1)), ("tree", DecisionTreeRegressor(max_depth=3))]
    >>> ensemble = EnsembleSelectionRegressor(library).fit(X, y)
    >>> bool(ensemble.weights_[0] > ensemble.weights_[1] > 0)
    True
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        scoring: Scoring = "neg_root_mean_squared_error",
        n_rounds: int = 50,
        n_initial: int | None = None,
        n_bags: int = 20,
        bag_fraction: float = 0.5,
        cv: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.scoring = scoring
        self.n_rounds = n_rounds
        self.n_initial = n_initial
        self.n_bags = n_bags
        self.bag_fraction = bag_fraction
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
