"""Every node of the fully grown trees of the big tables."""

import pytest
from tests.parity.tables import load
from tests.tree.naive import assert_greedy

import arboleda as ours


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "criterion"),
    [
        ("digits", "gini"),
        ("spambase", "gini"),
        ("spambase", "entropy"),
        ("letters", "gini"),
        ("letters", "entropy"),
        ("volkswagen", "squared_error"),
    ],
)
def test_every_node_matches_the_textbook(table: str, criterion: str) -> None:
    X, y = load(table)
    if criterion == "squared_error":
        model = ours.DecisionTreeRegressor().fit(X, y)
    else:
        model = ours.DecisionTreeClassifier(criterion=criterion).fit(X, y)
    assert assert_greedy(model, X, y, criterion) > model.tree_.node_count / 20
