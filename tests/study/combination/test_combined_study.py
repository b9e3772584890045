"""Combined models in a study: honest scores, one kept model, the same facts again."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from arboleda._utils.errors import StudyError
from arboleda.combine import MemberOutputs
from arboleda.reports.study.page import render_report
from arboleda.study import Study, StudyResult, runner
from arboleda.study.artifacts.files import MODELS
from arboleda.study.combination import methods
from arboleda.study.combination.cross_fitting import cross_fit
from arboleda.study.combination.members import make_remarks
from arboleda.study.combination.methods import METHODS
from arboleda.study.combination.rules import MeanRule
from arboleda.study.execution.prediction_store import PREDICTIONS_DIR
from arboleda.study.results.predict_file import predict

from ..conftest import without_timing

KEYS = [method.key for method in METHODS]
CLASS_MODELS = "most_frequent,cart,lda,naive_bayes,neighbours,svm,random_forest"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    out = tmp_path_factory.mktemp("classes")
    return Study("iris", target="target", output_dir=out, models=CLASS_MODELS, n_jobs=1).run()


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    out = tmp_path_factory.mktemp("values")
    models = "mean,cart,ridge,neighbours,svm"
    return Study("diabetes", target="target", output_dir=out, models=models, n_jobs=1).run()


def combined(result: StudyResult) -> list[dict[str, Any]]:
    return [m for m in result.facts["models"] if m["ensemble"]]


@pytest.mark.parametrize("name", ["classes", "values"])
def test_combinations_are_listed_beside_their_members(
    name: str, request: pytest.FixtureRequest
) -> None:
    result = request.getfixturevalue(name)
    found = combined(result)
    assert {m["key"] for m in found} <= set(KEYS)
    assert len(found) >= 4
    for model in found:
        assert model["status"] == "ok"
        assert len(model["cv"]["fold_scores"]) == 5
        members = [member["key"] for member in model["ensemble"]["members"]]
        assert "most_frequent" not in members
        assert "mean" not in members
        if model["key"] == "single_stacking":
            assert "random_forest" not in members


@pytest.mark.parametrize("name", ["classes", "values"])
def test_a_saved_combination_reproduces_its_test_score(
    name: str, request: pytest.FixtureRequest
) -> None:
    result = request.getfixturevalue(name)
    study = Study.load(result.folder)
    rows = study.test_rows()
    for facts in combined(result):
        model = study.model(facts["key"])
        scores = facts["test"]["metrics"]
        predicted = model.predict(rows.X)
        if study.task == "regression":
            assert np.sqrt(np.mean((predicted - rows.y) ** 2)) == pytest.approx(scores["rmse"])
            continue
        assert accuracy_score(rows.y, predicted) == scores["accuracy"]
        np.testing.assert_allclose(model.predict_proba(rows.X).sum(axis=1), 1.0)


def test_a_rerun_gives_the_same_facts_without_fitting(classes: StudyResult) -> None:
    again = Study(
        "iris", target="target", output_dir=classes.folder, models=CLASS_MODELS, n_jobs=1
    ).run()
    assert without_timing(again.facts) == without_timing(classes.facts)


def test_the_selection_that_boosting_starts_from_is_fitted_once(
    classes: StudyResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    fit = methods._fit_greedy

    def fit_and_count(outputs: np.ndarray, target: np.ndarray, seed: int) -> MeanRule:
        sizes.append(len(target))
        return fit(outputs, target, seed)

    greedy = next(m for m in METHODS if m.key == "greedy_selection")
    counted = tuple(replace(m, fit=fit_and_count) if m is greedy else m for m in METHODS)
    monkeypatch.setattr(methods, "_fit_greedy", fit_and_count)
    monkeypatch.setattr(methods, "LEAST_ROWS", 0)
    monkeypatch.setattr(runner, "METHODS", tuple(replace(m, suits=_always) for m in counted))
    Study("iris", target="target", output_dir=classes.folder, models=CLASS_MODELS, n_jobs=1).run()
    assert sorted(sizes) == [96] * 5 + [120]


def _always(*_: int) -> bool:
    return True


def test_the_use_of_members_without_probabilities_is_reported(tmp_path: Path) -> None:
    options: Any = {"target": "target", "preset": "thesis", "models": "lda,cart,svm"}
    classes = Study("iris", output_dir=tmp_path, n_jobs=1, **options).run()
    by_key = {m["key"]: m["ensemble"] for m in combined(classes)}
    (scores,) = by_key["stacking"]["remarks"]
    assert scores.startswith("Support vector machine says no probabilities: the logistic function")
    assert scores in classes.report.read_text()
    facts = json.loads(json.dumps(classes.facts))
    facts["study"]["settings"]["lang"] = "es"
    assert "no dice probabilidades" in render_report(facts)


def test_models_left_out_of_combinations_are_reported(tmp_path: Path) -> None:
    names = {"a": "First", "b": "Second", "c": "Third"}
    outcomes = []
    for key, name in names.items():
        model = SimpleNamespace(key=key, name=name, learns=True)
        kept = {"error": "no space" if key == "b" else None}
        outcomes.append(SimpleNamespace(model=model, error=None, test={"kept": kept}))
    plan = SimpleNamespace(target=SimpleNamespace(labels=()))
    found = make_remarks(plan, outcomes, outcomes[:1], tmp_path)  # type: ignore[arg-type]
    assert found.list_remarks(["a"], in_time=False) == [
        "Second is no member: its fitted model was not kept.",
        "Third is no member: it does not say a finite number of every row.",
    ]


def test_the_page_states_that_the_bootstrap_combines_nothing(tmp_path: Path) -> None:
    options = {"models": "most_frequent,lda,naive_bayes", "cv": "bootstrap:10", "n_jobs": 1}
    result = Study("iris", target="target", output_dir=tmp_path, **options).run()
    assert combined(result) == []
    assert "With the bootstrap, models are not combined" in result.report.read_text()


def test_diversity_is_reported_only_for_classes(classes: StudyResult, values: StudyResult) -> None:
    found = combined(classes)[0]["ensemble"]
    n = len(found["members"])
    assert len(found["diversity"]["pairs"]) == n * (n - 1) // 2
    assert all(m["ensemble"]["diversity"] is None for m in combined(values))


@pytest.fixture
def combinations_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best model is a combination."""

    def ranked(plan: Any, outcomes: Any) -> Any:
        return sorted(outcomes, key=lambda outcome: outcome.ensemble is None)

    for module in ("arboleda.study.study", "arboleda.study.combination.combined_calibration"):
        monkeypatch.setattr(f"{module}.ranked", ranked)


@pytest.mark.usefixtures("combinations_first")
def test_the_calibration_of_a_fold_does_not_use_its_rows(tmp_path: Path) -> None:
    result = Study(
        "iris", target="target", output_dir=tmp_path, models="lda,naive_bayes", cv="3x2"
    ).run()
    found = result.facts["calibration"]
    assert found["model"] in KEYS
    # In the second round of folds each row of the first occurs again.
    assert all(len(v["cv"]["metrics"]["log_loss"]["folds"]) == 3 for v in found["variants"])


def test_one_model_alone_is_not_combined(tmp_path: Path) -> None:
    result = Study(
        "iris", target="target", output_dir=tmp_path, models="most_frequent,lda", n_jobs=1
    ).run()
    assert combined(result) == []


def test_the_score_of_a_fold_does_not_use_its_labels() -> None:
    """Uninformative members, so many of them that a rule could overfit their noise."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 200)
    outputs = draw.dirichlet(np.ones(2), (30, 200))
    rows = np.arange(200)
    labels = np.array(["no", "yes"], dtype=object)
    names = [str(k) for k in range(30)]
    whole = MemberOutputs(names, outputs, labels, rows, 200)
    parts = [
        MemberOutputs(names, outputs[:, part], labels, part, 200)
        for part in np.array_split(rows, 5)
    ]
    fit = next(m.fit for m in METHODS if m.key == "stacking")
    found = cross_fit(fit, parts, whole, y, 0)
    held_out = np.mean(np.concatenate(found.predictions).argmax(axis=1) == y)
    by_heart = np.mean(found.rule(outputs).argmax(axis=1) == y)
    assert by_heart > 0.62
    assert held_out < 0.58


def test_rows_scored_together_are_split_for_learning() -> None:
    seen = []

    def fit(outputs: np.ndarray, target: np.ndarray, seed: int) -> MeanRule:
        seen.append(outputs.shape[1])
        return MeanRule((1.0,))

    rows = np.arange(20)
    whole = MemberOutputs(["one"], np.arange(20.0)[None], None, rows, 20)
    found = cross_fit(fit, [whole], whole, np.zeros(20), 0)
    assert seen == [20] + [16] * 5
    assert found.predictions[0].tolist() == list(range(20))


def test_in_time_order_each_window_is_predicted_from_earlier_ones() -> None:
    learned = []

    def fit(outputs: np.ndarray, target: np.ndarray, seed: int) -> MeanRule:
        learned.append(target.tolist())
        return MeanRule((0.0, 1.0))

    rows = np.array([7, 2, 5, 0, 3, 4])  # in the order of time
    order = np.sort(rows)
    y = np.array([1.0, 0.0, 2.0, 1.0, 4.0, 5.0, 0.0, 7.0])
    outputs = np.stack([np.zeros(6), order.astype(float)])
    whole = MemberOutputs(["none", "row"], outputs, None, order, 8)
    parts = [
        MemberOutputs(["none", "row"], np.stack([np.zeros(2), part.astype(float)]), None, part, 8)
        for part in (np.sort(rows[start : start + 2]) for start in (0, 2, 4))
    ]
    found = cross_fit(fit, parts, whole, y, 0, in_time=True)
    assert learned == [[1.0, 2.0, 1.0, 4.0, 5.0, 7.0], [2.0, 7.0], [1.0, 2.0, 5.0, 7.0]]
    # Before the first window nothing is known: it has the plain mean of the members.
    assert [predicted.tolist() for predicted in found.predictions] == [
        [1.0, 3.5],
        [0.0, 5.0],
        [3.0, 4.0],
    ]


def test_windows_of_one_class_are_not_learned_from() -> None:
    labels = np.array(["no", "yes"], dtype=object)
    y, rows = np.array([0, 0, 0, 0, 1, 0, 1, 1]), np.arange(8)
    outputs = np.random.default_rng(0).dirichlet(np.ones(2), (3, 8))
    names = ["a", "b", "c"]
    whole = MemberOutputs(names, outputs, labels, rows, 8)
    parts = [MemberOutputs(names, outputs[:, p], labels, p, 8) for p in np.array_split(rows, 4)]
    fit = next(m.fit for m in METHODS if m.key == "stacking")
    found = cross_fit(fit, parts, whole, y, 0, in_time=True)
    for predicted, part in zip(found.predictions[:3], parts, strict=False):
        np.testing.assert_allclose(predicted, part.outputs.mean(axis=0))
    assert not np.allclose(found.predictions[3], parts[3].outputs.mean(axis=0))


@pytest.mark.usefixtures("combinations_first")
def test_a_combination_is_calibrated_where_there_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Any = {"target": "target", "output_dir": tmp_path, "models": "lda,naive_bayes"}
    assert Study("iris", **options, time_budget="10h").run().facts["calibration"]
    monkeypatch.setattr("arboleda.study.combination.combined_calibration.ROW_SECONDS", 1e3)
    assert Study("iris", **options, time_budget="10h").run().facts["calibration"]["error"]
    assert Study("iris", **options).run().facts["calibration"]


@pytest.mark.usefixtures("combinations_first")
def test_a_study_in_time_order_is_combined(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"t": draw.permutation(160), "x": draw.normal(size=160)})
    frame["y"] = np.where(frame["x"] + draw.normal(size=160) > 0, "u", "v")
    models = "lda,naive_bayes"
    result = Study(
        frame, target="y", output_dir=tmp_path, models=models, time="t", cv="time:4"
    ).run()
    variants = result.facts["calibration"]["variants"]
    # Before the first window there is nothing to calibrate by.
    assert all(len(v["cv"]["metrics"]["log_loss"]["folds"]) == 3 for v in variants)
    assert all(len(m["cv"]["fold_scores"]) == 4 for m in combined(result))
    (remark,) = combined(result)[0]["ensemble"]["remarks"]
    assert remark.startswith("Before the first window of time nothing is known of the members")
    assert remark in result.report.read_text()


def test_a_combination_without_time_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear = [
        replace(method, seconds=lambda *sizes: 1e9) if method.key == "boosted_stacking" else method
        for method in METHODS
    ]
    monkeypatch.setattr(runner, "METHODS", tuple(dear))
    draw = np.random.default_rng(1)
    x = draw.normal(size=(400, 2))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] + x[:, 1] > 0})
    options = {"target": "y", "models": "lda,cart,naive_bayes", "n_jobs": 1}
    in_time = Study(frame, output_dir=tmp_path / "study", time_budget=60, **options).run().facts
    keys = {model["key"] for model in in_time["models"]}
    assert "stacking" in keys
    assert "boosted_stacking" not in keys
    left = [item for item in in_time["search"]["left_out"] if item["key"] == "boosted_stacking"]
    assert [(item["name"], item["whole"]) for item in left] == [("Stacking by boosting", True)]
    # Without a budget there is time for everything.
    whole = Study(frame, output_dir=tmp_path / "study", **options).run().facts
    assert "boosted_stacking" in {model["key"] for model in whole["models"]}


def test_a_table_is_predicted_by_a_combination(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    x = draw.normal(size=(150, 2))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] + x[:, 1] ** 2})
    out = tmp_path / "study"
    result = Study(
        frame, target="y", output_dir=out, models="ridge,cart,neighbours", n_jobs=1
    ).run()
    assert result.facts["models"][0]["ensemble"]
    predict(out, frame, tmp_path / "new.csv")
    predicted = pd.read_csv(tmp_path / "new.csv")["prediction"]
    np.testing.assert_allclose(predicted, Study.load(out).best_model_.predict(frame))


def damaged(folder: Path, **changes: Any) -> None:
    """Change a combination's file and its entry in the list."""
    path = folder / MODELS / "stacking.combined"
    stored = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(stored))
    index = json.loads((folder / MODELS / "index.json").read_text())
    content = path.read_bytes()
    index["models"]["stacking"]["stacking.combined"] = {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    (folder / MODELS / "index.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": "another"}, "not a combined model"),
        ({"format_version": 2}, "newer version"),
        ({"members": []}, "not a combined model"),
        ({"members": [{"key": "lda", "models": ["../x"]}] * 6}, "not a model's key"),
        ({"members": [{"key": "lda", "models": ["stacking"]}] * 6}, "estimator is not a model"),
        ({"members": [{"key": "lda"}] * 6}, "one of its members is invalid"),
        ({"rule": {"kind": "mean", "weights": [1.0], "temperature": 1}}, "weight for each member"),
        (
            {"rule": {"kind": "mean", "weights": [0.1] * 6, "temperature": 0}},
            "weight for each member",
        ),
        ({"rule": {"kind": "mean", "weights": ["a"] * 6, "temperature": 1}}, "not a number"),
        (
            {"rule": {"kind": "linear", "coef": [[1.0]], "intercept": [0.0], "classes": [0, 1]}},
            "a coefficient for each output",
        ),
        (
            {"rule": {"kind": "linear", "coef": [[1.0]], "intercept": [0.0], "classes": [0, 9]}},
            "classes that the study does not have",
        ),
        ({"rule": {"kind": "other"}}, "its rule is invalid"),
    ],
)
def test_a_damaged_file_is_refused(
    classes: StudyResult, tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    folder = tmp_path / "study"
    shutil.copytree(classes.folder, folder)
    damaged(folder, **changes)
    with pytest.raises(StudyError, match=reason):
        Study.load(folder).model("stacking")


def test_lost_predictions_are_recomputed(classes: StudyResult, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(classes.folder, folder)
    shutil.rmtree(folder / PREDICTIONS_DIR)
    again = Study("iris", target="target", output_dir=folder, models=CLASS_MODELS, n_jobs=1).run()
    assert without_timing(again.facts) == without_timing(classes.facts)
