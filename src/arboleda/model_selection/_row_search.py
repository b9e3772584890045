"""A scikit-learn grid search over row numbers, which looks up shared fits.

`GridSearchCV` splits, scores, ranks and refits as usual. Its table is a column of row numbers, and
its estimator is a proxy, whose `fit` looks up the shared fit of the rows.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from functools import partial, update_wrapper
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import GridSearchCV
from sklearn.utils import Tags, _safe_indexing

from arboleda.model_selection._plan import Candidate, Parameters
from arboleda.model_selection._shared_fits import Fit, Floats, Rows, SharedFits

Evaluate = Callable[[Iterable[Parameters]], Any]


class RowSearch(GridSearchCV):  # type: ignore[misc]
    """A grid search that evaluates candidates by family, with results in the order of the grid."""

    estimator: CandidateEstimator

    def _run_search(self, evaluate_candidates: Evaluate) -> None:
        evaluate_candidates(
            {name: Value(value, candidate) for name, value in candidate.parameters.items()}
            for candidate in self.estimator.fits.plan.candidates
        )

    def _format_results(
        self,
        candidate_params: list[Parameters],
        n_splits: int,
        out: list[dict[str, Any]],
        more_results: Any = None,
    ) -> Any:
        fits = self.estimator.fits
        candidates = sorted(fits.plan.candidates, key=lambda candidate: candidate.place)
        place = {id(candidate): i for i, candidate in enumerate(fits.plan.candidates)}
        ordered = []
        for candidate in candidates:
            for split in range(n_splits):
                result = out[place[id(candidate)] * n_splits + split]
                seconds = fits.seconds(candidate, split)
                ordered.append(result if seconds is None else result | {"fit_time": seconds})
        parameters = [candidate.parameters for candidate in candidates]
        return super()._format_results(parameters, n_splits, ordered, more_results)


class Value:
    """A parameter value with a reference to its candidate; `str` returns that of the value."""

    def __init__(self, value: Any, candidate: Candidate) -> None:
        self._value = value
        self.candidate = candidate

    def __sklearn_clone__(self) -> Value:
        return self

    def __str__(self) -> str:
        return str(self._value)


class Splitter:
    """A scikit-learn splitter of a table that is called with row numbers and stores the splits."""

    def __init__(self, cv: Any, X: Any, fits: SharedFits, *, with_train: bool) -> None:
        self._cv = cv
        self._X = X
        self._fits = fits
        self._with_train = with_train

    def get_n_splits(self, X: Any, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return int(self._cv.get_n_splits(self._X, y, groups))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield pairs of row numbers."""
        splits = [
            (_numbers(train, len(X)), _numbers(test, len(X)))
            for train, test in self._cv.split(self._X, y, groups)
        ]
        self._fits.begin(splits, with_train=self._with_train)
        return iter(splits)


class CandidateEstimator:
    """Estimator of a search over row numbers.

    Before `fit` it delegates to the estimator, after `fit` to the model of its candidate, and
    predicts for row numbers. If its parameters are not instances of `Value`, it is the best
    candidate, which is refitted to the table.
    """

    def __init__(self, estimator: Any, X: Any, fits: SharedFits) -> None:
        self.fits = fits
        self.model = estimator
        self._X = X
        self._delegate = estimator
        self._candidate: Candidate | None = None

    def __sklearn_clone__(self) -> CandidateEstimator:
        return CandidateEstimator(self.model, self._X, self.fits)

    def __sklearn_tags__(self) -> Tags:
        return self.model.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._delegate, name)

    def set_params(self, **parameters: Any) -> CandidateEstimator:
        """Set the candidate."""
        for value in parameters.values():
            if isinstance(value, Value):
                self._candidate = value.candidate
                return self
        self.model = self._delegate = clone(self.model).set_params(**parameters)
        return self

    def fit(self, X: Rows, y: Any, **fit_params: Any) -> CandidateEstimator:
        """Look up the shared fit of these row numbers."""
        if self._candidate is None:
            self.model.fit(self._X, y, **fit_params)
            return self
        fit = self.fits.fit_of(self._candidate, self.fits.split_of(X))
        stages = self.fits.plan.stages
        self.model = stages.truncate(fit.model, self._candidate.number)
        self._delegate = copy.copy(self.model)
        setattr(self._delegate, stages.predict_method, partial(self._predict, fit, self._candidate))
        return self

    def _predict(self, fit: Fit, candidate: Candidate, numbers: Rows) -> Floats:
        stored = fit.predictions.get(numbers.tobytes())
        if stored is not None:
            return stored[candidate.number]
        predict: Callable[[Any], Floats] = getattr(self.model, self.fits.plan.stages.predict_method)
        return predict(_safe_indexing(self._X, numbers.ravel()))


class TableScorer:
    """A user's scorer, which is called with the model and the rows instead of their numbers."""

    def __init__(self, scorer: Callable[..., Any], X: Any) -> None:
        update_wrapper(self, scorer)  # scikit-learn reads from the signature if it takes weights
        self._scorer = scorer
        self._X = X

    def __call__(self, estimator: CandidateEstimator, X: Rows, *args: Any, **kwargs: Any) -> Any:
        table = _safe_indexing(self._X, X.ravel())
        return self._scorer(estimator.model, table, *args, **kwargs)


def wrap_scoring(scoring: Any, X: Any) -> Any:
    """Return scoring in a form that accepts row numbers."""
    if isinstance(scoring, dict):
        return {name: wrap_scoring(scorer, X) for name, scorer in scoring.items()}
    if callable(scoring) and not isinstance(scoring, _BaseScorer):
        return TableScorer(scoring, X)
    return scoring


def _numbers(rows: Any, n_rows: int) -> Rows:
    """Return non-negative row numbers for a mask or an array of indices."""
    return np.ascontiguousarray(np.arange(n_rows, dtype=np.intp)[np.asarray(rows)])
