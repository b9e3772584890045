"""A small tree that approximates an ensemble."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from arboleda._engine.tree import Loss
from arboleda.explain._best_subtrees import find_best_subtrees
from arboleda.explain._surrogate import Surrogate, prepare_surrogate

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
    """Find the small tree that approximates an ensemble best, with fidelity by size.

    A tree with four times as many leaves is fitted to the ensemble's predictions: to its values, or
    to its labels, weighted by the margin of each label, because rows on which the ensemble is
    undecided cannot be approximated. For each size, the pruned tree that disagrees least with the
    ensemble is selected.

    Parameters
    ----------
    estimator : estimator
        Any fitted classifier, or single-target regressor.
    X : array-like, frame or sparse matrix of shape (n_rows, n_features)
        Rows to predict with the ensemble, preferably not its training rows. A forest reproduces the
        targets of its training rows, and a tree would fit their noise: give ``answers`` with them.
    y : array-like of shape (n_rows,), default=None
        True targets, for the errors of the curve only. The surrogate is not fitted to them.
    X_test : table, default=None
        Test rows, on which neither the ensemble nor the surrogate was fitted. None: ``test_size``
        of X is held out.
    y_test : array-like, default=None
        True targets of the test rows.
    answers : array-like of shape (n_rows, n_classes) or (n_rows,), default=None
        Predictions of the ensemble for X, to use instead of computing them: a forest's
        ``oob_decision_function_`` or ``oob_prediction_`` if X holds its training rows. Rows with
        NaN are left out.
    max_leaves : int, default=16
        Largest number of leaves; fewer if more would not improve the fidelity.
    test_size : float, default=0.25
        Share of X to hold out if there is no X_test.
    categorical_features : array-like or "from_dtype", default="from_dtype"
        As in `DecisionTreeClassifier`; "from_dtype" includes the columns that the estimator treated
        as categorical.
    random_state : int, RandomState or None, default=None
        Seed of the held-out rows.
    n_jobs : int, default=None
        Number of threads; None: all available cores.

    Returns
    -------
    Surrogate
        With the tree as ``model``, its ``fidelity``, and the ``curve`` of fidelity and errors by
        size.

    Raises
    ------
    ValueError
        If a parameter is out of range, shapes do not match, no rows are left, or the estimator has
        several targets.
    TypeError
        If the estimator is not an estimator.
    NotFittedError
        If it is not fitted.

    Notes
    -----
    The fidelity is the share of held-out rows, or rows of X_test, for which both predict the same
    class, or R2 of the ensemble's values. ``predict_proba`` of the model uses the weights of the
    labels: it measures the margin of the ensemble in a leaf, not the probability of the class.

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
    task = prepare_surrogate(
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
    grown = task.grow(task.outputs, int(max_leaves), task.margin)
    found = find_best_subtrees(task.compute_node_losses(grown, task.outputs), int(max_leaves))
    curve = task.curve(task.predict_by_size(grown, found))
    model = copy(grown)
    loss: Loss = "squared_error" if task.classes is None else "misclassification"
    model.tree_ = grown.tree_.cut(np.array(found[max(found)], dtype=np.intp), loss)
    model.max_leaf_nodes = int(max_leaves)
    return Surrogate(model, curve, float(curve.fidelity[-1]))


def check_size(name: str, size: Any) -> None:
    """Check that a size is an integer of at least 2."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 2:
        raise ValueError(f"{name} must be an integer of at least 2, got {size!r}")
