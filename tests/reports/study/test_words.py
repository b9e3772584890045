"""A catalogue for each language: the same messages and placeholders; no English left over."""

import importlib.util
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arboleda._locale import use_locale
from arboleda._utils.numbers import duration, integer, number_format, percent, plain
from arboleda.catalogue import CATALOGUE
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.reports.fact_messages import (
    Number,
    collect_messages,
    translate,
    use_messages,
    write_message,
)
from arboleda.reports.fact_texts import FACT_MESSAGES, FACT_SINGULARS
from arboleda.reports.study.page import render_report
from arboleda.reports.translation import LANGUAGES, get_locale, gettext
from arboleda.reports.wording import join_names
from arboleda.study.combination.methods import METHODS

Facts = dict[str, Any]
OTHERS = [language for language in LANGUAGES if language != "en"]
# Words that are the same in both languages.
SHARED = set(
    "accuracy adaboost arboleda auc bagging brier cart ece error f1 kernel lasso log macro mae mcc"
    " mape median metric mse nmse no numpy platt python r² rmse roc scikit-learn scipy sha-256 svg"
    " cross-validation target svm lineal numeric n b a h s ms min id roc platt core no".split()
)


def placeholders(sentence: str) -> list[str]:
    return sorted(re.findall(r"\{\w*\}", sentence))


def load_tool() -> Any:
    """Load tools/translations.py, which is no part of the package."""
    path = Path(__file__).parents[3] / "tools" / "translations.py"
    spec = importlib.util.spec_from_file_location("translations", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def catalogues() -> list[Path]:
    folder = Path(__file__).parents[3] / "src" / "arboleda" / "reports" / "locales"
    return sorted(folder.glob("*/LC_MESSAGES/arboleda.po"))


def test_a_count_of_one_is_in_the_singular() -> None:
    """ "Missing in 1 rows" and its translation."""
    for code, single in FACT_SINGULARS.items():
        assert set(placeholders(single)) < set(placeholders(FACT_MESSAGES[code]))
    one, many = (write_message("missing", count=n, share=Number("0.7 %")) for n in (1, 2))
    assert (one, many) == ("Missing in 1 row (0.7 %).", "Missing in 2 rows (0.7 %).")
    with use_locale(get_locale("es")), use_messages(collect_messages([one, many])):
        assert translate(one) == "Ausente en 1 fila (0,7 %)."
        assert "2 filas" in translate(many)


def test_each_language_has_a_catalogue() -> None:
    assert [path.parts[-3] for path in catalogues()] == OTHERS


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parts[-3])
def test_every_message_of_the_code_is_translated_and_compiled(path: Path) -> None:
    tool = load_tool()
    messages = tool.extract_messages()
    assert len(messages) > 900
    assert list(tool.find_problems(path, messages)) == []


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parts[-3])
def test_each_language_has_the_same_texts_with_the_same_placeholders(path: Path) -> None:
    for message in load_tool().read_catalogue(path):
        if message.id:
            english = message.id if isinstance(message.id, tuple) else (message.id,)
            other = message.string if isinstance(message.string, tuple) else (message.string,)
            # A singular may leave its count out.
            assert [placeholders(text) for text in english][1:] == [placeholders(t) for t in other][
                1:
            ]
            assert set(placeholders(other[0])) <= set(placeholders(english[0])), message.id
            if len(english) == 1:
                assert placeholders(english[0]) == placeholders(other[0])


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


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_][\w²-]*", text.lower()))


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
    names = (
        "AdaBoost AdaBoost.M1 AdaBoost.M2 AdaBoost.MR AdaBoost.R DART LambdaMART Lasso LogitBoost "
        "SAMME"
    )
    assert same <= set(names.split())


def test_facts_are_worded_with_their_values() -> None:
    copies = write_message("copies", count=12_345, rows=20_000)
    assert copies == "12,345 of 20,000 rows repeat an earlier row; they are kept."
    left_out = write_message(
        "left_out", reason="identifier: nearly every value is different, and no word repeats"
    )
    text = write_message("test_columns", name="a.csv", table="text", columns="'b'")
    share = write_message("missing", count=5, share=Number("24.1 %"))
    sentences = [copies, left_out, text, share]
    with use_locale(get_locale("es")), use_messages(collect_messages(sentences)):
        assert translate(copies) == (
            "12\u202f345 de 20\u202f000 filas repiten una fila anterior; se conservan."
        )
        assert translate(left_out) == (
            "Excluida: identificador: casi todos los valores son distintos y ninguna palabra se "
            "repite."
        )
        assert translate(share) == "Sin dato en 5 filas (24,1 %)."
        # The user's own words stay, even where the program knows the same.
        assert translate(text) == "Las columnas de a.csv que text no tiene no se usan: 'b'."
        assert translate("some words of a user") == "some words of a user"
        assert join_names(["Ana", "Inés"]) == "Ana e Inés"
        assert join_names(["Ana", "hielo"]) == "Ana y hielo"
    assert translate("Left out: free text.") == "Left out: free text."


def test_a_sentence_without_all_its_values_stays_as_it_is() -> None:
    with use_locale(get_locale("es")), use_messages({"x y": {"code": "copies", "values": {}}}):
        assert translate("x y") == "x y"
    with use_locale(get_locale("es")), use_messages({"x y": {"code": "none", "values": {}}}):
        assert translate("x y") == "x y"


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match="unknown language 'xx'; choose one of en, es"):
        get_locale("xx")


def test_markup_in_a_text_leaves_the_rest_escaped() -> None:
    from markupsafe import Markup

    sentences = gettext("Not computed for {name}: {reason}.", name=Markup("<b>x</b>"), reason="<i>")
    assert sentences == "Not computed for <b>x</b>: &lt;i&gt;."


def test_names_stand_in_the_quotes_of_the_page() -> None:
    sentences = write_message("groups", column="it's", count=12, same="'its'")
    rare = write_message("rare_class", label="a", count=3)
    assert sentences.startswith(
        'The column "it\'s" identifies 12 cases with several rows each, and each split'
    )
    messages = collect_messages([sentences, rare])
    with use_messages(messages):
        assert translate(sentences).startswith("The column “it's” identifies 12 cases")
        # What is to be typed keeps the quotes of the shell.
        assert "with --groups 'its'." in translate(sentences)
    with use_locale(get_locale("es")), use_messages(messages):
        assert translate(sentences).startswith("La columna «it's» identifica 12 casos")
        assert "--groups 'its'" in translate(sentences)
        assert translate(rare).startswith("La clase «a» tiene 3 filas")
