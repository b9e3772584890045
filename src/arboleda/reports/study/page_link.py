"""The link from a study's report to the page in which its model predicts."""

from pathlib import Path

from markupsafe import Markup

from arboleda._locale import use_locale
from arboleda._utils.files import write_atomically
from arboleda.reports.translation import get_locale
from arboleda.reports.translation import gettext as _

__all__ = ["PLACE", "add_page_link", "make_page_link"]

# Where the report has the link as soon as there is a page.
PLACE = Markup('<p class="meta" data-page></p>')


def add_page_link(report: Path, page: Path, language: str) -> None:
    """Link a report to a page in the same folder, if the report is there and has no link yet.

    Parameters
    ----------
    report : Path
    page : Path
    language : {"en", "es"}
        Language of the link.

    Raises
    ------
    OSError
        If the report cannot be read or written.
    """
    if page.resolve().parent != report.resolve().parent or not report.is_file():
        return
    text = report.read_text(encoding="utf-8")
    if PLACE in text:
        with use_locale(get_locale(language)):
            write_atomically(report, text.replace(PLACE, make_page_link(page.name), 1))


def make_page_link(name: str) -> Markup:
    """Return the link as HTML, in the current language."""
    text = _("Try the model: a page in which it predicts, offline")
    return Markup('<p class="meta" data-page><a href="{}">{}</a></p>').format(name, text)
