from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from arboleda import DecisionTreeClassifier, RandomForestClassifier, RandomSubspaceClassifier
from arboleda.explain import decision_regions

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
PETALS = ["petal length (cm)", "petal width (cm)"]


def fitted(model: Any, table: Any = None, y: Any = NAMES) -> Any:
    return model.fit(X[PETALS] if table is None else table, y)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        SklearnForest(5, random_state=0),
        BaggingClassifier(SklearnTree(), 5, max_features=1, random_state=0),
        RandomSubspaceClassifier(n_estimators=5, max_features=1, random_state=0),
    ],
)
def test_points_match_predictions_of_members_and_ensemble(model: Any) -> None:
    fitted(model)
    found = decision_regions(model, X[PETALS], NAMES, members=2, n_points=7)
    assert found.names == ("member 1", "member 2", "ensemble")
    assert found.class_names == ("setosa", "versicolor", "virginica")
    first, second = (axis.ravel() for axis in np.meshgrid(*found.grid, indexing="ij"))
    points = pd.DataFrame({PETALS[0]: first, PETALS[1]: second})
    table_of_regions = found.to_frame()
    assert table_of_regions["ensemble"].tolist() == model.predict(points).tolist()
    subsets = getattr(model, "estimators_features_", [[0, 1]] * 5)
    for k, member in enumerate(model.estimators_[:2]):
        table = points.to_numpy()[:, subsets[k]]
        if hasattr(member, "feature_names_in_"):
            table = pd.DataFrame(table, columns=member.feature_names_in_)
        predictions = member.predict(table)
        if predictions.dtype.kind not in "UO":
            predictions = model.classes_[predictions.astype(int)]
        assert table_of_regions[f"member {k + 1}"].tolist() == predictions.tolist()
    assert found.rows is not None
    assert found.rows.tolist() == X[PETALS].to_numpy().tolist()
    assert found.target is not None
    assert found.target.tolist() == Y.tolist()


def test_categories_and_fixed_columns_are_supported() -> None:
    table = pl.DataFrame(
        {
            "size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "hue": ["red", "blue", "red", "green", "red", None],
            "kind": ["a", "b", "b", "b", "a", "b"],
        }
    )
    model = DecisionTreeClassifier(random_state=0).fit(table, [0, 1, 0, 1, 0, 1])
    found = decision_regions(model, table, columns=["size", "hue"], n_points=3)
    assert found.grid[1].tolist() == ["blue", "green", "red"]
    grid = pl.DataFrame(
        {
            "size": np.repeat(found.grid[0], 3),
            "hue": ["blue", "green", "red"] * 3,
            "kind": ["b"] * 9,
        }
    )
    assert found.values[0].ravel().tolist() == model.predict(grid).tolist()
    assert found.rows is None


def test_several_models_and_regression_are_supported() -> None:
    model = LinearRegression().fit(X[PETALS], Y)
    found = decision_regions({"line": model, "again": model}, X[PETALS], Y, n_points=4)
    assert found.class_names is None
    points = np.column_stack([axis.ravel() for axis in np.meshgrid(*found.grid, indexing="ij")])
    expected = model.predict(pd.DataFrame(points, columns=PETALS)).reshape(4, 4)
    np.testing.assert_array_equal(found.values[0], expected)
    assert found.names == ("line", "again")


def test_a_constant_column_and_one_row_are_supported() -> None:
    model = fitted(LogisticRegression())
    for rows in (X[PETALS].iloc[:1], X[PETALS].assign(**{PETALS[0]: 1.0})):
        assert decision_regions(model, rows, n_points=3).values[0].shape == (3, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["no such", 1]}, "no such"),
        ({"columns": [0, 0]}, "two different"),
        ({"columns": [0, 1, 1]}, "two different"),
        ({"members": 99}, "has 5 members"),
        ({"n_points": 1}, "n_points"),
        ({"y": ["setosa"] * 3}, "y has 3 rows"),
        ({"y": ["iris"] * 150}, "not a class"),
    ],
)
def test_invalid_planes_are_refused(options: dict[str, Any], message: str) -> None:
    model = fitted(RandomForestClassifier(5, random_state=0))
    with pytest.raises(ValueError, match=message):
        decision_regions(model, X[PETALS], **options)


def test_unsupported_models_are_refused() -> None:
    with pytest.raises(ValueError, match="columns: select two"):
        decision_regions(fitted(LogisticRegression(max_iter=500), X), X)
    boosted = fitted(GradientBoostingClassifier(n_estimators=2))
    with pytest.raises(ValueError, match="no single members"):
        decision_regions(boosted, X[PETALS], members=1)
    with pytest.raises(NotFittedError):
        decision_regions(LogisticRegression(), X[PETALS])
    with pytest.raises(ValueError, match="estimators is empty"):
        decision_regions({}, X[PETALS])
    other = fitted(LogisticRegression(), y=np.where(Y == 0, "rose", "tulip"))
    with pytest.raises(ValueError, match="same classes"):
        decision_regions({"other": other, "model": fitted(LogisticRegression())}, X[PETALS])
    empty = X[PETALS].assign(**{PETALS[0]: np.nan})
    with pytest.raises(ValueError, match="has no value"):
        decision_regions(fitted(LogisticRegression()), empty)
