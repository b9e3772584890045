"""Rendering of pages: one HTML file that contains its style, script and figures.

Every text of the user is escaped by Jinja's autoescape or `markupsafe`. As a second line of
defence, the content security policy of the page forbids all external resources: the page makes no
request, and only the script whose hash is in the policy can run.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from arboleda._files import write_atomically
from arboleda._locale import current_locale, use_locale
from arboleda._visible import visible_lines
from arboleda.report._gallery import Figure, make_standalone
from arboleda.report._page import make_page_view
from arboleda.report._texts import get_locale, text, translate

__all__ = ["FIGURES", "render_page", "render_report", "write_report"]

FIGURES = "figures"

_SCHEMA_VERSION = 3
_TEMPLATES = Path(__file__).parent / "templates"


def render_report(facts: Mapping[str, Any], language: str | None = None) -> str:
    """Draw the facts of a study as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study; its strings may contain arbitrary text.
    language : {"en", "es"}, optional
        Language of the page; by default, that of the study's settings, or English.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.

    Examples
    --------
    >>> render_report({"schema_version": 0})
    Traceback (most recent call last):
        ...
    ValueError: the facts have schema version 0, this report draws version 2; run the study again
    """
    return _draw(facts, language)[0]


def _draw(facts: Mapping[str, Any], language: str | None) -> tuple[str, Sequence[Figure]]:
    check_version(facts, _SCHEMA_VERSION, "this report", "run the study again")
    code = language or facts["study"].get("settings", {}).get("lang", "en")
    with use_locale(get_locale(code)):
        view = make_page_view(facts)
        return render_page(_TEMPLATES / "report.html.j2", view), view["gallery"]


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


def render_page(template: Path, view: Mapping[str, Any], extra_files: Sequence[str] = ()) -> str:
    """Render a page in the style of the report and in the current language.

    Parameters
    ----------
    template : Path
        A template that extends ``base.html.j2`` and may use the macros of the report.
    view : mapping
        Values of the template, including ``version``.
    extra_files : sequence of str
        Names of additional style sheets and scripts in the folder of the template.

    Returns
    -------
    str
        The page; its policy allows no other script and no external resource.
    """
    # Scripts and styles are files of this package and contain no text of the user.
    files = [_TEMPLATES / "report.css", _TEMPLATES / "print.css", _TEMPLATES / "report.js"]
    files += [template.parent / name for name in extra_files]
    script, style = (
        "".join(map(_read_source, _filter_by_suffix(files, end))) for end in (".js", ".css")
    )
    page = _make_environment(template.parent).get_template(template.name).render(
        view,
        language=current_locale().language,
        policy=_make_policy(script),
        script=Markup(script),
        style=Markup(style),
        dark=Markup(_read_source(_TEMPLATES / "dark.css")),
    )  # fmt: skip
    return visible_lines(page)


def write_report(facts: Mapping[str, Any], path: Path, language: str | None = None) -> None:
    """Write the page of `render_report` to a file atomically.

    Its figures are written as SVG files into the folder ``figures`` beside it.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study.
    path : Path
        The file; its folder must exist.
    language : {"en", "es"}, optional
        As in `render_report`.

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.
    OSError
        If a file cannot be written.
    """
    page, figures = _draw(facts, language)
    folder = path.parent / FIGURES
    folder.mkdir(exist_ok=True)
    for figure in figures:
        write_atomically(folder / figure.file, make_standalone(figure))
    write_atomically(path, page)


@cache
def _make_environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"t": text, "translate": translate}
    return environment


@cache
def _read_source(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _filter_by_suffix(files: Sequence[Path], suffix: str) -> list[Path]:
    return [file for file in files if file.suffix == suffix]


def _make_policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
