"""Cells of tables, thumbnails of columns and colours of classes, the same on every page."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from arboleda._utils.numbers import integer, percent, plain
from arboleda.reports.fact_messages import translate
from arboleda.reports.translation import N_, pgettext
from arboleda.reports.translation import gettext as _

__all__ = [
    "SWATCHES",
    "Cell",
    "choose_class_colours",
    "draw_column_bars",
    "format_setting",
    "format_with_share",
    "make_column_view",
    "name_kind",
    "name_role",
]

_KINDS = {
    "numeric": N_("numeric"),
    "categorical": N_("categorical"),
    "boolean": N_("boolean"),
    "datetime": N_("datetime"),
    "text": N_("text"),
    "list": N_("list"),
}

_ROLES = {
    "feature": N_("feature"),
    "target": N_("target"),
    "left_out": N_("excluded"),
}


class Cell(NamedTuple):
    """A cell of a table: its text and the number or text by which it is sorted."""

    text: str
    value: float | str | None
    tint: str = ""


def format_setting(value: Any) -> str:
    """Format the value of a setting of a model.

    Examples
    --------
    >>> [format_setting(value) for value in (None, True, 0.5, "gini")]
    ['none', 'yes', '0.5', 'gini']
    """
    if value is None:
        return pgettext("value", "none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return plain(value, 6) if isinstance(value, int | float) else str(value)


def format_with_share(count: int, total: int) -> str:
    """Format a count with its share of the total, if neither is zero.

    Examples
    --------
    >>> format_with_share(5, 20).replace("\N{NO-BREAK SPACE}", " "), format_with_share(0, 20)
    ('5 (25.0 %)', '0')
    """
    return f"{integer(count)} ({percent(count / total)})" if count and total else integer(count)


SWATCHES = 8


def choose_class_colours(labels: Sequence[str], positive: str | None) -> list[str]:
    """Return the CSS colour of each class, in order.

    Of two classes, the positive one takes the accent colour and the other grey. Up to `SWATCHES`
    classes have a colour each; beyond that, colours would be hard to distinguish, and all
    classes take the accent colour.

    Examples
    --------
    >>> choose_class_colours(["no", "yes"], "yes")
    ['var(--neutral)', 'var(--accent)']
    >>> choose_class_colours(["a", "b", "c"], None)
    ['var(--c0)', 'var(--c1)', 'var(--c2)']
    """
    if len(labels) == 2:
        chosen = positive if positive in labels else labels[1]
        return ["var(--accent)" if label == chosen else "var(--neutral)" for label in labels]
    if len(labels) <= SWATCHES:
        return [f"var(--c{index})" for index in range(len(labels))]
    return ["var(--accent)"] * len(labels)


_WIDTH, _HEIGHT = 96, 22


def draw_column_bars(column: Mapping[str, Any]) -> Markup:
    """Draw the histogram of a column, or bars of its most frequent values.

    Parameters
    ----------
    column : mapping
        One of ``data.columns`` of the facts.

    Returns
    -------
    Markup
        An SVG element; empty if the facts hold no counts for the column.
    """
    if column["histogram"] is not None:
        counts, kind, gap = column["histogram"]["counts"], "numbers", 0.0
    elif column["top"]:
        counts, kind, gap = [count for _, count in column["top"]], "values", 2.0
    else:
        return Markup("")
    path = _make_path(counts, gap)
    if not path:
        return Markup("")
    return Markup(
        '<svg class="bars {}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true">'
        '<path d="{}"/></svg>'
    ).format(kind, path, w=_WIDTH, h=_HEIGHT)


def _make_path(counts: Sequence[int], gap: float) -> str:
    highest = max(counts, default=0)
    if highest == 0:
        return ""
    # At least ten steps: the bars of a column with two values stay narrow.
    step = _WIDTH / max(len(counts), 10)
    pieces = []
    for index, count in enumerate(counts):
        if count:
            height = max(1.0, round(_HEIGHT * count / highest, 1))
            width = round(step - gap, 2)
            pieces.append(f"M{index * step:.1f} {_HEIGHT}v-{height:g}h{width:g}v{height:g}z")
    return "".join(pieces)


def name_kind(kind: str) -> str:
    """Return the name of a kind of column."""
    return _(_KINDS[kind])


def name_role(role: str) -> str:
    """Return the name of a role of a column."""
    return _(_ROLES[role])


def make_column_view(column: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Collect one row of the table of columns.

    Parameters
    ----------
    column : mapping
        One of the columns of the facts.
    n_rows : int
        Number of rows of the table.
    """
    missing, kind, role = column["n_missing"], column["kind"], column["role"]
    return {
        "name": column["name"],
        "kind": name_kind(kind),
        "role": name_role(role),
        "mark": role.replace("_", "-"),
        "reason": column["reason"] and translate(column["reason"]),
        "missing": Cell(format_with_share(missing, n_rows) if missing else "0", missing),
        "distinct": Cell(integer(column["n_distinct"]), column["n_distinct"]),
        "bars": draw_column_bars(column),
        "values": _format_values(column, n_rows - missing),
        "use": column.get("use") and translate(column["use"]),
        "examples": ", ".join(column.get("examples") or ()),
        "parsed": _describe_parsing(column.get("parsing")),
    }


def _describe_parsing(parsing: Mapping[str, Any] | None) -> str | None:
    """Write how a column was read, and which of its values could not be read."""
    if parsing is None:
        return None
    written = translate(parsing["format"])
    if parsing["share"] == 1:
        return _("read from text: {written}", written=written)
    return _(
        "{share} of the values read from text ({written}), unlike {unparsed}",
        share=percent(parsing["share"]),
        written=written,
        unparsed=", ".join(parsing["unparsed"]),
    )


def _format_values(column: Mapping[str, Any], known: int) -> str:
    numbers = column["numeric"]
    if numbers is not None:
        ends = {key: plain(numbers[key]) for key in ("min", "max", "median")}
        return _("{min} to {max}, median {median}", **ends)
    shown = [
        f"{value} {percent(count / known if known else None)}"
        for value, count in (column["top"] or [])[:3]
    ]
    return ", ".join(shown)
