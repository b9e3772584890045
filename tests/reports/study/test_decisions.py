"""The sections on decisions by threshold and on the worst errors."""

import html
import re
from collections.abc import Callable
from typing import Any

from arboleda.reports.study.page import render_report

Facts = dict[str, Any]


def section_of(page: str, key: str) -> str:
    start = page.index(f'<section id="{key}"')
    found = page[start:]
    nested = re.split(r"\n</section>\n\n(?:<section id=|\n|</main>)", found, maxsplit=1)[0]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<svg.*?</svg>|<[^>]+>", " ", nested)))


def test_the_table_holds_the_numbers_of_the_facts(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    found = facts["thresholds"]
    text = section_of(render_report(facts), "thresholds")
    at = found["thresholds"].index(0.3)
    row = [f"{found['held_out'][key][at]:.4f}" for key in ("precision", "recall")]
    row.append(f"{found['held_out']['lift'][at]:.2f}")
    assert " ".join(["0.3", *row]) in text
    assert "out-of-fold, 3,900 rows" in text
    assert "test rows, 980 rows" in text
    chosen = found["chosen"]["threshold"]
    assert f"{chosen:g} chosen" in text
    assert "A false alarm costs 1, a missed “benign” 5." in text
    assert f"the threshold {chosen:g} has the least cost" in text
    assert "On the test rows, which had no part in this choice, it costs" in text


def test_equal_costs_and_chance_are_stated(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    found = facts["thresholds"]
    found["given_costs"] = False
    found["chosen"] |= {"saving": 0.001, "standard_error": 0.002}
    text = section_of(render_report(facts), "thresholds")
    assert "every error costs 1, so that the cost is the error rate" in text
    assert "that may be chance" in text
    found["chosen"] |= {"threshold": 0.5, "saving": 0.0}
    text = section_of(render_report(facts), "thresholds")
    assert "no threshold costs less than 0.5" in text


def test_a_model_without_probabilities_has_no_thresholds(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    facts["thresholds"] |= {
        "skipped": "the model predicts no probabilities",
        "thresholds": [],
        "held_out": None,
        "test": None,
        "chosen": None,
    }
    text = section_of(render_report(facts), "skipped")
    assert "Decisions by threshold" in text
    assert "the model predicts no probabilities" in text
    assert 'id="thresholds"' not in render_report(make_facts("multiclass"))


def test_errors_are_listed_with_escaped_values(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    page = render_report(facts)
    assert "<i>fir</i>" not in page
    assert "<b>1</b>" not in page
    text = section_of(page, "errors")
    assert "predicts 39 of the 980 test rows wrongly. These are the worst 10." in text
    assert "4,880 malignant benign 0.01 0.0123456 oak & <i>fir</i> 2024-02-29 true missing" in text


def test_a_regression_lists_the_largest_errors(make_facts: Callable[..., Facts]) -> None:
    text = section_of(render_report(make_facts("regression")), "errors")
    assert "The test rows, of 980, whose prediction by Support vector machine" in text
    assert "4,880 1234.5 1000.25 234.2" in text


def test_no_error_is_one_sentence(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    facts["errors"] |= {"n_wrong": 0, "rows": []}
    text = section_of(render_report(facts), "errors")
    assert text.rstrip().endswith("predicts all 980 test rows correctly.")
