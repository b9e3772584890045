"""Ensemble selection: a mean of members chosen greedily from a library, some more than once."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from arboleda._utils.errors import ModelFormatError
from arboleda.combine._combination import FitInputs
from arboleda.combine._greedy_selection import (
    Scoring,
    Selection,
    make_ensemble_scorer,
    select_greedily,
)
from arboleda.combine._members import Named
from arboleda.combine._weighted_mean import (
    WeightedMean,
    WeightedMeanClassifier,
    WeightedMeanRegressor,
)
from arboleda.persist import Field, SavedArray
from arboleda.persist.fields import Sections
from arboleda.persist.values import decode, encode

__all__ = ["EnsembleSelectionClassifier", "EnsembleSelectionRegressor"]

Floats = npt.NDArray[np.float64]
# Smallest number of members in a bag.
_SMALLEST_BAG = 3


class SelectionsPart:
    """Field of a model file with the selected members and the scores, in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return the lists of members and scores."""
        return [
            [encode(list(map(int, s.chosen))), encode(list(map(float, s.scores)))] for s in value
        ]

    def decode(self, name: str, stored: Any, sections: Sections) -> list[Selection]:
        """Return the selections, checked."""
        selections = []
        for pair in stored if isinstance(stored, list) else [None]:
            chosen, scores = decode(pair) if isinstance(pair, list) and len(pair) == 2 else ([], [])
            is_valid = isinstance(chosen, list) and chosen and all(type(m) is int for m in chosen)
            if (
                not is_valid
                or not isinstance(scores, list)
                or not all(type(s) is float for s in scores)
            ):
                raise ModelFormatError(f"{name} does not list the selected members and scores")
            selections.append(Selection(chosen, scores))
        return selections


class EnsembleSelection(WeightedMean):
    """Base class of ensemble selection: a greedy selection from each bag of the library."""

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
            return "there is not one score for each member, or weights are missing"
        return None if chosen <= set(range(n_members)) else "a selected member does not exist"

    def _learn(self, inputs: FitInputs) -> None:
        held_out = self._held_out(inputs)
        target, weight = inputs.training.y[held_out.rows], inputs.weight[held_out.rows]
        scorer = make_ensemble_scorer(
            self.scoring, held_out.outputs, target, weight, inputs.training.classes
        )
        n_members = len(held_out.names)
        self.scores_ = np.array([scorer.score_with(member) for member in range(n_members)])
        self.selections_ = [
            select_greedily(scorer, library, self.n_initial, self.n_rounds)
            for library in self._draw_bags(n_members)
        ]
        self.weights_: Floats = np.mean([s.shares(n_members) for s in self.selections_], axis=0)

    def _draw_bags(self, n_members: int) -> list[list[int]]:
        """Draw the members that each greedy selection is made from: all, or random bags."""
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

    The ensemble is the mean of the probabilities of the selected members. It starts with the best
    single members; then each round adds the member that gives the mean the best out-of-fold score.
    A member may be selected several times, and its count is its weight. Poor members are not
    selected, so a library may be large and diverse.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The library of classifiers; "drop" leaves one out.
    scoring : str or callable, default="neg_log_loss"
        The score to maximise: a scorer name of scikit-learn, or ``scorer(estimator, X, y)`` of
        probabilities or labels. "neg_log_loss", "accuracy" and "neg_brier_score" are fast, because
        their sums are updated from round to round.
    n_rounds : int, default=50
        Number of rounds, each of which adds a member; the best round is kept.
    n_initial : int, default=None
        Number of best members to start with. None: the number with the best mean.
    n_bags : int, default=20
        Number of greedy selections, each from another random bag of the library; the weights are
        averaged over them, which reduces overfitting. 1: a single selection from the whole library.
    bag_fraction : float, default=0.5
        Share of the library in each bag, which has at least three members; unused if ``n_bags=1``.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5, stratified.
        "prefit": the members are already fitted; `fit` takes rows that they have not seen.
    random_state : int, RandomState or None, default=None
        Seed of the bags.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Weight of each member that is not dropped; the sum is one.
    scores_ : ndarray of shape (n_members,)
        Out-of-fold score of each single member.
    selections_ : list of Selection
        For each bag: ``chosen``, the indices of the members in order of selection, and ``scores``,
        the score of the mean after each round. A library of three members is a single bag.
    estimators_ : list of estimators
        The members, fitted on all rows with the classes as numbers.
    named_estimators_ : Bunch
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

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

    See `EnsembleSelectionClassifier`; the ensemble is the mean of the predicted values.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The library of regressors; "drop" leaves one out.
    scoring : str or callable, default="neg_root_mean_squared_error"
        The score to maximise: a scorer name of scikit-learn, or ``scorer(estimator, X, y)``. With
        squared errors and "r2", the cost of a round does not depend on the number of rows; for
        "neg_mean_absolute_error", sums are updated from round to round.
    n_rounds : int, default=50
        Number of rounds, each of which adds a member; the best round is kept.
    n_initial : int, default=None
        Number of best members to start with. None: the number with the best mean.
    n_bags : int, default=20
        Number of greedy selections, each from another random bag of the library; the weights are
        averaged over them, which reduces overfitting. 1: a single selection from the whole library.
    bag_fraction : float, default=0.5
        Share of the library in each bag, which has at least three members; unused if ``n_bags=1``.
    cv : int, splitter, iterable or "prefit", default=None
        Folds for the out-of-fold predictions that score the members; None: 5. "prefit": the
        members are already fitted; `fit` takes rows that they have not seen.
    random_state : int, RandomState or None, default=None
        Seed of the bags.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Weight of each member that is not dropped; the sum is one.
    scores_ : ndarray of shape (n_members,)
        Out-of-fold score of each single member.
    selections_ : list of Selection
        For each bag: ``chosen``, the indices of the members in order of selection, and ``scores``,
        the score of the mean after each round. A library of three members is a single bag.
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

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
