"""The file of a page: its policy and size, what it holds, and models that it cannot have."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVR

import arboleda as ab
from arboleda.page_export import _html

X = np.random.default_rng(0).normal(size=(200, 3))
Y = X[:, 0] + X[:, 1]


def read_spec(page):
    return json.loads(page.split('id="spec">')[1].split("</script>")[0])


@pytest.mark.parametrize("model", [KNeighborsClassifier(), SVR()])
def test_models_of_training_rows_are_refused_with_a_remedy(model):
    model.fit(X, Y > 0)
    with pytest.raises(TypeError, match=r"consists of training rows\): .*surrogate_tree"):
        ab.to_page(model)


@pytest.mark.parametrize(
    "model", [ab.QuantileRegressionForest(n_estimators=2), ab.RandomForestClassifier]
)
def test_other_models_are_refused(model):
    fitted = model.fit(X, Y) if hasattr(model, "n_estimators") else model
    with pytest.raises((TypeError, ValueError)):
        ab.to_page(fitted)


def test_a_page_holds_no_row_and_forbids_requests():
    rows = np.round(X, 3) + 1e-7
    page = ab.to_page(ab.RandomForestRegressor(n_estimators=3).fit(rows, Y), rows)
    assert read_spec(page)["rows"] is None
    policy = re.search(r'Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert "innerHTML" not in page


def test_rows_are_included_on_request_as_texts():
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "yes", "no"))})
    frame.loc[0] = np.nan
    page = ab.to_page(ab.DecisionTreeRegressor().fit(frame, Y), frame, include_rows=3)
    rows = read_spec(page)["rows"]
    assert rows[0] == ["", ""]
    assert float(rows[2][0]) == X[-1, 0]
    assert rows[2][1] in {"yes", "no"}
    with pytest.raises(ValueError, match="include_rows needs X_sample"):
        ab.to_page(ab.DecisionTreeRegressor().fit(frame, Y), include_rows=3)


def test_the_form_has_typical_values_and_ranges():
    frame = pd.DataFrame({"a": [3.0, 1.0, 2.0, 2.0, np.nan], "b": list("xyyzy")})
    model = ab.DecisionTreeClassifier().fit(frame, list("pqpqp"))
    a, b = read_spec(ab.to_page(model, frame))["columns"]
    assert (a["typical"], a["low"], a["high"], a["whole"]) == (2.0, 1.0, 3.0, True)
    assert (b["levels"], b["typical"], b["shares"]) == (["x", "y", "z"], 1, [0.2, 0.6, 0.2])
    with pytest.raises(ValueError, match="X_sample has 1 columns"):
        ab.to_page(model, frame[["a"]])


@pytest.mark.parametrize(
    "model",
    [
        ab.HistGradientBoostingRegressor(max_iter=100),
        ab.RandomForestRegressor(n_estimators=100, random_state=0),
    ],
)
def test_the_page_is_hardly_larger_than_the_model_file(model, tmp_path):
    rows = np.random.default_rng(1).normal(size=(1500, 6))
    model.fit(rows, rows.sum(axis=1))
    model.save(tmp_path / "model.arboleda")
    ab.export_page(model, tmp_path / "page.html", rows)
    limit = 1.5 * (tmp_path / "model.arboleda").stat().st_size + 150_000
    assert (tmp_path / "page.html").stat().st_size < limit


def test_a_large_page_has_a_warning_with_the_remedy(monkeypatch):
    monkeypatch.setattr(_html, "LARGE", 1000)
    with pytest.warns(UserWarning, match="export a smaller member, or a surrogate"):
        ab.to_page(ab.DecisionTreeRegressor().fit(X, Y))


def test_a_failed_export_leaves_the_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(TypeError):
        ab.export_page(SVR().fit(X, Y), path)
    assert path.read_text() == "before"


def test_the_same_model_gives_the_same_page():
    model = ab.DecisionTreeRegressor(max_depth=3).fit(X, Y)
    assert ab.to_page(model, X) == ab.to_page(model, X)
    assert 'lang="es"' in ab.to_page(model, X, language="es")
