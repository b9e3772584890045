"""The page of a model: drivers, effects, surrogate tree, uncertainty and rows to inspect."""

from collections.abc import Callable, Iterator
from typing import Any

from arboleda._utils.numbers import integer, number_format, percent, plain
from arboleda.facts.explanation import ModelExplanation, ModelImportance, ModelSurrogate
from arboleda.reports.explanation.cards import make_effects_view
from arboleda.reports.explanation.model_summary import make_model_summary
from arboleda.reports.explanation.wording import (
    describe_model_uncertainty,
    format_value,
    is_certain,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.curve_plots import draw_histogram_plot, draw_reliability_plot
from arboleda.reports.figures.explanation_plots import draw_swarm_plot
from arboleda.reports.study.quality import get_reliability_axes
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.tree_drawing import draw_tree
from arboleda.reports.wording import (
    get_metric,
    lower_label,
)

__all__ = ["make_model_view"]

_MOST_COLUMNS = 20
_WHY = {
    "wrong": N_("wrong"),
    "surely_wrong": N_("wrong"),
    "unsure": N_("least certain"),
    "right": N_("right"),
    "surely_right": N_("confident and right"),
    "off": N_("largest error"),
    "middle": N_("median error"),
}


# Axes of contributions to predicted values, by task.
_VALUES = {
    "regression": N_("Contribution, in units of the target"),
    "survival": N_("Contribution to the predicted risk"),
    "ranking": N_("Contribution to the predicted score"),
}


def make_model_view(facts: ModelExplanation) -> dict[str, Any]:
    """Collect the values of the template of a model page from the facts."""
    return {
        "table": facts.study.table,
        "target": facts.study.target,
        "model": translate(facts.model.name),
        "summary": make_model_summary(facts),
        "importance": _make_importance(facts),
        "effects": make_effects_view(facts),
        "surrogate": _make_surrogate(facts),
        "swarm": _draw_swarm(facts),
        "uncertainty": _make_uncertainty(facts),
        "rows": _make_rows(facts),
    }


def _make_importance(facts: ModelExplanation) -> dict[str, Any] | None:
    result = facts.importance
    if result is None:
        return None
    columns = result.columns
    write = number_format(
        [column.value for column in columns[:_MOST_COLUMNS]],
        get_metric(result.metric).bounded,
    )
    longest = max((abs(column.value) for column in columns), default=0.0) or 1.0
    up = _is_gain(facts, result)
    label = lower_label(translate(result.metric_label))
    return {
        "label": _("Loss of {metric}", metric=label) if up else _("Rise of {metric}", metric=label),
        "rows": [
            {
                "name": column.name,
                "value": column.value,
                "text": write(column.value),
                "error": write(column.standard_error),
                "bar": f"{100 * max(0.0, column.value) / longest:.1f}",
                "certain": is_certain(column),
            }
            for column in columns[:_MOST_COLUMNS]
        ],
        "n_others": max(0, len(columns) - _MOST_COLUMNS),
        "how": _describe_importance(facts, result),
    }


def _is_gain(facts: ModelExplanation, result: ModelImportance) -> bool:
    """Return whether larger values of the metric of the importances are better."""
    if result.metric == facts.study.metric:
        return facts.study.greater_is_better
    return get_metric(result.metric).greater_is_better


def _describe_importance(facts: ModelExplanation, result: ModelImportance) -> str:
    rows = _("{count} test rows", count=integer(result.n_rows))
    if result.n_rows != facts.study.n_test:
        rows = _("a random part of {rows}", rows=rows)
    label = lower_label(translate(result.metric_label))
    if _is_gain(facts, result):
        first = _(
            "How much the {label} falls on {rows} when the values of the column are "
            "shuffled, which removes its information.",
            label=label,
            rows=rows,
        )
    else:
        first = _(
            "How much the {label} rises on {rows} when the values of the column are "
            "shuffled, which removes its information.",
            label=label,
            rows=rows,
        )
    return (
        first
        + " "
        + _(
            "Mean of {count} shuffles; ± is the standard error over test rows and "
            "shuffles. Grey: within two standard errors of zero.",
            count=integer(result.n_repeats),
        )
    )


def _make_surrogate(facts: ModelExplanation) -> dict[str, Any] | None:
    result = facts.surrogate
    if result is None:
        return None
    write = _make_error_format(facts, result)
    drawing = draw_tree(result.tree.model_dump(), positive=facts.study.positive_class)
    return {
        "svg": drawing,
        "n_leaves": integer(result.n_leaves),
        "sentences": [*_write_surrogate_sentences(facts, result, write)],
        "rows": [
            {
                "n_leaves": integer(size.n_leaves),
                "fidelity": _format_fidelity(facts, size.fidelity),
                "error": write(size.error),
                "own": write(size.cart_error),
                "chosen": size.n_leaves == result.n_leaves,
            }
            for size in result.curve
        ],
        "model_error": write(result.model_error),
        "error_name": _("Error") if facts.study.labels else _("RMSE"),
        "fidelity_name": _("Agrees with the model") if facts.study.labels else _("R² to the model"),
        "n_rows": integer(result.n_rows),
    }


def _write_surrogate_sentences(
    facts: ModelExplanation, result: ModelSurrogate, write: Callable[[float | None], str]
) -> Iterator[str]:
    rows, leaves = integer(result.n_rows), integer(result.n_leaves)
    own, model = write(result.error), write(result.model_error)
    if facts.study.labels:
        yield _(
            "This tree of {leaves} leaves was fitted to the predictions of the model: it "
            "agrees with the model on {fidelity} of {rows} test rows.",
            leaves=leaves,
            fidelity=percent(result.fidelity),
            rows=rows,
        )
        yield _(
            "Compared with the truth, the tree is wrong on {own} of them, the model on {model}.",
            own=own,
            model=model,
        )
    else:
        share = percent(max(0.0, result.fidelity))
        yield _(
            "This tree of {leaves} leaves was fitted to the predictions of the model: it "
            "explains {share} of their variance on {rows} test rows.",
            leaves=leaves,
            share=share,
            rows=rows,
        )
        yield _(
            "Compared with the truth, its RMSE is {own}; that of the model is {model}.",
            own=own,
            model=model,
        )


def _format_fidelity(facts: ModelExplanation, value: float) -> str:
    return percent(value) if facts.study.labels else plain(value, 3)


def _make_error_format(
    facts: ModelExplanation, result: ModelSurrogate
) -> Callable[[float | None], str]:
    """Return the format of errors: shares, or numbers with equal decimals."""
    if facts.study.labels:
        return percent
    return number_format([size.error for size in result.curve], bounded=False)


def _draw_swarm(facts: ModelExplanation) -> dict[str, Any] | None:
    result = facts.shap
    if result is None or not result.columns:
        return None
    axis, unit = {
        "probability": (_("Contribution, percentage points"), 100.0),
        "log_odds": (_("Contribution, log-odds"), 1.0),
        "score": (_("Contribution, score of the class"), 1.0),
        "value": (_(_VALUES.get(facts.study.task, _VALUES["regression"])), 1.0),
    }[result.unit]
    return {
        "wide": draw_swarm_plot(result.columns, axis, unit, narrow=False),
        "narrow": draw_swarm_plot(result.columns, axis, unit, narrow=True),
        "output": result.output,
        "n_rows": ngettext(
            "{count} test row",
            "{count} test rows",
            result.n_rows,
            count=integer(result.n_rows),
        ),
        "n_others": result.n_others,
        "how": _("Exact Shapley values of the trees (TreeSHAP, Lundberg et al. 2020).")
        if result.method == "shap"
        else _(
            "Shapley values, sampled over {n_orders} orders of the columns for each row "
            "(Štrumbelj and Kononenko 2014).",
            n_orders=integer(result.n_orders),
        ),
    }


def _make_uncertainty(facts: ModelExplanation) -> dict[str, Any]:
    return {
        "sentences": [*describe_model_uncertainty(facts)],
        "figure": _draw_reliability(facts),
        "level": percent(0.9 if facts.promise is None else facts.promise.level, 0),
        "sizes": _make_sizes(facts),
        "widths": _draw_widths(facts),
    }


def _draw_reliability(facts: ModelExplanation) -> Any:
    result = facts.model.calibration
    if result is None:
        return None
    positive = facts.study.positive_class
    return draw_reliability_plot(
        [(result.bins, -1)],
        get_reliability_axes(positive),
        name="reliability",
        title=_("Reliability of the model's probabilities on the test rows"),
    )


def _make_sizes(facts: ModelExplanation) -> list[dict[str, str]]:
    result = facts.promise
    if result is None or result.sizes is None:
        return []
    total = sum(result.sizes) or 1
    return [
        {
            "label": _("no class")
            if size == 0
            else ngettext("{count} class", "{count} classes", size, count=size),
            "n": integer(count),
            "share": percent(count / total),
            "bar": f"{100 * count / total:.1f}",
        }
        for size, count in enumerate(result.sizes)
        if count
    ]


def _draw_widths(facts: ModelExplanation) -> Any:
    result = facts.promise
    if result is None or result.widths is None or len(result.widths.counts) < 2:
        return None
    return draw_histogram_plot(
        result.widths.model_dump(),
        _("Interval width"),
        "widths",
        _("Interval widths of the test rows"),
    )


def _make_rows(facts: ModelExplanation) -> list[dict[str, Any]]:
    return [
        {
            "row": integer(row.row),
            "why": _(why),
            "truth": format_value(row.truth),
            "prediction": format_value(row.prediction),
            "probability": None if row.probability is None else percent(row.probability, 0),
        }
        for row, why in ((row, _WHY[row.why]) for row in facts.rows)
    ]
