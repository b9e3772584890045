"""The page shows every number of the facts, for facts of any shape."""

import copy
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arboleda.reports.study.page import render_report, write_report

Facts = dict[str, Any]


def text_of(page: str) -> str:
    """What a reader sees, with single spaces; scripts and styles are not read."""

    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.pieces: list[str] = []
            self.hidden = False

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.hidden = tag in ("script", "style")

        def handle_endtag(self, tag: str) -> None:
            self.hidden = False

        def handle_data(self, data: str) -> None:
            if not self.hidden:
                self.pieces.append(data)

    reader = Reader()
    reader.feed(page)
    return re.sub(r"\s+", " ", " ".join(reader.pieces))


def test_the_page_is_complete(facts: Facts) -> None:
    page = render_report(facts)
    text = text_of(page)
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    for heading in ["Leaderboard", "Scores by fold", "Models", "Decision tree", "Data", "Methods"]:
        assert heading in text
    for model in facts["models"]:
        assert model["name"] in text
    for column in facts["data"]["columns"]:
        assert column["name"] in text
    for note in facts["data"]["notes"]:
        assert note["text"] in text
    assert "LinAlgError: the covariance of class 3 is singular" in text


def test_the_main_numbers_match_the_facts(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    facts["models"][0]["cv"] |= {"mean": 0.91234, "sd": 0.00567}
    facts["models"][0]["test"]["metrics"]["accuracy"] = 0.92345
    facts["models"][0]["test"]["interval"] |= {"low": 0.90111, "high": 0.94222}
    text = text_of(render_report(facts))
    assert "uncorrected, as the best of them, it is 0.9123 ± 0.0057, which is optimistic" in text
    assert "accuracy 0.9234 on the 980 test rows" in text
    assert "used for fitting or tuning (95 % interval 0.9011 to 0.9422)" in text
    assert "That is 0.7234 above the baseline" in text


def test_a_correction_without_effect_is_not_called_one(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    facts["models"][0]["cv"] |= {"mean": 0.91234, "sd": 0.00567}
    facts["selection"]["honest"]["mean"] = 0.91232
    text = text_of(render_report(facts))
    assert "is 0.9123 ± 0.0057; the correction for the choice among them did not change it" in text
    assert "which is optimistic" not in text


def test_the_same_facts_give_the_same_page(facts: Facts) -> None:
    facts["models"] = facts["models"][:2]
    before = copy.deepcopy(facts)
    assert render_report(facts) == render_report(copy.deepcopy(facts))
    assert facts == before


def test_ids_are_unique_and_links_have_targets(facts: Facts) -> None:
    page = render_report(facts)
    found = re.findall(r'\sid="([^"]*)"', page)
    assert len(found) == len(set(found))
    targets = re.findall(r'href="#([^"]*)"', page) + re.findall(r"url\(#([^)]*)\)", page)
    assert set(targets) <= set(found)


def test_thirty_models_stay_below_two_megabytes(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("multiclass", n_columns=40)
    facts["models"] = [copy.deepcopy(facts["models"][place % 8]) for place in range(30)]
    assert len(render_report(facts).encode()) < 2_000_000


def test_incomplete_facts_are_rendered(facts: Facts, check_facts: Callable[[Facts], None]) -> None:
    facts["tree"] = None
    facts["data"] |= {"notes": [], "n_rows": 0}
    facts["split"]["classes"] = None
    for column in facts["data"]["columns"]:
        column |= {"numeric": None, "top": None, "histogram": None}
    for model in facts["models"][:-1]:
        test = model["test"]
        test["metrics"] = dict.fromkeys(test["metrics"])
        test["interval"] |= {"low": None, "high": None}
        test |= dict.fromkeys(["per_class", "averages", "confusion", "roc", "pr", "residuals"])
        model["cv"]["metrics"] = {}
        model["timing"] = dict.fromkeys(model["timing"])
    check_facts(facts)
    text = text_of(render_report(facts))
    assert "None" not in text
    assert "nan" not in text.split()
    assert " – on the 980 test rows" in text


@pytest.mark.parametrize("kept", [0, 1])
def test_one_and_no_models_are_rendered(facts: Facts, kept: int) -> None:
    facts["models"] = [*facts["models"][:kept], facts["models"][-1]]
    text = text_of(render_report(facts))
    if kept:
        assert "Of two models, only Support vector machine could be scored" in text
        facts["models"].pop()
        assert "Support vector machine is the only model in the study" in text_of(
            render_report(facts)
        )
    else:
        assert "No model could be fitted" in text


def test_models_without_time_are_not_shown_as_failed(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    lost = facts["models"][-1]
    lost["error"] = "Left out: no time was left to score a candidate on all folds"
    lost["status"] = "no_time"
    text = text_of(render_report(facts))
    assert f"There was no time left for {lost['name']}" in text
    assert "could not be fitted" not in text
    spanish = text_of(render_report(facts, "es"))
    assert "Excluido: no quedó tiempo para evaluar un candidato" in spanish


@pytest.mark.parametrize("n_classes", [2, 3, 8, 9, 26, 30])
def test_any_number_of_classes_is_rendered(
    make_facts: Callable[..., Facts], n_classes: int
) -> None:
    classes = [
        f"class number {index} of a kind with a very long name" for index in range(n_classes)
    ]
    facts = make_facts("binary" if n_classes == 2 else "multiclass", classes=classes)
    facts["models"] = facts["models"][:1]
    text = text_of(render_report(facts))
    for label in classes:
        assert label in text


def test_confusion_cells_show_the_counts(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("multiclass", classes=["a", "b", "c"])
    facts["costs"] = None
    counts = [[1234, 5, 0], [7, 890, 11], [0, 0, 13]]
    facts["models"][0]["test"]["confusion"]["counts"] = counts
    page = render_report(facts)
    table = page[page.index('<table class="confusion') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in body.split("</tr>")[:-1]]
    assert [[int(cell.replace(",", "")) for cell in row] for row in rows] == counts


def test_the_gain_of_calibration_is_shown(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    text = text_of(render_report(facts))
    expected = (
        "by sigmoid (Platt) lowers the log-loss on held-out rows from 0.31 to 0.27 "
        "(by 0.04, 95 % interval 0.01 to 0.07)."
    )
    assert f"{expected} On the test rows it is 0.28 with and 0.32 without." in text
    assert text.count("Reliability diagram") == 5 + 1  # of the best models, and of calibration
    found = facts["calibration"]
    found["variants"][1]["test"]["metrics"]["log_loss"] = 0.4
    assert "On the test rows it is 0.4 with and 0.32 without." in text_of(render_report(facts))
    found["gain"]["low"] = -0.01
    text = text_of(render_report(facts))
    assert "interval of the difference (−0.01 to 0.07) holds zero: these folds do not" in text
    found["chosen"] = "none"
    assert "more than chance explains (−0.01 to 0.07)" in text_of(render_report(facts))
    assert "use the probabilities without calibration" in text_of(render_report(facts))
    found |= {"chosen": "isotonic", "variants": found["variants"][1:]}
    assert "predicts no probabilities itself" in text_of(render_report(facts))
    found |= {"chosen": None, "variants": [], "error": "ValueError: too few rows"}
    text = text_of(render_report(facts))
    assert "Not computed for Support vector machine: ValueError: too few rows." in text


def test_the_bold_row_is_the_better_one_on_the_rows_of_the_choice(
    make_facts: Callable[..., Facts],
) -> None:
    facts = make_facts("binary")
    facts["calibration"] |= {"chosen": "none"}
    facts["models"][3]["test"]["metrics"]["accuracy"] = 0.999
    page = render_report(facts)
    board = page[page.index('id="leaderboard-table"') :]
    assert board.count('<tr class="best">') == 1
    assert "Support vector machine" in board[board.index('<tr class="best">') :][:400]
    assert 'class="top"' not in board[: board.index("</table>")]
    calibration = page[page.index('id="calibration-title"') :]
    row = calibration[calibration.index('<tr class="chosen">') :][:200]
    assert "Sigmoid (Platt)" in row  # the smallest log-loss on the folds
    assert re.search(r'Uncalibrated <span class="tag">chosen</span>', page)


def test_the_words_of_the_learning_curve_follow_its_interval(
    make_facts: Callable[..., Facts],
) -> None:
    facts = make_facts("binary")
    gain = facts["learning_curve"]["gain"]
    text = text_of(render_report(facts))
    assert "holds zero: these folds do not show whether more rows would help" in text
    gain |= {"difference": 0.02, "low": 0.01, "high": 0.03}
    assert "improved by 0.0200 (95 % interval 0.0100 to 0.0300): more rows would" in text_of(
        render_report(facts)
    )
    gain |= {"difference": -0.02, "low": -0.03, "high": -0.01}
    assert "became worse by 0.0200 (95 % interval 0.0100 to 0.0300)" in text_of(
        render_report(facts)
    )


def test_a_section_that_computed_nothing_is_one_line(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    reason = "the time budget has no room for it"
    for part in ("importance", "surrogate", "learning_curve"):
        facts[part]["skipped"] = reason
    page = render_report(facts)
    text = text_of(page)
    assert text.count(f": {reason}.") == 3
    assert text.count("Not computed for") == 3
    assert not re.search(r'<section id="(importance|surrogate|learning)"', page)
    assert not re.search(r'<nav.*?href="#(importance|surrogate|learning)".*?</nav>', page)


def test_weights_have_the_same_decimals_and_zeros_are_listed_once(
    make_facts: Callable[..., Facts],
) -> None:
    facts = make_facts("binary")
    combined = next(model for model in facts["models"] if model.get("ensemble"))
    names = ["Bagging of one", "Bagging of two", "Bagging of three", "Bagging of four"]
    combined["ensemble"]["members"] = [
        {"key": f"bag_{place}", "name": name, "weight": weight}
        for place, (name, weight) in enumerate(zip(names, [0.26, 0.0004, 0, 0], strict=True))
    ]
    text = text_of(render_report(facts))
    assert "Bagging of one 0.260" in text
    assert "Bagging of two <0.001" in text
    assert "No weight: Bagging of three and Bagging of four." in text


def test_a_low_fidelity_score_is_not_shown_as_the_score_of_a_fold(
    make_facts: Callable[..., Facts],
) -> None:
    facts = make_facts("binary")
    candidates = facts["models"][0]["candidates"]
    assert "dropped after an evaluation on a subset" not in text_of(render_report(facts))
    looked = copy.deepcopy(candidates[0])
    looked |= {"status": "stopped", "fold_scores": [9.87654], "mean": None, "sd": None}
    candidates.append(looked)
    page = render_report(facts)
    assert "dropped after an evaluation on a subset" in text_of(page)
    assert "9.8765" not in page
    table = page[page.index('<details class="tuning">', page.index('id="model-1"')) :]
    rows = re.findall(r"<tr.*?</tr>", table[: table.index("</table>")], re.DOTALL)
    cells = {len(re.findall(r"<t[hd]\b", row)) for row in rows}
    assert len(rows) == len(candidates) + 1
    assert len(cells) == 1


def test_classes_sort_by_the_share_that_is_shown(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    facts["split"]["classes"] = [
        {"label": "a", "train": 60, "test": 0},
        {"label": "b", "train": 50, "test": 50},
    ]
    page = render_report(facts)
    shares = re.findall(r'data-value="(\d+)">(37\.5|62\.5)', page)
    assert shares == [("60", "37.5"), ("100", "62.5")]


def test_the_command_can_be_pasted_into_a_shell(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary")
    facts["study"] |= {"table": "my data; rm x.csv", "target": "it's"}
    text = text_of(render_report(facts))
    assert """arboleda study 'my data; rm x.csv' --target 'it'"'"'s'""" in text


def test_facts_of_another_version_are_refused() -> None:
    with pytest.raises(ValueError, match="schema version 5, this report draws version 4"):
        render_report({"schema_version": 5})


def test_the_file_is_written_whole(make_facts: Callable[..., Facts], tmp_path: Path) -> None:
    facts = make_facts("binary")
    write_report(facts, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == render_report(facts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures", "report.html"]


def test_a_heading_is_apart_from_its_number(make_facts: Callable[..., Facts]) -> None:
    """A screen reader, or copied text, used to have "1Random forest"."""
    page = render_report(make_facts("binary"))
    headings = re.findall(r'<h3><span class="rank">\d+</span>(.)', page)
    assert headings
    assert set(headings) == {" "}
