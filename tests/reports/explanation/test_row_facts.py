"""The facts of a row against values computed with NumPy and the model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arboleda.analysis.explanation.explain import load_subject
from arboleda.study import Explanation, explain
from arboleda.study.results.explained_model import ExplainedModel


def test_facts_follow_the_schema_and_are_reproducible(
    studies: dict[str, Path], of_row: Explanation, task: str, check_facts: Callable[[Any], None]
) -> None:
    check_facts(of_row.facts)
    again = explain(studies[task], of_row.facts["row"]["number"])
    assert again.facts == of_row.facts
    assert again.to_html() == of_row.to_html()


def test_the_row_matches_the_table(of_row: Explanation, subject: ExplainedModel) -> None:
    row = of_row.facts["row"]
    assert row["number"] == subject.test.numbers[0] + 1
    assert row["part"] == "test"
    assert row["near_test_rows"] == []
    assert row["truth"] == subject.prediction_text(float(subject.test.y[0]))


def test_the_prediction_matches_the_pipeline(of_row: Explanation, subject: ExplainedModel) -> None:
    prediction, x = of_row.facts["prediction"], subject.test.x[:1]
    predicted = float(subject.pipeline.predict(x)[0])
    assert prediction["value"] == subject.prediction_text(predicted)
    if subject.predicts_probabilities:
        shares = np.bincount(subject.train.y) / len(subject.train.y)
        expected = {
            label: (p, share)
            for label, p, share in zip(
                subject.labels, subject.pipeline.predict_proba(x)[0], shares, strict=True
            )
        }
        found = {r["label"]: (r["probability"], r["share"]) for r in prediction["probabilities"]}
        assert found == expected
        assert prediction["probabilities"][0]["label"] == prediction["value"]


def test_similar_rows_and_errors_exclude_the_row_itself(
    of_row: Explanation, subject: ExplainedModel
) -> None:
    prediction = of_row.facts["prediction"]
    x, y = subject.test.x[1:], subject.test.y[1:]
    predictions = subject.pipeline.predict(x)
    if not subject.classes:
        off = np.abs(predictions - y)
        assert prediction["errors"]["n_rows"] == len(y)
        assert prediction["errors"]["median"] == pytest.approx(np.median(off))
        return
    same = predictions == subject.labels.index(prediction["value"])
    if same.sum() < 50:
        assert prediction["similar"] is None


def test_values_are_placed_among_the_training_values(
    of_row: Explanation, subject: ExplainedModel
) -> None:
    row = subject.test.x[0]
    for j, value_facts in enumerate(of_row.facts["values"]):
        seen = subject.train.x[:, j]
        assert value_facts["name"] == subject.names[j]
        assert value_facts["kind"] == subject.kind(j)
        if value_facts["kind"] == "numeric" and not np.isnan(row[j]):
            present = seen[~np.isnan(seen)]
            assert value_facts["value"] == row[j]
            assert value_facts["below"] == np.mean(present < row[j])
            assert value_facts["usual"]["median"] == np.median(present)
        elif value_facts["kind"] == "categorical":
            assert value_facts["share"] == np.mean(seen == row[j])
            assert sum(share for _, share in value_facts["common"]) <= 1 + 1e-12


def test_changes_are_predictions_for_the_changed_row(
    of_row: Explanation, subject: ExplainedModel
) -> None:
    for change in of_row.facts["changes"]:
        j = subject.names.index(change["name"])
        place = change["own"]
        assert change["values"][place] == subject.text(j, subject.test.x[0, j])
        known = {subject.text(j, value): value for value in subject.train.x[:, j]}
        for value, output, predicted in zip(
            change["values"], change["outputs"], change["predictions"], strict=True
        ):
            other = subject.test.x[:1].copy()
            other[0, j] = known.get(value, subject.test.x[0, j])
            assert predicted == subject.prediction_text(float(subject.pipeline.predict(other)[0]))
            k = subject.labels.index(change["output"]) if subject.classes else 0
            assert output == pytest.approx(subject.outputs(other)[0, k])
        turn = change["turn"]
        if turn is None:
            assert not subject.classes or len(set(change["predictions"])) == 1
        else:
            assert change["predictions"][turn] != change["predictions"][place]


def test_contributions_are_sorted_by_size(of_row: Explanation, subject: ExplainedModel) -> None:
    found = of_row.facts["contributions"]
    sizes = [abs(column["contribution"]) for column in found["columns"]]
    assert sizes == sorted(sizes, reverse=True)
    for column in found["columns"]:
        j = subject.names.index(column["name"])
        assert column["value"] == subject.text(j, subject.test.x[0, j])
    assert found["output"] == (of_row.facts["prediction"]["value"] if subject.classes else None)


def test_the_column_that_determines_the_target_contributes_most(
    studies: dict[str, Path],
) -> None:
    found = explain(studies["regression"], 1).facts
    assert found["contributions"]["columns"][0]["name"] == "length"


def test_neighbours_of_a_forest_use_its_proximity(studies: dict[str, Path]) -> None:
    subject = load_subject(studies["binary"], 0)
    number = int(subject.train.numbers[4])
    found = explain(studies["binary"], number + 1).facts
    near = found["neighbours"]
    assert (near["kind"], near["agreement"]) == ("own", None)
    forest, prepare = subject.pipeline[-1], subject.pipeline[:-1].transform
    proximity = forest.proximity(prepare(subject.train.x[4:5]), prepare(subject.train.x))
    expected = proximity.toarray().ravel()
    expected[4] = 0
    best = [row["proximity"] for row in near["rows"]]
    assert best == sorted(expected, reverse=True)[: len(best)]
    for row in near["rows"]:
        at = int(np.flatnonzero(subject.train.numbers == row["row"] - 1)[0])
        assert row["proximity"] == expected[at]
        assert row["target"] == subject.labels[subject.train.y[at]]
    assert found["row"]["part"] == "train"
    tests = set((subject.test.numbers + 1).tolist())
    assert found["row"]["near_test_rows"]
    assert set(found["row"]["near_test_rows"]) <= tests


def test_neighbours_of_other_models_use_a_forest_of_their_predictions(
    studies: dict[str, Path],
) -> None:
    near = explain(studies["multiclass"], 2).facts["neighbours"]
    assert near["kind"] == "imitating"
    assert near["agreement"] > 0.7
    assert all(row["row"] != 2 for row in near["rows"])


def test_intervals_are_given_where_the_model_allows(of_row: Explanation, task: str) -> None:
    found = of_row.facts["range"]
    if task == "multiclass":  # without probabilities
        assert found is None
    elif task == "binary":
        assert set(found["set"]) <= {"iris", "rose"}
        assert found["interval"] is None
    else:
        low, high = found["interval"]
        assert low < of_row.facts["prediction"]["value"] < high
        assert found["n_rows"] == of_row.facts["study"]["n_test"] - 1


def test_another_seed_changes_only_random_draws(studies: dict[str, Path]) -> None:
    one, other = (explain(studies["multiclass"], 1, seed=seed).facts for seed in (0, 1))
    assert one["prediction"] == other["prediction"]
    assert one["values"] == other["values"]
    assert one["contributions"] != other["contributions"]
