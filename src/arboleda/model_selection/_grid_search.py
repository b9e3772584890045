"""Grid search with the interface of scikit-learn and shared fits.

`GridSearchCV` splits, scores, ranks and refits as usual. Its table is a column of row numbers, and
its estimator is a proxy, whose `fit` looks up the shared fit of the rows.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial, update_wrapper
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.utils import Tags, _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from arboleda._engine.coded_table import CodedTable
from arboleda._engine.parallel import resolve_n_jobs, workers
from arboleda._utils.sparse import check_sparse
from arboleda.dask.handshake import check_workers
from arboleda.dask.tasks import check_client
from arboleda.model_selection._remote_fits import RemoteFits
from arboleda.model_selection._shared_fits import (
    Candidate,
    Fit,
    FitData,
    FitPool,
    Floats,
    GridPlan,
    Parameters,
    Rows,
    SharedFits,
    ThreadedFits,
    make_plan,
)

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


class GridSearch(GridSearchCV):  # type: ignore[misc]
    """Cross-validated grid search that shares fits between candidates.

    The interface and the results are those of scikit-learn's `GridSearchCV`, with bitwise equal
    scores. Work is shared between candidates if the estimator is one of arboleda's
    `GradientBoosting*`, `HistGradientBoosting*`, `RandomForest*` or `ExtraTrees*`:

    - candidates that differ only in the number of rounds or trees are a single fit with the largest
      number, which is scored after each of the numbers;
    - the training rows of a fold are checked and binned once; test rows are not used for binning;
    - fits run in parallel threads, without copies of the table.

    All other cases are passed on to `GridSearchCV`: other estimators and pipelines; and these
    estimators with early stopping (``early_stopping="auto"`` stops with more than 10,000 rows),
    ``oob_score``, ``warm_start``, ``callbacks``, ``verbose``, an estimator as ``init``, a number of
    rounds or trees that is not an integer, parameters of `fit` besides ``groups`` and
    ``sample_weight``, metadata routing, or scikit-learn callbacks on the search.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dicts
        Names of parameters and their candidate values.
    scoring : str, callable, list, tuple, dict or None, default=None
        One or several metrics. A callable ``scorer(estimator, X, y)`` is called with the fitted
        model and the rows.
    n_jobs : int, default=None
        Number of threads for shared fits; None and -1: all available cores. Results do not depend
        on it. If no fits are shared it has scikit-learn's meaning.
    refit : bool, str or callable, default=True
        Whether to fit the best candidate to all rows; with several metrics the name of the metric
        that selects it; or a function of ``cv_results_`` that returns the index of the best.
    cv : int, splitter or iterable, default=None
        None: 5 folds.
    verbose : int, default=0
    pre_dispatch : int or str, default="2*n_jobs"
        Used only if no fits are shared.
    error_score : "raise" or float, default=nan
        Score of a candidate whose fit fails.
    return_train_score : bool, default=False
    client : distributed.Client, optional
        Run the fits on the workers of this client of Dask, one thread each, instead of threads of
        this process; scores and models are the same. Scores and the refit are computed here. If no
        fits are shared, the client runs the tasks of joblib's backend for Dask.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        Scores of every candidate and fold, as for `GridSearchCV`. ``fit_time`` of a candidate is
        the time of the shared fit in proportion to its rounds or trees.
    best_estimator_ : estimator
        Defined only with ``refit``.
    best_score_ : float
    best_params_ : dict
    best_index_ : int
    scorer_ : callable or dict
    n_splits_ : int
    refit_time_ : float
    multimetric_ : bool
    classes_, n_features_in_, feature_names_in_
        Attributes of the best estimator.

    Examples
    --------
    >>> from arboleda import HistGradientBoostingClassifier
    >>> from arboleda.model_selection import GridSearch
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"learning_rate": [0.1, 0.3], "max_iter": [10, 20, 40]}
    >>> search = GridSearch(HistGradientBoostingClassifier(), grid, scoring="roc_auc").fit(X, y)
    >>> bool(search.best_score_ > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GridSearchCV._parameter_constraints,
        "client": "no_validation",
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        client: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.client = client

    def __sklearn_clone__(self) -> Self:
        # A client is shared, not copied.
        params = self.get_params(deep=False)
        client = params.pop("client")
        return type(self)(**{k: clone(v, safe=False) for k, v in params.items()}, client=client)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score every candidate on every fold, and fit the best one to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
        **params : dict
            ``groups`` for the splitter, ``sample_weight`` for fits and for scorers that support it,
            and other parameters of the estimator's `fit`.

        Returns
        -------
        self
        """
        self._validate_params()
        if isinstance(X, CodedTable):
            raise TypeError(
                "X is a CodedTable, whose rows cannot be selected as folds: pass rows of the "
                "original table, or a sample of them"
            )
        check_sparse(X)
        X, y = indexable(X, y)
        plan = self._make_plan(X) if self._can_share(y, params) else None
        if plan is None:
            with self._use_workers():
                super().fit(X, y, **params)
            return self
        self._fit_shared(plan, X, y, params)
        return self

    def _can_share(self, y: Any, params: dict[str, Any]) -> bool:
        config = get_config()
        return not (
            y is None
            or not params.keys() <= {"groups", "sample_weight"}
            or config["enable_metadata_routing"]
            or config["array_api_dispatch"]
            or getattr(self, "_skl_callbacks", None)
            or hasattr(self, "_parent_callback_ctx")
        )

    def _make_plan(self, X: Any) -> GridPlan | None:
        return make_plan(self.estimator, self.param_grid, _num_samples(X))

    @contextmanager
    def _use_workers(self) -> Iterator[None]:
        """Let joblib run its tasks on the workers of the client, if there is one."""
        if self.client is None:
            yield
            return
        client = check_client(self.client)
        check_workers(client)
        with client.as_current(), joblib.parallel_config("dask", n_jobs=-1):
            yield

    @contextmanager
    def _open_pool(self) -> Iterator[FitPool]:
        """Open what runs shared fits: threads, or the workers of the client."""
        if self.client is not None:
            fits = RemoteFits(check_client(self.client))
            with closing(fits):
                yield fits
            return
        n_threads = resolve_n_jobs(self.n_jobs)
        with workers(n_threads) as pool:
            yield ThreadedFits(pool, n_threads)

    def _fit_shared(self, plan: GridPlan, X: Any, y: Any, params: dict[str, Any]) -> None:
        with self._open_pool() as pool:
            fits = SharedFits(FitData(plan, X, y, params.get("sample_weight")), pool)
            cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
            search = RowSearch(
                CandidateEstimator(self.estimator, X, fits),
                self.param_grid,
                scoring=wrap_scoring(self.scoring, X),
                n_jobs=1,
                refit=self.refit,
                cv=Splitter(cv, X, fits, with_train=self.return_train_score),
                verbose=self.verbose,
                error_score=self.error_score,
                return_train_score=self.return_train_score,
            )
            search.fit(np.arange(_num_samples(X))[:, np.newaxis], y, **params)
        for name, value in vars(search).items():
            if name.endswith("_"):
                setattr(self, name, value)
        scorers, _ = self._get_scorers()
        self.scorer_: Any = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers
        if self.refit:
            self.best_estimator_: Any = search.best_estimator_.model
