"""Text of messages: names of columns, and escaping of invisible characters.

The name of a column, a label or a file name may contain control characters, which move a terminal's
cursor, change the direction of writing, or make a file invalid XML. All output of the package
escapes them by one of these functions:

* a terminal, one line of text: `visible`
* a text of a plot: `plot_escaped`
* HTML pages, SVG, other XML: `visible_lines`, over the whole document
* CSV: `visible_lines`; quotes take care of tabs and line ends
* JSON, TOML: `json_escaped`, which parsers reverse

Parquet files, model files and ONNX files contain texts unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

__all__ = ["count_noun", "json_escaped", "plot_escaped", "visible", "visible_lines"]

# C0 and C1 with DEL; separators of lines and paragraphs; marks of the direction of writing;
# surrogates; and the two noncharacters that XML excludes.
_OTHERS = "\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
_HIDDEN = re.compile(f"[\x00-\x1f{_OTHERS}]")
_HIDDEN_BUT_LINES = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f{_OTHERS}]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def visible(text: str) -> str:
    r"""Escape invisible characters as Python literals do; all others are kept.

    Examples
    --------
    >>> print(visible("red\x1b[31m\n"), visible("age\u202e"), visible("Größe, 東京"))
    red\x1b[31m\n age\u202e Größe, 東京
    """
    return _HIDDEN.sub(_escape, text)


def visible_lines(text: str) -> str:
    r"""Escape invisible characters like `visible`, but keep tabs and line ends.

    Examples
    --------
    >>> print(visible_lines("one\ntwo\a"))
    one
    two\x07
    """
    return _HIDDEN_BUT_LINES.sub(_escape, text)


def json_escaped(text: str) -> str:
    r"""Escape invisible characters within a JSON text by JSON escapes, keeping its value.

    Examples
    --------
    >>> import json
    >>> text = json.dumps("a\x9b\u2028", ensure_ascii=False)
    >>> print(json_escaped(text), json.loads(json_escaped(text)) == "a\x9b\u2028")
    "a\u009b\u2028" True
    """
    return _HIDDEN_BUT_LINES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plot_escaped(text: str) -> str:
    r"""Escape a text of a plot: invisible characters, and dollar signs, which start formulas.

    Examples
    --------
    >>> print(plot_escaped("price in $\a"))
    price in \$\x07
    """
    return visible(text).replace("$", r"\$")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def count_noun(count: int, noun: str) -> str:
    """Write a number and a noun, whose plural ends in "s" unless the number is 1.

    Examples
    --------
    >>> count_noun(1, "row"), count_noun(1200, "row"), count_noun(0, "fold")
    ('1 row', '1,200 rows', '0 folds')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_names(names: Sequence[Any]) -> str:
    """Return the first names and the number of the others."""
    shown = ", ".join(repr(name) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
