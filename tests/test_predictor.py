"""Models that predict row by row: the bits of `predict`, the checks of a table."""

import copy
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier as OtherTree

import arboleda as ab
from arboleda._engine.row_predictor import FEW_ROWS

N_ROWS = 240
NAMES = ["age", "height", "income", "town", "team"]


def numbers(n_columns=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, n_columns))
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = np.nan_to_num(X)
    return X, filled[:, 0] - 2.0 * filled[:, 1] * filled[:, 2]


def classes(y, n):
    labels = np.array(["no", "perhaps", "yes"][:n])
    return labels[np.digitize(y, np.quantile(y, np.arange(1, n) / n))]


CLASSIFIERS = {
    "tree": ab.DecisionTreeClassifier(max_depth=6),
    "forest": ab.RandomForestClassifier(n_estimators=70, random_state=0),
    "hard votes": ab.RandomForestClassifier(n_estimators=9, voting="hard", random_state=0),
    "laplace": ab.ExtraTreesClassifier(n_estimators=9, voting="laplace", random_state=0),
    "boosting": ab.GradientBoostingClassifier(n_estimators=9, random_state=0),
    "hist": ab.HistGradientBoostingClassifier(max_iter=70, min_samples_leaf=5, random_state=0),
    "shared": ab.HistGradientBoostingClassifier(
        max_iter=70, multi_strategy="multi_output_tree", random_state=0
    ),
    "bagging": ab.BaggingClassifier(n_estimators=9, random_state=0),
    "subspace": ab.RandomSubspaceClassifier(n_estimators=9, random_state=0),
    "weights": ab.BaggingClassifier(n_estimators=9, weights="oob", random_state=0),
    **{
        name: ab.AdaBoostClassifier(
            ab.DecisionTreeClassifier(max_depth=3) if name == "M1" else None,
            n_estimators=9,
            algorithm=name,
            random_state=0,
        )
        for name in ("SAMME", "real", "gentle", "logit", "MH", "M1", "M2", "MR")
    },
}
REGRESSORS = {
    "tree": ab.DecisionTreeRegressor(max_depth=6),
    "absolute error": ab.DecisionTreeRegressor(max_depth=3, criterion="absolute_error"),
    "forest": ab.RandomForestRegressor(n_estimators=70, random_state=0),
    "hist": ab.HistGradientBoostingRegressor(max_iter=70, min_samples_leaf=5, random_state=0),
    "linear": ab.HistGradientBoostingRegressor(max_iter=9, linear_leaves=True, random_state=0),
    "quantiles": ab.HistGradientBoostingRegressor(
        max_iter=9, loss="quantile", quantile=[0.9, 0.1, 0.5], random_state=0
    ),
    "poisson": ab.GradientBoostingRegressor(n_estimators=9, loss="poisson", random_state=0),
    "bagging": ab.BaggingRegressor(n_estimators=9, random_state=0),
    "weights": ab.BaggingRegressor(n_estimators=9, weights="oob", random_state=0),
    "R2": ab.AdaBoostRegressor(n_estimators=9, random_state=0),
}


def same(found, expected):
    """Return whether two outputs have the same bits."""
    found, expected = np.asarray(found), np.asarray(expected)
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_row_of_a_classifier_matches_the_table(name, n_classes):
    X, y = numbers()
    model = clone(CLASSIFIERS[name]).fit(X, classes(y, n_classes))
    predictor = model.predictor()
    labels, shares = model.predict(X), model.predict_proba(X)
    for i in range(0, N_ROWS, 4):
        assert same(predictor.predict(X[i]), labels[i])
        assert same(predictor.predict_proba(X[i]), shares[i])
    few = model.predict_proba(X[:FEW_ROWS])
    assert few.tobytes() == shares[:FEW_ROWS].tobytes()
    assert_array_equal(model.predict(X[5:6]), labels[5:6])


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_row_of_a_regressor_matches_the_table(name):
    X, y = numbers()
    model = clone(REGRESSORS[name]).fit(X, np.abs(y) if name == "poisson" else y)
    predictor = model.predictor()
    expected = model.predict(X)
    for i in range(0, N_ROWS, 4):
        assert same(predictor(X[i]), expected[i])
        assert model.predict(X[i : i + 1]).tobytes() == expected[i : i + 1].tobytes()
    with pytest.raises(AttributeError, match="predicts values, not probabilities"):
        predictor.predict_proba(X[0])


@pytest.mark.parametrize(
    "model", [ab.DecisionTreeClassifier(), ab.RandomForestClassifier(n_estimators=5)]
)
def test_several_targets_match_the_table(model):
    X, y = numbers()
    model = clone(model).fit(X, np.column_stack([classes(y, 2), classes(-y, 3)]))
    predictor = model.predictor()
    assert_array_equal(predictor.predict(X[3]), model.predict(X[3:4])[0])
    found, expected = predictor.predict_proba(X[3]), model.predict_proba(X)
    assert all(same(part, whole[3]) for part, whole in zip(found, expected, strict=True))
    values = ab.DecisionTreeRegressor(max_depth=3).fit(X, np.column_stack([y, -y]))
    assert same(values.predictor()(X[3]), values.predict(X)[3])


def test_a_row_can_have_any_form():
    X, y = numbers()
    model = ab.HistGradientBoostingRegressor(max_iter=9, min_samples_leaf=5).fit(X, y)
    predictor = model.predictor()
    single = X.astype(np.float32)
    for i in range(20):
        expected = model.predict(X)[i]
        assert predictor(X[i].tolist()) == predictor(tuple(X[i])) == expected
        assert predictor(np.repeat(X, 2, axis=1)[i, ::2]) == expected
        assert predictor(X[:, ::-1][i][::-1]) == expected
        assert predictor(single[i]) == model.predict(single)[i]
        as_list = [None if np.isnan(x) else x for x in X[i].tolist()]
        assert predictor(as_list) == expected
    whole = [1, 0, True, 2, 10**30]
    assert predictor(whole) == model.predict([[float(x) for x in whole]])[0]
    assert predictor(np.arange(5)) == model.predict(np.arange(5)[np.newaxis])[0]


def mixed():
    rng = np.random.default_rng(1)
    X, y = numbers(3)
    frame = pd.DataFrame(X, columns=NAMES[:3])
    towns = np.array(["Alcoy", "Baza", "Ceuta", "Denia"], dtype=object)
    place = rng.integers(0, 4, N_ROWS)
    frame["town"] = towns[place]
    frame.loc[::17, "town"] = None
    frame["team"] = rng.integers(0, 40, N_ROWS).astype(str)
    return frame, y + place


@pytest.mark.parametrize("encoding", ["native", "ordered"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_categories_and_names_are_supported(encoding, n_classes):
    frame, y = mixed()
    kind = ab.HistGradientBoostingClassifier if n_classes else ab.HistGradientBoostingRegressor
    model = kind(max_iter=9, min_samples_leaf=5, category_encoding=encoding, random_state=0)
    model.fit(frame, classes(y, n_classes) if n_classes else y)
    predictor = model.predictor()
    rows = frame.head(30).copy()
    rows.loc[3, "town"] = "Elche"  # unseen
    expected = model.predict(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(30):
            row = rows.iloc[i]
            by_name = row.to_dict()
            assert predictor(row) == expected[i]
            assert predictor(dict(reversed(by_name.items()))) == expected[i]
            assert predictor(list(by_name.values())) == expected[i]
            assert predictor(tuple(by_name.values())) == expected[i]
            assert predictor(row.to_numpy()) == expected[i]


def test_integers_can_be_categories():
    X, y = numbers()
    X[:, 1] = np.arange(N_ROWS) % 7
    model = ab.RandomForestRegressor(n_estimators=5, categorical_features=[1], random_state=0)
    model.fit(X, y + X[:, 1] % 3)
    predictor = model.predictor()
    expected = model.predict(X)
    assert [predictor(row) for row in X[:30]] == expected[:30].tolist()
    assert [predictor(row.tolist()) for row in X[:30]] == expected[:30].tolist()


@pytest.mark.parametrize("name", ["forest", "hist", "M1"])
def test_callers_can_share_a_predictor(name):
    X, y = numbers()
    model = clone(CLASSIFIERS[name]).fit(X, classes(y, 3))
    expected = model.predict_proba(X)
    predictor = model.predictor()

    def ask(first):
        rows = np.roll(np.arange(N_ROWS), first)
        return all(same(predictor.predict_proba(X[i]), expected[i]) for i in rows)

    with ThreadPoolExecutor(8) as callers:
        assert all(callers.map(ask, range(8)))


def test_one_class_and_no_rounds_are_supported():
    X, _ = numbers()
    model = ab.HistGradientBoostingClassifier().fit(X, ["yes"] * N_ROWS)
    assert model.predictor()(X[0]) == "yes"
    assert model.predictor().predict_proba(X[0]).tolist() == [1.0]
    with pytest.raises(ValueError, match="2 features"):
        model.predictor()([1.0, 2.0])


def test_a_predictor_is_independent_of_later_fits():
    X, y = numbers()
    model = ab.DecisionTreeClassifier(max_depth=4).fit(X, classes(y, 2))
    predictor, before = model.predictor(), copy.deepcopy(model)
    model.fit(X, np.arange(N_ROWS) % 5)
    assert [predictor(row) for row in X[:20]] == before.predict(X[:20]).tolist()


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ([1.0, 2.0], ValueError, "X has 2 features, but .* is expecting 5 features"),
        (np.zeros(6), ValueError, "X has 6 features, but .* is expecting 5 features"),
        ([], ValueError, "0 feature"),
        ([1.0, np.inf, 0.0, 0.0, 0.0], ValueError, "column 'height', row 0 is inf"),
        (np.array([0, 0, -np.inf, 0, 0], np.float32), ValueError, "column 'income', row 0 is -inf"),
        ([1.0, "tall", 0.0, 0.0, 0.0], ValueError, "column 1 of X has 'tall'"),
        ([1.0, [2.0], 0.0, 0.0, 0.0], ValueError, "."),
        (np.zeros((1, 5)), ValueError, r"takes one row: .* shape \(1, 5\)"),
        ([[0.0] * 5], ValueError, r"takes one row: .* shape \(1, 5\)"),
        (3.0, ValueError, r"takes one row: .* shape \(\)"),
        (None, ValueError, "takes one row"),
        ({"age": 1.0}, ValueError, "lacks 'height', 'income', 'town', 'team'"),
        (dict.fromkeys([*NAMES, "extra"], 0.0), ValueError, "has 'extra', unseen at fit"),
        ([10**400, 0, 0, 0, 0], ValueError, "."),
        ([1j, 0, 0, 0, 0], ValueError, "."),
    ],
)
def test_invalid_rows_are_refused(row, error, message):
    X, y = numbers()
    model = ab.HistGradientBoostingRegressor(max_iter=3).fit(pd.DataFrame(X, columns=NAMES), y)
    predictor = model.predictor()
    with pytest.raises(error, match=message):
        predictor.predict(row)


def test_names_are_refused_by_a_model_without_names():
    X, y = numbers()
    predictor = ab.DecisionTreeRegressor(max_depth=2).fit(X, y).predictor()
    with pytest.raises(ValueError, match="the row has names, but"):
        predictor(dict.fromkeys(NAMES, 0.0))


def test_models_outside_the_engine_are_supported():
    X, y = numbers()
    X = np.nan_to_num(X)
    with pytest.raises(NotFittedError):
        ab.RandomForestRegressor().predictor()
    begun = ab.GradientBoostingRegressor(init=LinearRegression(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="begins from a LinearRegression"):
        begun.predictor()
    others = [
        ab.BaggingClassifier(OtherTree(), n_estimators=2),
        ab.AdaBoostClassifier(OtherTree(max_depth=1), n_estimators=2),
    ]
    for model in others:
        with pytest.raises(ValueError, match="are not arboleda trees"):
            model.fit(X, classes(y, 2)).predictor()


def test_imported_models_are_supported(tmp_path):
    from sklearn.ensemble import HistGradientBoostingClassifier as Other

    X, y = numbers()
    model = ab.from_sklearn(Other(max_iter=5).fit(X, classes(y, 3)))
    predictor = model.predictor()
    shares = model.predict_proba(X)
    assert all(
        same(predictor.predict_proba(row), p) for row, p in zip(X[:40], shares, strict=False)
    )


def test_saved_and_pickled_models_predict_alike(tmp_path):
    X, y = numbers()
    model = ab.HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    expected = model.predict(X[:4])  # the layout for few rows is made, and is no part of a file
    model.save(tmp_path / "model.arboleda")
    for other in (ab.load(tmp_path / "model.arboleda"), copy.deepcopy(model)):
        assert_array_equal(other.predict(X[:4]), expected)


class TestFewRows:
    """Tables of few rows go their own way, with the checks of all."""

    def fitted(self, frame=False):
        X, y = numbers()
        table = pd.DataFrame(X, columns=NAMES) if frame else X
        return ab.HistGradientBoostingRegressor(max_iter=5).fit(table, y), X

    def test_any_strides_and_float_types_are_read(self):
        model, X = self.fitted()
        expected = model.predict(X)
        for table in (np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 3, axis=0)[::3]):
            assert_array_equal(model.predict(table), expected)
            assert_array_equal(model.predict(table[7:9]), expected[7:9])
        swap_column = X.astype(">f8")
        assert_array_equal(model.predict(swap_column[:3]), expected[:3])
        single = X.astype(np.float32)
        assert_array_equal(model.predict(single[:3]), model.predict(single)[:3])

    @pytest.mark.parametrize("n_rows", [1, FEW_ROWS + 1])
    def test_invalid_arguments_are_refused(self, n_rows):
        model, X = self.fitted()
        with pytest.raises(ValueError, match="X has 4 features, but"):
            model.predict(X[:n_rows, :4])
        with pytest.raises(ValueError, match="Expected 2D array"):
            model.predict(X[0])
        with pytest.raises(ValueError, match="0 sample"):
            model.predict(X[:0])
        infinite = X[:n_rows].copy()
        infinite[-1, 2] = -np.inf
        with pytest.raises(ValueError, match=f"column 2, row {n_rows - 1} is -inf"):
            model.predict(infinite)
        named, _ = self.fitted(frame=True)
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            named.predict(X[:n_rows])
        model.n_jobs = 0
        with pytest.raises(ValueError, match="n_jobs must not be 0"):
            model.predict(X[:n_rows])

    def test_frames_of_one_row_match_the_table(self):
        model, X = self.fitted(frame=True)
        frame = pd.DataFrame(X, columns=NAMES)
        expected = model.predict(frame)
        one = frame.iloc[[4]]
        for table in (one, one.astype("Float64"), one[NAMES[::-1]], one.assign(age=one["age"])):
            assert_array_equal(model.predict(table), expected[4:5])
        whole = frame.fillna(1.0).iloc[[4]].assign(age=3)  # numbers of two types
        assert_array_equal(model.predict(whole), model.predict(whole.astype(np.float64)))
        with pytest.raises(ValueError, match="has 'years', unseen at fit"):
            model.predict(one.rename(columns={"age": "years"}))
        with pytest.raises(ValueError, match="column 'age', row 0 is inf"):
            model.predict(one.assign(age=np.inf))


def test_predictions_of_a_row_do_not_look_up_tags(monkeypatch):
    rows = [[0.0], [1.0]] * 40
    model = ab.HistGradientBoostingClassifier(max_iter=2).fit(rows, [0, 1] * 40)
    predictor = model.predictor()
    expected = model.predict_proba(np.array(rows[:1]))

    def look_up(_):
        raise AssertionError("tags take longer to look up than a row to predict")

    monkeypatch.setattr(ab.HistGradientBoostingClassifier, "__sklearn_tags__", look_up)
    assert np.array_equal(predictor.predict_proba(rows[0]), expected[0])
    assert np.array_equal(model.predict_proba(np.array(rows[:1])), expected)
