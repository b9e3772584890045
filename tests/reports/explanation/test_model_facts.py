"""The facts of a model against values computed with scikit-learn and NumPy."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.pipeline import Pipeline

from arboleda.analysis.explanation.rows import (
    count_rows_beyond_training,
    find_correlated_columns,
    find_instructive_rows,
)
from arboleda.study import Explanation, Study, explain
from arboleda.study.combination.estimators import CombinedRegressor
from arboleda.study.combination.rules import MeanRule
from arboleda.study.results import importance
from arboleda.study.results.explained_model import ExplainedModel
from arboleda.study.results.importance import describe_importance


def test_facts_follow_the_schema_and_are_reproducible(
    studies: dict[str, Path], of_model: Explanation, task: str, check_facts: Callable[[Any], None]
) -> None:
    check_facts(of_model.facts)
    if task == "regression":  # the quickest
        assert explain(studies[task]).facts == of_model.facts


def test_importance_ranks_the_column_that_determines_the_target_first(
    of_model: Explanation, task: str
) -> None:
    columns = of_model.facts["importance"]["columns"]
    values = [column["value"] for column in columns]
    assert values == sorted(values, reverse=True)
    first = {"binary": "soil", "multiclass": "kind", "regression": "length"}[task]
    assert columns[0]["name"] == first
    assert columns[0]["value"] > 2 * columns[0]["standard_error"] > 0


def test_importance_of_large_ensembles_uses_fewer_rows(
    subject: ExplainedModel,
) -> None:
    if subject.classes:
        pytest.skip("a combination of regressors shows it")
    subject = replace(subject, test=subject.train)  # more than the smallest number of rows used
    members = [("same", [subject.pipeline] * 4)]
    model = CombinedRegressor.from_fitted(members, MeanRule((1.0,)), len(subject.names))
    many = replace(subject, pipeline=Pipeline([("model", model)]))
    assert (subject.n_models, many.n_models) == (1, 4)
    n_predictions = importance.REPEATS * len(subject.names) * 4 * 200
    alone, together = (describe_importance(one, n_predictions) for one in (subject, many))
    assert alone is not None
    assert together is not None
    assert alone["n_rows"] == len(subject.test.x) > together["n_rows"] == 200
    assert together["columns"][0]["name"] == alone["columns"][0]["name"]


def test_importance_by_log_loss_supports_more_than_ten_numeric_classes(tmp_path: Path) -> None:
    # As texts, 10 comes before 9: facts of a class must not be mixed up with another's.
    draw = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 15)
    frame = pd.DataFrame({"noise": draw.normal(size=180), "same": y + draw.normal(0, 0.01, 180)})
    study = Study(
        frame.assign(target=y),
        target="target",
        task="classification",
        metric="log_loss",
        models="cart,naive_bayes",
        output_dir=tmp_path,
        n_jobs=1,
    )
    columns = study.run().facts["importance"]["columns"]
    assert columns[0]["name"] == "same"
    # Without it each of 12 classes is guessed: the loss rises from about 0 to at least ln 12.
    assert columns[0]["value"] > 0.9 * np.log(12)
    assert columns[0]["standard_error"] > 0
    assert abs(columns[1]["value"]) < 0.1


def test_effects_are_mean_predictions_with_the_column_set(
    of_model: Explanation, subject: ExplainedModel
) -> None:
    first = of_model.facts["effects"][0]
    assert first["name"] == of_model.facts["importance"]["columns"][0]["name"]
    j = subject.names.index(first["name"])
    known = {subject.text(j, value): value for value in subject.train.x[:, j]}
    assert first["n_rows"] == len(subject.train.x)
    for place, value in enumerate(first["values"]):
        rows = subject.train.x.copy()
        rows[:, j] = value if subject.kind(j) == "numeric" else known[value]
        mean = subject.outputs(rows).mean(axis=0)
        for curve in first["curves"]:
            k = subject.labels.index(curve["label"]) if subject.classes else 0
            assert curve["values"][place] == pytest.approx(mean[k])


def test_effects_of_two_classes_refer_to_the_positive_one(of_model: Explanation, task: str) -> None:
    facts = of_model.facts
    labels = {c["label"] for effect in facts["effects"] for c in effect["curves"]}
    expected = {"binary": {"rose"}, "multiclass": {"clay", "loam", "sand"}, "regression": {None}}
    assert labels == expected[task]


def test_the_drawn_tree_has_the_stated_fidelity_and_error(
    of_model: Explanation, subject: ExplainedModel
) -> None:
    found = of_model.facts["surrogate"]
    nodes = {node["id"]: node for node in found["tree"]["nodes"]}

    def predict_row(row: np.ndarray) -> float:
        node = nodes[0]
        while node["left"] is not None:
            j = subject.names.index(node["feature"])
            value = subject.text(j, row[j])
            if node["levels"] is not None:
                level = "(missing)" if value is None else str(value)
                left = (level in node["levels"]) == node["levels_left"]
            elif value is None:
                left = node["missing"] == "left"
            else:
                left = row[j] <= node["threshold"]
            node = nodes[node["left"] if left else node["right"]]
        if not subject.classes:
            return float(node["value"][0])
        label = found["tree"]["class_labels"][int(np.argmax(node["value"]))]
        return float(subject.labels.index(label))

    predicted = np.array([predict_row(row) for row in subject.test.x])
    model, truth = subject.predict(subject.test.x), subject.test.y
    if subject.classes:
        assert found["fidelity"] == pytest.approx(np.mean(predicted == model))
        assert found["error"] == pytest.approx(np.mean(predicted != truth))
        assert found["model_error"] == pytest.approx(np.mean(model != truth))
    else:
        spread = np.sum((model - model.mean()) ** 2)
        assert found["fidelity"] == pytest.approx(1 - np.sum((predicted - model) ** 2) / spread)
        assert found["error"] == pytest.approx(np.sqrt(np.mean((predicted - truth) ** 2)))
    assert found["n_leaves"] == sum(node["left"] is None for node in nodes.values())


def test_intervals_have_about_their_nominal_coverage(of_model: Explanation, task: str) -> None:
    found = of_model.facts["promise"]
    if task == "multiclass":  # without probabilities
        assert found is None
        return
    assert found["n_rows"] == of_model.facts["study"]["n_test"]
    assert 0.75 <= found["coverage"] <= 1
    if found["sizes"] is not None:
        assert sum(found["sizes"]) == found["n_rows"]
        sizes = np.arange(len(found["sizes"]))
        assert found["mean_size"] == pytest.approx(sizes @ found["sizes"] / found["n_rows"])
    else:
        assert 0 < found["mean_width"] < found["target_width"]


def test_rows_to_inspect_match_their_description(subject: ExplainedModel) -> None:
    rows = find_instructive_rows(subject)
    assert len({row.row for row in rows}) == len(rows)
    predictions = subject.predict(subject.test.x)
    for row in rows:
        at = int(np.flatnonzero(subject.test.numbers == row.row - 1)[0])
        assert row.prediction == subject.prediction_text(float(predictions[at]))
        right = predictions[at] == subject.test.y[at]
        if row.why in ("wrong", "surely_wrong"):
            assert not right
        elif row.why in ("right", "surely_right"):
            assert right
        elif row.why == "unsure":
            confidence = subject.outputs(subject.test.x).max(axis=1)
            assert row.probability == confidence.min()
    if not subject.classes:
        off = np.abs(predictions - subject.test.y)
        first = int(np.flatnonzero(subject.test.numbers == rows[0].row - 1)[0])
        assert off[first] == off.max()


def test_correlated_columns_are_found_by_their_ranks(
    studies: dict[str, Path], subject: ExplainedModel, task: str
) -> None:
    found = find_correlated_columns(subject)
    if task == "regression":  # the width is the target there
        assert found == []
        return
    (pair,) = found
    assert pair.columns == ["length", "width"]
    j, k = (subject.names.index(name) for name in pair.columns)
    expected = spearmanr(subject.train.x[:, j], subject.train.x[:, k]).statistic
    assert pair.correlation == pytest.approx(expected)


def test_test_rows_beyond_the_training_rows_are_counted(subject: ExplainedModel) -> None:
    columns = [j for j in range(len(subject.names)) if subject.kind(j) == "numeric"]
    out = np.zeros(len(subject.test.x), dtype=bool)
    for j in columns:
        seen, new = subject.train.x[:, j], subject.test.x[:, j]
        out |= (new < np.nanmin(seen)) | (new > np.nanmax(seen))
    assert count_rows_beyond_training(subject).n_rows == out.sum()
