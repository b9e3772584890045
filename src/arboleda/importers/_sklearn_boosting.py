"""Import of scikit-learn's gradient boosting with exact trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor

from arboleda.boosting._losses import Loss
from arboleda.importers._fitted import check_state, set_boosting_state
from arboleda.importers._nodes import to_tree
from arboleda.importers._sklearn_trees import make_node_table, make_numeric_columns, missing_columns

# scikit-learn clips prior probabilities at this distance from 0 and 1 before it takes logarithms.
_NEAREST = float(np.finfo(np.float32).eps)


def set_gradient_boosting_state(estimator: Any, model: Any) -> Any:
    """Set the fitted state of an estimator from scikit-learn's model.

    Raises
    ------
    ValueError
        If the model starts from another estimator.
    """
    if is_classifier(model):
        estimator.classes_ = model.classes_
    loss = estimator._make_loss()
    rate = float(model.learning_rate)
    theirs = [tree.tree_ for tree in model.estimators_.ravel()]
    tables = [make_node_table(tree, tree.value[:, 0, :]).scaled(rate) for tree in theirs]
    columns = make_numeric_columns(model)
    set_boosting_state(
        estimator,
        columns,
        loss,
        _compute_start(model, loss),
        [to_tree(table, columns.n_columns, mean_values=True) for table in tables],
        missing_columns(theirs),
    )
    estimator.init_ = None
    estimator.max_features_ = max(1, int(model.max_features_))
    return check_state(estimator)


def _compute_start(model: Any, loss: Loss) -> npt.NDArray[np.float64]:
    """Return the raw scores before the first tree."""
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
        f"the model starts from a {type(model.init_).__name__}, which is not supported: fit it "
        "with init=None or init='zero'"
    )
