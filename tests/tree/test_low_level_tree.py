"""`tree_` takes arrays and sparse matrices, as scikit-learn's does."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("container", [np.asarray, np.ndarray.tolist, sparse.csr_array])
def test_rows_of_any_form_are_read(container: object) -> None:
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    rows = container(X)  # type: ignore[operator]
    np.testing.assert_array_equal(model.tree_.apply(rows), model.apply(X))
    np.testing.assert_array_equal(model.tree_.predict(rows), model.predict_proba(X))
    assert (model.tree_.decision_path(rows) != model.decision_path(X)).nnz == 0


def test_sizes_match_the_tree() -> None:
    tree = DecisionTreeClassifier().fit(X, y).tree_
    assert tree.n_classes.tolist() == [3]
    assert tree.max_n_classes == 3
    assert tree.capacity == tree.node_count
    both = DecisionTreeClassifier().fit(X, np.column_stack([y, y > 0])).tree_
    assert both.n_classes.tolist() == [3, 2]
    assert DecisionTreeRegressor().fit(X, y).tree_.n_classes.tolist() == [1]


def test_invalid_rows_are_refused() -> None:
    tree = DecisionTreeClassifier().fit(X, y).tree_
    with pytest.raises(ValueError, match="X has 3 features, but the tree is expecting 4"):
        tree.apply(X[:, :3])
    table = pd.DataFrame({"kind": pd.Categorical(["a", "b", "c"] * 50)})
    of_categories = DecisionTreeClassifier().fit(table, np.arange(150) % 3).tree_
    with pytest.raises(TypeError, match="has categorical splits"):
        of_categories.apply(np.zeros((2, 1)))
