"""The page: one HTML file that holds its style, its script and its figures, and asks for nothing.

Every text of the user passes through Jinja's autoescape or `markupsafe`. As a second wall the page
forbids by its content security policy whatever it does not hold itself: no request goes out, and
the only script that runs is the one whose hash the policy names.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from arboleda._files import write_atomically
from arboleda.report._page import page_view

__all__ = ["render_report", "write_report"]

_SCHEMA_VERSION = 1
_TEMPLATES = Path(__file__).parent / "templates"


def render_report(facts: Mapping[str, Any]) -> str:
    """Draw the facts of a study as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study, schema version 1; its strings may hold anything.

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
    ValueError: the facts have schema version 0, this report draws version 1; run the study again
    """
    found = facts.get("schema_version")
    if found != _SCHEMA_VERSION:
        raise ValueError(
            f"the facts have schema version {found!r}, this report draws version"
            f" {_SCHEMA_VERSION}; run the study again"
        )
    # The script and the style are files of this package, not text of the user.
    script, style = (_source(name) for name in ("report.js", "report.css"))
    return _templates().get_template("report.html.j2").render(
        page_view(facts), policy=_policy(script), script=Markup(script), style=Markup(style)
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
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _source(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
