"""A table whose every text attacks the page it is shown on: no page of any command gives way."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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


def test_no_page_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = '"><img src=x onerror=x()>.csv'
    attacking().to_csv(table, index=False)
    study = ["study", table, "--target", ATTACKS[5], "--models", "most_frequent,lda,cart"]
    study += ["--by", f'["{ATTACKS[3]}"]', "--reject-cost", "0.4"]
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
