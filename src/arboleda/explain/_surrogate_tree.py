"""One small tree that imitates an ensemble."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from arboleda._engine.tree import Loss
from arboleda.explain._best_subtrees import best_subtrees
from arboleda.explain._surrogate import Surrogate, prepare_imitation

__all__ = ["check_size", "surrogate_tree"]


def surrogate_tree(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    answers: Any = None,
    max_leaves: int = 16,
    test_size: float = 0.25,
    categorical_features: Any = "from_dtype",
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Surrogate:
    """Find the small tree that imitates an ensemble best, and what its size costs.

    A tree of four times as many leaves is grown on what the ensemble says: on its values, or on its
    labels, each row weighing as much as the label leads the next, since rows in which the ensemble
    is in two minds cannot be imitated. Of all its prunings the one of each size is kept that
    disagrees least with the ensemble.

    Parameters
    ----------
    estimator : estimator
        Fitted: any classifier, or regressor of one target.
    X : array-like, frame or sparse matrix of shape (n_rows, n_features)
        Rows to ask the ensemble about: best ones that it did not learn from. Of its own training
        rows a forest says what it was told, and a tree would learn the noise of y: give ``answers``
        with them.
    y : array-like of shape (n_rows,), default=None
        The truth, for the errors of the curve. The surrogate never sees it.
    X_test : table, default=None
        Rows to measure on, that neither the ensemble nor the surrogate learned from. None:
        ``test_size`` of X are set aside.
    y_test : array-like, default=None
        Their truth.
    answers : array-like of shape (n_rows, n_classes) or (n_rows,), default=None
        What the ensemble says of X, for it to be asked nothing: a forest's
        ``oob_decision_function_`` or ``oob_prediction_``, if X are its training rows. Rows of NaN
        are left out.
    max_leaves : int, default=16
        Leaves at most; fewer where more would imitate no better.
    test_size : float, default=0.25
        Share of X to measure on, where there is no X_test.
    categorical_features : array-like or "from_dtype", default="from_dtype"
        As of `DecisionTreeClassifier`; "from_dtype" with what the estimator took for categories.
    random_state : int, RandomState or None, default=None
        Seed of the rows set aside.
    n_jobs : int, default=None
        Threads: None all available cores.

    Returns
    -------
    Surrogate
        With the tree as ``model``, the ``curve`` of fidelity and errors by size, and its
        ``fidelity``.

    Raises
    ------
    ValueError
        If a parameter is out of range, shapes do not fit, no rows are left, or the estimator has
        several targets.
    TypeError
        If the estimator is none.
    NotFittedError
        If it is not fitted.

    Notes
    -----
    The fidelity is the share of the rows set aside, or of X_test, on which both say the same class,
    or R2 of the ensemble's values. ``predict_proba`` of the model is by the weights of the labels:
    it tells how clear a leaf is to the ensemble, not how probable the class.

    References
    ----------
    Craven, M. W., Shavlik, J. W. (1996), "Extracting tree-structured representations of trained
    networks", NIPS 8. Breiman, L., Shang, N. (1996), "Born again trees", technical report,
    University of California, Berkeley. Bohanec, M., Bratko, I. (1994), "Trading accuracy for
    simplicity in decision trees", Machine Learning 15.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from arboleda import RandomForestClassifier
    >>> from arboleda.explain import surrogate_tree
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X[:400], y[:400])
    >>> found = surrogate_tree(
    ...     forest, X[:400], y[:400], X_test=X[400:], y_test=y[400:],
    ...     answers=forest.oob_decision_function_, max_leaves=4,
    ... )
    >>> found.model.get_n_leaves(), round(found.fidelity, 2)
    (3, 0.93)
    """
    check_size("max_leaves", max_leaves)
    task = prepare_imitation(
        estimator,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        answers=answers,
        test_size=test_size,
        random_state=random_state,
        categorical_features=categorical_features,
        n_jobs=n_jobs,
    )
    grown = task.grow(task.said, int(max_leaves), task.margin)
    found = best_subtrees(task.judgement(grown, task.said), int(max_leaves))
    curve = task.curve(task.answers_of(grown, found))
    model = copy(grown)
    loss: Loss = "squared_error" if task.classes is None else "misclassification"
    model.tree_ = grown.tree_.cut(np.array(found[max(found)], dtype=np.intp), loss)
    model.max_leaf_nodes = int(max_leaves)
    return Surrogate(model, curve, float(curve.fidelity[-1]))


def check_size(name: str, size: Any) -> None:
    """Refuse what is no whole number from 2 up."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 2:
        raise ValueError(f"{name}={size!r} must be a whole number of at least 2")
