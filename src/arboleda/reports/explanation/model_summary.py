"""The summary of the page of a model: quality, drivers, uncertainty and cautions."""

from collections.abc import Iterator

from arboleda._utils.numbers import integer, number_format, percent, plain
from arboleda.facts.explanation import ModelExplanation
from arboleda.reports.explanation.wording import (
    is_certain,
    write_calibration_caution,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.rendering import KeyFigure, Summary
from arboleda.reports.translation import gettext as _
from arboleda.reports.translation import ngettext
from arboleda.reports.wording import (
    get_metric,
    join_names,
    quote_name,
    spell_count,
)

__all__ = ["make_model_summary"]

_LOOSE = 0.8  # fidelity below which a surrogate does not represent the model


def make_model_summary(facts: ModelExplanation) -> Summary:
    """Write the sentences, key figures and cautions of a model."""
    return Summary([*_write_sentences(facts)], [*_make_figures(facts)], [*_write_cautions(facts)])


def _format_score(facts: ModelExplanation, value: float | None) -> str:
    return number_format([value], get_metric(facts.study.metric).bounded)(value)


def _make_figures(facts: ModelExplanation) -> Iterator[KeyFigure]:
    model, label = facts.model, translate(facts.study.metric_label)
    interval, note = model.interval, ""
    if interval["low"] is not None and interval["high"] is not None:
        level = percent(interval["level"], 0)
        low, high = (_format_score(facts, interval[end]) for end in ("low", "high"))
        note = _("{level} interval {low} to {high}", level=level, low=low, high=high)
    if model.baseline is not None:
        detail = _format_score(facts, model.baseline.test)
        yield KeyFigure(_("Without any column"), detail, _("baseline, test rows"))
    yield KeyFigure(_("{metric}, test rows", metric=label), _format_score(facts, model.test), note)
    result, coverage = facts.surrogate, facts.promise
    if result is not None:
        value = max(0.0, result.fidelity)
        detail = _("of its predictions with {n_leaves} leaves", n_leaves=integer(result.n_leaves))
        yield KeyFigure(_("As one tree"), percent(value, 0), detail)
    if coverage is not None and coverage.sizes is not None:
        one = coverage.sizes[1] / coverage.n_rows
        level = percent(coverage.level, 0)
        yield KeyFigure(
            _("One class in the set"),
            percent(one, 0),
            _("of the test rows, at {level} coverage", level=level),
        )
    elif coverage is not None:
        level = percent(coverage.level, 0)
        yield KeyFigure(
            _("{level} interval", level=level), plain(coverage.mean_width, 3), _("mean width")
        )


def _write_sentences(facts: ModelExplanation) -> Iterator[str]:
    study, model = facts.study, facts.model
    how = (
        _(", the best of {count} models,", count=spell_count(model.n_models))
        if model.rank == 1 and model.n_models > 1
        else ""
    )
    yield _(
        "{name}{how} predicts {target} from {columns}.",
        name=translate(model.name),
        how=how,
        target=quote_name(study.target),
        columns=ngettext(
            "{count} column",
            "{count} columns",
            len(facts.names),
            count=integer(len(facts.names)),
        ),
    )
    yield from _describe_drivers(facts)
    yield from _describe_surrogate(facts)


def _describe_drivers(facts: ModelExplanation) -> Iterator[str]:
    result = facts.importance
    if result is None:
        return
    certain = [c for c in result.columns if is_certain(c)]
    leading = [quote_name(c.name) for c in certain or result.columns if c.value > 0][:3]
    if not leading:
        yield _("No single column matters: shuffling any of them does not lower its score.")
        return
    yield _("It relies most on {leading}.", leading=join_names(leading))
    idle = len(result.columns) - len(certain)
    if not certain:
        yield _("With so few test rows, the ranking of the columns may be due to chance.")
    elif idle and len(certain) > 3:
        yield ngettext(
            "{certain} columns matter by more than chance, {idle} does not.",
            "{certain} columns matter by more than chance, {idle} do not.",
            idle,
            certain=spell_count(len(certain)).capitalize(),
            idle=spell_count(idle),
        )


def _describe_surrogate(facts: ModelExplanation) -> Iterator[str]:
    result = facts.surrogate
    if result is None or result.fidelity < _LOOSE:
        return
    share = percent(result.fidelity, 0)
    if facts.study.labels:
        yield _(
            "A tree of {n_leaves} leaves, drawn below, agrees with it on {share} of the test rows.",
            n_leaves=integer(result.n_leaves),
            share=share,
        )
    else:
        yield _(
            "A tree of {n_leaves} leaves, drawn below, explains {share} of the "
            "variance of its predictions.",
            n_leaves=integer(result.n_leaves),
            share=share,
        )


def _write_cautions(facts: ModelExplanation) -> Iterator[str]:
    yield from write_calibration_caution(facts)
    yield from _describe_correlated(facts)
    outside = facts.beyond
    if outside.n_rows and outside.column is not None:
        beyond = ngettext(
            "{count} test row of {all} has a value outside the range of the training "
            "rows, most often in {column}:",
            "{count} test rows of {all} have a value outside the range of the training "
            "rows, most often in {column}:",
            outside.n_rows,
            count=integer(outside.n_rows),
            all=integer(outside.n_test),
            column=quote_name(outside.column),
        )
        yield f"{beyond} {_describe_extrapolation(facts)}"
    result = facts.surrogate
    if result is not None and result.fidelity < _LOOSE:
        yield _(
            "The drawn tree approximates the model only roughly: it is the best tree "
            "of its size, not a representation of the model."
        )


def _describe_correlated(facts: ModelExplanation) -> Iterator[str]:
    pairs = facts.correlated
    if pairs:
        detail = [
            _("{first} with {second}", first=first, second=second)
            for first, second in (map(quote_name, pair.columns) for pair in pairs)
        ]
        least = plain(min(abs(pair.correlation) for pair in pairs), 2)
        yield _(
            "Strongly correlated columns (rank correlation of at least {least}) share "
            "their importance, so each looks less important than both together: "
            "{detail}.",
            least=least,
            detail=join_names(detail),
        )


def _describe_extrapolation(facts: ModelExplanation) -> str:
    if facts.model.by_trees:
        return _("there it predicts as at the edge of the training range.")
    return _("its predictions there are extrapolations.")
