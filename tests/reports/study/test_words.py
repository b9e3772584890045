"""One table of texts for each language: the same keys and places; no English on a Spanish page."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import arboleda.reports
from arboleda._locale import use_locale
from arboleda._numbers import duration, integer, number_format, percent, plain
from arboleda.reports.study.page import render_report
from arboleda.reports.translation import LANGUAGES, _load_table, get_locale, text, translate
from arboleda.reports.wording import join_names
from arboleda.study.catalogue import CATALOGUE
from arboleda.study.catalogue.portfolio import PORTFOLIO
from arboleda.study.combined.methods import METHODS

Facts = dict[str, Any]
OTHERS = [language for language in LANGUAGES if language != "en"]
# Words that are the same in both languages.
SHARED = set(
    "accuracy adaboost arboleda auc bagging brier cart ece error f1 kernel lasso log macro mae mcc"
    " mape median metric mse nmse no numpy platt python r² rmse roc scikit-learn scipy sha-256 svg"
    " cross-validation target svm lineal numeric n b a h s ms min id roc platt core no".split()
)


def places(said: str) -> list[str]:
    return sorted(re.findall(r"\{\w*\}", said))


@pytest.mark.parametrize("language", OTHERS)
def test_each_language_has_the_same_texts_with_the_same_places(language: str) -> None:
    english, other = _load_table("en"), _load_table(language)
    assert list(english) == list(other)
    assert {k: places(v) for k, v in english.items()} == {k: places(v) for k, v in other.items()}


def test_every_text_is_used() -> None:
    folder = Path(arboleda.reports.__file__).parent
    files = [*folder.rglob("*.py"), *folder.rglob("*.j2")]
    source = "".join(file.read_text("utf-8") for file in files)
    # A key may be put together of its parts, as in text(f"section.{key}.title").
    stems = set(re.findall(r"[\"']([a-z_]+(?:\.[a-z_]+)*)(?:\.\{|[\"'])", source))
    for key in _load_table("en"):
        parts = key.split(".")
        starts = {".".join(parts[: n + 1]) for n in range(len(parts))} | {parts[0]}
        assert starts & stems or parts[0] in ("facts", "drawing", "number"), key


class Nodes(HTMLParser):
    """The text nodes of a page and its spoken attributes; scripts and styles are no text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._tags: list[tuple[str, str]] = []
        self.language = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "html":
            self.language = given["lang"] or ""
        if tag not in ("meta", "link", "input", "br"):
            self._tags.append((tag, given.get("lang") or ""))
        for name in ("title", "aria-label", "data-open", "data-shown", "data-dark"):
            self.found.append(given.get(name) or "")

    def handle_endtag(self, tag: str) -> None:
        while self._tags and self._tags.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        # What is marked as English may be, as an error of a library is.
        hidden = any(tag in ("script", "style") for tag, _ in self._tags)
        if not hidden and not any(language == "en" for _, language in self._tags):
            self.found.append(data.strip())


def words(said: str) -> set[str]:
    return set(re.findall(r"[^\W\d_][\w²-]*", said.lower()))


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_no_english_is_left_on_a_spanish_page(
    make_facts: Callable[..., Facts], users_words: Callable[[Facts], set[str]], task: str
) -> None:
    facts = make_facts(task)
    english, spanish = (Nodes(render_report(facts, language)) for language in ("en", "es"))
    assert (english.language, spanish.language) == ("en", "es")
    theirs = users_words(facts)
    long = {node for node in english.found if len(words(node) - theirs - SHARED) > 0}
    assert sorted(long & set(spanish.found)) == []


def test_numbers_have_the_marks_of_the_language() -> None:
    with use_locale(get_locale("es")):
        assert [integer(n) for n in (1234, 12345, 1234567)] == [
            "1234",
            "12\u202f345",
            "1\u202f234\u202f567",
        ]
        assert number_format([0.5], bounded=True)(0.97) == "0,9700"
        assert plain(0.13584) == "0,1358"
        assert percent(0.2408) == "24,1\N{NO-BREAK SPACE}%"
        assert duration(3.456) == "3,5\N{NO-BREAK SPACE}s"
    assert integer(12345) == "12,345"


def test_every_model_of_the_catalogue_has_a_name_in_each_language() -> None:
    with use_locale(get_locale("es")):
        same = {model.name for model in CATALOGUE if translate(model.name) == model.name}
        same |= {one.name for one in (*METHODS, *PORTFOLIO) if translate(one.name) == one.name}
    names = "AdaBoost AdaBoost.M1 AdaBoost.M2 AdaBoost.MR AdaBoost.R DART Lasso LogitBoost SAMME"
    assert same <= set(names.split())


def test_what_the_facts_say_is_said_with_its_values() -> None:
    with use_locale(get_locale("es")):
        said = translate("12,345 of 20,000 rows repeat an earlier row; they are kept.")
        assert said == "12\u202f345 de 20\u202f000 filas repiten una fila anterior; se conservan."
        assert translate("Left out: identifier: every value is different.") == (
            "Excluida: identificador: todos los valores son distintos."
        )
        # The user's own words stay, even where the program knows the same.
        assert translate("mean of text") == "media de text"
        assert translate("some words of a user") == "some words of a user"
        assert join_names(["Ana", "Inés"]) == "Ana e Inés"
        assert join_names(["Ana", "hielo"]) == "Ana y hielo"
    assert translate("Left out: free text.") == "Left out: free text."


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match="unknown language 'xx'; choose one of en, es"):
        get_locale("xx")


def test_markup_in_a_text_leaves_the_rest_escaped() -> None:
    from markupsafe import Markup

    said = text("page.skipped", name=Markup("<b>x</b>"), reason="<i>")
    assert said == "Not computed for <b>x</b>: &lt;i&gt;."


def test_names_stand_in_the_quotes_of_the_page() -> None:
    said = (
        "The column 'it\\'s' names 12 cases of several rows each, and rows of one case are on both "
        "sides of each split: if the model is to predict new cases, --groups 'its' tests that."
    )
    assert translate(said).startswith("The column “it's” names 12 cases")
    # What is to be typed keeps the quotes of the shell.
    assert "--groups 'its' tests" in translate(said)
    with use_locale(get_locale("es")):
        assert translate(said).startswith("La columna «it's» nombra 12 casos")
        assert "--groups 'its'" in translate(said)
        rare = "The class 'a' has 3 rows, so some folds may lack it and its scores are rough."
        assert translate(rare).startswith("La clase «a» tiene 3 filas")
