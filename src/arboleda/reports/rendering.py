"""The shell of all pages: one HTML file that contains its style, script and figures.

Every text of the user is escaped by Jinja's autoescape or `markupsafe`. As a second line of
defence, the content security policy of the page forbids all external resources: the page makes no
request, and only the script whose hash is in the policy can run.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from arboleda._locale import current_locale, use_locale
from arboleda._utils.text import visible_lines
from arboleda.reports.fact_messages import translate, use_messages
from arboleda.reports.translation import get_locale, gettext, ngettext, pgettext

__all__ = [
    "DATA_PAGES",
    "Bar",
    "Highlight",
    "KeyFigure",
    "Summary",
    "check_version",
    "render_page",
    "use_facts",
]

_TEMPLATES = Path(__file__).parent / "templates"
# Styles that the report of a study does not need.
DATA_PAGES = (_TEMPLATES / "data_pages.css",)


@dataclass(frozen=True)
class KeyFigure:
    """A number displayed prominently at the top of the page."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class Bar:
    """A bar of a highlight: a name, its value, and its length relative to the longest bar."""

    name: str
    value: str
    share: float


@dataclass(frozen=True)
class Highlight:
    """A question that readers have, with the result of the study."""

    title: str
    sentences: Sequence[str] = ()
    bars: Sequence[Bar] = field(default_factory=tuple)
    link: str = ""


@dataclass(frozen=True)
class Summary:
    """The summary of a page, drawn by ``summary.html.j2``."""

    sentences: Sequence[str]
    figures: Sequence[KeyFigure]
    cautions: Sequence[str]
    highlights: Sequence[Highlight] = ()


def check_version(facts: Mapping[str, Any], version: int, drawn: str, remedy: str) -> None:
    """Check that a page supports the schema version of the facts.

    Parameters
    ----------
    facts : mapping
    version : int
        The supported schema version.
    drawn : str
        The page as named in the error message, for example "this page".
    remedy : str
        What the user can do, for the error message.

    Raises
    ------
    ValueError
        If the facts have another schema version.
    """
    result = facts.get("schema_version")
    if result != version:
        raise ValueError(
            f"the facts have schema version {result!r}, {drawn} draws version {version}; {remedy}"
        )


@contextmanager
def use_facts(facts: Mapping[str, Any], version: int, remedy: str, language: str) -> Iterator[None]:
    """Check the version of facts; use a language, and the facts' messages in it, in the block.

    Parameters
    ----------
    facts : mapping
    version : int
        The supported schema version.
    remedy : str
        What the user can do about another version, for the error message.
    language : {"en", "es"}

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.
    """
    check_version(facts, version, "this page", remedy)
    with use_locale(get_locale(language)), use_messages(facts.get("messages", {})):
        yield


def render_page(template: str | Path, view: Mapping[str, Any], styles: Sequence[Path] = ()) -> str:
    """Render a page in the shared style and in the current language.

    Parameters
    ----------
    template : str or Path
        The name of a template of this package, or the path of another one, which extends
        ``base.html.j2`` and may use ``macros.html.j2``.
    view : mapping
        Values of the template, including ``version``.
    styles : sequence of Path
        Style sheets to add to those of all pages.

    Returns
    -------
    str
        The page; its policy allows no other script and no external resource.
    """
    # Scripts and styles are files of this package and contain no text of the user.
    script = _read_source(_TEMPLATES / "page.js")
    sheets = [_TEMPLATES / "page.css", _TEMPLATES / "print.css", *styles]
    folder, name = (
        (template.parent, template.name) if isinstance(template, Path) else (_TEMPLATES, template)
    )
    page = (
        _make_environment(folder)
        .get_template(name)
        .render(
            view,
            language=current_locale().language,
            policy=_make_policy(script),
            script=Markup(script),
            style=Markup("".join(map(_read_source, sheets))),
            dark=Markup(_read_source(_TEMPLATES / "dark.css")),
        )
    )
    return visible_lines(page)


@cache
def _make_environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "_": gettext,
        "ngettext": ngettext,
        "pgettext": pgettext,
        "translate": translate,
    }
    return environment


@cache
def _read_source(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _make_policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
