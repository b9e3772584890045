"""The prediction of a row: errors, conformal sets and intervals, and the effects of columns."""

from typing import Any

import numpy as np

from arboleda.explain import partial_dependence
from arboleda.facts.explained_row import (
    AbsoluteErrors,
    ChangeFacts,
    ClassProbability,
    PredictionFacts,
    RangeFacts,
    SimilarRows,
)
from arboleda.facts.explanation import CoverageFacts, EffectCurve, EffectFacts, ModelImportance
from arboleda.facts.model import HistogramFacts
from arboleda.study.results.explained_model import (
    ExplainedModel,
    Floats,
    RowSubset,
    make_estimator_adapter,
    with_column,
)
from arboleda.tables.describe import compute_histogram

__all__ = [
    "LEVEL",
    "compute_share",
    "describe_change",
    "describe_coverage",
    "describe_effects",
    "describe_prediction",
    "describe_range",
    "is_listed",
    "make_histogram",
]

# Test rows of similar confidence: a tenth of them, but not fewer than this.
NEAR_SHARE, FEWEST_NEAR = 0.1, 50


def describe_prediction(subject: ExplainedModel, row: Floats, own: int | None) -> PredictionFacts:
    """Describe the prediction, class probabilities and shares, and the typical errors.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    own : int or None
        Number of the row if it belongs to the study; it is excluded from the comparison.
    """
    test = subject.test.some(np.flatnonzero(subject.test.numbers != own))
    predicted = float(subject.predict(row[None, :])[0])
    value = subject.prediction_text(predicted)
    if not subject.classes:
        return PredictionFacts(
            value=value,
            probabilities=None,
            mean=float(subject.train.y.mean()),
            similar=None,
            errors=_compute_errors(subject, test),
        )
    output = subject.outputs(row[None, :])[0]
    probabilities = None
    if subject.predicts_probabilities:
        shares = np.bincount(subject.train.y, minlength=len(subject.labels)) / len(subject.train.y)
        probabilities = [
            ClassProbability(
                label=subject.labels[k], probability=float(output[k]), share=float(shares[k])
            )
            for k in np.argsort(-output, kind="stable")
        ]
    return PredictionFacts(
        value=value,
        probabilities=probabilities,
        mean=None,
        similar=_count_similar(subject, test, int(predicted), float(output[int(predicted)])),
        errors=None,
    )


def _compute_errors(subject: ExplainedModel, test: RowSubset) -> AbsoluteErrors | None:
    """Return the median and the 0.9 quantile of the absolute errors on the test rows."""
    if not len(test.x):
        return None
    off = np.abs(subject.predict(test.x) - test.y)
    half, most = np.quantile(off, [0.5, 0.9])
    return AbsoluteErrors(median=float(half), most=float(most), n_rows=len(off))


def _count_similar(
    subject: ExplainedModel, test: RowSubset, predicted: int, output: float
) -> SimilarRows | None:
    """Count the test rows predicted as this class with similar confidence, and the correct ones."""
    same = test.some(np.flatnonzero(subject.predict(test.x) == predicted))
    if len(same.x) < FEWEST_NEAR:
        return None
    if not subject.predicts_probabilities:
        n_right = int(np.sum(same.y == predicted))
        return SimilarRows(n_rows=len(same.x), n_right=n_right, low=None, high=None)
    confidence = subject.outputs(same.x)[:, predicted]
    wanted = max(FEWEST_NEAR, round(NEAR_SHARE * len(test.x)))
    near = np.argsort(np.abs(confidence - output), kind="stable")[:wanted]
    return SimilarRows(
        n_rows=len(near),
        n_right=int(np.sum(same.y[near] == predicted)),
        low=float(confidence[near].min()),
        high=float(confidence[near].max()),
    )


LEVEL = 0.9
# With fewer rows, a tenth of them is too few to calibrate on.
FEWEST_ROWS = 20
BINS = 20
_STREAM = 13


def describe_range(subject: ExplainedModel, row: Floats, own: int | None) -> RangeFacts | None:
    """Compute the set of classes, or the interval, with a coverage of nine in ten.

    It is calibrated on the test rows (except the row itself), which the model has not seen. None
    for a model without probabilities, or with too few test rows.
    """
    part = subject.test.some(np.flatnonzero(subject.test.numbers != own))
    if not _is_possible(subject, len(part.x)):
        return None
    if subject.classes:
        inside = _compute_sets(subject, part, row[None, :])[0]
        labels = [label for label, is_in in zip(subject.labels, inside, strict=True) if is_in]
        return RangeFacts(level=LEVEL, n_rows=len(part.x), set=labels, interval=None)
    low, high = _compute_intervals(subject, part, row[None, :])
    interval = [float(low[0]), float(high[0])]
    return RangeFacts(level=LEVEL, n_rows=len(part.x), set=None, interval=interval)


def make_histogram(values: Floats, n_bins: int) -> HistogramFacts | None:
    """Return the histogram of values; None if they are constant."""
    histogram = compute_histogram(values, n_bins)
    return None if histogram is None else HistogramFacts(**histogram)


def describe_coverage(subject: ExplainedModel) -> CoverageFacts | None:
    """Estimate the coverage of sets or intervals, each half of the test rows with the other."""
    n_rows = len(subject.test.x)
    if not _is_possible(subject, n_rows // 2):
        return None
    order = np.random.default_rng([subject.seed, _STREAM]).permutation(n_rows)
    halves = [subject.test.some(np.sort(order[: n_rows // 2])),
              subject.test.some(np.sort(order[n_rows // 2 :]))]  # fmt: skip
    pairs = [(halves[0], halves[1]), (halves[1], halves[0])]
    if subject.classes:
        sets = [
            (_compute_sets(subject, calibration, validation.x), validation.y)
            for calibration, validation in pairs
        ]
        held = [inside[np.arange(len(y)), y] for inside, y in sets]
        sizes = np.concatenate([inside.sum(axis=1) for inside, _ in sets])
        counts = np.bincount(sizes, minlength=2).tolist()
        return CoverageFacts(
            level=LEVEL,
            n_rows=n_rows,
            coverage=float(np.mean(np.concatenate(held))),
            sizes=counts,
            mean_size=float(sizes.mean()),
            mean_width=None,
            target_width=None,
            widths=None,
        )
    ends = [
        (*_compute_intervals(subject, calibration, validation.x), validation.y)
        for calibration, validation in pairs
    ]
    held = [(low <= y) & (y <= high) for low, high, y in ends]
    widths = np.concatenate([high - low for low, high, _ in ends])
    tenth, last = np.quantile(subject.train.y, [0.1, 0.9])
    return CoverageFacts(
        level=LEVEL,
        n_rows=n_rows,
        coverage=float(np.mean(np.concatenate(held))),
        sizes=None,
        mean_size=None,
        mean_width=float(widths.mean()),
        target_width=float(last - tenth),
        widths=make_histogram(widths, BINS) if len(np.unique(widths.round(12))) > 2 else None,
    )


def _is_possible(subject: ExplainedModel, n_rows: int) -> bool:
    return n_rows >= FEWEST_ROWS and (subject.predicts_probabilities or not subject.classes)


def _compute_sets(subject: ExplainedModel, part: RowSubset, x: Floats) -> Any:
    from arboleda.explain import prediction_set

    predictor = prediction_set(subject.pipeline, calibration=(part.x, part.y), coverage=LEVEL)
    result = predictor.predict(x)
    inside = np.zeros((len(x), len(subject.labels)), dtype=bool)
    inside[:, np.asarray(result.classes, dtype=np.int64)] = result.contains
    return inside


def _compute_intervals(
    subject: ExplainedModel, part: RowSubset, x: Floats
) -> tuple[Floats, Floats]:
    from arboleda.explain import prediction_interval

    predictor = prediction_interval(subject.pipeline, calibration=(part.x, part.y), coverage=LEVEL)
    result = predictor.predict(x)
    return result.lower, result.upper


GRID = 41
MOST_LEVELS = 8


def describe_change(
    subject: ExplainedModel, row: Floats, column: int, background: Floats
) -> ChangeFacts:
    """Compute the predictions along a column, with all other columns fixed.

    The values are quantiles of the training rows or their most frequent categories, including the
    value of the row. For classification, the output is the probability of the predicted class.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    column : int
        A column of the matrix.
    background : array of shape (n_rows, n_columns)
        The rows to which contributions are relative: ``alone`` is by how much the output differs
        from its mean with the values of these rows in the column.
    """
    seen = subject.train.x[:, column]
    listed, ordered = is_listed(subject, column), subject.kind(column) == "numeric"
    values, shares = (
        _make_levels(seen, row[column], ordered) if listed else _make_grid(seen, row[column])
    )
    rows = with_column(row, column, values)
    predictions, outputs = subject.predict(rows), subject.outputs(rows)
    own = next(i for i, value in enumerate(values) if _is_same(value, row[column]))
    output = int(predictions[own]) if subject.classes else 0
    present = seen[~np.isnan(seen)]
    replaced = subject.outputs(with_column(row, column, background[:, column]))[:, output]
    return ChangeFacts(
        name=subject.names[column],
        kind=subject.kind(column),
        output=subject.labels[output] if subject.classes else None,
        alone=float(outputs[own, output] - replaced.mean()),
        own=own,
        values=[subject.text(column, value) for value in values],
        shares=shares,
        outputs=outputs[:, output].tolist(),
        predictions=[subject.prediction_text(prediction) for prediction in predictions],
        turn=_find_turn(predictions, own, ordered) if subject.classes else None,
        histogram=None if listed else make_histogram(present, BINS),
    )


def is_listed(subject: ExplainedModel, column: int) -> bool:
    """Return whether the values of a column are listed: categories, or few distinct numbers."""
    if subject.kind(column) != "numeric":
        return True
    seen = subject.train.x[:, column]
    return len(np.unique(seen[~np.isnan(seen)])) <= MOST_LEVELS


def _make_grid(seen: Floats, own: float) -> tuple[list[float], None]:
    present = seen[~np.isnan(seen)]
    quantiles = np.quantile(present, np.linspace(0, 1, GRID), method="nearest")
    values = np.unique(np.append(quantiles, own))  # NaN comes last
    return values.tolist(), None


def _make_levels(seen: Floats, own: float, ordered: bool) -> tuple[list[float], list[float]]:
    """Return the most frequent values and that of the row, by size or by frequency."""
    distinct, counts = np.unique(seen, return_counts=True, equal_nan=True)
    frequent = [float(distinct[i]) for i in np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    if not any(_is_same(value, own) for value in frequent):
        frequent.append(float(own))
    if ordered:
        frequent.sort(key=lambda value: (np.isnan(value), value))
    return frequent, [compute_share(seen, value) for value in frequent]


def compute_share(seen: Floats, value: float) -> float:
    """Return the share of rows with this value; NaN counts missing values."""
    return float(np.mean(np.isnan(seen) if np.isnan(value) else seen == value))


def _is_same(value: float, other: float) -> bool:
    return value == other or (np.isnan(value) and np.isnan(other))


def _find_turn(predictions: Floats, own: int, ordered: bool) -> int | None:
    """Return the nearest position, or the most frequent category, with another class."""
    others = [i for i, prediction in enumerate(predictions) if prediction != predictions[own]]
    return min(others, key=lambda i: abs(i - own) if ordered else i, default=None)


SHOWN = 6
MOST_ROWS = 500
EFFECT_GRID = 30
MOST_CURVES = 8
MOST_EFFECT_LEVELS = 12
_EFFECT_STREAM = 19


def describe_effects(
    subject: ExplainedModel, importance: ModelImportance | None
) -> list[EffectFacts]:
    """Compute the partial dependence of the most important columns, with their distributions.

    The output is the positive of two classes, or those of several classes whose probabilities vary
    most.
    """
    order = [c.name for c in importance.columns] if importance else list(subject.names)
    part = subject.draw(subject.train, MOST_ROWS, _EFFECT_STREAM)
    columns = [subject.names.index(name) for name in order]
    filled = [j for j in columns if not np.isnan(part.x[:, j]).all()]
    return [_describe_effect(subject, part.x, j) for j in filled[:SHOWN]]


def _describe_effect(subject: ExplainedModel, x: Floats, column: int) -> EffectFacts:
    seen = subject.train.x[:, column]
    listed = is_listed(subject, column)
    grid_values = _list_values(seen, subject.kind(column) == "numeric") if listed else None
    result = partial_dependence(
        make_estimator_adapter(subject),
        x,
        column,
        grid_resolution=EFFECT_GRID,
        percentiles=(0.01, 0.99),
        custom_values=None if grid_values is None else {column: grid_values},
    )
    values = np.asarray(result.grid[0], dtype=np.float64)
    chosen = _choose_outputs(subject, result.average)
    present = seen[~np.isnan(seen)]
    return EffectFacts(
        name=subject.names[column],
        kind=subject.kind(column),
        n_rows=len(x),
        values=[subject.text(column, value) for value in values],
        shares=[compute_share(seen, value) for value in values] if listed else None,
        curves=[
            EffectCurve(
                label=subject.labels[k] if subject.classes else None,
                values=result.average[k].tolist(),
            )
            for k in chosen
        ],
        histogram=None if listed or not present.size else make_histogram(present, BINS),
    )


def _list_values(seen: Floats, ordered: bool) -> Floats:
    """Return the most frequent values, numbers by size, categories by frequency."""
    distinct, counts = np.unique(seen[~np.isnan(seen)], return_counts=True)
    frequent = distinct[np.argsort(-counts, kind="stable")[:MOST_EFFECT_LEVELS]]
    return np.sort(frequent) if ordered else frequent


def _choose_outputs(subject: ExplainedModel, average: Floats) -> list[int]:
    if not subject.classes:
        return [0]
    if len(subject.labels) == 2:
        return [subject.labels.index(subject.facts["study"]["positive_class"])]
    ranges = np.ptp(average, axis=1)
    return sorted(int(k) for k in np.argsort(-ranges, kind="stable")[:MOST_CURVES])
