"""Cost-complexity pruning equals scikit-learn's where both grow the same tree."""

from typing import Any

import numpy as np
import pytest
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor


def problem(name: str) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """A table, its target, our class and scikit-learn's, and parameters that leave no ties."""
    random = np.random.default_rng(5)
    ours: Any = DecisionTreeClassifier
    theirs: Any = sklearn.tree.DecisionTreeClassifier
    if name == "classes":
        X, y = make_classification(600, 8, n_informative=5, n_classes=3, flip_y=0.2, random_state=2)
        parameters: dict[str, Any] = {"min_samples_leaf": 12}
    elif name == "entropy":
        X, y = load_breast_cancer(return_X_y=True)
        parameters = {"criterion": "entropy", "min_samples_leaf": 8}
    else:
        ours, theirs = DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor
        if name == "noise":
            X, y = random.normal(size=(400, 5)), random.normal(size=400)
            parameters = {}
        else:
            X, y = load_diabetes(return_X_y=True)
            parameters = {"min_samples_leaf": 5}
    return X.astype(np.float32), y, ours, theirs, parameters


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["classes", "entropy", "noise", "diabetes"])
def test_the_path_and_pruned_trees_match_scikit_learn(name: str, weighted: bool) -> None:
    X, y, ours, theirs, parameters = problem(name)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    mine = ours(**parameters).cost_complexity_pruning_path(X, y, weight)
    path = theirs(random_state=0, **parameters).cost_complexity_pruning_path(X, y, weight)
    # Cuts of equal alpha may come in another order: compare what is left after each alpha.
    alphas = np.unique(np.round(path.ccp_alphas, 8))
    assert len(alphas) > 5
    middle = (alphas[1:] + alphas[:-1]) / 2
    at_mine = np.searchsorted(mine.ccp_alphas, middle, side="right") - 1
    at_theirs = np.searchsorted(path.ccp_alphas, middle, side="right") - 1
    assert_allclose(mine.ccp_alphas[at_mine], path.ccp_alphas[at_theirs], rtol=1e-7, atol=1e-9)
    assert_allclose(mine.impurities[at_mine], path.impurities[at_theirs], rtol=1e-9, atol=1e-12)
    for alpha in middle[:: max(1, len(middle) // 6)]:
        a = ours(ccp_alpha=alpha, **parameters).fit(X, y, weight)
        b = theirs(ccp_alpha=alpha, random_state=0, **parameters).fit(X, y, weight)
        assert a.get_n_leaves() == b.get_n_leaves()
        assert_allclose(a.predict(X), b.predict(X), rtol=1e-12)


def test_pruned_trees_are_nested() -> None:
    X, y, ours, _, parameters = problem("classes")
    path = ours(**parameters).cost_complexity_pruning_path(X, y)
    assert path.ccp_alphas[0] == 0.0
    assert np.all(np.diff(path.ccp_alphas) >= 0.0)
    leaves = None
    for alpha in np.unique(path.ccp_alphas):
        tree = ours(ccp_alpha=alpha, **parameters).fit(X, y)
        again = tree.apply(X)
        if leaves is not None:  # rows that shared a leaf still do
            pairs = np.unique(np.column_stack([leaves, again]), axis=0)
            assert len(pairs) == len(np.unique(leaves))
        leaves = again
    assert_array_equal(leaves, 0)


def test_ccp_alpha_0_prunes_nothing() -> None:
    X, y, ours, _, _ = problem("classes")
    whole = ours().fit(X, y)
    assert ours(ccp_alpha=0.0).fit(X, y).get_n_leaves() == whole.get_n_leaves()
    assert ours(ccp_alpha=1e9).fit(X, y).get_n_leaves() == 1
