"""The page of a row: prediction, summary, similar rows and cautions."""

from collections.abc import Iterator
from typing import Any

from arboleda._utils.numbers import integer, percent, plain
from arboleda.facts.explained_row import ClassProbability, TargetValue
from arboleda.facts.explanation import RowExplanation
from arboleda.reports.explanation.cards import describe_changes_axis, make_changes_view
from arboleda.reports.explanation.contributions import make_contributions_view, make_lime_view
from arboleda.reports.explanation.wording import (
    describe_confidence,
    describe_remark,
    describe_row_uncertainty,
    format_columns,
    format_usual,
    format_value,
    write_calibration_caution,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.explanation_plots import draw_spread_plot
from arboleda.reports.rendering import KeyFigure, Summary
from arboleda.reports.tables import choose_class_colours
from arboleda.reports.translation import gettext as _
from arboleda.reports.translation import ngettext
from arboleda.reports.wording import join_names, quote_name

__all__ = ["make_row_summary", "make_row_view"]

_MOST_CLASSES = 12
_MOST_VALUES = 6  # columns shown per neighbour


def make_row_view(facts: RowExplanation) -> dict[str, Any]:
    """Collect the values of the template of a row page from the facts."""
    changes = make_changes_view(facts)
    return {
        "row": integer(facts.row.number),
        "table": facts.study.table,
        "target": facts.study.target,
        "summary": make_row_summary(facts),
        "contributions": make_contributions_view(facts),
        "lime": make_lime_view(facts),
        "uncertainty": _make_uncertainty(facts),
        "changes": changes,
        "shares_contributions": any(change["shared"] for change in changes),
        "axis": describe_changes_axis(facts),
        "neighbours": _make_neighbours(facts),
        "values": _make_values(facts),
    }


def _make_uncertainty(facts: RowExplanation) -> dict[str, Any]:
    prediction = facts.prediction
    return {
        "classes": _make_classes(facts),
        "n_others": max(0, len(prediction.probabilities or ()) - _MOST_CLASSES),
        "figure": _draw_spread(facts),
        "sentences": [*describe_row_uncertainty(facts)],
        "truth": format_value(facts.row.truth),
    }


def _make_classes(facts: RowExplanation) -> list[dict[str, Any]]:
    probabilities = facts.prediction.probabilities
    if probabilities is None:
        return []
    labels = facts.study.labels or []
    colours = dict(
        zip(labels, choose_class_colours(labels, facts.study.positive_class), strict=True)
    )
    chosen = None if facts.range is None else facts.range.set
    return [
        {
            "label": row.label,
            "colour": colours[row.label],
            "bar": f"{100 * row.probability:.1f}",
            "probability": percent(row.probability),
            "share": percent(row.share),
            "inside": None if chosen is None else row.label in chosen,
            "true": row.label == facts.row.truth,
        }
        for row in probabilities[:_MOST_CLASSES]
    ]


def _draw_spread(facts: RowExplanation) -> Any:
    if facts.targets is None:
        return None
    interval = None if facts.range is None else facts.range.interval
    return draw_spread_plot(
        facts.targets,
        facts.study.target,
        _get_quantity(facts.prediction.value),
        None if interval is None else (interval[0], interval[1]),
        _get_quantity(facts.row.truth),
        "spread",
    )


def _get_quantity(value: TargetValue) -> float:
    """Return a value of the target of a regression, which is a number."""
    assert not isinstance(value, str)
    return value


def _make_neighbours(facts: RowExplanation) -> dict[str, Any] | None:
    result = facts.neighbours
    if not result.rows:
        return None
    names = [column.name for column in facts.values]
    shown = [names.index(name) for name in _choose_columns(facts)]
    return {
        "names": [names[j] for j in shown],
        "own": [format_value(facts.values[j].value) for j in shown],
        "value": format_value(facts.prediction.value),
        "rows": [
            {
                "row": integer(row.row),
                "proximity": percent(row.proximity, 0),
                "bar": f"{100 * row.proximity:.0f}",
                "target": format_value(row.target),
                "values": [
                    {
                        "text": format_value(row.values[j]),
                        "same": row.values[j] == facts.values[j].value,
                    }
                    for j in shown
                ],
            }
            for row in result.rows
        ],
        "sentence": _write_proximity_sentence(facts),
        "how": _describe_proximity(facts),
    }


def _choose_columns(facts: RowExplanation) -> list[str]:
    """Return the columns with the largest contributions."""
    names = [column.name for column in facts.contributions.columns]
    return list(dict.fromkeys(names))[:_MOST_VALUES]


def _write_proximity_sentence(facts: RowExplanation) -> str:
    rows = facts.neighbours.rows
    targets = [row.target for row in rows]
    if facts.study.labels:
        predicted = facts.prediction.value
        same = sum(target == predicted for target in targets)
        return ngettext(
            "Of the {rows} training rows nearest to it, {same} is {predicted}, the class "
            "that the model predicts.",
            "Of the {rows} training rows nearest to it, {same} are {predicted}, the class "
            "that the model predicts.",
            same,
            rows=integer(len(rows)),
            same=integer(same),
            predicted=quote_name(str(predicted)),
        )
    quantities = [_get_quantity(target) for target in targets]
    return _(
        "The {rows} training rows nearest to it have targets from {low} to {high}, {mean} "
        "on average; the model predicts {predicted}.",
        rows=integer(len(rows)),
        low=plain(min(quantities)),
        high=plain(max(quantities)),
        mean=plain(sum(quantities) / len(quantities)),
        predicted=plain(_get_quantity(facts.prediction.value)),
    )


def _describe_proximity(facts: RowExplanation) -> str:
    result = facts.neighbours
    rows = _("{count} training rows", count=integer(result.n_rows))
    if result.n_rows != result.n_training_rows:
        rows = _("a random part of {rows}", rows=rows)
    if result.kind == "own":
        return _(
            "Proximity: the share of the {n_trees} trees of the model in which both rows "
            "fall into the same leaf, computed for {rows}.",
            n_trees=integer(result.n_trees),
            rows=rows,
        )
    measure = (
        _(
            "agrees with the model on {agreement} of the test rows",
            agreement=percent(result.agreement),
        )
        if facts.study.labels
        else _(
            "reproduces the model with an R² of {agreement} on the test rows",
            agreement=plain(result.agreement, 3),
        )
    )
    return _(
        "The model is not a forest. Proximity is that of a forest of {n_trees} trees "
        "fitted to the predictions of the model (it {measure}): the share of trees in "
        "which both rows fall into the same leaf, computed for {rows}.",
        n_trees=integer(result.n_trees),
        measure=measure,
        rows=rows,
    )


def _make_values(facts: RowExplanation) -> list[dict[str, Any]]:
    return [
        {
            "name": column.name,
            "value": format_value(column.value),
            "usual": format_usual(column),
            "remark": describe_remark(column.remark),
        }
        for column in facts.values
    ]


_FAR = 0.1


def make_row_summary(facts: RowExplanation) -> Summary:
    """Write the sentences, key figures and cautions of a row."""
    return Summary([*_write_sentences(facts)], [*_make_figures(facts)], [*_write_cautions(facts)])


def _make_figures(facts: RowExplanation) -> Iterator[KeyFigure]:
    prediction, truth = facts.prediction, facts.row.truth
    predicted = format_value(prediction.value)
    if prediction.probabilities is not None:
        chance = _get_probability(facts)
        yield KeyFigure(_("Prediction"), predicted, "")
        yield KeyFigure(
            _("Probability"),
            percent(chance.probability, 0),
            _("{share} of the training rows have this class", share=percent(chance.share, 0)),
        )
    else:
        yield KeyFigure(_("Prediction"), predicted, _compare_with_mean(facts))
        result = facts.range
        if result is not None and result.interval is not None:
            low, high = map(plain, result.interval)
            level = percent(result.level, 0)
            yield KeyFigure(
                _("{level} interval", level=level),
                _("{low} to {high}", low=low, high=high),
                _("expected to contain the truth"),
            )
    yield KeyFigure(_("True value"), format_value(truth), _compare_with_truth(facts))


def _get_probability(facts: RowExplanation) -> ClassProbability:
    prediction = facts.prediction
    return next(row for row in prediction.probabilities or () if row.label == prediction.value)


def _compare_with_mean(facts: RowExplanation) -> str:
    mean = facts.prediction.mean
    return "" if mean is None else _("the mean of the training rows is {mean}", mean=plain(mean))


def _compare_with_truth(facts: RowExplanation) -> str:
    predicted, truth = facts.prediction.value, facts.row.truth
    if facts.study.labels is not None:
        return _("the model is right") if predicted == truth else _("the model is wrong")
    return _(
        "the model is off by {error}",
        error=plain(abs(_get_quantity(predicted) - _get_quantity(truth))),
    )


def _write_sentences(facts: RowExplanation) -> Iterator[str]:
    prediction, study = facts.prediction, facts.study
    model = translate(facts.model.name)
    predicted = quote_name(format_value(prediction.value))
    if prediction.probabilities is not None:
        chance = _get_probability(facts)
        yield _(
            "{model} {is_certain}: it predicts {predicted} with a probability of {probability}.",
            model=model,
            is_certain=describe_confidence(chance.probability),
            predicted=predicted,
            probability=percent(chance.probability, 0),
        )
    elif prediction.mean is None:
        yield _(
            "{model} predicts {predicted}, without probabilities.", model=model, predicted=predicted
        )
    else:
        value = _get_quantity(prediction.value)
        values = {
            "model": model,
            "value": plain(value),
            "target": quote_name(study.target),
            "mean": plain(prediction.mean),
        }
        if value >= prediction.mean:
            yield _(
                "{model} predicts {value} for {target}, above the mean of the training "
                "rows ({mean}).",
                **values,
            )
        else:
            yield _(
                "{model} predicts {value} for {target}, below the mean of the training "
                "rows ({mean}).",
                **values,
            )
    yield from _describe_range(facts)
    yield from _describe_contributions(facts)


def _describe_range(facts: RowExplanation) -> Iterator[str]:
    result = facts.range
    if result is None or result.set is None:
        return
    level, n = percent(result.level, 0), len(result.set)
    if n == 1:
        yield _("The {level} prediction set contains no other class.", level=level)
    elif n:
        others = [quote_name(label) for label in result.set if label != facts.prediction.value]
        if others:
            yield _(
                "The {level} prediction set also contains {others}.",
                level=level,
                others=join_names(others),
            )


def _describe_contributions(facts: RowExplanation) -> Iterator[str]:
    result = facts.contributions
    columns = result.columns
    towards = [column for column in columns if column.contribution > 0]
    away = [column for column in columns if column.contribution < 0]
    up, down = (
        (_("The main evidence for it"), _("the main evidence against it"))
        if result.output is not None
        else (_("It is raised most by"), _("it is lowered most by"))
    )
    if towards and away:
        yield f"{up}: {format_columns(towards)}; {down}: {format_columns(away, 2)}."
    elif towards or away:
        some, way = (towards, up) if towards else (away, down)
        yield f"{way[0].upper()}{way[1:]}: {format_columns(some)}."


def _write_cautions(facts: RowExplanation) -> Iterator[str]:
    if facts.row.part == "train":
        yield _(
            "The model was fitted on this row, including its target: it seems more "
            "confident and more accurate than on unseen rows. {rows}",
            rows=_suggest_rows(facts),
        )
    beyond = [c for c in facts.values if c.remark in ("below_all", "above_all", "unseen")]
    for column in beyond[:3]:
        yield _(
            "{name} is {value}, {remark}: the prediction is an extrapolation.",
            name=quote_name(column.name),
            value=format_value(column.value),
            remark=describe_remark(column.remark),
        )
    if beyond[3:]:
        yield ngettext(
            "{count} more column have values that no training row has.",
            "{count} more columns have values that no training row has.",
            len(beyond) - 3,
            count=integer(len(beyond) - 3),
        )
    near = facts.neighbours.rows
    if not near or near[0].proximity < _FAR:
        yield _("No training row is similar to this one: the prediction has little support.")
    yield from write_calibration_caution(facts)


def _suggest_rows(facts: RowExplanation) -> str:
    rows = facts.row.near_test_rows
    if not rows:
        return _("Prefer a row of the test set.")
    return _(
        "The most similar test rows: {rows}.", rows=join_names([integer(row) for row in rows], 5)
    )
