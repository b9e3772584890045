"""Any text as the text of an XML element."""

import re
from html import escape

__all__ = ["xml_text"]

# What XML 1.0, production 2, leaves out: control signs, halves of surrogate pairs, U+FFFE, U+FFFF.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    r"""Escape a text; a sign that no XML file may hold becomes the replacement character.

    Examples
    --------
    >>> xml_text("a < b & 'c'"), xml_text("bell\a")
    ('a &lt; b &amp; &#x27;c&#x27;', 'bell\ufffd')
    """
    return escape(_FORBIDDEN.sub("\ufffd", text))
