"""Scores of each class under the leaderboard, and the steps that prepared the table."""

from collections.abc import Callable
from typing import Any

import pytest

from arboleda.reports.study.leaderboard import make_classes_view
from arboleda.reports.study.page import render_report
from arboleda.reports.study.report_data import ReportData

Facts = dict[str, Any]


@pytest.mark.parametrize(("n_classes", "shown"), [(2, 2), (8, 8), (40, 30)])
def test_all_models_are_shown_side_by_side(
    make_facts: Callable[..., Facts], n_classes: int, shown: int
) -> None:
    labels = [f"class {k:02d} <b>" for k in range(n_classes)]
    facts = make_facts("binary" if n_classes == 2 else "multiclass", classes=labels)
    view = make_classes_view(ReportData(facts))
    assert view is not None
    assert (len(view["classes"]), bool(view["rest"])) == (shown, n_classes > 30)
    models = [model for model in facts["models"] if model["status"] == "ok"]
    assert len(view["rows"]) == len(models)
    for row, model in zip(view["rows"], models, strict=True):
        of_class = {each["label"]: each for each in model["test"]["per_class"]}
        expected = [
            of_class[c][key] for c in view["classes"] for key in ("precision", "recall", "f1")
        ]
        macro = model["test"]["averages"]["macro"]
        expected += [macro[key] for key in ("precision", "recall", "f1")]
        assert [cell.value for cell in row["cells"]] == expected
    for column in zip(*(row["cells"] for row in view["rows"]), strict=True):
        top = max(cell.value for cell in column)
        assert all((cell.tint == "top") == (cell.value == top) for cell in column)
    page = render_report(facts)
    assert page.count('<details class="tuning" id="classes">') == 1


def test_a_regression_has_no_class_scores(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("regression")
    assert make_classes_view(ReportData(facts)) is None
    assert 'id="classes"' not in render_report(facts)


def test_the_steps_of_the_preparation_are_listed(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    page = render_report(facts)
    assert "Rows with a missing value were dropped: 5,100 of 5,500 rows remain." in page
    assert "width 0 &gt;= 3 and kind 1 != &#39;&lt;oak&gt;&#39;" in page
    assert "4,880 of 5,000 rows remain" in page
    assert "level 11</bdi> and 2 more became" in page
    facts["data"]["recipe"] = None
    assert "Preparation of the table" not in render_report(facts)
