"""Gradient boosting of scikit-learn with exact trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor

from arboleda.boosting._losses import Loss
from arboleda.importers._fitted import checked, keep_trees
from arboleda.importers._nodes import to_tree
from arboleda.importers._sklearn_trees import missing_columns, node_table, plain_columns

# scikit-learn keeps prior probabilities this far from 0 and 1 before it takes their logarithm.
_NEAREST = float(np.finfo(np.float32).eps)


def keep_gradient_boosting(estimator: Any, model: Any) -> Any:
    """Give an estimator the fitted state of scikit-learn's.

    Raises
    ------
    ValueError
        If the model begins from another estimator.
    """
    if is_classifier(model):
        estimator.classes_ = model.classes_
    loss = estimator._make_loss()
    rate = float(model.learning_rate)
    theirs = [tree.tree_ for tree in model.estimators_.ravel()]
    tables = [node_table(tree, tree.value[:, 0, :]).scaled(rate) for tree in theirs]
    columns = plain_columns(model)
    keep_trees(
        estimator,
        columns,
        loss,
        _start(model, loss),
        [to_tree(table, columns.n_columns, mean_values=True) for table in tables],
        missing_columns(theirs),
    )
    estimator.init_ = None
    estimator.max_features_ = max(1, int(model.max_features_))
    return checked(estimator)


def _start(model: Any, loss: Loss) -> npt.NDArray[np.float64]:
    """Raw scores before the first tree."""
    if isinstance(model.init_, str):  # "zero"
        return np.zeros(loss.n_outputs)
    nothing = np.zeros((1, model.n_features_in_))
    if isinstance(model.init_, DummyRegressor):
        means: npt.NDArray[np.float64] = loss.scores(model.init_.predict(nothing))[0]
        return means
    if isinstance(model.init_, DummyClassifier) and model.init_.strategy == "prior":
        shares = model.init_.predict_proba(nothing)
        odds: npt.NDArray[np.float64]
        odds = loss.scores(np.clip(shares, _NEAREST, 1.0 - _NEAREST))[0]
        return odds
    raise ValueError(
        f"the model begins from a {type(model.init_).__name__}, which a model of ours cannot hold: "
        "fit it with init=None or init='zero'"
    )
