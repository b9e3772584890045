"""The documentation works: its Python runs, the files and make targets that it names exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page for where in ("*.md", "docs/*.md", "docs/*/*.md") for page in ROOT.glob(where))
# Pages whose examples are meant to be run as they stand, and take seconds.
RUNNABLE = [
    *("README.md", "docs/index.md"),
    *(
        f"docs/guide/{name}.md"
        for name in (
            "adaboost",
            "bagging",
            "bart",
            "boosting",
            "combining",
            "coverage",
            "decisions",
            "diagnose",
            "explain",
            "explore",
            "features",
            "forests",
            "coming_from",
            "grid_search",
            "learners",
            "notebook",
            "other_libraries",
            "reading_trees",
            "saving",
            "trees",
            "input_data",
        )
    ),
]


@pytest.mark.parametrize("page", RUNNABLE)
def test_python_examples_run(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks, f"{page} has no example"
    subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, check=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_named_files_exist(page: Path) -> None:
    text = page.read_text()
    named = re.findall(r"\{file\}`([^`<>]+)`", text)
    linked = re.findall(r"\]\((?!https?:|#)([^)#]+)\)", text)
    missing = [name for name in named if not (ROOT / name).exists()]
    missing += [name for name in linked if not (page.parent / name).exists()]
    assert missing == []


def test_named_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:`|^\$ )make ([a-z-]+)", page.read_text(), re.M)
    }
    assert named <= targets
    assert {"study", "test"} <= named


def test_every_page_is_in_one_of_five_groups() -> None:
    """The sidebar has five groups, and each page of the documentation is in one of them."""
    text = (ROOT / "docs/index.md").read_text()
    groups = {
        caption: re.findall(r"^(?:.+<)?([^<>\n]+)>?$", pages, re.M)
        for caption, pages in re.findall(r":caption: (.+)\n\n([^`]+)```", text)
    }
    assert list(groups) == ["Start", "Guide", "Methods", "Reference", "Decisions"]
    listed = sorted(page for pages in groups.values() for page in pages)
    docs = ROOT / "docs"
    written = [
        page.relative_to(docs).with_suffix("").as_posix()
        for folder in (".", "guide", "api", "decisions")
        for page in (docs / folder).glob("*.md")
        if page.name != "README.md" and (folder != "decisions" or page.name == "index.md")
    ]
    assert listed == sorted({*written, "gallery/generated/index"} - {"index"})


def test_no_committed_picture_of_a_page_can_grow_stale() -> None:
    """Pages of a study are written by the documentation's build; the guide shows no picture."""
    named = {
        name
        for page in PAGES
        for name in re.findall(r'src="\.\./examples/([^"]+)"', page.read_text())
    }
    written = set(re.findall(r'folder / "([^"]+)"', (ROOT / "docs/conf.py").read_text()))
    assert named == written
    assert {path.name for path in (ROOT / "docs/guide").glob("**/*.png")} == set()
    drawn = set(
        re.findall(r'\("(\w+)", \w+\)', Path(__file__).with_name("test_pictures.py").read_text())
    )
    assert {path.stem for path in (ROOT / "docs/guide").glob("**/*.svg")} == drawn
