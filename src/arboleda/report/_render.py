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
from arboleda.report._page import page_view

__all__ = ["render_page", "render_report", "write_report"]

_SCHEMA_VERSION = 2
_TEMPLATES = Path(__file__).parent / "templates"


def render_report(facts: Mapping[str, Any]) -> str:
    """Draw the facts of a study as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study, schema version 2; its strings may hold anything.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version.

    Examples
    --------
    >>> render_report({"schema_version": 0})
    Traceback (most recent call last):
        ...
    ValueError: the facts have schema version 0, this report draws version 2; run the study again
    """
    found = facts.get("schema_version")
    if found != _SCHEMA_VERSION:
        raise ValueError(
            f"the facts have schema version {found!r}, this report draws version"
            f" {_SCHEMA_VERSION}; run the study again"
        )
    return render_page(_TEMPLATES / "report.html.j2", page_view(facts))


def render_page(template: Path, view: Mapping[str, Any], beside: Sequence[str] = ()) -> str:
    """Draw a page that has the look of the report.

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
    files = [_TEMPLATES / "report.css", _TEMPLATES / "report.js"]
    files += [template.parent / name for name in beside]
    script, style = ("".join(map(_source, _of_kind(files, end))) for end in (".js", ".css"))
    return _templates(template.parent).get_template(template.name).render(
        view, policy=_policy(script), script=Markup(script), style=Markup(style)
    )  # fmt: skip


def write_report(facts: Mapping[str, Any], path: Path) -> None:
    """Write the page of `render_report` to a file, whole or not at all.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study, schema version 1.
    path : Path
        The file; its folder must exist.

    Raises
    ------
    ValueError
        If the facts have another schema version.
    OSError
        If the file cannot be written.
    """
    write_atomically(path, render_report(facts))


@cache
def _templates(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader([folder, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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
