"""The summary states what the numbers show, and warns where they deserve it."""

from collections.abc import Callable
from typing import Any

import pytest

from arboleda.reports.study.summary import summarise

Facts = dict[str, Any]


@pytest.fixture
def calm(make_facts: Callable[..., Facts]) -> Facts:
    """Facts that give no reason to be careful."""
    facts = make_facts("binary")
    facts["models"] = facts["models"][:-1]
    facts["data"] |= {
        "n_duplicate_rows": 0,
        "rows_dropped": 0,
        "columns": facts["data"]["columns"][2:],
    }
    for model in facts["models"]:
        model["cv"]["sd"] = 0.0001
        model["cv"]["mean"] = model["test"]["metrics"]["accuracy"]
        for row in model["test"]["per_class"]:
            row["recall"] = 0.9
    facts["data"]["columns"] = [c for c in facts["data"]["columns"] if c["role"] != "left_out"]
    return facts


def cautions(facts: Facts) -> str:
    return "\n".join(summarise(facts).cautions)


def test_unremarkable_facts_raise_no_caution(calm: Facts) -> None:
    assert cautions(calm) == ""


def test_the_test_and_the_corrected_score_come_before_the_cross_validated_one(calm: Facts) -> None:
    calm["selection"]["honest"]["mean"] = 0.951
    figures = summarise(calm).figures
    assert figures[2].note == "best of 22 candidates, optimistic"
    values = [(figure.label, figure.value) for figure in figures]
    assert values == [
        ("Accuracy, test rows", "0.9600"),
        ("Accuracy, corrected for the choice", "0.9510"),
        ("Accuracy, cross-validated", "0.9600"),
        ("Baseline, test rows", "0.2000"),
        ("ROC AUC, test rows", "0.9800"),
    ]


def test_the_accuracy_is_shown_beside_the_log_loss(calm: Facts) -> None:
    calm["study"] |= {"metric": "log_loss", "metric_label": "Log-loss", "greater_is_better": False}
    figure = summarise(calm).figures[-1]
    assert (figure.label, figure.value) == ("Accuracy, test rows", "0.9600")
    assert figure.note == "ROC AUC 0.9800"


def test_an_error_is_compared_as_a_share(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("regression")
    best, baseline = facts["models"][0], facts["models"][7]
    best["test"]["metrics"]["rmse"], baseline["test"]["metrics"]["rmse"] = 150.0, 200.0
    sentence = summarise(facts).sentences[-1]
    assert sentence.startswith("That is 25\N{NO-BREAK SPACE}% below the baseline, which always")
    assert "always predicts the mean (200.0)" in sentence
    assert "RMSE 150.0 on the 980 test rows" in summarise(facts).sentences[0]


def test_a_close_rival_is_named_where_models_are_not_compared(calm: Facts) -> None:
    calm["comparison"] = None
    calm["models"][0]["cv"]["sd"] = 0.02
    assert "Decision tree (CART) is within one standard deviation" in cautions(calm)
    calm["models"][0]["cv"]["sd"] = 0.04
    assert "Decision tree (CART) and Logistic regression are within" in cautions(calm)
    calm["models"][0]["cv"]["sd"] = 0.5
    assert "Logistic regression, Multilayer perceptron and three more are" in cautions(calm)


def test_only_a_worse_test_score_is_reported(calm: Facts) -> None:
    calm["models"][0]["test"]["metrics"]["accuracy"] = 0.95
    assert "rely on the test score" in cautions(calm)
    calm["models"][0]["test"]["metrics"]["accuracy"] = 0.97
    assert cautions(calm) == ""


def test_a_perfect_score_rouses_suspicion(calm: Facts) -> None:
    calm["models"][0]["test"]["metrics"]["accuracy"] = 1.0
    assert "check that no column was derived from the target" in cautions(calm)


def test_a_winning_baseline_is_reported(calm: Facts) -> None:
    calm["models"] = [calm["models"][-1], *calm["models"][:-1]]
    assert "No model is better than the baseline" in cautions(calm)
    assert len(summarise(calm).sentences) == 2


def test_a_baseline_that_is_not_distinguishable_is_reported(calm: Facts) -> None:
    key = calm["models"][-1]["key"]
    calm["comparison"]["not_distinguishable"] = [key]
    assert "No model is distinguishable from the baseline" in cautions(calm)


def test_rare_and_missed_classes_are_named(calm: Facts) -> None:
    calm["split"]["classes"][0] |= {"train": 1, "test": 1}
    calm["models"][0]["test"]["per_class"][0]["recall"] = 0.21
    assert "“malignant” is 3.3\N{NO-BREAK SPACE}% of the rows" in cautions(calm)
    assert "finds only 21\N{NO-BREAK SPACE}% of the test rows of class “malignant”" in cautions(
        calm
    )


def test_miscalibration_beyond_chance_is_reported(calm: Facts) -> None:
    calm["models"][0]["test"]["calibration"] |= {"error": 0.081, "largest_by_chance": 0.021}
    text = cautions(calm)
    assert "probabilities are off by 8.1" in text
    assert "chance explains (2.1" in text
    calm["models"][0]["test"]["calibration"] = None
    assert cautions(calm) == ""


def test_missing_and_duplicate_rows_are_reported(calm: Facts) -> None:
    calm["split"]["n_test"] = 42
    calm["data"] |= {"n_duplicate_rows": 1234, "rows_dropped": 5}
    calm["data"]["columns"][0] |= {"role": "left_out", "reason": "constant", "name": "id"}
    text = cautions(calm)
    for words in ["small (42 rows)", "1,234 rows are exact copies", "5 rows were dropped"]:
        assert words in text
    assert "“id” was excluded" in text


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("Accuracy", "accuracy"),
        ("Macro F1", "macro F1"),
        ("Log-loss", "log-loss"),
        ("ROC AUC", "ROC AUC"),
        ("R²", "R²"),
        ("Matthews correlation", "Matthews correlation"),
    ],
)
def test_the_metric_is_named_in_lower_case_in_a_sentence(
    calm: Facts, label: str, sentence: str
) -> None:
    calm["study"]["metric_label"] = label
    assert f"is the best of eight models: {sentence} 0.9600" in summarise(calm).sentences[0]


def test_no_missing_section_is_mentioned(calm: Facts) -> None:
    calm["models"][0]["test"]["calibration"] |= {"error": 0.2, "largest_by_chance": 0.05}
    assert "see the section on calibration" in cautions(calm)
    calm["calibration"] = None
    assert "more than chance explains (5.0\N{NO-BREAK SPACE}%)." in cautions(calm)
