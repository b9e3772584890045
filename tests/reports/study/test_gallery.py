"""Every figure is also a file that needs nothing beside it, and is listed on the page."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from arboleda.reports.study.page import write_report

Facts = dict[str, Any]


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_figures_are_standalone_files(
    make_facts: Callable[..., Facts], tmp_path: Path, task: str
) -> None:
    facts = make_facts(task, n_columns=6)
    facts["models"] = facts["models"][:2]
    facts["importance"]["columns"][0]["name"] = "var(--ink) <b> & </style>"
    write_report(facts, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    files = sorted((tmp_path / "figures").iterdir())
    listed = re.findall(r"<code>figures/([a-z0-9_]+\.svg)</code>", page)
    assert sorted(file.name for file in files) == sorted(listed)
    assert {"fold_scores.svg", "importance.svg", "learning_curve.svg", "surrogate_tree.svg"} <= {
        file.name for file in files
    }
    for file in files:
        drawing = file.read_text("utf-8")
        root = ElementTree.fromstring(drawing)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        tags = re.findall(r"<style>.*?</style>|<[^>]+>", drawing, flags=re.DOTALL)
        assert not any("var(--" in tag for tag in tags if "aria-label" not in tag), file.name
        addresses = re.findall(r"(?:href|src)=\"([^\"]*)\"", drawing)
        assert all(address.startswith("#") for address in addresses)
    importance = (tmp_path / "figures" / "importance.svg").read_text("utf-8")
    assert "var(--ink) &lt;b&gt; &amp; &lt;/style&gt;" in importance
