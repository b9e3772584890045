"""scikit-learn's search over row numbers: its bookkeeping, with fits made elsewhere.

`GridSearchCV` splits, scores, ranks and refits as ever; its table is a column of row numbers, and
its estimator a stand-in, which learns from numbers by looking up the shared fit.
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
    """A grid search whose candidates come family by family, and leave in the order of the grid."""

    estimator: StandIn

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
                told = out[place[id(candidate)] * n_splits + split]
                seconds = fits.seconds(candidate, split)
                ordered.append(told if seconds is None else told | {"fit_time": seconds})
        parameters = [candidate.parameters for candidate in candidates]
        return super()._format_results(parameters, n_splits, ordered, more_results)


class Value:
    """A value of a parameter that knows the candidate it is part of, and prints as itself."""

    def __init__(self, value: Any, candidate: Candidate) -> None:
        self._value = value
        self.candidate = candidate

    def __sklearn_clone__(self) -> Value:
        return self

    def __str__(self) -> str:
        return str(self._value)


class Splitter:
    """Splits of a table by a splitter of scikit-learn's, asked with row numbers; it keeps them."""

    def __init__(self, cv: Any, X: Any, fits: SharedFits, *, with_train: bool) -> None:
        self._cv = cv
        self._X = X
        self._fits = fits
        self._with_train = with_train

    def get_n_splits(self, X: Any, y: Any = None, groups: Any = None) -> int:
        """Number of splits."""
        return int(self._cv.get_n_splits(self._X, y, groups))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield pairs of row numbers."""
        splits = [
            (_numbers(train, len(X)), _numbers(test, len(X)))
            for train, test in self._cv.split(self._X, y, groups)
        ]
        self._fits.begin(splits, with_train=self._with_train)
        return iter(splits)


class StandIn:
    """Estimator of a search over row numbers.

    Until it is fitted it tells what the estimator does. Fitted, it is the model of its candidate,
    and answers for row numbers. A candidate whose values are no `Value` is the best one, which is
    fitted again on the table.
    """

    def __init__(self, estimator: Any, X: Any, fits: SharedFits) -> None:
        self.fits = fits
        self.model = estimator
        self._X = X
        self._answering = estimator
        self._candidate: Candidate | None = None

    def __sklearn_clone__(self) -> StandIn:
        return StandIn(self.model, self._X, self.fits)

    def __sklearn_tags__(self) -> Tags:
        return self.model.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answering, name)

    def set_params(self, **parameters: Any) -> StandIn:
        """Become a candidate."""
        for value in parameters.values():
            if isinstance(value, Value):
                self._candidate = value.candidate
                return self
        self.model = self._answering = clone(self.model).set_params(**parameters)
        return self

    def fit(self, X: Rows, y: Any, **fit_params: Any) -> StandIn:
        """Look a fit up by the numbers of its rows."""
        if self._candidate is None:
            self.model.fit(self._X, y, **fit_params)
            return self
        fit = self.fits.fit_of(self._candidate, self.fits.split_of(X))
        stages = self.fits.plan.stages
        self.model = stages.after(fit.model, self._candidate.number)
        self._answering = copy.copy(self.model)
        setattr(self._answering, stages.asked, partial(self._answer, fit, self._candidate))
        return self

    def _answer(self, fit: Fit, candidate: Candidate, numbers: Rows) -> Floats:
        known = fit.answers.get(numbers.tobytes())
        if known is not None:
            return known[candidate.number]
        ask: Callable[[Any], Floats] = getattr(self.model, self.fits.plan.stages.asked)
        return ask(_safe_indexing(self._X, numbers.ravel()))


class OnTable:
    """A scorer of the caller's own: it is asked with the model and the rows, not their numbers."""

    def __init__(self, scorer: Callable[..., Any], X: Any) -> None:
        update_wrapper(self, scorer)  # whose signature tells whether it takes weights
        self._scorer = scorer
        self._X = X

    def __call__(self, estimator: StandIn, X: Rows, *args: Any, **kwargs: Any) -> Any:
        table = _safe_indexing(self._X, X.ravel())
        return self._scorer(estimator.model, table, *args, **kwargs)


def on_rows(scoring: Any, X: Any) -> Any:
    """Return scoring in a form that can be asked with row numbers."""
    if isinstance(scoring, dict):
        return {name: on_rows(scorer, X) for name, scorer in scoring.items()}
    if callable(scoring) and not isinstance(scoring, _BaseScorer):
        return OnTable(scoring, X)
    return scoring


def _numbers(rows: Any, n_rows: int) -> Rows:
    """Rows as numbers; a mask is one way to name them, negative numbers another."""
    return np.ascontiguousarray(np.arange(n_rows, dtype=np.intp)[np.asarray(rows)])
