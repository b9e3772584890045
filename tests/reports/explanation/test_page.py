"""The pages: every number of the facts, for any texts, in the layout of the report."""

import copy
import re
from typing import Any

import pytest

from arboleda._utils.numbers import percent
from arboleda.reports.explanation.page import render_explanation
from arboleda.reports.explanation.wording import describe_confidence, make_contribution_formatter
from arboleda.study import Explanation

Facts = dict[str, Any]
ATTACK = "</script><img src=x onerror=alert(1)>'\"{{7*7}}@0@$ =SUM(A1)"
# Words of the schema or numbers in disguise, not texts of the user.
FIXED = {
    "about", "arboleda_version", "data_sha256", "kind", "method", "metric", "missing", "part",
    "positive_class", "remark", "task", "unit", "why",
}  # fmt: skip


def cells(page: str, caption: str) -> list[list[str]]:
    """Texts of a table's body, by row."""
    table = page[page.index(f'aria-label="{caption}"') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in body.split("</tr>")[:-1]]
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in row] for row in rows]


def poisoned(facts: Facts, text: str) -> Facts:
    """Every text of the user becomes another one, the same for all, but classes keep theirs."""
    labels = {label: f"{text}{k}" for k, label in enumerate(facts["study"]["labels"] or ())}
    names: dict[str, str] = {}

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v, key) for v in value]
        if not isinstance(value, str) or key in FIXED:
            return value
        if value in labels:
            return labels[value]
        return names.setdefault(value, f"{text}{len(names)}n")

    found = walk(facts)
    positive = facts["study"]["positive_class"]
    found["study"]["positive_class"] = positive and labels[positive]
    return found


def tags(page: str) -> list[str]:
    # How many lines a drawn text takes depends on its length.
    return [tag for tag in re.findall(r"<(\w+)", page) if tag not in ("text", "tspan")]


@pytest.fixture(params=["model", "row"])
def explained(
    request: pytest.FixtureRequest, of_model: Explanation, of_row: Explanation
) -> Explanation:
    return of_model if request.param == "model" else of_row


def test_the_page_is_in_spanish(explained: Explanation) -> None:
    page = render_explanation(explained.facts, "es")
    assert '<html lang="es">' in page
    assert all(words in page for words in ("Incertidumbre", "Métodos", "Reproducir", "Semilla"))
    titles = ("Uncertainty", "Methods", "Reproduce", "Probability", "test rows", "training rows")
    assert not [words for words in titles if words in page]


def test_the_page_uses_the_layout_of_the_report(explained: Explanation) -> None:
    page = explained.to_html()
    assert page == render_explanation(copy.deepcopy(explained.facts))
    identifiers = re.findall(r'\sid="([^"]*)"', page)
    assert len(identifiers) == len(set(identifiers))
    targets = re.findall(r'href="#([^"]*)"', page) + re.findall(r"url\(#([^)]*)\)", page)
    assert set(targets) <= set(identifiers)
    assert page.count("<script>") == 1
    assert "default-src &#39;none&#39;" in page


def test_hostile_texts_change_no_element(explained: Explanation) -> None:
    hostile = render_explanation(poisoned(explained.facts, ATTACK))
    assert tags(hostile) == tags(render_explanation(poisoned(explained.facts, "harmless words")))
    assert "<img" not in hostile
    assert "onerror=alert(1)&gt;" in hostile


def test_tables_show_the_numbers_of_the_facts(of_row: Explanation, of_model: Explanation) -> None:
    facts, page = of_row.facts, of_row.to_html()
    values = cells(page, "All values of the row")
    assert [row[0] for row in values] == [column["name"] for column in facts["values"]]
    contributions = cells(page, "Contributions of the columns to the prediction")
    assert [row[0] for row in contributions] == [
        c["name"] for c in facts["contributions"]["columns"]
    ]
    near = cells(page, "The nearest training rows")[1:]
    assert [row[0] for row in near] == [f"{r['row']:,}" for r in facts["neighbours"]["rows"]]
    if facts["prediction"]["probabilities"] is not None:
        shown = cells(page, "Probabilities of the classes")
        expected = [percent(p["probability"]) for p in facts["prediction"]["probabilities"]]
        assert [row[1] for row in shown] == expected
    facts, page = of_model.facts, of_model.to_html()
    drivers = cells(page, "Importance of the columns")
    assert [row[0] for row in drivers] == [c["name"] for c in facts["importance"]["columns"]]
    sizes = cells(page, "Surrogate trees of other sizes")
    assert [int(row[0]) for row in sizes] == [s["n_leaves"] for s in facts["surrogate"]["curve"]]


def test_a_training_row_is_marked(of_row: Explanation) -> None:
    facts = copy.deepcopy(of_row.facts)
    assert "a test row: the model has not seen it" in of_row.to_html()
    assert "The model was fitted on this row" not in of_row.to_html()
    facts["row"] |= {"part": "train", "near_test_rows": [3, 1200]}
    page = render_explanation(facts)
    assert "a training row: the model was fitted on it" in page
    assert "The most similar test rows: 3 and 1,200." in page


def test_warnings_are_shown(of_row: Explanation) -> None:
    facts = copy.deepcopy(of_row.facts)
    facts["values"][0]["remark"] = "above_all"
    facts["neighbours"]["rows"] = []
    page = render_explanation(facts)
    assert "higher than in every training row: the prediction is an extrapolation" in page
    assert "No training row is similar to this one" in page


@pytest.mark.parametrize(("inside", "sentence"), [
    ([], "No class is probable enough for the 90"),
    (["rose"], "prediction set contains “rose” alone"),
    (["rose", "iris"], "prediction set contains 2 classes: “rose” and “iris”"),
])  # fmt: skip
def test_sets_are_described_by_their_size(
    of_row: Explanation, task: str, inside: list[str], sentence: str
) -> None:
    if task != "binary":
        pytest.skip("sets are of classes with probabilities")
    facts = copy.deepcopy(of_row.facts)
    facts["range"]["set"] = inside
    assert sentence in render_explanation(facts)


def test_many_columns_and_classes_are_truncated(of_row: Explanation, task: str) -> None:
    facts = copy.deepcopy(of_row.facts)
    first = facts["contributions"]["columns"][0]
    facts["contributions"]["columns"] = [first | {"contribution": 1.0 / (i + 1)} for i in range(40)]
    page = render_explanation(facts)
    rows = cells(page, "Contributions of the columns to the prediction")
    assert len(rows) == 13
    assert rows[-1][0] == "28 other columns"
    if task != "binary":
        return
    labels = [f"class {k}" for k in range(50)]
    facts["study"] |= {"labels": labels, "task": "multiclass", "positive_class": None}
    facts["prediction"]["value"] = labels[0]
    facts["prediction"]["probabilities"] = [
        {"label": label, "probability": 0.02, "share": 0.02} for label in labels
    ]
    page = render_explanation(facts)
    assert len(cells(page, "Probabilities of the classes")) == 12
    assert "38 more classes are less probable" in page


def test_facts_of_another_version_are_refused(explained: Explanation) -> None:
    with pytest.raises(ValueError, match="schema version 2, this page draws version 3"):
        render_explanation(explained.facts | {"schema_version": 2})


def test_contributions_are_shown_with_sign_and_unit() -> None:
    assert make_contribution_formatter([0.5], "probability")(-0.0123) == "\N{MINUS SIGN}1.2 points"
    assert make_contribution_formatter([0.5], "probability")(-1e-9) == "0.0 points"
    assert make_contribution_formatter([2000.0, 3.0], "value")(1234.5) == "+1,234"
    assert make_contribution_formatter([1.0], "log_odds")(-800.0).startswith("odds × ")
    assert describe_confidence(0.7) == "is uncertain"
