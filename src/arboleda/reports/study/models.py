"""The section on the fitted models: rows and figures of each."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arboleda._utils.numbers import NOTHING, integer, number_format, percent
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.curve_plots import (
    draw_curve_plot,
    draw_histogram_plot,
    draw_scatter_plot,
)
from arboleda.reports.figures.hints import thin
from arboleda.reports.study.quality import draw_reliability_figure
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import SWATCHES, Cell, format_setting
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import get_metric

__all__ = ["draw_curve_figures", "make_confusion_rows", "make_models_view"]

_format_score = number_format([], bounded=True)
_PICTURED = 5  # number of models with curves, to limit the size of the page
_GENERATED = 12  # number of generated columns listed; folds may have few in common
_FEW = 50  # points of a thin grey line
_WORST = 3  # number of classes in colour if there are too many to colour all

_GENERATED_COLUMNS = {
    "mean": N_("mean of {number} within {groups}"),
    "sd": N_("standard deviation of {number} within {groups}"),
    "distance": N_("{number} less its mean within {groups}"),
    "count": N_("number of rows within {groups}"),
    "share": N_("share of {label} within {groups}"),
    "target": N_("mean of the target within {groups}"),
}

_AVERAGES = {
    "macro": N_("Macro average"),
    "weighted": N_("Weighted average"),
}

_AXES = {
    "true": N_("True value"),
    "predicted": N_("Predicted value"),
    "difference": N_("True minus predicted"),
}

_RESIDUALS = {
    "fit": N_("Predicted against true"),
    "residuals": N_("Residuals"),
    "spread": N_("Distribution of residuals"),
}

# Title of one and of several curves, axis labels and the name of the area, by kind.
_CURVES = {
    "roc": (
        N_("ROC curve"),
        N_("ROC curves"),
        N_("False positive rate"),
        N_("True positive rate"),
        N_("AUC"),
    ),
    "pr": (
        N_("Precision-recall curve"),
        N_("Precision-recall curves"),
        N_("Recall"),
        N_("Precision"),
        N_("AP"),
    ),
}


def make_models_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the fitted models, best first; None if there are none."""
    if not report.models:
        return None
    others = len(report.models) - 1
    return {
        "label": report.label,
        "first": "descending" if report.greater_is_better else "ascending",
        "models": [_make_model(report, model, rank) for rank, model in enumerate(report.models, 1)],
        "others": ngettext(
            "The other model", "The other {count} models", others, count=integer(others)
        )
        if others
        else "",
    }


def _make_model(report: ReportData, model: Mapping[str, Any], rank: int) -> dict[str, Any]:
    test, study = model["test"], report.study
    best = model["candidates"][model["best"]]
    return {
        "rank": rank,
        "anchor": f"model-{rank}",
        "name": translate(model["name"]),
        "engine": model["engine"],
        "preparation": "; ".join(map(translate, model["preparation"].split("; "))),
        "made": _describe_generated(model.get("generated")),
        "note": _translate_note(model["note"]),
        "not_kept": model.get("not_kept"),
        "cv": report.format_spread(model["cv"]),
        "test": report.format_score(report.get_test_score(model)),
        "interval": _format_interval(test["interval"], report.format_score),
        "params": [(key, format_setting(value)) for key, value in best["params"].items()],
        "metrics": _make_metric_rows(test["metrics"], model["cv"]["metrics"]),
        "per_class": _make_class_table(test),
        "confusion": make_confusion_rows(test["confusion"]),
        "curves": _draw_figures(test, study, rank) if rank <= _PICTURED else [],
        "residuals": _draw_residual_figures(test["residuals"], f"m{rank}")
        if rank <= _PICTURED
        else [],
        "undrawn": _(
            "Curves are drawn for the {count} best models only; results.json contains the "
            "numbers of all.",
            count=_PICTURED,
        )
        if rank > _PICTURED
        else "",
        "tuning": _make_tuning(model, report),
    }


def _draw_figures(
    test: Mapping[str, Any], study: Mapping[str, Any], rank: int
) -> list[dict[str, Any]]:
    prefix = f"m{rank}"
    return [
        *draw_curve_figures(test, prefix),
        *draw_reliability_figure(test, study["positive_class"], prefix),
    ]


def _describe_generated(made: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return descriptions of the generated columns, with the number of fits using each."""
    if made is None:
        return []
    if not made["columns"]:
        return [(_("none: no generated column improved the score"), "")]
    shown, rest = made["columns"][:_GENERATED], len(made["columns"]) - _GENERATED
    described = [
        (
            _name_generated(column),
            _("{count} of {all} fits", count=column["fits"], all=made["fits"]),
        )
        for column in shown
    ]
    return (
        [
            *described,
            (_("and {count} more, in at most as many fits: see results.json", count=rest), ""),
        ]
        if rest > 0
        else described
    )


def _name_generated(column: Mapping[str, Any]) -> str:
    """Describe a generated column; arithmetic expressions are the same in every language."""
    groups = _(" and ").join(column["groups"])
    kind = column["kind"]
    if kind == "target":
        label = column["class"]
        key = "share" if label is not None else "target"
        return _(_GENERATED_COLUMNS[key], label=label, groups=groups)
    if not groups:
        return str(column["name"])
    number = column["numbers"][0] if column["numbers"] else ""
    return _(_GENERATED_COLUMNS[kind], number=number, groups=groups)


def _translate_note(note: str | None) -> str | None:
    """Translate a note part by part."""
    return None if note is None else "; ".join(translate(part) for part in note.split("; "))


def make_confusion_rows(confusion: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the confusion matrix as rows of cells, tinted by the share of the true class."""
    if confusion is None:
        return None
    rows = []
    for index, counts in enumerate(confusion["counts"]):
        total = sum(counts)
        cells = []
        for column, count in enumerate(counts):
            share = count / total if total else 0.0
            kind = "right" if index == column else "wrong"
            # The square root keeps a share of one per cent visible; text is readable on all tints.
            tint = f"{kind} t{round(10 * share**0.5)}" if count else ""
            # In large matrices, shares as text would double the size of the page.
            share_text = percent(share) if len(confusion["labels"]) <= SWATCHES and count else ""
            cells.append((integer(count), share_text, tint))
        rows.append((confusion["labels"][index], cells))
    return {"labels": confusion["labels"], "rows": rows, "many": len(rows) > SWATCHES}


def draw_curve_figures(test: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Draw the ROC and precision-recall curves that the facts hold, with legends.

    Up to eight classes have a colour each. With more, only the three classes with the smallest
    area are in colour; the others are thin grey lines.
    """
    supports = {row["label"]: row["support"] for row in test["per_class"] or []}
    drawn = []
    if test["roc"]:
        rows = [_Curve(row["label"], row["fpr"], row["tpr"], row["auc"]) for row in test["roc"]]
        drawn.append(_draw_curve_figure("roc", rows, ([0, 1], [0, 1]), prefix))
    if test["pr"]:
        rows = [
            _Curve(row["label"], row["recall"], row["precision"], row["average_precision"])
            for row in test["pr"]
        ]
        # The precision of random guessing is the share of the class, which differs by class.
        share = supports.get(rows[0].label, 0) / (sum(supports.values()) or 1)
        chance = ([0, 1], [share, share]) if len(rows) == 1 else None
        drawn.append(_draw_curve_figure("pr", rows, chance, prefix))
    return drawn


class _Curve(NamedTuple):
    label: str
    x: Sequence[float]
    y: Sequence[float]
    area: float | None


def _draw_curve_figure(
    kind: str,
    rows: Sequence[_Curve],
    chance: tuple[Sequence[float], Sequence[float]] | None,
    prefix: str,
) -> dict[str, Any]:
    if len(rows) > SWATCHES:
        rows = [row._replace(x=thin(row.x, _FEW), y=thin(row.y, _FEW)) for row in rows]
    colours, legend = _choose_curve_colours(rows)
    curves = [(row.x, row.y, colour) for row, colour in zip(rows, colours, strict=True)]
    title_of_one, title_of_several, x_label, y_label, area = _CURVES[kind]
    title = _(title_of_one if len(rows) == 1 else title_of_several)
    axes = (_(x_label), _(y_label))
    classes = [row.label for row in rows] if len(rows) > 1 else []
    svg = draw_curve_plot(
        curves, axes, chance=chance, name=f"{prefix}-{kind}", title=title, classes=classes
    )
    return {
        "kind": kind,
        "title": title,
        "area": _(area),
        "svg": svg,
        "legend": legend,
        "worst": len(rows) > SWATCHES,
        "dashed": _("chance") if chance is not None else "",
    }


def _choose_curve_colours(
    rows: Sequence[_Curve],
) -> tuple[list[int | None], list[tuple[str, str, str]]]:
    """Return the colour of each curve (see `draw_curve_plot`) and the legend."""
    if len(rows) == 1:
        label = _("class {label}", label=rows[0].label)
        return [-1], [("var(--accent)", label, _format_score(rows[0].area))]
    if len(rows) <= SWATCHES:
        legend = [
            (f"var(--c{i})", row.label, _format_score(row.area)) for i, row in enumerate(rows)
        ]
        return list(range(len(rows))), legend
    known = [index for index, row in enumerate(rows) if row.area is not None]
    worst = sorted(known, key=lambda index: rows[index].area or 0.0)[:_WORST]
    colours = [worst.index(i) if i in worst else None for i in range(len(rows))]
    legend = [
        (f"var(--c{place})", rows[index].label, _format_score(rows[index].area))
        for place, index in enumerate(worst)
    ]
    others = _("{count} other classes", count=len(rows) - len(worst))
    legend.append(("var(--muted)", others, ""))
    return colours, legend


def _draw_residual_figures(
    residuals: Mapping[str, Any] | None, prefix: str
) -> list[dict[str, Any]]:
    if residuals is None or not residuals["predicted"]:
        return []
    predicted, true = residuals["predicted"], residuals["true"]
    axes = {key: _(label) for key, label in _AXES.items()}
    titles = {key: _(title) for key, title in _RESIDUALS.items()}
    fit = draw_scatter_plot(
        true,
        predicted,
        (axes["true"], axes["predicted"]),
        diagonal=True,
        name=f"{prefix}-fit",
        title=titles["fit"],
    )
    rest = draw_scatter_plot(
        predicted,
        residuals["residual"],
        (axes["predicted"], axes["difference"]),
        diagonal=False,
        name=f"{prefix}-residuals",
        title=titles["residuals"],
    )
    spread = draw_histogram_plot(
        residuals["histogram"], axes["difference"], f"{prefix}-spread", titles["spread"]
    )
    drawn = {"fit": fit, "residuals": rest, "spread": spread}
    return [{"kind": key, "title": titles[key], "svg": svg} for key, svg in drawn.items()]


def _format_interval(interval: Mapping[str, Any], write: Any) -> str:
    if interval["low"] is None or interval["high"] is None:
        return NOTHING
    return _("{low} to {high}", low=write(interval["low"]), high=write(interval["high"]))


def _make_metric_rows(
    test: Mapping[str, float | None], folds: Mapping[str, Mapping[str, float | None]]
) -> list[dict[str, str]]:
    rows = []
    for key in dict.fromkeys([*test, *folds]):
        metric = get_metric(key)
        fold = folds.get(key, {"mean": None, "sd": None})
        write = number_format([test.get(key), fold["mean"]], metric.bounded)
        spread = "" if None in (fold["mean"], fold["sd"]) else f" ± {write(fold['sd'])}"
        rows.append(
            {"label": metric.label, "meaning": metric.meaning, "test": write(test.get(key)),
             "cv": write(fold["mean"]) + spread}
        )  # fmt: skip
    return rows


def _make_class_table(test: Mapping[str, Any]) -> dict[str, Any] | None:
    if not test["per_class"]:
        return None
    areas = {row["label"]: row["auc"] for row in test["roc"] or []}
    steps = {row["label"]: row["average_precision"] for row in test["pr"] or []}
    many = len(areas) > 1
    keys = ("precision", "recall", "specificity", "f1")
    rows = []
    for row in test["per_class"]:
        cells = [Cell(_format_score(row[key]), row[key]) for key in keys]
        if many:
            result = (areas.get(row["label"]), steps.get(row["label"]))
            cells += [Cell(_format_score(value), value) for value in result]
        rows.append((row["label"], cells, row["support"]))
    averages = []
    for name, row in (test["averages"] or {}).items():
        cells = [Cell(_format_score(row[key]), row[key]) for key in keys]
        label = _(_AVERAGES[name])
        averages.append((label, cells + [Cell("", None)] * (2 if many else 0), row["support"]))
    heads = [get_metric(key).label for key in keys]
    heads += [_("AUC"), _("AP")] if many else []
    # There is room beside the other table for short names only.
    long = many and max(len(label) for label, _, _ in rows) > 16
    rows = [(label, cells, Cell(integer(count), count)) for label, cells, count in rows]
    averages = [(label, cells, integer(count)) for label, cells, count in averages]
    return {"heads": heads, "rows": rows, "averages": averages, "long": long}


def _make_tuning(model: Mapping[str, Any], report: ReportData) -> dict[str, Any]:
    candidates, write = model["candidates"], report.format_score
    names = list(dict.fromkeys(key for candidate in candidates for key in candidate["params"]))
    rows = []
    for index, candidate in enumerate(candidates):
        params = candidate["params"]
        # Low-fidelity scores are of other rows and not comparable with fold scores.
        scores = [] if candidate["mean"] is None else candidate["fold_scores"]
        rows.append(
            {
                "best": index == model["best"],
                "params": [_make_param_cell(params[key]) if key in params else Cell(NOTHING, None)
                           for key in names],
                "folds": [write(score) for score in scores],
                "mean": Cell(write(candidate["mean"]), candidate["mean"]),
                "sd": Cell(write(candidate["sd"]), candidate["sd"]),
            }
        )  # fmt: skip
    most = max((len(row["folds"]) for row in rows), default=0)
    for row in rows:
        row["folds"] += [NOTHING] * (most - len(row["folds"]))
    return {
        "title": ngettext(
            "Tuning: {count} candidate",
            "Tuning: {count} candidates",
            len(rows),
            count=integer(len(rows)),
        ),
        "names": names,
        "rows": rows,
        "folds": most,
        "unscored": any(candidate["mean"] is None for candidate in candidates),
    }


def _make_param_cell(value: Any) -> Cell:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Cell(format_setting(value), value if is_number else format_setting(value))
