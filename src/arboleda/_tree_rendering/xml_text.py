"""Escaping of text for XML."""

from html import escape

from arboleda._visible import visible_lines

__all__ = ["xml_text"]


def xml_text(text: str) -> str:
    r"""Escape a text for XML, including invisible and invalid characters.

    Examples
    --------
    >>> print(xml_text("a < b & 'c'"), xml_text("bell\a"))
    a &lt; b &amp; &#x27;c&#x27; bell\x07
    """
    return escape(visible_lines(text))
