"""Classifiers are chosen by log-loss and have probabilities; preset thesis keeps accuracy."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine

from arboleda.analysis.explanation.explain import load_subject
from arboleda.study import Study, StudyError, predict
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("wine")
    return Study("wine", target="target", models="svm,lda", output_dir=folder, n_jobs=1).run()


@pytest.fixture(scope="module")
def thesis(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("thesis")
    study = Study(
        "wine", target="target", models="svm", preset="thesis", output_dir=folder, n_jobs=1
    )
    return study.run()


def test_log_loss_chooses_classifiers_and_accuracy_is_shown(wine: Any) -> None:
    facts = wine.facts
    assert facts["study"]["metric"] == "log_loss"
    means = [m["cv"]["mean"] for m in facts["models"]]
    assert means == sorted(means)
    assert all("accuracy" in m["test"]["metrics"] for m in facts["models"])


def test_a_classifier_of_decision_values_has_calibrated_probabilities(wine: Any) -> None:
    assert all(model["status"] == "ok" for model in wine.facts["models"])
    study = Study.load(wine.folder)
    model = study.model("svm")
    assert isinstance(model.pipeline_[-1], CalibratedClassifierCV)
    p = model.predict_proba(study.test_rows().X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(p.argmax(axis=1) == study.test_rows().codes) > 0.9


def test_the_thesis_chooses_by_accuracy_and_its_winner_predicts_probabilities(
    thesis: Any, tmp_path: Path
) -> None:
    assert thesis.facts["study"]["metric"] == "accuracy"
    assert not hasattr(Study.load(thesis.folder).model("svm").pipeline_, "predict_proba")
    result = predict(thesis.folder, load_wine(as_frame=True).data, tmp_path / "p.csv")
    assert any("calibrated by" in note for note in result.notes)
    frame = pd.read_csv(result.path)
    p = frame.filter(like="probability of")
    assert p.shape == (178, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    names = np.array([name.removeprefix("probability of ") for name in p.columns])
    assert np.mean(names[p.to_numpy().argmax(axis=1)] == frame["prediction"]) > 0.95


def test_a_metric_that_was_chosen_stays(tmp_path: Path) -> None:
    requested = Study("wine", target="target", metric="accuracy", output_dir=tmp_path)
    plan = make_plan(read_table("wine"), "target", requested.settings)
    assert plan.metric.key == "accuracy"


def test_any_saved_model_predicts_and_is_explained_by_key_or_name(
    wine: Any, tmp_path: Path
) -> None:
    study = Study.load(wine.folder)
    other = next(key for key in study.keys if key != study.best_key)
    name = next(m["name"] for m in wine.facts["models"] if m["key"] == other)
    rows = load_wine(as_frame=True).data
    by_key = predict(wine.folder, rows, tmp_path / "key.csv", model=other)
    by_name = predict(wine.folder, rows, tmp_path / "name.csv", model=name.upper())
    assert by_key.name == by_name.name == name
    assert by_key.path.read_bytes() == by_name.path.read_bytes()
    best = predict(wine.folder, rows, tmp_path / "best.csv")
    assert best.path.read_bytes() != by_key.path.read_bytes()
    assert load_subject(wine.folder, 0, other).key == other
    with pytest.raises(StudyError, match="no model 'forest of oaks'; it saved "):
        predict(wine.folder, rows, tmp_path / "none.csv", model="forest of oaks")
    with pytest.raises(StudyError, match="saved of the best model only"):
        predict(wine.folder, rows, tmp_path / "none.csv", model=other, intervals=0.9)


def test_a_class_of_one_row_in_a_fold_leaves_decision_values_uncalibrated() -> None:
    frame = pd.DataFrame({"x": np.sqrt(np.arange(60.0)), "y": ["a"] * 57 + ["b"] * 3})
    plan = make_plan(read_table(frame), "y", Study(frame, target="y").settings)
    folds = plan.setting.calibration_folds
    counts = [np.bincount(plan.target.y[fit]).min() for fit, _ in plan.split.folds]
    assert folds == min(3, *counts)
