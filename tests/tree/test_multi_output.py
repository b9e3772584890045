"""Several targets at once: against the definition, one target at a time, and scikit-learn."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import tree as theirs
from sklearn.datasets import load_linnerud
from tests.property.strategies import CLASS_CRITERIA, REGRESSION_CRITERIA, arrays_of
from tests.tree.naive import assert_greedy

import arboleda
from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, PrunedTreeRegressor

Array = npt.NDArray[Any]
_ALL = pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, *REGRESSION_CRITERIA])


def make_model(criterion: str, **parameters: Any) -> Any:
    make = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    return make(criterion=criterion, **parameters)


def make_data(criterion: str, n_rows: int = 80, missing: float = 0.0) -> tuple[Array, Array]:
    """Three outputs: of different scales, or of 3, 2 and 4 classes."""
    random = np.random.default_rng(21)
    X = np.round(random.normal(size=(n_rows, 4)) * 8) / 8
    signal = X[:, [0, 1, 0]] + random.normal(size=(n_rows, 3)) / 2
    X[random.random(X.shape) < missing] = np.nan
    if criterion in CLASS_CRITERIA:
        cuts: list[list[float]] = [[-0.5, 0.5], [0.0], [-1.0, 0.0, 1.0]]
        return X, np.column_stack([np.digitize(signal[:, k], cuts[k]) for k in range(3)])
    if criterion == "poisson":
        return X, random.poisson(np.exp(signal)) * np.array([1.0, 7.0, 100.0])
    return X, signal * np.array([1.0, 30.0, 0.01]) + np.array([0.0, 1000.0, 0.0])


@_ALL
@pytest.mark.parametrize("kind", ["none", "missing", "weights", "zeros"])
def test_every_split_is_the_best_of_all(criterion: str, kind: str) -> None:
    X, y = make_data(criterion, missing=0.2 if kind == "missing" else 0.0)
    random = np.random.default_rng(22)
    weight = {
        "weights": random.integers(1, 9, len(y)) / 4,
        "zeros": random.integers(0, 3, len(y)) * 0.7,
    }.get(kind)
    model = make_model(criterion, max_depth=4).fit(X, y, sample_weight=weight)
    assert assert_greedy(model, X, y, criterion, weight) > 0
    assert model.n_outputs_ == model.tree_.n_outputs == 3


@_ALL
def test_a_repeated_output_matches_a_single_one(criterion: str) -> None:
    """Weights keep both fits on the same sums."""
    X, y = make_data(criterion)
    weight = np.random.default_rng(23).random(len(y)) + 0.1
    one = make_model(criterion).fit(X, y[:, 0], sample_weight=weight)
    two = make_model(criterion).fit(X, y[:, [0, 0]], sample_weight=weight)
    assert one.get_n_leaves() == two.get_n_leaves()
    np.testing.assert_array_equal(one.apply(X), two.apply(X))
    np.testing.assert_array_equal(one.predict(X), two.predict(X)[:, 1])


@_ALL
def test_threads_and_row_order_change_no_byte(
    criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda._engine.parallel.count_available_cores", lambda: 8)
    X, y = make_data(criterion, n_rows=3000)
    weight = np.random.default_rng(24).random(len(y)) + 0.1
    first = arrays_of(make_model(criterion, max_depth=8, n_jobs=1).fit(X, y, weight))
    for n_jobs in (2, 8):
        assert first == arrays_of(
            make_model(criterion, max_depth=8, n_jobs=n_jobs).fit(X, y, weight)
        )
    order = np.random.default_rng(25).permutation(len(y))
    again = make_model(criterion, max_depth=8).fit(X[order], y[order], weight[order])
    assert first == arrays_of(again)


@pytest.mark.parametrize("criterion", ["gini", "misclassification", "squared_error"])
def test_weight_two_matches_a_repeated_row(criterion: str) -> None:
    X, y = make_data(criterion)
    y = np.round(y * 4) / 4
    count = np.random.default_rng(26).integers(0, 4, len(y))
    weighted = make_model(criterion).fit(X, y, sample_weight=count)
    rows = np.repeat(np.arange(len(y)), count)
    repeated = make_model(criterion).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_negligible_outputs_do_not_affect_splits(criterion: str) -> None:
    """Scales far apart overflow nothing: the large output alone decides."""
    X, y = make_data(criterion)
    alone = make_model(criterion, max_depth=3).fit(X, y[:, 0] * 1e300)
    both = np.column_stack([y[:, 0] * 1e300, y[:, 1] * 1e-300])
    model = make_model(criterion, max_depth=3).fit(X, both)
    np.testing.assert_array_equal(model.apply(X), alone.apply(X))
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_constant_outputs_do_not_affect_splits(criterion: str) -> None:
    """However small the other output is: a constant has no scale that could hide it."""
    X, y = make_data(criterion)
    alone = make_model(criterion, max_depth=3).fit(X, y[:, 0] * 1e-200)
    both = np.column_stack([np.full(len(y), 3.0), y[:, 0] * 1e-200])
    model = make_model(criterion, max_depth=3).fit(X, both)
    np.testing.assert_array_equal(model.apply(X), alone.apply(X))
    np.testing.assert_array_equal(model.predict(X)[:, 0], 3.0)


@pytest.mark.parametrize("criterion", REGRESSION_CRITERIA)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_regression_matches_scikit_learn(criterion: str, depth: int) -> None:
    random = np.random.default_rng(27)
    X = random.normal(size=(300, 4)).astype(np.float32).astype(float)
    y = np.exp(X[:, [0, 1]] + random.normal(size=(300, 2)))
    mine = DecisionTreeRegressor(criterion=criterion, max_depth=depth).fit(X, y)
    other = theirs.DecisionTreeRegressor(criterion=criterion, max_depth=depth, random_state=0)
    other.fit(X, y)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-9)
    np.testing.assert_allclose(mine.tree_.impurity, other.tree_.impurity, rtol=1e-9)
    np.testing.assert_allclose(mine.tree_.value, other.tree_.value, rtol=1e-9)
    np.testing.assert_allclose(mine.score(X, y), other.score(X, y))


def test_a_real_table_matches_scikit_learn() -> None:
    X, y = load_linnerud(return_X_y=True)
    mine = DecisionTreeRegressor(max_depth=2).fit(X, y)
    other = theirs.DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-9)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(
    "class_weight",
    [None, "balanced", [{0: 1.0, 1: 2.5, 2: 0.5}, {0: 1.0, 1: 3.0}, {0: 1, 1: 1, 2: 1, 3: 2}]],
    ids=["none", "balanced", "list"],
)
def test_classification_matches_scikit_learn(criterion: str, class_weight: Any) -> None:
    X, y = make_data(criterion, n_rows=200)
    X = np.random.default_rng(28).normal(size=X.shape).astype(np.float32) / 9 + X
    X = X.astype(np.float32).astype(float)
    parameters = {"criterion": criterion, "max_depth": 3, "class_weight": class_weight}
    mine = DecisionTreeClassifier(**parameters).fit(X, y)
    other = theirs.DecisionTreeClassifier(random_state=0, **parameters).fit(X, y)
    assert mine.tree_.value.shape == other.tree_.value.shape == (mine.tree_.node_count, 3, 4)
    np.testing.assert_allclose(mine.tree_.value, other.tree_.value, atol=1e-12)
    for p, q in zip(mine.predict_proba(X), other.predict_proba(X), strict=True):
        np.testing.assert_allclose(p, q, atol=1e-12)
    with np.errstate(divide="ignore"):
        theirs_log = other.predict_log_proba(X)
    for p, q in zip(mine.predict_log_proba(X), theirs_log, strict=True):
        np.testing.assert_allclose(p, q, atol=1e-9)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))
    assert list(mine.n_classes_) == list(other.n_classes_)


def test_text_labels_and_an_output_of_one_class_are_supported() -> None:
    X = [[0.0], [1.0], [2.0]]
    y = np.array([["a", "x"], ["b", "x"], ["c", "x"]], dtype=object)
    for labels in (y, y.astype(str), y.tolist()):
        model = DecisionTreeClassifier().fit(X, labels)
        assert model.predict(X).tolist() == y.tolist()
        assert [list(classes) for classes in model.classes_] == [["a", "b", "c"], ["x"]]
        np.testing.assert_array_equal(model.predict_proba(X)[1], np.ones((3, 1)))


def test_two_stumps_match_values_by_hand() -> None:
    """Output 1 pulls the split to where it changes; both impurities are averaged."""
    y = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 10.0]])
    tree = DecisionTreeRegressor(max_depth=1).fit(np.arange(4.0).reshape(-1, 1), y).tree_
    np.testing.assert_allclose(tree.impurity, [(0.25 + 18.75) / 2, (2 / 9 + 0) / 2, 0])
    np.testing.assert_allclose(tree.value[:, :, 0], [[0.5, 2.5], [1 / 3, 0], [1, 10]])
    assert tree.threshold[0] == 2.5


@_ALL
def test_files_and_pickles_restore_the_tree(criterion: str, tmp_path: Path) -> None:
    X, y = make_data(criterion)
    model = make_model(criterion, max_depth=3, ccp_alpha=1e-3).fit(X, y)
    model.save(tmp_path / "model")
    for copy in (arboleda.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert arrays_of(copy) == arrays_of(model)
        assert copy.tree_.value.shape == model.tree_.value.shape
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert arboleda.export_text(model)


def test_options_unsupported_for_several_targets_are_refused() -> None:
    X, y = make_data("gini")
    with pytest.raises(ValueError, match="one dict for 3 targets"):
        DecisionTreeClassifier(class_weight={0: 1.0}).fit(X, y)
    with pytest.raises(ValueError, match=r"Got 2 element\(s\) while having 3 outputs"):
        DecisionTreeClassifier(class_weight=[{0: 1.0}, {0: 1.0}]).fit(X, y)
    amounts = np.abs(y) + 1.0
    amounts[5, 1] = -2.0
    with pytest.raises(ValueError, match=r"-2\.0 in row 5 of output 1"):
        DecisionTreeRegressor(criterion="poisson").fit(X, amounts)
    amounts[:, 1] = 0.0
    with pytest.raises(ValueError, match="0 in every row of output 1"):
        DecisionTreeRegressor(criterion="poisson").fit(X, amounts)
    with pytest.raises(ValueError, match="1d array"):
        PrunedTreeRegressor().fit(X, y)


def test_categories_are_ordered_by_every_output() -> None:
    x = np.arange(4).repeat(5)
    y = np.column_stack([np.zeros(20), np.isin(x, [0, 3])])
    for make in (DecisionTreeClassifier, DecisionTreeRegressor):
        model = make(max_depth=1, categorical_features=[0]).fit(x[:, None], y)
        np.testing.assert_array_equal(model.predict(x[:, None]), y)
