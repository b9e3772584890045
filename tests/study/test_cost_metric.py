"""Metric "cost": models are selected by the cost of their cheapest decisions."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from arboleda import CostSensitiveClassifier
from arboleda.scoring.choice import find_metric
from arboleda.scoring.intervals import bootstrap_interval, compute_influence, compute_score
from arboleda.scoring.scores import all_scores, choose_cheapest_classes
from arboleda.study import Study, StudyError, StudyResult, compare
from arboleda.study.config.costs import describe_costs
from arboleda.study.config.options import config_text, make_settings, read_config
from arboleda.study.config.settings import Settings
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table

COSTS = {"yes": {"no": 8}, "no": {"yes": 1}}
MATRIX = np.array([[0.0, 1.0], [8.0, 0.0]])  # "no", then "yes"
MODELS = "cart,logistic,ridge"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> StudyResult:
    out = tmp_path_factory.mktemp("cost")
    return Study(
        mixed,
        target="rich",
        output_dir=out,
        metric="cost",
        cost_matrix=COSTS,
        models=MODELS,
        preset="thesis",  # without calibration
        lang="es",
        n_jobs=1,
    ).run()


def test_the_metric_matches_a_worked_example() -> None:
    y = np.array([0, 1, 1, 0])
    score = np.array([[0.95, 0.05], [0.8, 0.2], [0.95, 0.05], [0.5, 0.5]])
    # "yes" is cheaper from a probability of 1 / 9 on: no, yes, no, yes.
    predicted = score.argmax(axis=1)
    assert choose_cheapest_classes(predicted, score, MATRIX).tolist() == [0, 1, 0, 1]
    assert all_scores(y, predicted, score, 2, MATRIX)["cost"] == (0 + 0 + 8 + 1) / 4
    # Without probabilities the predicted class counts: no, no, no, no.
    for none in (None, np.column_stack([-2.0 - score[:, 0], score[:, 1]])):
        assert all_scores(y, predicted, none, 2, MATRIX)["cost"] == (8 + 8) / 4
    assert "cost" not in all_scores(y, predicted, score, 2)


def test_quick_score_interval_and_influence_agree() -> None:
    draw = np.random.default_rng(0)
    y, score = draw.integers(3, size=120), draw.dirichlet(np.ones(3), 120)
    matrix = draw.uniform(0, 5, (3, 3))
    predicted = score.argmax(axis=1)
    cost = all_scores(y, predicted, score, 3, matrix)["cost"]
    assert cost is not None
    assert compute_score(find_metric("cost"), y, predicted, score, 3, matrix) == pytest.approx(cost)
    by_rows = compute_influence(find_metric("cost"), y, predicted, score, 3, matrix)
    assert by_rows is not None
    value, influence = by_rows
    paid = matrix[y, choose_cheapest_classes(predicted, score, matrix)]
    assert value == pytest.approx(cost)
    np.testing.assert_allclose(influence, paid - paid.mean())
    low, high = bootstrap_interval(
        find_metric("cost"), y, predicted, score, n_classes=3, seed=0, costs=matrix
    )
    assert low is not None
    assert high is not None
    reach = 1.96 * paid.std() / np.sqrt(120)
    assert low == pytest.approx(cost - reach, abs=0.08)
    assert high == pytest.approx(cost + reach, abs=0.08)


def test_the_study_selects_by_it(found: StudyResult) -> None:
    facts = found.facts
    schema = json.loads(files("arboleda.facts").joinpath("study.schema.json").read_text("utf-8"))
    jsonschema.validate(facts, schema)
    assert facts["study"]["metric"] == "cost"
    assert facts["study"]["metric_label"] == "Mean cost"
    assert not facts["study"]["greater_is_better"]
    means = [model["cv"]["mean"] for model in facts["models"]]
    assert means == sorted(means)
    first = facts["models"][0]["test"]
    assert first["interval"]["metric"] == "cost"
    assert first["interval"]["low"] <= first["metrics"]["cost"] <= first["interval"]["high"]
    assert facts["selection"]["metric"] == facts["comparison"]["metric"] == "cost"
    assert facts["selection"]["honest"] is not None
    assert facts["importance"]["metric"] == "cost"
    assert facts["importance"]["columns"][0]["standard_error"] is not None
    assert all(p["mean"] is not None for p in facts["learning_curve"]["points"])
    assert any(model["ensemble"] for model in facts["models"])
    # Probabilities that are decided by cost, not the class they make likeliest.
    logistic = next(m for m in facts["models"] if m["key"] == "logistic")
    counts = np.array(logistic["test"]["confusion"]["counts"])
    assert logistic["test"]["metrics"]["cost"] < (counts * MATRIX).sum() / counts.sum()
    # A model without probabilities pays for what it predicts.
    ridge = next(m for m in facts["models"] if m["key"] == "ridge")
    counts = np.array(ridge["test"]["confusion"]["counts"])
    assert ridge["test"]["metrics"]["cost"] == pytest.approx((counts * MATRIX).sum() / counts.sum())


def test_the_test_score_is_the_cost_of_the_saved_model(found: StudyResult) -> None:
    study = Study.load(found.folder)
    rows = study.test_rows()
    for model in found.facts["models"]:
        fitted = study.model(model["key"])
        p = fitted.predict_proba(rows.X) if hasattr(fitted, "predict_proba") else None
        predicted = np.searchsorted(fitted.classes_, fitted.predict(rows.X))
        decided = choose_cheapest_classes(predicted, p, MATRIX)
        assert model["test"]["metrics"]["cost"] == pytest.approx(MATRIX[rows.codes, decided].mean())


def test_other_costs_make_another_study(mixed: pd.DataFrame) -> None:
    """Scores that were stored for other costs do not count, unless another metric decides."""
    other = {"yes": {"no": 16}, "no": {"yes": 2}}

    def identity(metric: str, costs: Any) -> dict[str, Any]:
        settings = Settings(metric=metric, cost_matrix=costs)
        return make_plan(read_table(mixed), "rich", settings).identity()

    assert identity("cost", COSTS) != identity("cost", other)
    assert identity("accuracy", COSTS) == identity("accuracy", other)


def test_studies_are_compared_by_it(found: StudyResult, mixed: pd.DataFrame, tmp_path: Any) -> None:
    Study(
        mixed,
        target="rich",
        output_dir=tmp_path,
        metric="cost",
        cost_matrix=COSTS,
        models="cart",
        n_jobs=1,
    ).run()
    text = json.dumps(compare([found.folder, tmp_path]).facts)
    assert '"metric": "cost"' in text


def test_the_report_names_it_in_its_language(found: StudyResult) -> None:
    page = (found.folder / "report.html").read_text(encoding="utf-8")
    assert "Coste medio" in page
    assert "Mean cost" not in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "cost"}, "give --cost-matrix"),
        ({"metric": "cost", "reject_cost": 0.3}, "give --cost-matrix"),
        (
            {"metric": "cost", "cost_matrix": {"yes": {"yes": 0}}, "task": "regression"},
            "A cost matrix needs a classification",
        ),
    ],
)
def test_missing_requirements_are_reported(
    mixed: pd.DataFrame, tmp_path: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        Study(mixed, target="rich", output_dir=tmp_path, **options).run()


def test_costs_by_matrix_and_by_label_are_equal(mixed: pd.DataFrame, tmp_path: Any) -> None:
    """In a study, its file and the class; columns are predicted classes in both."""
    table = read_table(mixed)
    labelled = make_plan(table, "rich", Settings(cost_matrix=COSTS))
    matrix = make_settings(cost_matrix=MATRIX)
    path = tmp_path / "study.toml"
    path.write_text(config_text(tmp_path / "t.csv", "rich", matrix))
    assert make_settings(cost_matrix=read_config(path)["cost_matrix"]) == matrix
    in_order = make_plan(table, "rich", matrix)
    assert describe_costs(labelled.settings, labelled.target) == describe_costs(
        matrix, in_order.target
    )
    X, y = [[0.0], [1.0]] * 5, ["no", "yes"] * 5
    for form in (COSTS, {("yes", "no"): 8}, MATRIX):
        fitted = CostSensitiveClassifier(GaussianNB(), cost_matrix=form).fit(X, y)
        assert fitted.cost_matrix_.tolist() == MATRIX.tolist()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1, 2]] * 3, r"has 3 rows and 3 columns, but 'rich' has 2 classes, 'no', 'yes'"),
        ([[0, 1], [2]], "columns of different lengths"),
    ],
)
def test_a_matrix_that_does_not_match_the_classes_is_refused(
    mixed: pd.DataFrame, matrix: Any, message: str
) -> None:
    settings = make_settings(cost_matrix=matrix)
    with pytest.raises(StudyError, match=message):
        make_plan(read_table(mixed), "rich", settings)


def test_a_regression_refuses_the_metric(tmp_path: Any) -> None:
    costs = {"1": {"2": 3}}
    with pytest.raises(StudyError, match="no metric 'cost' for regression"):
        Study(
            "diabetes", target="target", output_dir=tmp_path, metric="cost", cost_matrix=costs
        ).run()
