"""Values, labels and the uncertainty of a model, within the sentences of explanations."""

import math
from collections.abc import Callable, Iterator, Sequence

from arboleda._utils.numbers import fixed, integer, number_format, percent, plain
from arboleda.facts.best_model import ColumnImportance
from arboleda.facts.explained_row import ColumnContribution, ColumnValue
from arboleda.facts.explanation import ModelExplanation, RowExplanation
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import join_names, quote_name

__all__ = [
    "AnyExplanation",
    "describe_confidence",
    "describe_model_uncertainty",
    "describe_remark",
    "describe_row_uncertainty",
    "format_columns",
    "format_output",
    "format_usual",
    "format_value",
    "get_mean_label",
    "get_output_label",
    "is_certain",
    "make_contribution_formatter",
    "write_calibration_caution",
]

AnyExplanation = ModelExplanation | RowExplanation

_REMARKS = {
    "missing": N_("missing, which is rare"),
    "below_all": N_("lower than in every training row"),
    "above_all": N_("higher than in every training row"),
    "low": N_("among the lowest"),
    "high": N_("among the highest"),
    "unseen": N_("in no training row"),
    "rare": N_("rare"),
}


def format_value(value: str | float | None) -> str:
    """Format a value of the table; numbers with few digits."""
    if value is None:
        return _("missing")
    return value if isinstance(value, str) else plain(value)


def format_usual(column: ColumnValue) -> str:
    """Format the usual values of a column in the training rows."""
    if column.usual is not None:
        usual = column.usual
        return _(
            "{min} to {max}, median {median}",
            min=plain(usual.low),
            max=plain(usual.high),
            median=plain(usual.median),
        )
    return ", ".join(
        f"{format_value(value)} {percent(share, 0)}" for value, share in column.common or []
    )


def format_output(facts: AnyExplanation, value: float) -> str:
    """Format an output of the model: a probability as a percentage, a quantity as a number."""
    return percent(value, 0) if facts.study.labels else plain(value)


def describe_confidence(probability: float) -> str:
    """Describe a probability in words.

    Examples
    --------
    >>> describe_confidence(0.97), describe_confidence(0.55)
    ('is almost certain', 'is undecided')
    """
    steps = (
        (0.95, _("is almost certain")),
        (0.8, _("is fairly certain")),
        (0.6, _("is uncertain")),
    )
    return next((words for least, words in steps if probability >= least), _("is undecided"))


def is_certain(column: ColumnImportance) -> bool:
    """Return whether the importance of a column is over two standard errors above zero."""
    error = column.standard_error
    return error is not None and bool(column.value > 2 * error)


def describe_remark(remark: str | None) -> str:
    """Describe what is unusual about a value; empty if nothing is."""
    return "" if remark is None else _(_REMARKS[remark])


def get_output_label(facts: AnyExplanation) -> str:
    """Return the name of the output for one row: a probability, an indicator or a quantity."""
    if not facts.study.labels:
        return _("Prediction")
    return _("Probability") if facts.model.probabilities else _("Predicted or not")


def get_mean_label(facts: AnyExplanation) -> str:
    """Return the name of the mean output over several rows."""
    if facts.study.labels and not facts.model.probabilities:
        return _("Share of predictions")
    if facts.study.task == "survival":
        return _("Mean predicted risk")
    return _("Mean probability") if facts.study.labels else _("Mean prediction")


def make_contribution_formatter(values: Sequence[float], unit: str) -> Callable[[float], str]:
    """Make the format of contributions in a unit, with signs and equal decimals.

    Parameters
    ----------
    values : sequence of float
        The contributions.
    unit : {"probability", "log_odds", "score", "value"}

    Examples
    --------
    >>> make_contribution_formatter([0.214, -0.05], "probability")(0.214)
    '+21.4 points'
    >>> make_contribution_formatter([0.7], "log_odds")(0.693147)
    'odds × 2.00'
    """
    if unit == "probability":
        return lambda value: _("{value} points", value=_format_signed(fixed(100 * value, 1)))
    if unit == "log_odds":
        return lambda value: _("odds × {value}", value=_format_factor(value))
    write = number_format([max(map(abs, values), default=0.0)], bounded=False)
    return lambda value: _format_signed(write(value))


def _format_signed(text: str) -> str:
    """Add a plus sign to a formatted number above zero."""
    if not any(digit in text for digit in "123456789"):
        return text.lstrip("\N{MINUS SIGN}")
    return text if text.startswith("\N{MINUS SIGN}") else f"+{text}"


def _format_factor(value: float) -> str:
    factor = math.exp(min(value, 700.0))
    return fixed(factor, 2) if 0.005 <= factor < 999 else plain(factor, 3)


def format_columns(columns: Sequence[ColumnContribution], most: int = 3) -> str:
    """Join columns with their values, for use within a sentence."""
    texts = [f"{quote_name(c.name)} ({format_value(c.value)})" for c in columns[:most]]
    return join_names(texts, most)


def write_calibration_caution(facts: AnyExplanation) -> Iterator[str]:
    """Yield a caution if the probabilities are off by more than chance explains."""
    result = facts.model.calibration
    if result is not None and result.error > result.largest_by_chance:
        yield _(
            "The model's probabilities are off by {error} on average over the test "
            "rows, more than chance explains: treat them as approximate.",
            error=percent(result.error),
        )


def describe_row_uncertainty(facts: RowExplanation) -> Iterator[str]:
    """Describe the prediction set or interval of a row and the accuracy on similar rows."""
    if facts.study.labels is not None and not facts.model.probabilities:
        yield _("The model predicts classes without probabilities.")
    yield from _describe_range(facts)
    yield from _describe_similar(facts)
    errors = facts.prediction.errors
    if errors is not None:
        yield _(
            "On {rows} the error was below {median} for half of them and below {most} "
            "for nine in ten.",
            rows=ngettext(
                "{count} test row",
                "{count} test rows",
                errors.n_rows,
                count=integer(errors.n_rows),
            ),
            median=plain(errors.median),
            most=plain(errors.most),
        )


def _describe_range(facts: RowExplanation) -> Iterator[str]:
    result = facts.range
    if result is None:
        return
    level = percent(result.level, 0)
    basis = _(
        "measured on {rows} that the model has not seen",
        rows=ngettext(
            "{count} test row",
            "{count} test rows",
            result.n_rows,
            count=integer(result.n_rows),
        ),
    )
    if result.interval is not None:
        low, high = map(plain, result.interval)
        yield _(
            "The true value is between {low} and {high} in {level} of such cases ({basis}).",
            low=low,
            high=high,
            level=level,
            basis=basis,
        )
        return
    names = [quote_name(label) for label in result.set or ()]
    if not names:
        yield _(
            "No class is probable enough for the {level} set: the row is unlike the "
            "training rows ({basis}).",
            level=level,
            basis=basis,
        )
    elif len(names) == 1:
        yield _(
            "The {level} prediction set contains {label} alone ({basis}).",
            level=level,
            label=names[0],
            basis=basis,
        )
    else:
        yield _(
            "The {level} prediction set contains {count} classes: {names} ({basis}).",
            level=level,
            count=len(names),
            names=join_names(names, 8),
            basis=basis,
        )


def _describe_similar(facts: RowExplanation) -> Iterator[str]:
    result = facts.prediction.similar
    if result is None:
        return
    predicted = quote_name(format_value(facts.prediction.value))
    confidence = ""
    if result.low is not None:
        low, high = percent(result.low, 0), percent(result.high, 0)
        at = (
            _("at about {low}", low=low)
            if low == high
            else _("at {low} to {high}", low=low, high=high)
        )
        confidence = _(" with similar confidence ({at})", at=at)
    yield _(
        "Of the {n_rows} test rows predicted as {predicted}{confidence}, {n_right} "
        "were of that class: {share}.",
        n_rows=integer(result.n_rows),
        predicted=predicted,
        confidence=confidence,
        n_right=integer(result.n_right),
        share=percent(result.n_right / result.n_rows, 0),
    )


def describe_model_uncertainty(facts: ModelExplanation) -> Iterator[str]:
    """Describe the calibration of probabilities and the coverage of sets or intervals."""
    if facts.study.labels is not None:
        yield _describe_calibration(facts)
    if facts.study.task in ("survival", "ranking"):
        yield _(
            "Risks and scores of ranks have no errors of single rows, so there are no surrogate "
            "tree, no intervals and no rows to inspect; the report of the study shows how well "
            "they order the test rows."
        )
    result = facts.promise
    if result is None:
        return
    level, held = percent(result.level, 0), percent(result.coverage)
    rows = ngettext(
        "{count} test row", "{count} test rows", result.n_rows, count=integer(result.n_rows)
    )
    if result.sizes is not None:
        yield _(
            "Prediction sets with a nominal coverage of {level} contained the truth "
            "for {held} of {rows}; {single} of them contain a single class; their "
            "mean size is {mean_size}.",
            level=level,
            held=held,
            rows=rows,
            single=percent(result.sizes[1] / result.n_rows, 0),
            mean_size=plain(result.mean_size, 3),
        )
    else:
        yield _(
            "Intervals with a nominal coverage of {level} contained the truth for "
            "{held} of {rows}. Their mean width is {mean_width}; eight in ten targets "
            "lie within {target_width}.",
            level=level,
            held=held,
            rows=rows,
            mean_width=plain(result.mean_width),
            target_width=plain(result.target_width),
        )


def _describe_calibration(facts: ModelExplanation) -> str:
    result = facts.model.calibration
    if result is None:
        return _("The model predicts classes without probabilities.")
    gap, chance = percent(result.error), percent(result.largest_by_chance)
    if result.error > result.largest_by_chance:
        return _(
            "Its probabilities are off by {gap} on average, more than chance explains "
            "({chance}): treat them as approximate.",
            gap=gap,
            chance=chance,
        )
    return _(
        "Its probabilities are well calibrated: on the test rows they are off by {gap} on "
        "average, no more than chance explains ({chance}).",
        gap=gap,
        chance=chance,
    )
