"""Contributions and changes of a row have one background, and agree or the page states why not."""

import copy
import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arboleda.analysis.explanation import contributions as shares
from arboleda.analysis.explanation.explain import load_subject
from arboleda.analysis.explanation.sampled_shapley import sample_shapley
from arboleda.reports.explanation.page import render_explanation
from arboleda.study import explain


def compute_exact(predict: Callable[[Any], Any], row: Any, background: Any) -> Any:
    """Return Shapley values by their definition, over all orders of three columns."""
    total = np.zeros(3)
    orders = list(permutations(range(3)))
    for order in orders:
        for start in background:
            x = start.copy()
            for column in order:
                before = predict(x[None])[0]
                x[column] = row[column]
                total[column] += predict(x[None])[0] - before
    return total / (len(orders) * len(background))


def test_sampled_values_approach_the_definition_within_their_errors() -> None:
    random = np.random.default_rng(0)
    background = random.normal(size=(20, 3))
    row = np.array([1.0, -0.5, 2.0])

    def predict(x: Any) -> Any:
        return x[:, 0] * x[:, 1] + np.maximum(x[:, 2], x[:, 0])

    found = sample_shapley(predict, row, background, 400, np.random.default_rng(1))
    expected = compute_exact(predict, row, background)
    assert np.all(np.abs(found.values - expected) < 4 * found.standard_errors + 1e-12)
    assert found.standard_errors.max() < 0.1
    assert found.base + found.values.sum() == pytest.approx(predict(row[None])[0])


def test_each_row_of_contributions_sums_to_the_output(studies: dict[str, Path], task: str) -> None:
    found = explain(studies[task], 1).facts
    result = found["contributions"]
    assert result["method"] == ("sampling" if task == "multiclass" else "shap")
    assert result["base"] + sum(c["contribution"] for c in result["columns"]) == pytest.approx(
        result["total"]
    )
    subject = load_subject(studies[task], 0)
    background = shares.draw_background(subject).x
    x = (
        subject.train.some(subject.train.numbers == 0)
        if found["row"]["part"] == "train"
        else (subject.test.some(subject.test.numbers == 0))
    )
    output = subject.labels.index(result["output"]) if subject.classes else 0
    assert result["total"] == pytest.approx(subject.outputs(x.x)[0, output])
    if result["method"] == "shap":
        assert result["base"] == pytest.approx(subject.outputs(background)[:, output].mean())
    else:
        assert all(c["standard_error"] is not None for c in result["columns"])


def test_a_change_is_relative_to_the_background_of_the_contributions(
    studies: dict[str, Path], task: str
) -> None:
    found = explain(studies[task], 1).facts
    subject = load_subject(studies[task], 0)
    part = subject.test if 0 in subject.test.numbers else subject.train
    row = part.x[part.numbers == 0][0]
    for change in found["changes"]:
        j = subject.names.index(change["name"])
        rows = np.repeat(row[None], 200, axis=0)
        rows[:, j] = shares.draw_background(subject).x[:, j]
        k = subject.labels.index(change["output"]) if subject.classes else 0
        expected = subject.outputs(row[None])[0, k] - subject.outputs(rows)[:, k].mean()
        assert change["alone"] == pytest.approx(expected)


def test_a_large_contribution_of_a_column_that_changes_nothing_is_explained(
    studies: dict[str, Path],
) -> None:
    facts = copy.deepcopy(explain(studies["binary"], 1).facts)
    change = facts["changes"][0]
    change |= {"outputs": [0.97] * len(change["outputs"]), "turn": None, "alone": 0.001}
    column = next(c for c in facts["contributions"]["columns"] if c["name"] == change["name"])
    column["contribution"] = 0.83
    page = render_explanation(facts)
    assert "hardly changes the prediction." in page
    assert "Its contribution (+83.0 points) is shared with other columns" in page
    assert "alone it makes +0.1 points." in page
    assert "so that columns with the same evidence share it" in page
    column["contribution"] = 0.0001
    assert "+0.0 points) is shared with other columns" not in render_explanation(facts)


@pytest.mark.parametrize(("fidelity", "is_shown"), [(0.69, False), (0.71, True)])
def test_lime_is_shown_only_where_it_is_faithful(
    studies: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    check_facts: Callable[[Any], None],
    fidelity: float,
    is_shown: bool,
) -> None:
    original = shares.lime

    class Fixed:
        def __init__(self, *args: Any, **options: Any) -> None:
            self.explainer = original(*args, **options)

        def explain(self, *args: Any, **options: Any) -> Any:
            found = self.explainer.explain(*args, **options)
            object.__setattr__(found, "fidelity", fidelity)
            return found

    monkeypatch.setattr(shares, "lime", Fixed)
    found = explain(studies["multiclass"], 1)
    check_facts(json.loads(json.dumps(found.facts)))
    assert (found.facts["lime"] is not None) is is_shown
    assert ("A simple model around the row" in found.to_html()) is is_shown
