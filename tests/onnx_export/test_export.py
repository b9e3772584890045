"""Exported models predict the same in onnxruntime."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RANSACRegressor
from tests.importers.peers import classes, mixed_frame, signal

import arboleda as ab

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

FRAME = mixed_frame(300)
NUMBERS = FRAME.select_dtypes("float")
Y = signal(FRAME)
TWO = np.array(["no", "yes"])[classes(FRAME, 2)]
THREE = classes(FRAME, 3) * 10
NEW = mixed_frame(400, seed=7)


def feed(model: Any, session: Any, X: pd.DataFrame) -> dict[str, Any]:
    """Return the inputs of the exported graph."""
    wanted = {item.name: item.type for item in session.get_inputs()}
    if set(wanted) == {"X"}:
        dtype = np.float32 if "float" in wanted["X"] else np.float64
        return {"X": X.astype(float).to_numpy(dtype=dtype)}
    given = {}
    for name, kind in wanted.items():
        column = X[name]
        if "string" in kind:
            text = column.astype(object).where(column.notna(), "")
            given[name] = text.to_numpy(dtype=object)[:, np.newaxis]
        else:
            dtype = np.float32 if "float" in kind else np.float64
            given[name] = column.astype(float).to_numpy(dtype=dtype)[:, np.newaxis]
    return given


def run(model: Any, X: pd.DataFrame, **options: Any) -> list[Any]:
    content = ab.to_onnx(model, **options).SerializeToString()
    session = ort.InferenceSession(content, providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(None, feed(model, session, X))
    return found


def check(model: Any, X: pd.DataFrame, **options: Any) -> None:
    """Predictions agree on training rows and on new ones."""
    for rows in (X, NEW[list(X)]):
        found = run(model, rows, **options)
        if hasattr(model, "predict_proba"):
            label, shares = found
            expected = model.predict_proba(rows)
            np.testing.assert_allclose(shares, expected, rtol=0, atol=1e-6)
            ordered = np.sort(expected, axis=1)
            apart = ordered[:, -1] - ordered[:, -2] > 1e-6 if expected.shape[1] > 1 else slice(None)
            assert np.array_equal(label[apart], model.predict(rows)[apart])
        else:
            expected = model.predict(rows)
            assert found[0].shape == expected.shape
            np.testing.assert_allclose(
                found[0], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()
            )


KW = {"random_state": 0, "n_jobs": 1}
CLASSIFIERS = [
    ab.DecisionTreeClassifier(n_jobs=1),
    ab.PrunedTreeClassifier(random_state=0),
    ab.RandomForestClassifier(12, **KW),
    ab.RandomForestClassifier(12, voting="hard", **KW),
    ab.RandomForestClassifier(12, voting="laplace", **KW),
    ab.ExtraTreesClassifier(12, **KW),
    ab.GradientBoostingClassifier(n_estimators=10, **KW),
    ab.HistGradientBoostingClassifier(max_iter=10, **KW),
    ab.HistGradientBoostingClassifier(max_iter=10, category_encoding="ordered", **KW),
    ab.HistGradientBoostingClassifier(max_iter=10, multi_strategy="multi_output_tree", **KW),
    ab.BaggingClassifier(ab.DecisionTreeClassifier(max_depth=6), n_estimators=6, **KW),
    ab.BaggingClassifier(
        ab.DecisionTreeClassifier(max_depth=2), n_estimators=6, voting="hard", weights="oob", **KW
    ),
    ab.BaggingClassifier(
        ab.DecisionTreeClassifier(ccp_alpha=0.01), n_estimators=6, weights="oob", **KW
    ),
    ab.RandomSubspaceClassifier(n_estimators=6, **KW),
    ab.RandomSubspaceClassifier(n_estimators=6, weights="validation", **KW),
    ab.VotingClassifier(
        [("a", ab.RandomForestClassifier(5, **KW)), ("b", ab.DecisionTreeClassifier(max_depth=4))],
        voting="soft", weights=[1, 3],
    ),
]  # fmt: skip
REGRESSORS = [
    ab.DecisionTreeRegressor(n_jobs=1),
    ab.RandomForestRegressor(12, **KW),
    ab.RandomForestRegressor(5, criterion="absolute_error", max_depth=4, **KW),
    ab.ExtraTreesRegressor(12, **KW),
    ab.GradientBoostingRegressor(n_estimators=10, **KW),
    ab.GradientBoostingRegressor(n_estimators=10, init="zero", **KW),
    ab.HistGradientBoostingRegressor(max_iter=10, **KW),
    ab.HistGradientBoostingRegressor(max_iter=10, category_encoding="ordered", **KW),
    ab.HistGradientBoostingRegressor(
        loss="quantile", quantile=[0.9, 0.1, 0.5], max_iter=10, **KW
    ),
    ab.BoostingRegressor("quick", cross_columns=True, category_encoding="ordered", **KW),
    ab.BaggingRegressor(ab.DecisionTreeRegressor(max_depth=6), n_estimators=6, **KW),
    ab.BaggingRegressor(n_estimators=6, weights="oob", **KW),
    ab.VotingRegressor(
        [("a", ab.RandomForestRegressor(5, **KW)), ("b", ab.DecisionTreeRegressor(max_depth=4))]
    ),
]  # fmt: skip


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: f"{type(m).__name__}")
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_classifiers_are_exported(model: Any, y: Any) -> None:
    for X in (FRAME, NUMBERS):
        check(clone(model).fit(X, y), X)


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: f"{type(m).__name__}")
def test_regressors_are_exported(model: Any) -> None:
    for X in (FRAME, NUMBERS):
        check(clone(model).fit(X, Y), X)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_several_targets_are_exported(strategy: Any) -> None:
    several = np.column_stack([np.exp(Y / 3), np.abs(Y) + 0.1])
    for loss in ("squared_error", "poisson"):
        model = ab.HistGradientBoostingRegressor(
            loss=loss, max_iter=10, multi_strategy=strategy, **KW
        )
        for X in (FRAME, NUMBERS):
            check(clone(model).fit(X, several), X)


def test_losses_with_a_link_are_exported() -> None:
    for loss in ("poisson", "gamma", "tweedie"):
        model = ab.HistGradientBoostingRegressor(loss=loss, max_iter=10, **KW)
        check(model.fit(FRAME, np.exp(Y / 3)), FRAME)
    check(
        ab.GradientBoostingClassifier(loss="exponential", n_estimators=9, **KW).fit(FRAME, TWO),
        FRAME,
    )


def test_float32_inputs_reach_the_same_leaves() -> None:
    """A value rounded to float32 reaches the leaf that the model gives that float32."""
    single = NUMBERS.astype(np.float32).astype(np.float64)
    model = ab.RandomForestRegressor(12, **KW).fit(NUMBERS, Y)
    [found] = run(model, single, input_type="float32")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, model.predict(single), rtol=1e-6)
    boosted = ab.HistGradientBoostingClassifier(max_iter=9, **KW).fit(FRAME, TWO)
    rounded = FRAME.copy()
    for name in NUMBERS:
        rounded[name] = FRAME[name].astype(np.float32).astype(float)
    shares = run(boosted, rounded, input_type="float32")[1]
    np.testing.assert_allclose(shares, boosted.predict_proba(rounded), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-42, 1e38, 1e305])
def test_targets_beyond_float32_are_exported(scale: float) -> None:
    """The operator for trees adds in float32."""
    for model in (
        ab.DecisionTreeRegressor(max_depth=4, n_jobs=1),
        ab.RandomForestRegressor(12, **KW),
        ab.GradientBoostingRegressor(n_estimators=5, **KW),
    ):
        expected = model.fit(NUMBERS, scale * Y).predict(NUMBERS)
        np.testing.assert_allclose(run(model, NUMBERS)[0] / scale, expected / scale, atol=1e-6)
    both = ab.DecisionTreeRegressor(max_depth=4).fit(NUMBERS, np.c_[Y, scale * Y])
    found = run(both, NUMBERS)[0] / [1.0, scale]
    np.testing.assert_allclose(found, both.predict(NUMBERS) / [1.0, scale], atol=1e-6)


def test_thresholds_are_exported_exactly() -> None:
    model = ab.DecisionTreeRegressor(n_jobs=1).fit(NUMBERS[["full"]], Y)
    split = model.tree_.threshold[model.tree_.children_left >= 0]
    near = np.concatenate([split, np.nextafter(split, 9), np.nextafter(split, -9)])
    rows = pd.DataFrame({"full": near})
    np.testing.assert_allclose(run(model, rows)[0], model.predict(rows), rtol=1e-6)


def test_category_ranges_and_unseen_categories_are_exported() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 40, 600)
    column = np.array([f"c{code:02d}" for code in codes], dtype=object)
    column[::11] = None
    frame = pd.DataFrame({"c": column, "x": random.normal(size=600)})
    y = (codes * 7 % 5 < 2) + 0.1 * random.normal(size=600)
    model = ab.DecisionTreeRegressor(max_depth=5, n_jobs=1).fit(frame, y)
    assert any(model.tree_.categories(node).size > 3 for node in range(model.tree_.node_count))
    frame.loc[::3, "c"] = "never seen"
    found = run(model, frame)[0]
    np.testing.assert_allclose(found, model.predict(frame), rtol=1e-6, atol=1e-7)


def test_labels_keep_their_type() -> None:
    for labels, kind in (
        (THREE, np.int64),
        (THREE.astype(float), np.float64),
        (THREE > 5, np.int64),
        (np.array(list("abc"))[THREE // 10], np.object_),
    ):
        model = ab.DecisionTreeClassifier(n_jobs=1).fit(NUMBERS, labels)
        label = run(model, NUMBERS)[0]
        assert label.dtype == kind
        assert label.tolist() == model.predict(NUMBERS).tolist()


def test_one_class_and_single_leaves_are_exported() -> None:
    check(ab.HistGradientBoostingClassifier(max_iter=3).fit(NUMBERS, ["a"] * 300), NUMBERS)
    check(ab.DecisionTreeClassifier().fit(NUMBERS, ["a"] * 300), NUMBERS)
    check(ab.RandomForestRegressor(2).fit(NUMBERS, np.ones(300)), NUMBERS)
    check(ab.HistGradientBoostingRegressor(max_iter=3).fit(NUMBERS, np.ones(300)), NUMBERS)


def test_files_are_written_atomically(tmp_path: Any) -> None:
    model = ab.DecisionTreeRegressor(n_jobs=1).fit(NUMBERS, Y)
    path = tmp_path / "model.onnx"
    ab.export_onnx(model, path)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    [found] = session.run(None, {"X": NUMBERS.to_numpy()})
    np.testing.assert_allclose(found, model.predict(NUMBERS), rtol=1e-6)


def test_unsupported_models_are_refused() -> None:
    with pytest.raises(NotFittedError):
        ab.to_onnx(ab.DecisionTreeRegressor())
    with pytest.raises(ValueError, match="input_type must be .*, got 'half'"):
        ab.to_onnx(ab.DecisionTreeRegressor().fit(NUMBERS, Y), input_type="half")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is not an estimator"):
        ab.to_onnx("model")
    full = NUMBERS.fillna(0.0)
    with pytest.raises(TypeError, match="RANSACRegressor cannot be exported"):
        ab.to_onnx(RANSACRegressor(random_state=0).fit(full, Y))
    begun = ab.GradientBoostingRegressor(init=LinearRegression(), n_estimators=2).fit(full, Y)
    with pytest.raises(ValueError, match="starts from a LinearRegression"):
        ab.to_onnx(begun)
    two = ab.DecisionTreeClassifier().fit(NUMBERS, np.c_[TWO, TWO])
    with pytest.raises(ValueError, match="2 classification targets"):
        ab.to_onnx(two)
    members = [("tree", ab.DecisionTreeClassifier()), ("more", ab.DecisionTreeClassifier())]
    with pytest.raises(ValueError, match="does not take the mean"):
        ab.to_onnx(ab.VotingClassifier(members, voting="hard").fit(NUMBERS, TWO))


@pytest.mark.parametrize(
    ("names", "inputs"),
    [
        (["label", "probabilities", "t"], ["label_", "probabilities_", "t"]),
        (["", "constant_1", "concat_2"], ["x0", "constant_1", "concat_2"]),
        (["label", "labelencoder_1", "label_"], ["label_", "labelencoder_1", "label__"]),
    ],
)
def test_column_names_can_match_names_of_the_graph(names: list[Any], inputs: list[str]) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({j: random.normal(size=60) for j in range(2)})
    frame[2] = random.choice(["a", "b", "c"], 60)
    frame.columns = pd.Index(names, dtype=object)
    y = (frame[names[0]] + (frame[names[2]] == "b") > 0).to_numpy()
    model = ab.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(frame, y)
    session = ort.InferenceSession(ab.to_onnx(model).SerializeToString())
    assert [given.name for given in session.get_inputs()] == inputs
    given = {name: frame.iloc[:, [j]].to_numpy() for j, name in enumerate(inputs)}
    label, _ = session.run(None, given)
    assert np.array_equal(label.astype(bool), model.predict(frame))
