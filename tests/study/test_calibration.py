"""Calibration of the best model: scikit-learn's methods by hand, without using the test rows."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from arboleda.metrics import expected_calibration_error, reliability_table
from arboleda.study import Study, StudyResult
from arboleda.study.results import calibration_facts
from arboleda.study.results.calibration import (
    METHODS,
    are_probabilities,
    calibrated,
    make_inner_folds,
)


@pytest.fixture(scope="module")
def bayes(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """Naive Bayes predicts too extreme probabilities on columns that are far from independent."""
    out = tmp_path_factory.mktemp("bayes")
    models = "most_frequent,naive_bayes"
    options = {"target": "target", "metric": "accuracy", "models": models}
    return Study("breast_cancer", output_dir=out, n_jobs=1, **options).run()


def as_native_table(result: StudyResult) -> tuple[Any, Any, Any, Any, list[Any]]:
    """The table with malignant as 1, as the study counts it, and its splits."""
    x, y = load_breast_cancer(return_X_y=True)
    labels = [row["label"] for row in result.facts["split"]["classes"]]
    y = 1 - y if labels[1] == "malignant" else y
    rows = np.arange(len(y))
    train, test = train_test_split(rows, test_size=0.2, stratify=y, random_state=0)
    train, test = np.sort(train), np.sort(test)
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train])
    return x, y, train, test, [(train[fit], train[score]) for fit, score in folds]


@pytest.mark.parametrize("method", ["none", *METHODS])
def test_every_method_matches_scikit_learn(bayes: StudyResult, method: str) -> None:
    x, y, train, test, folds = as_native_table(bayes)
    found = bayes.facts["calibration"]
    variant = next(v for v in found["variants"] if v["method"] == method)
    chosen = next(m for m in bayes.facts["models"] if m["key"] == "naive_bayes")
    params = chosen["candidates"][chosen["best"]]["params"]
    model = make_pipeline(StandardScaler(), GaussianNB(**params))
    if method != "none":
        inner = StratifiedKFold(3, shuffle=True, random_state=0)
        model = CalibratedClassifierCV(model, method=method, cv=inner, ensemble=False)
    predicted, true, losses, briers = [], [], [], []
    for fit, score in folds:
        p = model.fit(x[fit], y[fit]).predict_proba(x[score])
        predicted.append(p)
        true.append(y[score])
        losses.append(sk.log_loss(y[score], p))
        briers.append(sk.brier_score_loss(y[score], p[:, 1]))
    cv = variant["cv"]
    assert cv["metrics"]["log_loss"]["folds"] == pytest.approx(losses, rel=1e-6)
    assert cv["metrics"]["brier"]["mean"] == pytest.approx(np.mean(briers))
    all_predicted, all_true = np.concatenate(predicted), np.concatenate(true)
    by_hand = reliability_table(all_true, all_predicted, pos_label=1)
    assert cv["error"] == pytest.approx(by_hand.expected_calibration_error)
    assert [b["count"] for b in cv["bins"]] == by_hand.counts.tolist()
    assert [b["mean_probability"] for b in cv["bins"]] == pytest.approx(
        by_hand.mean_probability.tolist()
    )
    assert [b["frequency"] for b in cv["bins"]] == pytest.approx(by_hand.frequency.tolist())
    p = model.fit(x[train], y[train]).predict_proba(x[test])
    assert variant["test"]["metrics"]["log_loss"] == pytest.approx(sk.log_loss(y[test], p))
    assert variant["test"]["calibration"]["error"] == pytest.approx(
        expected_calibration_error(y[test], p, of="classes")
    )


def test_the_uncalibrated_model_has_the_same_scores_everywhere(bayes: StudyResult) -> None:
    model = bayes.facts["models"][0]
    variant = bayes.facts["calibration"]["variants"][0]
    assert (model["key"], variant["method"]) == ("naive_bayes", "none")
    assert variant["test"]["calibration"] == model["test"]["calibration"]
    assert variant["cv"]["metrics"]["accuracy"]["folds"] == model["cv"]["fold_scores"]


def test_naive_bayes_gains_by_calibration_and_the_report_shows_it(bayes: StudyResult) -> None:
    found = bayes.facts["calibration"]
    losses = {v["method"]: v["cv"]["metrics"]["log_loss"]["mean"] for v in found["variants"]}
    assert found["chosen"] == min(losses, key=lambda m: losses[m]) != "none"
    page = bayes.report.read_text()
    assert 'id="calibration"' in page
    assert "more than chance explains" in page


@pytest.mark.parametrize(
    ("losses", "chosen"),
    [
        ({"none": [0.5, 0.5, 0.5], "sigmoid": [0.4, 0.4, 0.41]}, "sigmoid"),
        ({"none": [0.5, 0.5, 0.5], "sigmoid": [0.5, 0.5, 0.5]}, "none"),
        ({"none": [0.5, 0.5, 0.5], "sigmoid": [0.3, 0.5, 0.69]}, "none"),
        ({"none": [0.4, 0.4, 0.4], "sigmoid": [0.3, 0.3, 0.7]}, "none"),
        ({"sigmoid": [0.4, 0.4, 0.4], "isotonic": [0.3, 0.3, 0.3]}, "isotonic"),
        ({}, None),
    ],
)
def test_a_method_must_gain_more_than_a_standard_error(
    losses: dict[str, list[float]], chosen: str | None
) -> None:
    assert calibration_facts._choose_method(losses) == chosen


def test_an_svm_without_probabilities_is_calibrated() -> None:
    x, y = load_iris(return_X_y=True)
    folds = make_inner_folds(y[::2], 0)
    found = calibrated(make_pipeline(StandardScaler(), SVC()), x[::2], y[::2], x[1::2], 3, folds)
    assert found.pop("none") is None
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    for method, predicted in found.items():
        model = make_pipeline(StandardScaler(), SVC())
        by_hand = CalibratedClassifierCV(model, method=method, cv=inner, ensemble=False)
        assert predicted == pytest.approx(
            by_hand.fit(x[::2], y[::2]).predict_proba(x[1::2]), abs=1e-9
        )


class Memory(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the latest time of the training rows, and record the predicted rows."""

    seen: ClassVar[list[tuple[float, float]]] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        self.latest_ = float(X.max())
        return self

    def predict_proba(self, X: Any) -> Any:
        Memory.seen.append((self.latest_, float(X.min())))
        return np.full((len(X), 2), 0.5)


def test_in_time_order_calibration_uses_no_later_rows() -> None:
    draw = np.random.default_rng(0)
    times = draw.integers(0, 50, 200)
    y = draw.integers(2, size=200)
    Memory.seen.clear()
    x = times[:, None].astype(float)
    found = calibrated(Memory(), x, y, x[:5], 2, make_inner_folds(y, 0, times=times))
    assert set(found) == {"none", *METHODS}
    inner = Memory.seen[:3]
    assert len(inner) == 3
    assert all(learned < latest for learned, latest in inner)
    with pytest.raises(ValueError, match="all classes"):
        make_inner_folds(np.arange(200) // 100, 0, times=np.arange(200) // 100)
    with pytest.raises(ValueError, match="all classes"):
        # The first of three classes is gone before any row is held out.
        make_inner_folds(np.repeat([0, 1, 2, 1, 2], [20, 40, 40, 50, 50]), 0, times=np.arange(200))
    with pytest.raises(ValueError, match="all classes"):
        make_inner_folds((times > 20).astype(int), 0, times=times)
    late = ((times > 20) & (draw.random(200) < 0.7)).astype(int)
    folds = make_inner_folds(late, 0, times=times)
    assert 0 < len(folds) < 3
    assert all(len(np.unique(late[fit])) == 2 for fit, _ in folds)


def test_probabilities_are_recognized() -> None:
    assert are_probabilities(np.array([[0.25, 0.75], [1.0, 0.0]]))
    assert not are_probabilities(np.array([[0.25, 0.7]]))
    assert not are_probabilities(np.array([[-1.5, 2.5]]))


def test_the_test_rows_are_not_used(tmp_path: Path, bayes: StudyResult) -> None:
    x, y, _, test, _ = as_native_table(bayes)
    labels = np.array([row["label"] for row in bayes.facts["split"]["classes"]])[y]
    x = x[:, :6]  # enough to decide
    spoiled = x.copy()
    spoiled[test] *= 7.0
    columns = [f"x{j}" for j in range(x.shape[1])]
    found = []
    for name, values in (("a", x), ("b", spoiled)):
        frame = pd.DataFrame(values, columns=columns).assign(y=labels)
        study = Study(frame, target="y", output_dir=tmp_path / name, models="naive_bayes", n_jobs=1)
        found.append(study.run().facts["calibration"])
    assert found[0]["chosen"] == found[1]["chosen"]
    assert [v["cv"] for v in found[0]["variants"]] == [v["cv"] for v in found[1]["variants"]]
    assert [v["test"] for v in found[0]["variants"]] != [v["test"] for v in found[1]["variants"]]


@pytest.mark.parametrize(
    ("table", "models"), [("diabetes", "ridge,mean"), ("iris", "most_frequent")]
)
def test_regressors_and_baselines_are_not_calibrated(
    tmp_path: Path, table: str, models: str
) -> None:
    result = Study(table, target="target", output_dir=tmp_path, models=models, n_jobs=1).run()
    assert result.facts["calibration"] is None
    assert 'id="calibration"' not in result.report.read_text()


def test_classes_too_rare_for_the_inner_folds_are_reported(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    y = np.array(["a"] * 40 + ["b"] * 25 + ["c"] * 3)
    frame = pd.DataFrame({"x": draw.normal(size=68) + (y == "b") * 2 + (y == "c") * 4, "y": y})
    result = Study(frame, target="y", output_dir=tmp_path, models="naive_bayes", n_jobs=1).run()
    found = result.facts["calibration"]
    assert found["model"] == "naive_bayes"
    assert found["chosen"] in {None, "none", *METHODS}
    assert 'id="calibration"' in result.report.read_text()
