"""The page: every number of the facts, for any texts, and of limited size."""

import copy
import re
from typing import Any

import pytest

from arboleda.facts.exploration import ExplorationFacts
from arboleda.reports.explore.page import render_exploration
from arboleda.reports.explore.structure import make_structure_view
from arboleda.study import Exploration

Facts = dict[str, Any]


def cells(page: str, caption: str) -> list[list[str]]:
    """Texts of a table's body, by row."""
    table = page[page.index(f'aria-label="{caption}"') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in body.split("</tr>")[:-1]]
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in row] for row in rows]


def test_tables_show_the_numbers_of_the_facts(explored: Exploration) -> None:
    facts, page = explored.facts, explored.to_html()
    relations = facts["target_relations"]["columns"]
    found = cells(page, "Columns by information about the target")
    assert [row[0] for row in found] == [column["name"] for column in relations]
    assert [row[1] for row in found] == [f"{column['information']:.3f}" for column in relations]
    first = facts["outliers"]["rows"][0]
    assert cells(page, "Rows with the highest outlier scores")[0][0] == f"{first['row']:,}"
    groups = cells(page, "Groups of equal rows")
    assert groups == [["2", "50, 51"]]
    gaps = cells(page, "Missing values by column and combination")
    assert [row[0] for row in gaps] == ["height", "width"]
    assert gaps[0][1].startswith("17")


def test_profiles_contain_the_class_shares(explored: Exploration) -> None:
    page = explored.to_html()
    profile = next(p for p in explored.facts["profiles"] if p["name"] == "soil")
    shown = cells(page, "soil: share of “rose”")
    assert [row[0] for row in shown] == ["sand", "clay", "loam"]
    assert [row[0] for row in shown] == [group["label"] for group in profile["groups"]]
    for row, group in zip(shown, profile["groups"], strict=True):
        expected = 100 * group["shares"][1]
        assert float(re.sub(r"[^\d.]", "", row[2])) == pytest.approx(expected, abs=0.5)


def test_the_page_is_in_spanish(explored: Exploration) -> None:
    page = render_exploration(explored.facts, "es")
    assert '<html lang="es">' in page
    assert all(words in page for words in ("Columnas", "Valores ausentes", "Mapas", "Semilla"))
    # A range of the facts, with its numbers: "1.5 to 2" is "1,5 a 2".
    labels = [group["label"] for p in explored.facts["profiles"] for group in p["groups"]]
    ranges = [label for label in labels if label and " to " in label and "." in label]
    assert ranges
    assert ranges[0].replace(" to ", " a ").replace(".", ",") in page
    titles = ("Missing values", "Methods", "Outliers", "Maps", "A study would", "Principal comp")
    assert not [words for words in titles if words in page]
    with pytest.raises(ValueError, match="unknown language 'xx'"):
        render_exploration(explored.facts, "xx")


def test_the_page_uses_the_layout_of_the_report(explored: Exploration) -> None:
    page = explored.to_html()
    assert page == render_exploration(copy.deepcopy(explored.facts))
    identifiers = re.findall(r'\sid="([^"]*)"', page)
    assert len(identifiers) == len(set(identifiers))
    targets = re.findall(r'href="#([^"]*)"', page) + re.findall(r"url\(#([^)]*)\)", page)
    assert set(targets) <= set(identifiers)
    assert page.count("<script>") == 1
    assert "default-src &#39;none&#39;" in page


def test_hostile_texts_change_no_element(explored: Exploration) -> None:
    attack = "</script><img src=x onerror=alert(1)>'\"{{7*7}}@0@$"

    def poison(value: Any, text: str, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: poison(v, text, k) for k, v in value.items()}
        if isinstance(value, list):
            return [poison(v, text, key) for v in value]
        fixed = {"task", "level", "code", "kind", "role", "sha256", "positive_class", "label"}
        return text if isinstance(value, str) and key not in fixed else value

    def tags(page: str) -> list[str]:
        return re.findall(r"<(\w+)", page)

    hostile = render_exploration(poison(explored.facts, attack))
    assert tags(hostile) == tags(render_exploration(poison(explored.facts, "harmless")))
    assert "<img" not in hostile


def test_a_page_of_many_columns_is_small_and_complete(explored: Exploration) -> None:
    facts = copy.deepcopy(explored.facts)
    facts["columns"] = [
        column | {"name": f"{column['name']} {copy_of:04d}"}
        for copy_of in range(400)
        for column in facts["columns"]
    ]
    facts["table"]["n_columns"] = 2000
    page = render_exploration(facts)
    assert len(page.encode()) < 1_500_000
    assert page.count('class="bars') == 60
    assert "60 of 2,000 columns" in page
    listed = [row[0] for row in cells(page, "All columns")]
    assert sorted(listed) == sorted(column["name"] for column in facts["columns"])


@pytest.mark.parametrize("classes", [2, 12, None])
def test_rows_without_a_target_have_a_separate_colour(
    explored: Exploration, classes: int | None
) -> None:
    facts = copy.deepcopy(explored.facts)
    n = len(facts["components"]["map"]["targets"])
    if classes != 2:
        rows = [{"label": f"kind {k}", "n_rows": 10} for k in range(classes or 0)]
        facts["target"] |= {"classes": rows or None, "positive_class": None}
    values = [i % (classes or 50) for i in range(n)]
    facts["components"]["map"]["targets"] = [None, None, *values[2:]]
    legend = make_structure_view(ExplorationFacts.model_validate(facts))["legend"]
    assert legend[-1][1] == "target missing"
    colours = [colour for colour, _ in legend]
    assert len(colours) == len(set(colours))


def test_the_legend_of_mixtures_matches_the_curves(explored: Exploration) -> None:
    facts = copy.deepcopy(explored.facts)
    clusters = facts["clusters"]
    steps = range(len(clusters["k"]))
    clusters["silhouette"] = [None for _ in steps]
    clusters["mixtures"]["bic"] = {"full": [-9.0 - k for k in steps], "diag": [5.0 for _ in steps]}
    view = make_structure_view(ExplorationFacts.model_validate(facts))["clusters"]
    assert [label for _, label in view["legend"]] == ["full covariances", "diagonal covariances"]
    clusters["mixtures"]["bic"]["full"] = [None for _ in steps]
    assert make_structure_view(ExplorationFacts.model_validate(facts))["clusters"]["legend"] == []


def test_many_remarks_of_one_kind_share_a_line(explored: Exploration) -> None:
    facts = copy.deepcopy(explored.facts)
    facts["cautions"] = [
        {"level": "warning", "code": "constant", "column": f"c{i}", "text": f"Text {i}."}
        for i in range(30)
    ]
    page = render_exploration(facts)
    assert "A study would exclude 30 constant columns: “c0”, “c1”" in page
    assert "Text 7." not in page


def test_facts_of_another_version_are_refused(explored: Exploration) -> None:
    with pytest.raises(ValueError, match="schema version 2, this page draws version 1"):
        render_exploration(explored.facts | {"schema_version": 2})


def test_groups_that_are_not_listed_are_counted(explored: Exploration) -> None:
    """One group is listed, and eleven more are not."""
    assert "largest of" not in explored.to_html()
    facts = copy.deepcopy(explored.facts)
    facts["duplicates"]["n_groups"] = 12
    assert (
        "in 12 groups of equal rows. The 1 largest of 12 are listed."
        in Exploration(facts).to_html()
    )
