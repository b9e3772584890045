"""Models as C: compiled without a warning, they give the bits of the model."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier as OtherBoosting
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import arboleda as ab

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")
N_ROWS = 200


def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = np.nan_to_num(X)
    return X, filled[:, 0] - 2.0 * filled[:, 1] * filled[:, 2]


def classes(y, n):
    return np.array(["no", 'per"haps*/\\', "sí"])[[0, 2] if n == 2 else [0, 1, 2]][
        np.digitize(y, np.quantile(y, np.arange(1, n) / n))
    ]


class Compiled:
    """The functions of a C file."""

    def __init__(self, model, folder, **options):
        path, library = folder / "model.c", folder / "model.so"
        ab.export_c(model, path, **options)
        strict = ["-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
        command = [CC, *strict, "-O0", "-shared", "-fPIC", "-o", library, path, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        undefined = subprocess.run(
            ["nm", "-u", library], capture_output=True, text=True, check=True
        )
        assert not {"malloc", "free", "printf"} & set(undefined.stdout.split())
        self.library = ctypes.CDLL(str(library))
        self.name = options.get("name", "predict")
        self.dtype = np.dtype(options.get("number_type", "float64"))

    def predict(self, X, n_outputs, what=""):
        X = np.ascontiguousarray(X, self.dtype)
        out = np.full((len(X), n_outputs + 1), 99.0, self.dtype)
        function = getattr(self.library, self.name + what)
        pointers = ctypes.c_void_p, ctypes.c_void_p
        function.argtypes = pointers
        returned = [
            function(row.ctypes.data, line.ctypes.data) for row, line in zip(X, out, strict=True)
        ]
        assert (out[:, -1] == 99.0).all()  # nothing is written beyond the outputs
        return out[:, :-1], np.array(returned)

    def category(self, column, text):
        function = getattr(self.library, f"{self.name}_category")
        function.restype = ctypes.c_double if self.dtype == "float64" else ctypes.c_float
        return function(column, text.encode())


CLASSIFIERS = {
    "tree": ab.DecisionTreeClassifier(max_depth=6),
    "pruned": ab.PrunedTreeClassifier(cv=3, random_state=0),
    "switching": ab.ClassSwitchingClassifier(n_estimators=5, random_state=0),
    "root alone": ab.DecisionTreeClassifier(max_depth=1, min_impurity_decrease=9.0),
    "forest": ab.RandomForestClassifier(n_estimators=9, random_state=0),
    "hard votes": ab.RandomForestClassifier(n_estimators=9, voting="hard", random_state=0),
    "laplace": ab.ExtraTreesClassifier(n_estimators=9, voting="laplace", random_state=0),
    "boosting": ab.GradientBoostingClassifier(n_estimators=9, random_state=0),
    "hist": ab.HistGradientBoostingClassifier(max_iter=9, min_samples_leaf=5, random_state=0),
    "bagging": ab.BaggingClassifier(n_estimators=9, random_state=0),
    "subspace": ab.RandomSubspaceClassifier(n_estimators=9, random_state=0),
    "weighted bagging": ab.BaggingClassifier(n_estimators=9, weights="oob", random_state=0),
    "weighted hard votes": ab.BaggingClassifier(
        ab.DecisionTreeClassifier(max_depth=2),
        n_estimators=9,
        voting="hard",
        weights="oob",
        random_state=0,
    ),
    "weighted subspace": ab.RandomSubspaceClassifier(
        n_estimators=9, weights="validation", random_state=0
    ),
    "vote": ab.VotingClassifier(
        [
            ("forest", ab.RandomForestClassifier(n_estimators=5, random_state=0)),
            ("hist", ab.HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)),
            ("boost", ab.AdaBoostClassifier(n_estimators=5, random_state=0)),
        ],
        voting="soft",
        weights=[2.0, 0.3, 1.0],
    ),
    "selection": ab.EnsembleSelectionClassifier(
        [("tree", ab.DecisionTreeClassifier(max_depth=3)), ("deep", ab.DecisionTreeClassifier())],
        random_state=0,
    ),
    **{
        name: ab.AdaBoostClassifier(
            ab.DecisionTreeClassifier(max_depth=3) if name == "M1" else None,
            n_estimators=9,
            algorithm=name,
            random_state=0,
        )
        for name in ("SAMME", "real", "gentle", "logit", "MH", "M1", "M2", "MR")
    },
    "discrete": ab.AdaBoostClassifier(n_estimators=9, algorithm="discrete", random_state=0),
}
REGRESSORS = {
    "tree": ab.DecisionTreeRegressor(max_depth=6),
    "absolute error": ab.DecisionTreeRegressor(max_depth=4, criterion="absolute_error"),
    "pruned": ab.PrunedTreeRegressor(cv=3, random_state=0),
    "forest": ab.RandomForestRegressor(n_estimators=9, random_state=0),
    "medians": ab.RandomForestRegressor(
        n_estimators=5, criterion="absolute_error", max_depth=4, random_state=0
    ),
    "extra trees": ab.ExtraTreesRegressor(n_estimators=9, random_state=0),
    "subspace": ab.RandomSubspaceRegressor(n_estimators=5, random_state=0),
    "boosting": ab.GradientBoostingRegressor(n_estimators=9, loss="huber", random_state=0),
    "hist": ab.HistGradientBoostingRegressor(max_iter=9, min_samples_leaf=5),
    "linear": ab.HistGradientBoostingRegressor(max_iter=9, linear_leaves=True),
    "crosses": ab.BoostingRegressor("quick", cross_columns=True, random_state=0),
    "quantiles": ab.HistGradientBoostingRegressor(
        max_iter=9, loss="quantile", quantile=[0.9, 0.1, 0.5]
    ),
    "bagging": ab.BaggingRegressor(n_estimators=9, random_state=0),
    "weighted bagging": ab.BaggingRegressor(n_estimators=9, weights="oob", random_state=0),
    "R2": ab.AdaBoostRegressor(n_estimators=9, random_state=0),
    "R2, one": ab.AdaBoostRegressor(n_estimators=1, random_state=0),
    "mean": ab.VotingRegressor(
        [("tree", ab.DecisionTreeRegressor(max_depth=3)), ("other", ab.DecisionTreeRegressor())],
        weights=[1.0, 3.0],
    ),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_exported_classifiers_predict_the_same(name, n_classes, tmp_path):
    if name == "discrete" and n_classes > 2:
        pytest.skip("is for two classes")
    X, y = numbers()
    model = CLASSIFIERS[name].fit(X, classes(y, n_classes))
    compiled = Compiled(model, tmp_path)
    shares, numbers_of_classes = compiled.predict(X, n_classes)
    assert_array_equal(model.classes_[numbers_of_classes], model.predict(X))
    # Exponentials are those of the C library.
    assert_allclose(shares, model.predict_proba(X), rtol=4 * np.finfo(float).eps, atol=3e-16)
    of_members = {"bagging", "subspace"} | {
        one for one in CLASSIFIERS if one.startswith("weighted")
    }
    if hasattr(model, "decision_function") and name not in of_members:
        expected = model.decision_function(X).reshape(N_ROWS, -1)
    else:
        expected = model.predict_proba(X)
        if name != "vote":  # whose members have exponentials
            assert_array_equal(shares, expected)
    found, _ = compiled.predict(X, expected.shape[1], "_scores")
    assert_allclose(found, expected, rtol=1e-15 if name == "vote" else 0.0, atol=0.0)
    labels = (ctypes.c_char_p * n_classes).in_dll(compiled.library, "predict_class")
    assert [label.decode() for label in labels] == model.classes_.tolist()


@pytest.mark.parametrize("name", REGRESSORS)
def test_exported_regressors_predict_the_same(name, tmp_path):
    X, y = numbers()
    model = REGRESSORS[name].fit(X, y)
    expected = model.predict(X).reshape(N_ROWS, -1)
    compiled = Compiled(model, tmp_path, name="value")
    values, returned = compiled.predict(X, expected.shape[1])
    assert_array_equal(values, expected)
    assert not returned.any()


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_several_targets_are_exported(loss, tmp_path):
    X, y = numbers()
    model = ab.HistGradientBoostingRegressor(
        loss, max_iter=9, multi_strategy="multi_output_tree"
    ).fit(X, np.abs(np.column_stack([y, y + 1.0, -y])))
    values, _ = Compiled(model, tmp_path, name="value").predict(X, 3)
    assert_allclose(values, model.predict(X), rtol=4 * np.finfo(float).eps)


def test_the_logarithm_of_a_mean_is_exported(tmp_path):
    X, y = numbers()
    model = ab.GradientBoostingRegressor(loss="poisson", n_estimators=9).fit(X, np.abs(y))
    values, _ = Compiled(model, tmp_path).predict(X, 1)
    assert_allclose(values[:, 0], model.predict(X), rtol=4 * np.finfo(float).eps)


@pytest.mark.parametrize("name", ["forest", "hist", "R2", "linear", "quantiles", "mean"])
def test_single_precision_is_rounded_like_the_model(name, tmp_path):
    X, y = numbers()
    model = REGRESSORS[name].fit(X, y)
    single = X.astype(np.float32)
    compiled = Compiled(model, tmp_path, number_type="float32")
    expected = model.predict(single).reshape(N_ROWS, -1)
    values, _ = compiled.predict(single, expected.shape[1])
    # Paths are those of the model for the same values; outputs are rounded.
    assert_allclose(values, expected, rtol=1e-5, atol=1e-5)


def test_thresholds_between_adjacent_float32_values_are_exact(tmp_path):
    low = np.float32(1.0)
    high = np.nextafter(low, np.float32(2.0))
    model = ab.DecisionTreeRegressor().fit([[float(low)], [float(high)]], [0.0, 1.0])
    compiled = Compiled(model, tmp_path, number_type="float32")
    assert compiled.predict([[low], [high]], 1)[0].ravel().tolist() == [0.0, 1.0]


def mixed():
    rng = np.random.default_rng(1)
    X, y = numbers()
    towns = np.array(["Alcoy", "Cádiz", 'De"nia', "Ubrique \\ */"], dtype=object)
    place = rng.integers(0, 4, N_ROWS)
    frame = pd.DataFrame({"town": towns[place], "x": X[:, 0]})
    frame.loc[::17, "town"] = None
    frame["team"] = rng.integers(0, 40, N_ROWS).astype(str)
    return frame, y + place


@pytest.mark.parametrize("encoding", ["native", "ordered"])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_categories_are_exported(encoding, n_classes, tmp_path):
    frame, y = mixed()
    kind = ab.HistGradientBoostingClassifier if n_classes else ab.HistGradientBoostingRegressor
    model = kind(max_iter=9, min_samples_leaf=5, category_encoding=encoding)
    model.fit(frame, classes(y, n_classes) if n_classes else y)
    compiled = Compiled(model, tmp_path)
    rows = frame.head(60).copy()
    rows.loc[3, "town"] = "Elche"
    X = np.empty((60, 3))
    X[:, 1] = rows["x"]
    for j, name in ((0, "town"), (2, "team")):
        X[:, j] = [compiled.category(j, t) if isinstance(t, str) else np.nan for t in rows[name]]
    assert np.isnan(X[3, 0])
    assert np.isnan(compiled.category(0, ""))
    assert np.isnan(compiled.category(0, "Alcoy "))
    assert np.isnan(compiled.category(1, "Alcoy"))
    found, returned = compiled.predict(X, max(1, n_classes))
    if n_classes:
        assert_array_equal(model.classes_[returned], model.predict(rows))
    else:
        assert_array_equal(found[:, 0], model.predict(rows))
    # Invalid category numbers follow missing values.
    strange = np.repeat(X[:1], 4, axis=0)
    strange[:, 0] = [np.nan, -1.0, 1e300, np.inf]
    values, _ = compiled.predict(strange, max(1, n_classes))
    assert (values == values[0]).all()


def of_categories(kind, **parameters):
    return kind(categorical_features="from_dtype", **parameters)


SMALL_TREE = of_categories(ab.DecisionTreeClassifier, max_depth=4)
WITH_CATEGORIES = {
    "tree": of_categories(ab.DecisionTreeClassifier),
    "forest": of_categories(ab.RandomForestClassifier, n_estimators=9, random_state=0),
    "extra trees": of_categories(ab.ExtraTreesRegressor, n_estimators=9, random_state=0),
    "boosting": of_categories(ab.GradientBoostingClassifier, n_estimators=9, random_state=0),
    "bagging": ab.BaggingClassifier(SMALL_TREE, n_estimators=5, random_state=0),
    "M1": ab.AdaBoostClassifier(SMALL_TREE, n_estimators=5, algorithm="M1", random_state=0),
    "R2": ab.AdaBoostRegressor(
        of_categories(ab.DecisionTreeRegressor, max_depth=4), n_estimators=5, random_state=0
    ),
}


@pytest.mark.parametrize("number_type", ["float64", "float32"])
@pytest.mark.parametrize("name", WITH_CATEGORIES)
def test_categories_of_every_type_are_exported(name, number_type, tmp_path):
    frame, y = mixed()
    frame["x"] = frame["x"].astype(np.float32).astype(float)
    model = WITH_CATEGORIES[name]
    is_classifier = hasattr(model, "predict_proba")
    model.fit(frame, classes(y, 3) if is_classifier else y)
    compiled = Compiled(model, tmp_path, number_type=number_type)
    rows = frame.head(80).copy()
    rows.loc[3, "town"] = "Elche"
    X = np.empty((80, 3))
    X[:, 1] = rows["x"]
    for j, column in ((0, "town"), (2, "team")):
        texts = rows[column]
        X[:, j] = [compiled.category(j, t) if isinstance(t, str) else np.nan for t in texts]
    found, returned = compiled.predict(X, 3 if is_classifier else 1)
    expected = model.predict_proba(rows) if is_classifier else model.predict(rows)[:, None]
    single = number_type == "float32"
    assert_allclose(found, expected, rtol=2e-6 if single else 1e-15, atol=1e-6 if single else 3e-16)
    if is_classifier:
        ordered = np.sort(expected, axis=1)
        apart = ordered[:, -1] - ordered[:, -2] > (1e-5 if single else 0.0)
        assert_array_equal(model.classes_[returned][apart], model.predict(rows)[apart])


def test_huge_and_infinite_numbers_reach_a_leaf(tmp_path):
    X, y = numbers()
    compiled = Compiled(ab.RandomForestRegressor(n_estimators=5).fit(X, y), tmp_path)
    odd = np.array([[np.inf] * 5, [-np.inf] * 5, [1e308] * 5, [5e-324] * 5, [np.nan] * 5])
    assert np.isfinite(compiled.predict(odd, 1)[0]).all()


def test_imported_models_are_exported(tmp_path):
    X, y = numbers()
    model = ab.from_sklearn(OtherBoosting(max_iter=5).fit(X, classes(y, 3)))
    shares, returned = Compiled(model, tmp_path).predict(X, 3)
    assert_array_equal(model.classes_[returned], model.predict(X))
    assert_allclose(shares, model.predict_proba(X), atol=3e-16)


def test_one_class_and_empty_ensembles_are_exported(tmp_path):
    X, _ = numbers()
    model = ab.HistGradientBoostingClassifier().fit(X, ["yes"] * N_ROWS)
    shares, returned = Compiled(model, tmp_path).predict(X[:3], 1)
    assert shares.tolist() == [[1.0]] * 3
    assert returned.tolist() == [0, 0, 0]


def test_the_same_model_gives_the_same_text():
    X, y = numbers()
    model = ab.DecisionTreeRegressor(max_depth=2).fit(X, y)
    assert ab.to_c(model) == ab.to_c(model)
    assert "malloc" not in ab.to_c(model)


@pytest.mark.parametrize("name", ["", "9a", "a b", "int", "m1_leaf", "a-b", "exp", "x" * 99])
def test_invalid_c_names_are_refused(name):
    model = ab.DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="name must"):
        ab.to_c(model, name=name)


def test_unsupported_models_are_refused():
    X, y = numbers()
    X = np.nan_to_num(X)
    labels = classes(y, 2)
    with pytest.raises(ValueError, match="number_type must be .*, got 'float16'"):
        ab.to_c(ab.DecisionTreeRegressor().fit(X, y), number_type="float16")
    with pytest.raises(TypeError, match="list is not an estimator"):
        ab.to_c([])
    with pytest.raises(TypeError, match="LinearRegression has no member that can be exported"):
        ab.to_c(LinearRegression().fit(X, y))
    begun = ab.GradientBoostingRegressor(init=LinearRegression(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="starts from a LinearRegression"):
        ab.to_c(begun)
    several = ab.DecisionTreeClassifier().fit(X, np.column_stack([labels, labels]))
    with pytest.raises(ValueError, match="2 classification targets"):
        ab.to_c(several)
    members = [("tree", ab.DecisionTreeClassifier()), ("bayes", GaussianNB())]
    with pytest.raises(TypeError, match="GaussianNB cannot be exported to C"):
        ab.to_c(ab.VotingClassifier(members, voting="soft").fit(X, labels))
    with pytest.raises(ValueError, match="does not take the mean"):
        ab.to_c(ab.VotingClassifier(members[:1], voting="hard").fit(X, labels))
    huge = ab.DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1e300])
    with pytest.raises(ValueError, match="overflows float32"):
        ab.to_c(huge, number_type="float32")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.c"
    path.write_text("old")
    with pytest.raises(TypeError):
        ab.export_c(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), path)
    assert path.read_text() == "old"
