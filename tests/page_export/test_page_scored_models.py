"""Isolation forests and models of the time to an event on pages, computed by Node."""

import json
import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.page_export.test_page_file import read_spec
from tests.page_export.test_page_numbers import run_engine

import arboleda as ab
from arboleda._utils.survival_times import choose_times
from arboleda.explain import shap_values

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
SMALL = {"max_iter": 5, "min_samples_leaf": 5}
TIMED = {
    "tree": ab.SurvivalTree(max_depth=3),
    "forest": ab.RandomSurvivalForest(n_estimators=5, random_state=0),
    "cox boosting": ab.HistGradientBoostingSurvival(**SMALL),
    "periods": ab.HistGradientBoostingSurvival("discrete_time", **SMALL),
    "logistic": ab.HistGradientBoostingSurvival("aft", distribution="logistic", **SMALL),
    "weibull": ab.HistGradientBoostingSurvival("aft", distribution="extreme", **SMALL),
    "normal": ab.HistGradientBoostingSurvival("aft", distribution="normal", **SMALL),
    "cox": ab.CoxRegression(),
}


def make_rows(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 3))


def make_times(X):
    rng = np.random.default_rng(1)
    time = np.round(np.exp(X[:, 0] + rng.normal(size=len(X))), 2) + 0.01
    event = rng.random(len(X)) < 0.7
    return np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])


def compute(model, rows, folder):
    """Outputs of a page, and its Shapley values if it has any."""
    page = ab.to_page(model)
    (folder / "page.html").write_text(page, encoding="utf-8")
    np.ascontiguousarray(rows).tofile(folder / "rows.f64")
    run_engine(folder)
    shap = folder / "shap.json"
    outputs = np.fromfile(folder / "outputs.f64").reshape(len(rows), -1)
    return outputs, json.loads(shap.read_text()) if shap.exists() else None, read_spec(page)


def check_shap(shap, model, rows):
    expected = shap_values(model, rows[: len(shap)])
    values = [row["values"] for row in shap]
    assert_allclose(values, expected.values.reshape(len(shap), -1), rtol=1e-9, atol=1e-12)


@needs_node
@pytest.mark.parametrize("name", TIMED)
def test_risks_and_survival_are_those_of_the_model(name, tmp_path):
    X, rows = make_rows(150, 0), make_rows(60, 2)
    model = TIMED[name].fit(X, make_times(X))
    outputs, shap, spec = compute(model, rows, tmp_path)
    if name in ("cox", "periods"):  # sums in another order
        assert_allclose(outputs[:, 0], model.predict(rows), rtol=1e-12, atol=1e-14)
    else:
        assert_array_equal(outputs[:, 0], model.predict(rows))
    times = () if name == "normal" else choose_times(model.unique_times_)
    assert spec["header"] == ["risk", *(f"survival at {time:g}" for time in times)]
    if times:
        last = model.time_range_[1] if name not in ("logistic", "weibull") else np.inf
        expected = model.predict_survival_function(rows, np.minimum(times, last))
        assert_allclose(outputs[:, 1:], expected, rtol=1e-12, atol=1e-14)
    if shap is not None:
        check_shap(shap, model, rows)


@needs_node
def test_anomaly_scores_are_those_of_the_model(tmp_path):
    X, rows = make_rows(200, 0), 2 * make_rows(100, 2)
    model = ab.IsolationForest(n_estimators=20, contamination=0.1, random_state=0).fit(X)
    outputs, shap, spec = compute(model, rows, tmp_path)
    assert_allclose(outputs[:, 0], -model.score_samples(rows), rtol=1e-14)
    assert_array_equal(outputs[:, 1] == 1, model.predict(rows) == -1)
    assert 0 < outputs[:, 1].mean() < 1
    assert spec["header"] == ["anomaly score", "outlier"]
    assert spec["explanation"]["scale"] == "path"
    check_shap(shap, model, rows)


@pytest.mark.parametrize("options", [{"extension_level": 1}, {"max_samples": 1}])
def test_other_isolation_forests_are_refused(options):
    model = ab.IsolationForest(n_estimators=2, **options).fit(make_rows(50, 0))
    with pytest.raises(ValueError, match="cannot be computed by a page"):
        ab.to_page(model)
