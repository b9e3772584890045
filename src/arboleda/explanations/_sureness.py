"""How sure the model is: what its sets and intervals promise, and whether the promise holds."""

from typing import Any

import numpy as np

from arboleda.study.data.describe import histogram
from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset

__all__ = ["LEVEL", "describe_promise", "describe_range"]

LEVEL = 0.9
# Below this, a tenth of the rows is too few to be told from none.
FEWEST_ROWS = 20
BINS = 20
_STREAM = 13


def describe_range(subject: ExplainedModel, row: Floats, own: int | None) -> dict[str, Any] | None:
    """The set of classes, or the interval, that holds the truth in nine of ten cases.

    It is calibrated on the test rows (without the row itself), which the model has not seen. None
    for a model without probabilities, or where the test rows are too few.
    """
    part = subject.test.some(np.flatnonzero(subject.test.numbers != own))
    if not _can(subject, len(part.x)):
        return None
    found: dict[str, Any] = {"level": LEVEL, "n_rows": len(part.x), "set": None, "interval": None}
    if subject.classes:
        inside = _sets(subject, part, row[None, :])[0]
        found["set"] = [label for label, is_in in zip(subject.labels, inside, strict=True) if is_in]
    else:
        low, high = _intervals(subject, part, row[None, :])
        found["interval"] = [float(low[0]), float(high[0])]
    return found


def describe_promise(subject: ExplainedModel) -> dict[str, Any] | None:
    """What sets or intervals reach over the test rows, each half judged by the other."""
    n_rows = len(subject.test.x)
    if not _can(subject, n_rows // 2):
        return None
    order = np.random.default_rng([subject.seed, _STREAM]).permutation(n_rows)
    halves = [subject.test.some(np.sort(order[: n_rows // 2])),
              subject.test.some(np.sort(order[n_rows // 2 :]))]  # fmt: skip
    pairs = [(halves[0], halves[1]), (halves[1], halves[0])]
    found: dict[str, Any] = {"level": LEVEL, "n_rows": n_rows}
    if subject.classes:
        sets = [(_sets(subject, learn, judge.x), judge.y) for learn, judge in pairs]
        held = [inside[np.arange(len(y)), y] for inside, y in sets]
        sizes = np.concatenate([inside.sum(axis=1) for inside, _ in sets])
        counts = np.bincount(sizes, minlength=2).tolist()
        return found | {
            "coverage": float(np.mean(np.concatenate(held))),
            "sizes": counts,
            "mean_size": float(sizes.mean()),
            "mean_width": None,
            "target_width": None,
            "widths": None,
        }
    ends = [(*_intervals(subject, learn, judge.x), judge.y) for learn, judge in pairs]
    held = [(low <= y) & (y <= high) for low, high, y in ends]
    widths = np.concatenate([high - low for low, high, _ in ends])
    tenth, last = np.quantile(subject.train.y, [0.1, 0.9])
    return found | {
        "coverage": float(np.mean(np.concatenate(held))),
        "sizes": None,
        "mean_size": None,
        "mean_width": float(widths.mean()),
        "target_width": float(last - tenth),
        "widths": histogram(widths, BINS) if len(np.unique(widths.round(12))) > 2 else None,
    }


def _can(subject: ExplainedModel, n_rows: int) -> bool:
    return n_rows >= FEWEST_ROWS and (subject.predicts_probabilities or not subject.classes)


def _sets(subject: ExplainedModel, part: RowSubset, x: Floats) -> Any:
    from arboleda.explain import prediction_set

    made = prediction_set(subject.pipeline, calibration=(part.x, part.y), coverage=LEVEL)
    found = made.predict(x)
    inside = np.zeros((len(x), len(subject.labels)), dtype=bool)
    inside[:, np.asarray(found.classes, dtype=np.int64)] = found.contains
    return inside


def _intervals(subject: ExplainedModel, part: RowSubset, x: Floats) -> tuple[Floats, Floats]:
    from arboleda.explain import prediction_interval

    made = prediction_interval(subject.pipeline, calibration=(part.x, part.y), coverage=LEVEL)
    found = made.predict(x)
    return found.lower, found.upper
