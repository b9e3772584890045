"""Thresholds of a probability: the chosen one, the measures at each, and the worst errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score

from arboleda.study import Study, StudyResult
from arboleda.study.results.thresholds import choose_threshold, count_decisions

Rows = tuple[np.ndarray, np.ndarray]
cost = st.floats(0.01, 100.0)


levels = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.500001, 0.9, 1.0])
pairs = st.lists(st.tuples(st.booleans(), levels), min_size=1, max_size=20)
rows = pairs.map(lambda found: (np.array([a for a, _ in found]), np.array([b for _, b in found])))


def mean_cost(found: Rows, threshold: float, costs: tuple[float, float]) -> float:
    is_positive, p = found
    predicted = p >= threshold
    return float(
        np.mean(costs[0] * (predicted & ~is_positive) + costs[1] * (~predicted & is_positive))
    )


@given(rows, cost, cost)
def test_no_threshold_costs_less_than_the_chosen_one(
    found: Rows, false_positive: float, false_negative: float
) -> None:
    costs = (false_positive, false_negative)
    chosen = choose_threshold(*found, costs)
    # Thresholds that divide the rows in every possible way.
    every = [0.0, *np.nextafter(np.unique(found[1]), 2.0), *np.unique(found[1])]
    least = min(mean_cost(found, t, costs) for t in every if t <= 1.0)
    assert mean_cost(found, chosen.threshold, costs) == pytest.approx(least)
    expected = mean_cost(found, 0.5, costs) - least
    assert chosen.saving == pytest.approx(expected, abs=1e-9)


def test_ties_are_resolved_towards_the_costs() -> None:
    found = np.array([False, False, True, True]), np.array([0.1, 0.2, 0.8, 0.9])
    assert choose_threshold(*found, (1.0, 1.0)).threshold == 0.5
    assert choose_threshold(*found, (1.0, 3.0)).threshold == 0.25
    assert choose_threshold(*found, (1.0, 99.0)).threshold == 0.21


@given(rows, st.floats(0.01, 0.99))
def test_measures_match_scikit_learn(found: Rows, threshold: float) -> None:
    is_positive, p = found
    curve = count_decisions(is_positive, p, [threshold], (2.0, 3.0))
    predicted = p >= threshold
    assert curve.cost == pytest.approx([mean_cost(found, threshold, (2.0, 3.0))])
    if predicted.any():
        assert curve.precision == pytest.approx([precision_score(is_positive, predicted)])
    else:
        assert curve.precision == curve.lift == [None]
    if is_positive.any():
        recall = recall_score(is_positive, predicted)
        assert curve.recall == pytest.approx([recall])
        assert curve.gain == pytest.approx([recall - predicted.mean()])
    else:
        assert curve.recall == curve.gain == [None]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyResult, pd.DataFrame]:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "width": random.normal(size=300).round(3),
            "colour": random.choice(["red", "blue <b>"], 300),
            "day": pd.Timestamp("2024-02-01") + pd.to_timedelta(random.integers(0, 90, 300), "D"),
        }
    )
    frame.loc[random.random(300) < 0.1, "width"] = np.nan
    noise = random.normal(size=300)
    frame["kind"] = np.where(frame["width"].fillna(0) + noise > 0.5, "yes", "no")
    folder = tmp_path_factory.mktemp("noisy")
    cost = [[0, 1], [4, 0]]
    result = Study(
        frame, target="kind", output_dir=folder, models="lda,most_frequent", cost_matrix=cost
    ).run()
    return result, frame


def test_the_choice_is_made_on_out_of_fold_rows_and_shown_on_the_test(
    noisy: tuple[StudyResult, pd.DataFrame],
) -> None:
    result, _frame = noisy
    found = result.facts["thresholds"]
    assert found["positive"] == "yes"
    assert (found["false_positive_cost"], found["false_negative_cost"]) == (1.0, 4.0)
    assert found["held_out"]["n_rows"] == result.facts["split"]["n_train"]
    assert found["test"]["n_rows"] == result.facts["split"]["n_test"]
    # A missed yes is expensive: the threshold is far below a half.
    assert found["chosen"]["threshold"] < 0.4
    at = found["thresholds"].index(0.5)
    counts = result.facts["models"][0]["test"]["confusion"]["counts"]
    assert found["test"]["true_positives"][at] == counts[1][1]
    assert found["test"]["false_positives"][at] == counts[0][1]


def test_errors_are_the_misclassified_test_rows(
    noisy: tuple[StudyResult, pd.DataFrame],
) -> None:
    result, frame = noisy
    found = result.facts["errors"]
    counts = np.array(result.facts["models"][0]["test"]["confusion"]["counts"])
    assert found["n_wrong"] == counts[0, 1] + counts[1, 0]
    losses = [row["loss"] for row in found["rows"]]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) == min(10, found["n_wrong"])
    for row in found["rows"]:
        original = frame.iloc[row["row"] - 1]
        assert row["truth"] == original["kind"] != row["predicted"]
        assert np.exp(-row["loss"]) == pytest.approx(row["probability"])
        shown = {value["column"]: value["value"] for value in row["values"]}
        assert next(iter(shown)) == "width"
        assert shown["colour"] == original["colour"]
        assert shown["day"] == original["day"].strftime("%Y-%m-%d")
        assert shown["width"] == (None if np.isnan(original["width"]) else original["width"])


def test_errors_of_a_regression_are_the_largest(tmp_path: Path) -> None:
    result = Study("diabetes", target="target", output_dir=tmp_path, models="cart").run()
    found = result.facts["errors"]
    assert result.facts["thresholds"] is None
    assert found["loss"] == "absolute_error"
    losses: list[Any] = [row["loss"] for row in found["rows"]]
    assert losses == sorted(losses, reverse=True)
    for row in found["rows"]:
        assert row["loss"] == pytest.approx(abs(row["truth"] - row["predicted"]))


def test_a_model_without_probabilities_has_no_thresholds(
    tmp_path: Path, mixed: pd.DataFrame
) -> None:
    options: dict[str, Any] = {"preset": "thesis", "models": "svm"}
    result = Study(mixed, target="rich", output_dir=tmp_path, **options).run()
    found = result.facts["thresholds"]
    assert found["skipped"] == "the model predicts no probabilities"
    assert found["thresholds"] == []
    assert all(row["probability"] is None for row in result.facts["errors"]["rows"])
