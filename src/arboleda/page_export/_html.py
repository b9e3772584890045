"""The HTML file of a page: its data, style, scripts and content security policy."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from arboleda._locale import current_locale, use_locale
from arboleda._utils.text import visible_lines
from arboleda.page_export._columns import PageColumn
from arboleda.page_export._graph import PageGraph
from arboleda.page_export._words import make_words

_FOLDER = Path(__file__).parent / "page"
# The scripts of the engine run on the page and in its workers; the others on the page only.
ENGINE = (
    *("trees.js", "operators.js", "model.js", "shap.js"),
    *("csv.js", "formats.js", "cells.js", "rules.js", "worker.js"),
)
_PAGE = ("dom.js", "charts.js", "form.js", "views.js", "batch.js", "page.js")
# A larger page opens slowly.
LARGE = 20_000_000


@dataclass
class PageContent:
    """What a page shows and computes.

    Parameters
    ----------
    title, model : str
        Title of the page, and name of the model.
    graph : PageGraph
        The operators and tables of the model.
    n_columns : int
        Number of columns of the matrix that the operators read.
    output, scores : int
        Steps of the graph: probabilities or values, and the scores that decide between classes.
    columns : sequence of PageColumn
        The columns of the form.
    classes : sequence of str, or None
        Labels of the classes.
    target : str or None
        Name of what is predicted.
    explanation : dict or None
        The result of `describe_explanation`.
    rows : list of list of str, or None
        Rows to include, as texts of cells; "" is missing.
    rules : dict
        What a study adds: ``interval``, ``sets``, ``costs``, how missing and unknown values are
        coded, and the words of numbers and dates (``written``). ``outputs`` are the names of
        several values, ``header`` those of their columns in a CSV file.
    """

    title: str
    model: str
    graph: PageGraph
    n_columns: int
    output: int
    scores: int
    columns: Sequence[PageColumn]
    classes: Sequence[str] | None = None
    target: str | None = None
    explanation: dict[str, Any] | None = None
    rows: list[list[str]] | None = None
    rules: Mapping[str, Any] = field(default_factory=dict)


def write_page(content: PageContent, language: str = "en") -> str:
    """Write a page in a language: one of `arboleda.reports.translation.LANGUAGES`.

    Raises
    ------
    ValueError
        If the language is not available.

    Warns
    -----
    UserWarning
        If the page has more than 20 MB.
    """
    if language == "en":
        return _write(content)
    # The catalogues are read with packages of the extra "study".
    from arboleda.reports.translation import get_locale

    with use_locale(get_locale(language)):
        return _write(content)


def _write(content: PageContent) -> str:
    tables = content.graph.tables
    spec = _make_spec(content)
    engine = "".join(map(_read, ENGINE))
    script = "".join(map(_read, _PAGE))
    style = _read("page.css")
    values = {
        "language": current_locale().language,
        "policy": _make_policy([engine, script], style),
        "title": escape(visible_lines(content.title)),
        "noscript": escape(spec["words"]["noscript"]),
        "style": style,
        "spec": _to_json(spec),
        "tables": tables.encode(),
        "engine": engine,
        "script": script,
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _read("page.html"))
    if len(page) > LARGE:
        warnings.warn(
            f"the page takes {len(page) / 1e6:,.0f} MB, which browsers open slowly: export a "
            "smaller member, or a surrogate such as explain.surrogate_tree",
            UserWarning,
            stacklevel=4,
        )
    return page


def _make_spec(content: PageContent) -> dict[str, Any]:
    from arboleda import __version__

    return {
        "title": content.title,
        "model": content.model,
        "version": __version__,
        "target": content.target,
        "language": current_locale().language,
        "words": make_words(),
        "n_columns": content.n_columns,
        "steps": content.graph.steps,
        "tables": content.graph.tables.entries,
        "output": content.output,
        "scores": content.scores,
        "columns": [column.to_dict() for column in content.columns],
        "classes": content.classes,
        "explanation": content.explanation,
        "rows": content.rows,
        **content.rules,
    }


def _to_json(value: Any) -> str:
    """Write JSON without characters that end a script; numbers that JSON lacks are texts."""
    text = json.dumps(_replace_special_numbers(value), ensure_ascii=False, allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _replace_special_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _replace_special_numbers(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_special_numbers(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def _make_policy(scripts: Sequence[str], style: str) -> str:
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src {hashes}; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _read(name: str) -> str:
    """Return a file of the page."""
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
