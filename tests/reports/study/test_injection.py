"""Texts of the user are always shown as text and do not change the page."""

import base64
import hashlib
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from arboleda._utils.text import visible_lines
from arboleda.reports.study.page import render_report

Facts = dict[str, Any]

HOSTILE = [
    "</script><script>x()</script>",
    '"><img src=x onerror=x()>',
    "' onmouseover='x()",
    "javascript:x()",
    "$x^2$ \\frac{1}{2}",
    "{{7*7}}{% raw %}",
    "--><!--",
    "]]></style></title></svg><svg onload=x()>",
    "&lt;b&gt;&amp;",
    "@0@ @1@",
    "_leading",
    "\u202egnp.exe",
]
# These are words of the schema or numbers in disguise, not texts of the user.
FIXED = {
    "lang",
    "test",
    "task",
    "metric",
    "status",
    "level",
    "kind",
    "role",
    "engine",
    "key",
    "loss",
    "not_distinguishable",
    "result",
    "data_sha256",
}
VOID = {"meta", "link", "br", "img", "input"}


def poison(facts: Facts, texts: list[str]) -> tuple[Facts, set[str]]:
    """Replace every text of the user by a hostile one, the same text always by the same one."""
    known: dict[str, str] = {}

    def hostile(text: str) -> str:
        return known.setdefault(text, f"{texts[len(known) % len(texts)]}{len(known)}")

    def walk(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            names = {k: hostile(k) if key == "params" else k for k in value}
            return {names[k]: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(item, key) for item in value]
        return hostile(value) if isinstance(value, str) and key not in FIXED else value

    return {**walk(facts, ""), "tree": {**walk(facts["tree"], "tree"), "model": "cart"}}, set(
        known.values()
    )


class Structure(HTMLParser):
    """Elements and names of attributes in their order, and all texts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.comments = 0
        self._open = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # A long name takes two lines in the drawn tree, a short one takes one.
        if tag != "text":
            self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_comment(self, data: str) -> None:
        self.comments += 1

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] += data
        self.text += data


def texts_that_must_be_read(facts: Facts) -> Iterator[str]:
    yield facts["study"]["table"]
    yield facts["study"]["target"]
    for column in facts["data"]["columns"]:
        yield column["name"]
        yield from filter(None, [column["reason"]])
        yield from (value for value, _ in (column["top"] or [])[:3])
    for note in facts["data"]["notes"]:
        yield note["text"]
    for row in facts["split"]["classes"] or []:
        yield row["label"]
    for model in facts["models"]:
        yield model["name"]
        yield from filter(None, [model["note"], model["error"]])
        if model["status"] == "ok":
            yield model["preparation"]
    yield facts["environment"]["platform"]


@pytest.fixture(params=["binary", "multiclass", "regression"])
def small_facts(request: pytest.FixtureRequest, make_facts: Callable[..., Facts]) -> Facts:
    """Each kind of text occurs, and few of each: a model that is fitted, one that is not."""
    classes = ["low", "middle", "high"] if request.param == "multiclass" else None
    facts = make_facts(request.param, classes=classes, n_columns=6)
    facts["models"] = [facts["models"][0], facts["models"][-1]]
    return facts


@pytest.mark.parametrize("start", range(0, len(HOSTILE), 3))
def test_hostile_texts_change_no_element_and_no_attribute(small_facts: Facts, start: int) -> None:
    harmless, _ = poison(small_facts, ["harmless words"])
    attack, texts = poison(small_facts, HOSTILE[start:] + HOSTILE[:start])
    clean, page = Structure(render_report(harmless)), Structure(render_report(attack))
    assert page.tags == clean.tags
    assert page.comments == 0
    assert len(texts) > 2 * len(HOSTILE)
    # Signs that change the direction of a text are spelt out.
    read = map(visible_lines, texts_that_must_be_read(attack))
    missing = [text for text in read if text not in page.text]
    assert missing == []


def test_no_url_handler_or_style_comes_from_the_user(small_facts: Facts) -> None:
    attack, texts = poison(small_facts, HOSTILE)
    page = Structure(render_report(attack))
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "srcset", "action", "formaction", "srcdoc", "data"), (tag, name)
        if name == "href":
            assert value.startswith("#") or value == "data:,", value
        if name in ("style", "id", "class", "xlink:href"):
            assert not any(text in value for text in texts), (tag, name, value)
    assert not {"iframe", "object", "embed", "base", "form", "a:"} & {tag for tag, _ in page.tags}


def test_the_policy_allows_only_the_inline_script(small_facts: Facts) -> None:
    attack, _ = poison(small_facts, HOSTILE)
    page = Structure(render_report(attack))
    (script,) = page.scripts
    (policy,) = (v for _, n, v in page.attributes if n == "content" and "default-src" in v)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.split("; ")[:4] == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        f"script-src 'sha256-{digest}'",
    ]


def test_the_policy_comes_first(small_facts: Facts) -> None:
    page = Structure(render_report(small_facts))
    order = [tag for tag, _ in page.tags]
    policy = next(i for i, (_, names) in enumerate(page.tags) if "http-equiv" in names)
    assert policy < min(order.index("link"), order.index("style"), order.index("script"))


def test_empty_and_blank_texts_are_named(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("binary", classes=["", " "])
    facts["data"]["columns"][0]["name"] = ""
    assert render_report(facts).count("(empty)") > 3
