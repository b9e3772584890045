"""Grid search with the interface of scikit-learn and shared fits."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from arboleda._engine.parallel import workers
from arboleda._engine.threads import resolve_n_jobs
from arboleda._sparse import check_sparse
from arboleda.model_selection._plan import Plan, make_plan
from arboleda.model_selection._row_search import (
    CandidateEstimator,
    RowSearch,
    Splitter,
    wrap_scoring,
)
from arboleda.model_selection._shared_fits import SharedFits


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
        check_sparse(X)
        X, y = indexable(X, y)
        plan = self._make_plan(X) if self._can_share(y, params) else None
        if plan is None:
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

    def _make_plan(self, X: Any) -> Plan | None:
        return make_plan(self.estimator, self.param_grid, _num_samples(X))

    def _fit_shared(self, plan: Plan, X: Any, y: Any, params: dict[str, Any]) -> None:
        n_threads = resolve_n_jobs(self.n_jobs)
        with workers(n_threads) as pool:
            fits = SharedFits(plan, X, y, params.get("sample_weight"), pool, n_threads)
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
        self.scorer_ = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers
        if self.refit:
            self.best_estimator_ = search.best_estimator_.model
