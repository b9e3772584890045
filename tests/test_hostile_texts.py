"""A table whose every text attacks the page it is shown on: no page of any command gives way."""

import io
import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arboleda
from arboleda import export_graphviz, export_text, plot_tree
from arboleda._utils.text import json_escaped, visible, visible_lines
from arboleda.cli import main

ATTACKS = (
    "</script><script>x()</script>",
    '"><img src=x onerror=x()>',
    "' onmouseover='x()",
    "javascript:x()",
    "]]></style></title></svg><svg onload=x()>",
    "{{7*7}}{% raw %}",
)
# What only a hostile text could bring in.
ELEMENTS = {"img", "iframe", "object", "embed", "base", "form"}


class Page(HTMLParser):
    """The elements of a page, and what of them could act."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.acting: list[tuple[str, str, str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            address = name in ("href", "src", "xlink:href") and not str(value).startswith(
                ("#", "data:")
            )
            if name.startswith("on") or address:
                self.acting.append((tag, name, str(value)))


def attacking(n: int = 80) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({text: draw.normal(size=n) for text in ATTACKS[:3]})
    frame[ATTACKS[3]] = draw.choice(ATTACKS[:4], n)
    frame.loc[:5, ATTACKS[0]] = np.nan
    frame[ATTACKS[4]] = [f"{ATTACKS[k % 6]} {k}" for k in range(n)]  # free text, left out
    labels = np.array(ATTACKS[:2], dtype=object)
    frame[ATTACKS[5]] = labels[(frame[ATTACKS[1]] + draw.normal(size=n) > 0).astype(int)]
    return frame


def test_hostile_texts_change_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = '"><img src=x onerror=x()>.csv'
    attacking().to_csv(table, index=False)
    study = ["study", table, "--target", ATTACKS[5], "--models", "most_frequent,lda,cart"]
    study += ["--score-by", f'["{ATTACKS[3]}"]', "--reject-cost", "0.4"]
    commands = [
        [*study, "--out", "first"],
        [*study, "--out", "second", "--seed", "1", "--lang", "es"],
        ["explore", table, "--target", ATTACKS[5], "--out", "explored.html"],
        ["explain", "first", "--out", "explained.html"],
        ["explain", "first", "--row", "1", "--out", "row.html"],
        ["compare", "first", "second", "--out", "compared.html"],
    ]
    for command in commands:
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == 0, command
    pages = ["first/report.html", "second/report.html", "explored.html", "explained.html"]
    for name in (*pages, "row.html", "compared.html"):
        text = Path(name).read_text("utf-8")
        found = Page(text)
        assert found.tags.count("script") <= 1, name
        assert not ELEMENTS & set(found.tags), name
        assert found.acting == [], name
        assert "default-src &#39;none&#39;" in text, name
        assert "onerror=x()&gt;" in text, name  # the texts are there, as texts
    for figure in Path("first/figures").glob("*.svg"):
        found = Page(figure.read_text("utf-8"))
        assert "script" not in found.tags, figure
        assert found.acting == [], figure


# Control characters of every kind: C0 with NUL and escape, DEL, C1, directions, ends of lines, and
# what is no character. Halves of surrogate pairs are no text of a table.
HIDDEN = "\0\x07\x1b\x7f\x9b\u202e\u2066\u2028\ufffe\uffff"
CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
)
RED, TURNED = "x\x1b[31mred\x9b32m", "\u202eturned\u2066\0"


def controlling(n: int = 80) -> pa.Table:
    draw = np.random.default_rng(0)
    names = [f"{sign}{number}" for number, sign in enumerate(HIDDEN)]
    columns: dict[str, Any] = {name: draw.normal(size=n) for name in names}
    columns[f"category{HIDDEN}"] = draw.choice([RED, TURNED, "c\x07\n"], n).tolist()
    sign = columns[names[0]] + columns[names[1]] + 0.3 * draw.normal(size=n) > 0
    columns["target\x1b[2J"] = [RED if one else TURNED for one in sign]
    return pa.table(columns)


def drawings(page: str) -> list[str]:
    """The SVG elements of a page."""
    return re.findall(r"<svg\b.*?</svg>", page, flags=re.DOTALL)


def test_control_characters_are_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = "t\x1b[31m\u202e.parquet"
    pq.write_table(controlling(), table)
    study = ["study", table, "--target", "target\x1b[2J", "--models", "most_frequent,lda,cart"]
    study += ["--score-by", json.dumps([f"category{HIDDEN}"])]
    commands = [
        [*study, "--out", "first"],
        [*study, "--out", "second\x1b[31m", "--seed", "1", "--lang", "es"],
        ["explore", table, "--target", "target\x1b[2J", "--out", "explored.html"],
        ["explain", "first", "--out", "explained.html"],
        ["explain", "first", "--row", "1", "--out", "row.html"],
        ["compare", "first", "second\x1b[31m", "--out", "compared.html"],
        ["predict", "first", table, "--out", "predicted.csv"],
        ["predict", "first", table, "--out", "predicted.parquet"],
        ["export", "first", "--model", "nothing\x1b[31m"],
        ["study", table, "--target", "nothing\x1b[31m"],
    ]
    for command in commands:
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == (2 if "nothing\x1b[31m" in command else 0), command
        shown = capsys.readouterr()
        assert not CONTROL.search(shown.out + shown.err), command
    pages = ["first/report.html", "second\x1b[31m/report.html", "explored.html", "explained.html"]
    for name in (*pages, "row.html", "compared.html"):
        text = Path(name).read_text("utf-8")
        assert not CONTROL.search(text), name
        assert "\\x1b[2J" in text, name
        for drawing in drawings(text):
            ElementTree.fromstring(drawing)
    figures = [*Path("first/figures").glob("*.svg"), *Path("second\x1b[31m/figures").glob("*.svg")]
    assert len(figures) > 6
    for figure in figures:
        assert not CONTROL.search(ElementTree.parse(figure).getroot().tag)
        assert not CONTROL.search(figure.read_text("utf-8")), figure
    for name in ("results.json", "leaderboard.csv", "study.toml", "models/index.json"):
        assert not CONTROL.search(Path("first", name).read_text("utf-8")), name
    facts = json.loads(Path("first/results.json").read_text("utf-8"))
    assert facts["study"]["target"] == "target\x1b[2J"  # what reads JSON has the text as it was
    assert tomllib.loads(Path("first/study.toml").read_text("utf-8"))["target"] == "target\x1b[2J"
    labels = set(pq.read_table("predicted.parquet")["prediction"].to_pylist())
    assert labels <= {RED, TURNED}
    written = Path("predicted.csv").read_text("utf-8")
    assert not CONTROL.search(written)
    assert set(pd.read_csv("predicted.csv")["prediction"]) == {visible(label) for label in labels}


def test_drawings_and_texts_of_trees_escape_control_characters() -> None:
    table = controlling()
    X = table.drop_columns(["target\x1b[2J"])
    y = np.array(table["target\x1b[2J"].to_pylist(), dtype=object)
    category = f"category{HIDDEN}"
    tree = arboleda.DecisionTreeClassifier(max_depth=4, categorical_features=[category])
    tree.fit(X, y)
    drawing = tree.to_svg()
    ElementTree.fromstring(drawing)
    texts = [
        drawing,
        export_text(tree),
        str(export_graphviz(tree, filled=True, class_names=True)),
        str(export_graphviz(tree, special_characters=True, class_names=True)),
        arboleda.to_c(tree),
    ]
    for text in texts:
        assert not CONTROL.search(text)
    figure, axes = plt.subplots()
    plot_tree(tree, class_names=True, ax=axes)
    out = io.StringIO()
    figure.savefig(out, format="svg")
    plt.close(figure)
    ElementTree.fromstring(out.getvalue().encode())


def test_escaping_leaves_other_texts_unchanged() -> None:
    texts = [*ATTACKS, "Größe, 東京 👩‍👩‍👧", "a\\x1b", ""]
    assert [visible(text) for text in texts] == texts
    every = "".join(map(chr, range(0x110000)))
    hidden = {char for char in every if visible(char) != char}
    assert not CONTROL.search(visible(every))
    assert {visible(char) for char in hidden if ord(char) < 32} >= {"\\n", "\\t", "\\x00", "\\x1b"}
    assert visible_lines("a\tb\r\nc") == "a\tb\r\nc"
    for char in hidden:
        text = json_escaped(json.dumps(char, ensure_ascii=False))
        assert json.loads(text) == char
        text.encode()
