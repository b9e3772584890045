"""Grid search: scikit-learn's, where fits are shared that have anything in common."""

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
from arboleda.model_selection._plan import Plan, plan_of
from arboleda.model_selection._row_search import RowSearch, Splitter, StandIn, on_rows
from arboleda.model_selection._shared_fits import SharedFits


class GridSearch(GridSearchCV):  # type: ignore[misc]
    """Try all combinations of parameters by cross-validation, and fit the best one.

    Interface and results are those of scikit-learn's `GridSearchCV`, down to the last bit of every
    score. What candidates have in common is done once for them where the estimator is one of
    arboleda's `GradientBoosting*`, `HistGradientBoosting*`, `RandomForest*` or `ExtraTrees*`:

    - candidates that differ in the number of rounds, or of trees, alone are one fit, of the most of
      them, which is scored after each number;
    - the training rows of a fold are checked and coded once, by themselves: test rows have no part
      in the bins;
    - fits run side by side in threads, without copies of the table.

    Everything else goes to `GridSearchCV` as it is: other estimators and pipelines; and ours with
    early stopping (``early_stopping="auto"`` stops with more than 10,000 rows), ``oob_score``,
    ``warm_start``, ``callbacks``, ``verbose``, an estimator as ``init``, a number of rounds or
    trees that is no integer, parameters of `fit` besides ``groups`` and ``sample_weight``, metadata
    routing, or callbacks of scikit-learn's on the search.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dicts
        Names of parameters and the values to try.
    scoring : str, callable, list, tuple, dict or None, default=None
        One or several metrics. A callable of your own, ``scorer(estimator, X, y)``, gets the fitted
        model and the rows as ever.
    n_jobs : int, default=None
        Threads for shared fits: None all available cores, -1 likewise. Results do not depend on
        it. Without anything to share it is scikit-learn's.
    refit : bool, str or callable, default=True
        Fit the best candidate on all rows; with several metrics the name of the one that decides;
        or a function of ``cv_results_`` that returns the index of the best.
    cv : int, splitter or iterable, default=None
        None: 5 folds.
    verbose : int, default=0
    pre_dispatch : int or str, default="2*n_jobs"
        Only where nothing is shared.
    error_score : "raise" or float, default=nan
        Score of a candidate that cannot be fitted.
    return_train_score : bool, default=False

    Attributes
    ----------
    cv_results_ : dict of ndarray
        Scores of every candidate and fold, as of `GridSearchCV`. ``fit_time`` of a candidate counts
        a shared fit in proportion to its rounds or trees.
    best_estimator_ : estimator
        Only with ``refit``.
    best_score_ : float
    best_params_ : dict
    best_index_ : int
    scorer_ : callable or dict
    n_splits_ : int
    refit_time_ : float
    multimetric_ : bool
    classes_, n_features_in_, feature_names_in_
        Those of the best estimator.

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
        """Score every candidate on every fold, and fit the best one on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
        **params : dict
            ``groups`` for the splitter, ``sample_weight`` for fits and for scorers that take it,
            and what else the estimator's `fit` takes.

        Returns
        -------
        self
        """
        self._validate_params()
        check_sparse(X)
        X, y = indexable(X, y)
        plan = None if self._is_beyond_sharing(y, params) else self._plan(X)
        if plan is None:
            super().fit(X, y, **params)
            return self
        self._fit_shared(plan, X, y, params)
        return self

    def _is_beyond_sharing(self, y: Any, params: dict[str, Any]) -> bool:
        config = get_config()
        return bool(
            y is None
            or not params.keys() <= {"groups", "sample_weight"}
            or config["enable_metadata_routing"]
            or config["array_api_dispatch"]
            or getattr(self, "_skl_callbacks", None)
            or hasattr(self, "_parent_callback_ctx")
        )

    def _plan(self, X: Any) -> Plan | None:
        return plan_of(self.estimator, self.param_grid, _num_samples(X))

    def _fit_shared(self, plan: Plan, X: Any, y: Any, params: dict[str, Any]) -> None:
        n_threads = resolve_n_jobs(self.n_jobs)
        with workers(n_threads) as pool:
            fits = SharedFits(plan, X, y, params.get("sample_weight"), pool, n_threads)
            cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
            search = RowSearch(
                StandIn(self.estimator, X, fits),
                self.param_grid,
                scoring=on_rows(self.scoring, X),
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
