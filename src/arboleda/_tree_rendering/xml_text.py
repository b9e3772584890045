"""Any text as the text of an XML element."""

from html import escape

from arboleda._visible import visible_lines

__all__ = ["xml_text"]


def xml_text(text: str) -> str:
    r"""Escape a text; characters that no XML file may hold, and others not seen, are spelt out.

    Examples
    --------
    >>> print(xml_text("a < b & 'c'"), xml_text("bell\a"))
    a &lt; b &amp; &#x27;c&#x27; bell\x07
    """
    return escape(visible_lines(text))
