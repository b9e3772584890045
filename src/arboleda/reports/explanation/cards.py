"""Changes and effects of columns, as cards with curves."""

from typing import Any

from arboleda._utils.numbers import integer, percent
from arboleda.facts.explained_row import ChangeFacts
from arboleda.facts.explanation import EffectFacts, ModelExplanation, RowExplanation
from arboleda.reports.explanation.wording import (
    format_output,
    format_value,
    get_mean_label,
    get_output_label,
    make_contribution_formatter,
)
from arboleda.reports.figures.explanation_plots import draw_curve_along
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import quote_name

__all__ = [
    "describe_changes_axis",
    "make_changes_view",
    "make_effects_view",
]


def describe_changes_axis(facts: RowExplanation) -> str:
    """Return the caption with the class of the curves; empty for a quantity."""
    output = next((change.output for change in facts.changes), None)
    return (
        ""
        if output is None
        else _("{what} of {output}.", what=get_output_label(facts), output=quote_name(output))
    )


def make_changes_view(facts: RowExplanation) -> list[dict[str, Any]]:
    """Collect a card for each changed column."""
    return [_make_change_card(facts, change, index) for index, change in enumerate(facts.changes)]


def _make_change_card(facts: RowExplanation, change: ChangeFacts, index: int) -> dict[str, Any]:
    numbers = change.shares is None
    return {
        "name": change.name,
        "sentence": _write_change_sentence(facts, change),
        "shared": _explain_shared_contribution(facts, change),
        "figure": _draw_change_curve(facts, change, index) if numbers else None,
        "rows": [] if numbers else _make_change_bars(facts, change),
    }


def _write_change_sentence(facts: RowExplanation, change: ChangeFacts) -> str:
    name, outputs = quote_name(change.name), change.outputs
    texts = [format_value(value) for value in change.values]
    own, turn = texts[change.own], change.turn
    if turn is not None:
        prediction = quote_name(str(change.predictions[turn]))
        return _(
            "If {name} were {value} instead of {own}, the model would predict {prediction}.",
            name=name,
            value=texts[turn],
            own=own,
            prediction=prediction,
        )
    low, high = min(outputs), max(outputs)
    if format_output(facts, low) == format_output(facts, high):
        return _("Changing {name} alone hardly changes the prediction.", name=name)
    at_low, at_high = texts[outputs.index(low)], texts[outputs.index(high)]
    range_text = _(
        "from {low} (at {at_low}) to {high} (at {at_high})",
        low=format_output(facts, low),
        at_low=at_low,
        high=format_output(facts, high),
        at_high=at_high,
    )
    if not facts.model.probabilities or change.output is None:
        return _(
            "Over the values of {name}, the prediction ranges {range_text}.",
            name=name,
            range_text=range_text,
        )
    return _(
        "No value of {name} changes the predicted class; the probability of {output} "
        "ranges {range_text}.",
        name=name,
        output=quote_name(change.output),
        range_text=range_text,
    )


# A contribution of more than this times the largest change is shared with other columns; one of
# less than this share of the largest contribution is not worth a sentence.
_SHARED, _SMALL = 2.0, 0.1


def _explain_shared_contribution(facts: RowExplanation, change: ChangeFacts) -> str:
    """Explain why a column with a large contribution changes little alone; empty if it does not."""
    result, outputs = facts.contributions, change.outputs
    columns = {column.name: column.contribution for column in result.columns}
    contribution = columns.get(change.name, 0.0)
    low, high = min(outputs), max(outputs)
    if result.unit in ("probability", "value"):
        is_shared = abs(contribution) > _SHARED * (high - low)
    else:
        is_shared = format_output(facts, low) == format_output(facts, high)
    is_small = abs(contribution) < _SMALL * max(map(abs, columns.values()), default=0.0)
    if not is_shared or is_small or change.turn is not None:
        return ""
    write = make_contribution_formatter(list(columns.values()), result.unit)
    unit = "probability" if facts.study.labels else "value"
    return _(
        "Its contribution ({contribution}) is shared with other columns, which carry the same "
        "evidence: alone it makes {alone}.",
        contribution=write(contribution),
        alone=make_contribution_formatter([change.alone], unit)(change.alone),
    )


def _draw_change_curve(facts: RowExplanation, change: ChangeFacts, index: int) -> Any:
    # A missing value has no position on the axis; the sentence mentions it.
    known = {i: value for i, value in enumerate(change.values) if isinstance(value, int | float)}
    if len(known) < 2:
        return None
    return draw_curve_along(
        list(known.values()),
        [([change.outputs[i] for i in known], -1)],
        change.histogram,
        (change.name, get_output_label(facts)),
        share=facts.study.labels is not None,
        name=f"change{index}",
        title=_("Prediction along {name}", name=change.name),
        own=list(known).index(change.own) if change.own in known else None,
    )


def _make_change_bars(facts: RowExplanation, change: ChangeFacts) -> list[dict[str, Any]]:
    outputs = change.outputs
    classes = facts.study.labels is not None
    low, high = (0.0, 1.0) if classes else (min(outputs), max(outputs))
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "label": format_value(value),
            "missing": value is None,
            "own": i == change.own,
            "at": f"{100 * (output / 2 - low / 2) / span:.1f}",
            "text": format_output(facts, output),
            "share": percent(share, 0),
        }
        for i, (value, output, share) in enumerate(
            zip(change.values, outputs, change.shares or (), strict=True)
        )
    ]


_FLAT = 0.01  # of the range of all effects, below which a column is described as having no effect


def make_effects_view(facts: ModelExplanation) -> dict[str, Any] | None:
    """Collect a card for each column; None if there are none."""
    result = facts.effects
    if not result:
        return None
    widest = max(_compute_range(effect) for effect in result)
    return {
        "cards": [
            _make_effect_card(facts, effect, index, widest) for index, effect in enumerate(result)
        ],
        "several": any(len(effect.curves) > 1 for effect in result),
        "how": _describe_effects_method(result[0]),
    }


def _describe_effects_method(effect: EffectFacts) -> str:
    return _(
        "Mean prediction over {n_rows} training rows with the column set to each value in "
        "turn and all others unchanged (partial dependence, Friedman 2001).",
        n_rows=integer(effect.n_rows),
    )


def _compute_range(effect: EffectFacts) -> float:
    return float(max(max(curve.values) - min(curve.values) for curve in effect.curves))


def _make_effect_card(
    facts: ModelExplanation, effect: EffectFacts, index: int, widest: float
) -> dict[str, Any]:
    numbers = effect.shares is None
    several = len(effect.curves) > 1
    return {
        "name": effect.name,
        "sentence": "" if several else _write_effect_sentence(facts, effect, widest),
        "figure": _draw_effect_curve(facts, effect, index) if numbers else None,
        "legend": _make_legend(effect) if several and numbers else [],
        "rows": [] if numbers else _make_effect_bars(facts, effect),
        "heads": [curve.label for curve in effect.curves] if several else [],
        "axis": _make_axis(facts, effect),
    }


def _make_axis(facts: ModelExplanation, effect: EffectFacts) -> str:
    label = effect.curves[0].label
    what = get_mean_label(facts)
    if len(effect.curves) > 1:
        return _("{what} of each class", what=what)
    return _("{what} of {label}", what=what, label=quote_name(label)) if label else what


def _write_effect_sentence(facts: ModelExplanation, effect: EffectFacts, widest: float) -> str:
    values, texts = effect.curves[0].values, [format_value(v) for v in effect.values]
    low, high = min(values), max(values)
    if high - low <= _FLAT * widest or format_output(facts, low) == format_output(facts, high):
        return _("On average, it has almost no effect on its own.")
    first, last = values[0], values[-1]
    end_texts = [format_output(facts, value) for value in (first, last)]
    if effect.kind == "numeric" and first in (low, high) and last in (low, high):
        ends = {"low": end_texts[0], "at": texts[0], "high": end_texts[1], "at_end": texts[-1]}
        if last > first:
            return _("It rises from {low} at {at} to {high} at {at_end}.", **ends)
        return _("It falls from {low} at {at} to {high} at {at_end}.", **ends)
    at_low, at_high = texts[values.index(low)], texts[values.index(high)]
    return _(
        "Lowest at {at_low} ({low}), highest at {at_high} ({high}).",
        at_low=at_low,
        low=format_output(facts, low),
        at_high=at_high,
        high=format_output(facts, high),
    )


def _draw_effect_curve(facts: ModelExplanation, effect: EffectFacts, index: int) -> Any:
    several = len(effect.curves) > 1
    known = {i: value for i, value in enumerate(effect.values) if isinstance(value, int | float)}
    return draw_curve_along(
        list(known.values()),
        [
            ([curve.values[i] for i in known], colour if several else -1)
            for colour, curve in enumerate(effect.curves)
        ],
        effect.histogram,
        (effect.name, get_mean_label(facts)),
        share=facts.study.labels is not None,
        name=f"effect{index}",
        title=_("Mean prediction along {name}", name=effect.name),
    )


def _make_legend(effect: EffectFacts) -> list[tuple[str, str | None]]:
    return [(f"var(--c{i})", curve.label) for i, curve in enumerate(effect.curves)]


def _make_effect_bars(facts: ModelExplanation, effect: EffectFacts) -> list[dict[str, Any]]:
    curves = effect.curves
    low, high = (0.0, 1.0)
    if facts.study.labels is None:
        low, high = min(curves[0].values), max(curves[0].values)
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "label": format_value(value),
            "missing": value is None,
            "share": percent(share, 0),
            "at": f"{100 * (curves[0].values[i] / 2 - low / 2) / span:.1f}",
            "texts": [format_output(facts, curve.values[i]) for curve in curves],
        }
        for i, (value, share) in enumerate(zip(effect.values, effect.shares or (), strict=True))
    ]
