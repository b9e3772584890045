"""The page: one HTML file that holds its style, its script and its figures, and asks for nothing.

Every text of the user passes through Jinja's autoescape or `markupsafe`. As a second wall the page
forbids by its content security policy whatever it does not hold itself: no request goes out, and
the only script that runs is the one whose hash the policy names.
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
from arboleda.report._gallery import Figure, standalone
from arboleda.report._page import page_view
from arboleda.report._texts import locale_of, text, told

__all__ = ["FIGURES", "render_page", "render_report", "write_report"]

FIGURES = "figures"

_SCHEMA_VERSION = 2
_TEMPLATES = Path(__file__).parent / "templates"


def render_report(facts: Mapping[str, Any], language: str | None = None) -> str:
    """Draw the facts of a study as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study; its strings may hold anything.
    language : {"en", "es"}, optional
        What the page speaks, by default what the study was asked for, else English.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version, or no page speaks the language.

    Examples
    --------
    >>> render_report({"schema_version": 0})
    Traceback (most recent call last):
        ...
    ValueError: the facts have schema version 0, this report draws version 2; run the study again
    """
    return _drawn(facts, language)[0]


def _drawn(facts: Mapping[str, Any], language: str | None) -> tuple[str, Sequence[Figure]]:
    check_version(facts, _SCHEMA_VERSION, "this report", "run the study again")
    asked = language or facts["study"].get("settings", {}).get("lang", "en")
    with use_locale(locale_of(asked)):
        view = page_view(facts)
        return render_page(_TEMPLATES / "report.html.j2", view), view["gallery"]


def check_version(facts: Mapping[str, Any], version: int, drawn: str, remedy: str) -> None:
    """Refuse facts that a page cannot draw.

    Parameters
    ----------
    facts : mapping
    version : int
        That of the facts that the page draws.
    drawn : str
        The page, as in "this page".
    remedy : str

    Raises
    ------
    ValueError
        If the facts have another schema version.
    """
    found = facts.get("schema_version")
    if found != version:
        raise ValueError(
            f"the facts have schema version {found!r}, {drawn} draws version {version}; {remedy}"
        )


def render_page(template: Path, view: Mapping[str, Any], beside: Sequence[str] = ()) -> str:
    """Draw a page that has the look of the report, in the language that is spoken.

    Parameters
    ----------
    template : Path
        Extends ``base.html.j2`` and may use the report's macros.
    view : mapping
        What the template sets; ``version`` among it.
    beside : sequence of str
        Names of style sheets and scripts in the template's folder that join those of the report.

    Returns
    -------
    str
        The page, whose policy lets no other script run and nothing be loaded.
    """
    # Scripts and styles are files of this package, not text of the user.
    files = [_TEMPLATES / "report.css", _TEMPLATES / "print.css", _TEMPLATES / "report.js"]
    files += [template.parent / name for name in beside]
    script, style = ("".join(map(_source, _of_kind(files, end))) for end in (".js", ".css"))
    page = _templates(template.parent).get_template(template.name).render(
        view,
        language=current_locale().language,
        policy=_policy(script),
        script=Markup(script),
        style=Markup(style),
        dark=Markup(_source(_TEMPLATES / "dark.css")),
    )  # fmt: skip
    return visible_lines(page)


def write_report(facts: Mapping[str, Any], path: Path, language: str | None = None) -> None:
    """Write the page of `render_report` to a file, whole or not at all.

    Its figures go as SVG files into the folder ``figures`` beside it.

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
        If the facts have another schema version, or no page speaks the language.
    OSError
        If a file cannot be written.
    """
    page, figures = _drawn(facts, language)
    folder = path.parent / FIGURES
    folder.mkdir(exist_ok=True)
    for figure in figures:
        write_atomically(folder / figure.file, standalone(figure))
    write_atomically(path, page)


@cache
def _templates(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"t": text, "told": told}
    return environment


@cache
def _source(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _of_kind(files: Sequence[Path], suffix: str) -> list[Path]:
    return [file for file in files if file.suffix == suffix]


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
