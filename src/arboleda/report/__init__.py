"""The report of a study: one HTML file rendered from its facts."""

from arboleda.report._render import (
    FIGURES,
    check_version,
    render_page,
    render_report,
    write_report,
)

__all__ = ["FIGURES", "check_version", "render_page", "render_report", "write_report"]
