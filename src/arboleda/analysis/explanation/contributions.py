"""Contributions of the columns to predictions: Shapley values, exact or sampled, and LIME.

All are relative to the same background: a sample of the training rows, whose values replace unknown
ones. They are exact for sums of trees of this library, and sampled for all other models, such as
combinations.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from arboleda._utils.numbers import plain
from arboleda.analysis.explanation.sampled_shapley import sample_shapley
from arboleda.catalogue.preparation import find_prepared_sources
from arboleda.explain import ShapValues, lime, shap_values
from arboleda.facts.explained_row import (
    ColumnContribution,
    ConditionWeight,
    ContributionsFacts,
    LimeFacts,
)
from arboleda.facts.explanation import ColumnShap, ShapFacts
from arboleda.reports.fact_messages import Number, write_message
from arboleda.study.results.explained_model import (
    ExplainedModel,
    Floats,
    RowSubset,
    make_estimator_adapter,
)

__all__ = [
    "Contributions",
    "compute_contributions",
    "describe_contributions",
    "describe_lime",
    "describe_shap",
    "draw_background",
]

SHOWN = 12
SHAP_ROWS = 400
BACKGROUND_ROWS = 200
# Pairs of orders for one row, and for each of several rows, and the rows predicted in each case.
MAX_PAIRS, PREDICTED_ROWS = 64, 40_000
PAIRS_OF_MANY, FEWEST_ROWS, MOST_ROWS = 4, 20, 100
_SHAP_STREAM, _BACKGROUND_STREAM, _ORDER_STREAM = 23, 29, 31
Unit = Literal["probability", "log_odds", "score", "value"]


@dataclass(frozen=True)
class Contributions:
    """Contributions of each column of the matrix to the output of a class, or to the value.

    ``contributions`` has one row per row and one column per column of the matrix; each row plus its
    ``base`` sums to the probability, log-odds, score or value of the model. ``standard_errors`` are
    None if the values are exact; otherwise ``n_orders`` orders of the columns were sampled.
    """

    contributions: Floats
    base: Floats
    unit: Unit
    standard_errors: Floats | None = None
    n_orders: int | None = None


def draw_background(subject: ExplainedModel) -> RowSubset:
    """Draw the training rows to which contributions and changes are relative."""
    return subject.draw(subject.train, BACKGROUND_ROWS, _BACKGROUND_STREAM)


def compute_contributions(
    subject: ExplainedModel, x: Floats, label: int, n_pairs: int
) -> Contributions:
    """Compute Shapley values of rows for a class (by its index), or for the value.

    They are exact if the model is a sum of trees of this library; otherwise ``n_pairs`` pairs of
    orders of the columns are sampled for each row.
    """
    background = draw_background(subject).x
    exact = _compute_exact(subject, x, label, background)
    if exact is not None:
        return exact
    column = label if subject.classes else 0
    random = np.random.default_rng([subject.seed, _ORDER_STREAM])
    found = [
        sample_shapley(
            lambda rows: subject.outputs(rows)[:, column], row, background, n_pairs, random
        )
        for row in x
    ]
    return Contributions(
        np.array([one.values for one in found]),
        np.array([one.base for one in found]),
        "probability" if subject.classes else "value",
        np.array([one.standard_errors for one in found]),
        found[0].n_orders,
    )


def _compute_exact(
    subject: ExplainedModel, x: Floats, label: int, background: Floats
) -> Contributions | None:
    """Compute exact Shapley values; None if the model is not a sum of trees of this library.

    The values of prepared columns derived from one column of the matrix are summed; the value of a
    column derived from several is divided equally among them.
    """
    try:
        result = shap_values(subject.pipeline, x, background=background)
    except (TypeError, ValueError):
        return None
    values, base, sign = _select_output(subject, result, label)
    grouped = np.zeros_like(x)
    for prepared, columns in enumerate(_get_sources(subject)):
        for column in columns:
            grouped[:, column] += sign * values[:, prepared] / len(columns)
    return Contributions(grouped, np.full(len(x), sign * base), _get_unit(subject, result))


def _get_sources(subject: ExplainedModel) -> list[tuple[int, ...]]:
    """Return the columns of the matrix from which each prepared column is derived."""
    before = subject.pipeline[0]
    if before == "passthrough":
        return [(j,) for j in range(len(subject.names))]
    return find_prepared_sources(before, len(subject.labels))


def _select_output(
    subject: ExplainedModel, result: ShapValues, label: int
) -> tuple[Floats, float, float]:
    """Return values and base of an output, and the sign -1 if it is the other class of two."""
    if result.values.ndim == 2:
        away = subject.classes and label != int(subject.pipeline.classes_[-1])
        return result.values, float(result.base_values[0]), -1.0 if away else 1.0
    at = subject.pipeline.classes_.tolist().index(label)
    return result.values[:, :, at], float(result.base_values[0, at]), 1.0


def _get_unit(subject: ExplainedModel, result: ShapValues) -> Unit:
    if result.scale == "probability":
        return "probability"
    if not subject.classes:
        return "value"
    boosted = type(subject.pipeline[-1]).__module__.startswith("arboleda.boosting")
    return "log_odds" if boosted and result.values.ndim == 2 else "score"


def describe_shap(subject: ExplainedModel) -> ShapFacts:
    """Compute contributions to a sample of test rows, the most important columns first.

    The output is the positive of two classes, the most frequent of several, or the value.
    """
    label = 0
    if subject.classes:
        counts = np.bincount(subject.train.y, minlength=len(subject.labels))
        label = 1 if len(subject.labels) == 2 else int(counts.argmax())
    is_exact = _compute_exact(subject, subject.test.x[:1], label, subject.train.x[:1]) is not None
    at_once = 2 * PAIRS_OF_MANY * (len(subject.names) + 1)
    most = (
        SHAP_ROWS if is_exact else int(np.clip(PREDICTED_ROWS // at_once, FEWEST_ROWS, MOST_ROWS))
    )
    part = subject.draw(subject.test, most, _SHAP_STREAM)
    result = compute_contributions(subject, part.x, label, PAIRS_OF_MANY)
    means = np.abs(result.contributions).mean(axis=0)
    order = [int(j) for j in np.argsort(-means, kind="stable") if means[j] > 0]
    return ShapFacts(
        method="shap" if is_exact else "sampling",
        n_orders=result.n_orders,
        output=subject.labels[label] if subject.classes else None,
        unit=result.unit,
        n_rows=len(part.x),
        n_others=max(0, len(order) - SHOWN),
        columns=[
            ColumnShap(
                name=subject.names[j],
                mean=float(means[j]),
                points=[
                    (float(contribution), place)
                    for contribution, place in zip(
                        result.contributions[:, j],
                        _compute_quantiles(subject, j, part.x[:, j]),
                        strict=True,
                    )
                ],
            )
            for j in order[:SHOWN]
        ],
    )


def _compute_quantiles(subject: ExplainedModel, column: int, values: Floats) -> list[float | None]:
    """Return the quantile of each value, from 0 to 1; None for unordered values."""
    if subject.kind(column) == "categorical":
        return [None] * len(values)
    places = (rankdata(values, nan_policy="omit") - 0.5) / max(1, np.sum(~np.isnan(values)))
    return [None if np.isnan(place) else float(place) for place in places]


LIME_ROWS = 10_000
SAMPLES = 5_000
CONDITIONS = 10
# A simple model that explains less of the variance around the row is not shown.
MIN_FIDELITY = 0.7
_LIME_STREAM = 7


def describe_contributions(subject: ExplainedModel, row: Floats) -> ContributionsFacts:
    """Compute the contribution of each column to the predicted class or value.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    """
    predicted = float(subject.predict(row[None, :])[0])
    at_once = 2 * (len(subject.names) + 1)
    result = compute_contributions(
        subject,
        row[None, :],
        int(predicted) if subject.classes else 0,
        int(np.clip(PREDICTED_ROWS // at_once, PAIRS_OF_MANY, MAX_PAIRS)),
    )
    contributions, base = result.contributions[0], float(result.base[0])
    errors = None if result.standard_errors is None else result.standard_errors[0]
    order = [
        int(j) for j in np.argsort(-np.abs(contributions), kind="stable") if contributions[j] != 0
    ]
    return ContributionsFacts(
        method="shap" if errors is None else "sampling",
        output=subject.labels[int(predicted)] if subject.classes else None,
        unit=result.unit,
        base=base,
        total=base + float(contributions.sum()),
        n_orders=result.n_orders,
        n_background=len(draw_background(subject).x),
        columns=[
            ColumnContribution(
                name=subject.names[j],
                value=subject.text(j, row[j]),
                contribution=float(contributions[j]),
                standard_error=None if errors is None else float(errors[j]),
            )
            for j in order
        ],
    )


def describe_lime(
    subject: ExplainedModel, row: Floats, contributions: ContributionsFacts
) -> LimeFacts | None:
    """Fit a simple model of the predictions around a row.

    None if the contributions are exact, or if it explains too little of the variance there.
    """
    if contributions.method == "shap":
        return None
    predicted = float(subject.predict(row[None, :])[0])
    part = subject.draw(subject.train, LIME_ROWS, _LIME_STREAM)
    explainer = lime(
        make_estimator_adapter(subject),
        part.x,
        n_samples=SAMPLES,
        categorical_features=[*subject.levels, *subject.binary] or None,
        random_state=subject.seed,
    )
    output = subject.labels[int(predicted)] if subject.classes else None
    result = explainer.explain(row, output=output, n_features=CONDITIONS)
    if result.fidelity < MIN_FIDELITY:
        return None
    return LimeFacts(
        output=output,
        unit="probability" if subject.classes else "value",
        base=float(result.intercept),
        total=float(result.prediction),
        fidelity=float(result.fidelity),
        stability=None if result.stability is None else float(result.stability),
        n_samples=SAMPLES,
        columns=[
            ConditionWeight(
                name=subject.names[j],
                value=subject.text(j, row[j]),
                contribution=float(weight),
                condition=_format_condition(subject, j, row[j], text),
            )
            for j, text, weight in sorted(
                zip(map(int, result.features), result.conditions, result.weights, strict=True),
                key=lambda item: -abs(item[2]),
            )
        ],
    )


def _format_condition(subject: ExplainedModel, column: int, value: float, text: str) -> str | None:
    """Return the condition on a number without the column name, such as "> 3" or "2 to 3"."""
    if subject.kind(column) != "numeric" or np.isnan(value):
        return None
    low, _, high = text.partition(subject.names[column])
    signs = {"<=": "\N{LESS-THAN OR EQUAL TO}", ">": ">", "<": "to"}
    words = [*low.split(), *high.split()]
    if low.strip():  # "2 < x <= 3"
        return write_message(
            "range", low=Number(_shorten(words[0])), high=Number(_shorten(words[-1]))
        )
    return " ".join(signs[word] if word in signs else _shorten(word) for word in words) or None


def _shorten(word: str) -> str:
    try:
        return plain(float(word))
    except ValueError:
        return word
