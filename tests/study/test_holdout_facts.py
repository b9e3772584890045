"""Facts about a model's predictions beside its metrics: groups, costs, rejected rows."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from arboleda.scoring.scores import REJECTED, Predictions, decide_by_cost
from arboleda.study import Study, StudyError
from arboleda.study.results.calibration import fit_calibrator
from arboleda.study.splitting import find_subgroups
from arboleda.tables.table import Column

pytestmark = pytest.mark.usefixtures("undrawn")

SCHEMA = json.loads(files("arboleda.facts").joinpath("study.schema.json").read_text())


def loans(n: int = 700, seed: int = 1) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    income = draw.normal(size=n)
    debt = draw.normal(size=n)
    region = draw.choice(["north", "south", "far"], n, p=[0.55, 0.4, 0.05])
    noise = np.where(region == "south", 2.5, 0.7) * draw.normal(size=n)
    bad = income - debt + noise < -0.8
    return pd.DataFrame(
        {"income": income, "debt": debt, "region": region, "loan": np.where(bad, "bad", "good")}
    )


COSTS = {"bad": {"good": 8.0}, "good": {"bad": 1.0}}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return Study(
        loans(),
        target="loan",
        metric="accuracy",
        models="cart,logistic,svm,most_frequent",
        cost_matrix=COSTS,
        reject_cost=0.4,
        score_by=["region", "income"],
        output_dir=tmp_path_factory.mktemp("loans"),
    ).run()


def test_the_facts_follow_the_schema(found: Any) -> None:
    jsonschema.validate(found.facts, SCHEMA)
    assert found.facts["costs"]["matrix"] == [[0, 8], [1, 0]]


def test_costs_match_the_confusion_matrix(found: Any) -> None:
    matrix = np.array([[0, 8.0], [1.0, 0]])
    for model in found.facts["models"]:
        test = model["test"]
        total = float((matrix * np.array(test["confusion"]["counts"])).sum())
        assert test["costs"]["total"] == pytest.approx(total)
        decided = test["costs"]["decided"]
        assert decided["total"] == pytest.approx((matrix * np.array(decided["counts"])).sum())


def test_deciding_by_cost_is_cheaper_for_informative_models(found: Any) -> None:
    for model in found.facts["models"]:
        if model["key"] != "most_frequent":
            costs = model["test"]["costs"]
            assert costs["decided"]["total"] < costs["total"]


def test_groups_are_reported_with_intervals_and_their_gap(found: Any) -> None:
    best = found.facts["models"][0]["test"]
    region, income = best["groups"]
    assert region["column"] == "region"
    rows = {row["value"]: row for row in region["rows"]}
    assert set(rows) == {"north", "south", "far"}
    assert sum(row["n"] for row in rows.values()) == found.facts["split"]["n_test"]
    assert rows["far"]["small"]
    assert (region["gap"]["best"], region["gap"]["worst"]) == ("north", "south")
    for row in rows.values():
        assert row["low"] <= row["metrics"]["accuracy"] <= row["high"]
    assert len(income["rows"]) == 4
    whole = sum(row["n"] * row["metrics"]["accuracy"] for row in rows.values())
    assert whole / found.facts["split"]["n_test"] == pytest.approx(best["metrics"]["accuracy"])
    assert "groups" not in found.facts["models"][3]["test"]


def test_rejects_follow_chows_rule(found: Any) -> None:
    reject = found.facts["models"][0]["test"]["reject"]
    assert 0 < reject["coverage"] < 1
    assert sum(row["rejected"] for row in reject["classes"]) == pytest.approx(
        (1 - reject["coverage"]) * found.facts["split"]["n_test"]
    )
    decided = found.facts["models"][0]["test"]["costs"]["decided"]["mean"]
    assert reject["mean_cost"] < decided
    assert reject["curve"]["coverage"][-1] == 1


def test_a_row_is_rejected_where_every_decision_costs_more() -> None:
    p = np.array([[0.95, 0.05], [0.7, 0.3], [0.2, 0.8]])
    plain = 1 - np.eye(2)
    assert decide_by_cost(p, plain, 0.25).tolist() == [0, REJECTED, 1]
    assert decide_by_cost(p, plain, None).tolist() == [0, 0, 1]
    assert decide_by_cost(p, np.array([[0, 1.0], [10.0, 0]]), None).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost_matrix": {"bda": {"good": 1}}}, "class 'bda'"),
        ({"cost_matrix": {"bad": {"fine": 1}}}, "class 'fine'"),
        ({"score_by": "regoin"}, "regoin"),
        ({"score_by": "loan"}, "is the target"),
    ],
)
def test_mismatched_inputs_are_refused(
    options: dict[str, Any], message: str, tmp_path: Any
) -> None:
    with pytest.raises(StudyError, match=message):
        Study(loans(60), target="loan", output_dir=tmp_path, **options).run()


def test_a_regression_refuses_costs(tmp_path: Any) -> None:
    with pytest.raises(StudyError, match="is a quantity"):
        Study("diabetes", target="target", reject_cost=0.1, output_dir=tmp_path).run()


def test_numeric_columns_are_divided_into_subgroups() -> None:
    rows = np.arange(12)
    few = Column("a", "numeric", np.array([1.0, 2.0, np.nan] * 4))
    assert {k: v.tolist() for k, v in find_subgroups(few, rows).items()} == {
        "1": [0, 3, 6, 9],
        "2": [1, 4, 7, 10],
        "(missing)": [2, 5, 8, 11],
    }
    many = Column("b", "numeric", np.arange(12.0))
    assert [len(part) for part in find_subgroups(many, rows).values()] == [3, 3, 3, 3]
    texts = Column("c", "string", np.repeat(np.arange(30.0), 2), tuple(f"v{i}" for i in range(30)))
    parts = find_subgroups(texts, np.arange(60))
    assert len(parts) == 20
    assert len(parts["(11 other values)"]) == 22
    nothing = Column("d", "numeric", np.full(12, np.nan))
    assert list(find_subgroups(nothing, rows)) == ["(missing)"]


def test_only_an_overconfident_model_is_calibrated() -> None:
    draw = np.random.default_rng(0)
    true = 1 / (1 + np.exp(-draw.normal(0, 1.5, 4000)))
    y = (draw.random(4000) < true).astype(int)
    overconfident = 1 / (1 + np.exp(-4 * np.log(true / (1 - true))))
    good = fit_calibrator(_predictions(true), y, 2, 0)
    fixed = fit_calibrator(_predictions(overconfident), y, 2, 0)
    assert fixed.method in ("sigmoid", "temperature", "isotonic")
    assert np.abs(fixed.probabilities(_predictions(overconfident))[:, 1] - true).mean() < 0.03
    assert np.abs(good.probabilities(_predictions(true))[:, 1] - true).mean() < 0.03


def _predictions(p: np.ndarray) -> Predictions:
    return Predictions((p > 0.5).astype(int), np.column_stack([1 - p, p]))


def test_without_enough_rows_nothing_is_calibrated() -> None:
    p = np.linspace(0.1, 0.9, 12)
    assert fit_calibrator(_predictions(p), (p > 0.8).astype(int), 2, 0).method == "none"
    assert fit_calibrator(None, np.array([0, 1]), 2, 0).method == "none"
    margins = np.column_stack([-1 - p, p])
    assert fit_calibrator(
        Predictions((p > 0.5).astype(int), margins), p.astype(int), 2, 0
    ).method == ("link")
