"""Studies of the time to an event, from the table to the report."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda import Study
from arboleda.metrics import (
    concordance_index,
    cumulative_dynamic_auc,
    integrated_survival_brier_score,
)
from arboleda.reports.study.page import render_report
from arboleda.study import StudyError, StudyResult, StudySurvivalModel, compare, explain, predict

SCHEMA = Path(__file__).parents[2] / "src/arboleda/facts/study.schema.json"
MODELS = "kaplan_meier,cox,survival_tree"
GROUP = "<b>&"


def make_patients(n: int = 180, seed: int = 0) -> pd.DataFrame:
    """The arm of most rows decides the hazard; a third of the rows are censored."""
    draw = np.random.default_rng(seed)
    arm = draw.choice(["drug", GROUP], n)
    age = draw.normal(60, 10, n).round()
    time = draw.exponential(200 * np.exp(1.6 * (arm == "drug") - 0.02 * (age - 60)))
    end = draw.uniform(50, 900, n)
    return pd.DataFrame(
        {
            "age": age,
            "arm": arm,
            "noise": draw.normal(size=n),
            "days": np.minimum(time, end).round(1),
            "state": np.where(time <= end, "dead", "alive"),
        }
    )


@pytest.fixture(scope="module")
def patients() -> pd.DataFrame:
    return make_patients()


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, patients: pd.DataFrame) -> StudyResult:
    folder = tmp_path_factory.mktemp("survival")
    return Study(
        patients, time="days", event="state", models=MODELS, output_dir=folder, n_jobs=1
    ).run(progress=False)


def test_facts_follow_the_schema(result: StudyResult) -> None:
    facts = json.loads((result.folder / "results.json").read_text())
    jsonschema.validate(facts, json.loads(SCHEMA.read_text()))
    assert facts["study"]["task"] == "survival"
    assert facts["study"]["metric"] == "integrated_brier"
    assert [m["status"] for m in facts["models"]] == ["ok"] * 3
    roles = {c["name"]: c["role"] for c in facts["data"]["columns"]}
    assert roles["days"] == roles["state"] == "target"
    assert facts["models"][0]["key"] == "cox"
    assert facts["importance"]["metric"] == "concordance"
    assert facts["importance"]["columns"][0]["name"] == "arm"
    assert "risks" in facts["surrogate"]["skipped"]


def read_times(patients: pd.DataFrame, numbers: Any) -> Any:
    part = patients.iloc[numbers]
    y = np.empty(len(part), dtype=[("event", "?"), ("time", "f8")])
    y["event"], y["time"] = part.state == "dead", part.days
    return y


def test_scores_are_those_of_the_metrics(result: StudyResult, patients: pd.DataFrame) -> None:
    """On the test rows, by functions that share no code with the study's measures."""
    train, test = result.training_rows(), result.test_rows()
    y_train, y = (read_times(patients, rows.numbers) for rows in (train, test))
    np.testing.assert_array_equal(y["time"], test.y["time"])
    np.testing.assert_array_equal(y["event"], test.y["event"])
    for model in result.facts["models"]:
        fitted = result.model(model["key"])
        risk = fitted.predict(test.X)
        curves = fitted.predict_survival_function(test.X)
        found = model["test"]["metrics"]
        assert found["concordance"] == pytest.approx(concordance_index(y, risk))
        times = np.array(result.times)
        brier = integrated_survival_brier_score(y_train, y, curves, times)
        assert found["integrated_brier"] == pytest.approx(brier)
        areas, _ = cumulative_dynamic_auc(y_train, y, 1 - curves, times)
        assert found["dynamic_auc"] == pytest.approx(np.nanmean(areas))


def test_splits_are_stratified_by_event(result: StudyResult, patients: pd.DataFrame) -> None:
    happened = (patients.state == "dead").to_numpy()
    share = happened.mean()
    test, train = result.test_rows(), result.training_rows()
    assert abs(test.y["event"].mean() - share) < 1 / len(test)
    for fold in range(5):
        scored = train.y["event"][train.fold == fold]
        assert abs(scored.mean() - share) < 2 / len(scored)


def test_curves_of_groups(result: StudyResult, patients: pd.DataFrame) -> None:
    facts = result.facts["models"][0]["test"]["survival"]
    by_risk, by_arm = facts["groups"]
    assert [c["label"] for c in by_risk["curves"]] == ["low risk", "medium risk", "high risk"]
    assert by_arm["column"] == "arm"
    assert {c["label"] for c in by_arm["curves"]} == {"drug", GROUP}
    assert by_arm["p"] < 0.01
    test = patients.iloc[result.test_rows().numbers]
    for curve in by_arm["curves"]:
        rows = test[test.arm == curve["label"]]
        assert curve["n"] == len(rows)
        assert curve["n_events"] == (rows.state == "dead").sum()
        assert curve["at_risk"] == [(rows.days >= t).sum() for t in by_arm["risk_times"]]
        # The product over the times of events, one by one.
        survival = 1.0
        for t, s in zip(curve["time"][1:], curve["survival"][1:], strict=True):
            events = ((rows.days == t) & (rows.state == "dead")).sum()
            survival *= 1 - events / (rows.days >= t).sum()
            assert s == pytest.approx(survival)
        assert all(
            low <= s <= high
            for low, s, high in zip(curve["low"], curve["survival"], curve["high"], strict=True)
        )


def test_the_model_predicts_tables_and_refits(result: StudyResult, patients: pd.DataFrame) -> None:
    model = result.best_model_
    assert isinstance(model, StudySurvivalModel)
    curves = model.predict_survival_function(patients, [0.0, 100.0, 1e9])
    assert curves.shape == (len(patients), 3)
    assert (curves[:, 0] == 1).all()
    assert (np.diff(curves, axis=1) <= 0).all()
    again = Study.load(result.folder).best_model_
    np.testing.assert_array_equal(again.predict(patients), model.predict(patients))
    y = patients[["state", "days"]]
    assert model.score(patients, y) == concordance_index(y, model.predict(patients))
    again.fit(patients, y)
    assert np.corrcoef(again.predict(patients), model.predict(patients))[0, 1] > 0.95


def test_predict_file(result: StudyResult, patients: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "p.csv"
    predict(result.folder, patients, out)
    table = pd.read_csv(out)
    assert table.columns[0] == "risk"
    times = [float(name.removeprefix("survival at ")) for name in table.columns[1:]]
    model = result.best_model_
    np.testing.assert_allclose(
        table[table.columns[1:]], model.predict_survival_function(patients, times)
    )
    with pytest.raises(StudyError, match="no intervals of a risk"):
        predict(result.folder, patients, out, intervals=0.9)


def test_explain(result: StudyResult) -> None:
    found = explain(result.folder)
    assert found.facts["importance"]["columns"][0]["name"] == "arm"
    assert found.facts["surrogate"] is None
    with pytest.raises(StudyError, match="leave out --row"):
        explain(result.folder, row=3)


@pytest.mark.usefixtures("undrawn_here")
def test_compare(result: StudyResult, patients: pd.DataFrame, tmp_path: Path) -> None:
    other = Study(
        patients, time="days", event="state", models="kaplan_meier", output_dir=tmp_path, n_jobs=1
    ).run(progress=False)
    paired = compare([result.folder, other.folder]).facts["paired"]
    facts = result.facts
    scores = [m["test"]["metrics"]["integrated_brier"] for m in facts["models"]]
    baseline = next(m for m in facts["models"] if m["key"] == "kaplan_meier")
    expected = baseline["test"]["metrics"]["integrated_brier"] - scores[0]
    assert paired["pairs"][0]["difference"] == pytest.approx(expected)


@pytest.mark.parametrize("language", ["en", "es"])
def test_page(result: StudyResult, language: str) -> None:
    page = render_report(result.facts, language)
    assert GROUP not in page
    assert "&lt;b&gt;&amp;" in page
    section = page[page.index('<section id="survival"') :]
    section = section[: section.index("</section>")]
    # By risk and by the column, two scores over time, and calibration at three times.
    assert section.count("<svg") == 2 + 2 + 3
    words = {"en": "Rows at risk", "es": "Filas en riesgo"}
    assert words[language] in section
    for absent in ("thresholds", "errors", "costs", "ensemble", "calibration"):
        assert f'<section id="{absent}"' not in page
    skipped = page[page.index('<section id="skipped"') :]
    assert 'id="ensemble"' in skipped
    assert 'id="surrogate"' in skipped


def test_the_command_of_the_page_repeats_the_study(result: StudyResult) -> None:
    page = render_report(result.facts)
    section = page[page.index('<section id="reproduce"') :]
    command = re.search(r"<code>(arboleda study[^<]*)</code>", section)
    assert command is not None
    assert "--time days --event state" in command[1]
    assert "--target" not in command[1]
    assert "--task" not in command[1]


@pytest.mark.usefixtures("undrawn_here")
def test_fit_takes_the_target_apart(patients: pd.DataFrame, tmp_path: Path) -> None:
    X, y = patients[["age", "noise"]], patients[["state", "days"]]
    study = Study(time="t", event="e", models="kaplan_meier,cox", output_dir=tmp_path, n_jobs=1)
    study.fit(X, y, progress=False)
    assert study.target == "t"
    assert study.predict(X).shape == (len(X),)
    with pytest.raises(StudyError, match="two fields"):
        Study(time="t", event="e").fit(X, patients)


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"time": "day"}, "no column 'day'"),
        ({}, {"event": "stat"}, "no column 'stat'"),
        ({"state": lambda d: (d.state == "dead") + 1}, {}, "--event 'state=1'.*--event 'state=2'"),
        ({"state": lambda d: d.state.where(d.index > 3)}, {}, "'state' is missing in 4 of"),
        ({"days": lambda d: d.days.where(d.index > 3)}, {}, "'days' is missing in 4 of"),
        ({"days": lambda d: d.days - 1e6}, {}, "are not negative"),
        ({"days": lambda d: "d" + d.days.astype(str)}, {}, "convert it to numbers"),
        ({"days": lambda d: 5.0}, {}, "the same time in every row"),
        ({"state": lambda d: "alive"}, {}, "No row .* has the event"),
        ({"state": lambda d: d.index < 3}, {}, "Only 3 of .* rows have the event"),
        ({}, {"event": "days"}, "cannot be both time and event"),
        ({}, {"time": None}, "needs the column of the times"),
        ({}, {"target": "age"}, "leave the target out"),
        ({}, {"task": "regression"}, "--task is of no use with --event"),
        ({}, {"query": "arm"}, "not both"),
        ({}, {"metric": "rmse"}, "no metric 'rmse' for survival"),
        ({}, {"models": "cart"}, "no model 'cart' for survival"),
        ({}, {"cv": "time:5"}, "cannot be split by it"),
    ],
)
def test_bad_input(
    patients: pd.DataFrame, changes: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        Study(
            patients.assign(**changes), **{"time": "days", "event": "state", **options}
        ).make_plan()


def test_codings_of_the_event(patients: pd.DataFrame) -> None:
    happened = (patients.state == "dead").to_numpy()
    for coded, event in (
        (happened, "state"),
        (happened.astype(int), "state"),
        (happened + 1, "state=2"),
        (np.where(happened, "relapse", "none"), "state=relapse"),
    ):
        table = patients.assign(state=coded)
        plan = Study(table, time="days", event=event).make_plan()
        np.testing.assert_array_equal(plan.target.y["event"], happened)
    plan = Study(patients.assign(state=1), time="days", event="state").make_plan()
    assert plan.target.y["event"].all()


@pytest.mark.usefixtures("undrawn_here")
@pytest.mark.parametrize("cv", ["loo", "bootstrap:10", "3x2"])
def test_other_schemes(patients: pd.DataFrame, cv: str, tmp_path: Path) -> None:
    found = Study(
        patients.iloc[:50], time="days", event="state", models="kaplan_meier,cox", cv=cv,
        metric="concordance", output_dir=tmp_path, n_jobs=1,
    ).run(progress=False)  # fmt: skip
    assert found.facts["models"][0]["key"] == "cox"
    assert found.facts["models"][1]["test"]["metrics"]["concordance"] == 0.5


@pytest.mark.usefixtures("undrawn_here")
def test_lung_as_known(tmp_path: Path) -> None:
    path = shared_data("survival/lung.csv")
    found = Study(path, time="time", event="status", models=MODELS, output_dir=tmp_path).run(
        progress=False
    )
    scores = {m["key"]: m["test"]["metrics"] for m in found.facts["models"]}
    assert scores["kaplan_meier"]["concordance"] == 0.5
    assert scores["cox"]["concordance"] > 0.6
    assert scores["cox"]["integrated_brier"] < scores["kaplan_meier"]["integrated_brier"]
