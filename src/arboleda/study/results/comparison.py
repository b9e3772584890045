r"""Which models are not significantly worse than the winner on the folds and the test rows.

Each model is tested twice against the winner. On the folds, whose training rows overlap, by the
corrected resampled t test (Nadeau and Bengio 2003; see `arboleda.diagnose.compare`). On the test
rows, which no selection has used, by the paired test of the difference of the metric, with the
standard error of its influence function (Efron 1982; see `arboleda.scoring.intervals`), or by
McNemar's exact test for accuracies. If rows are grouped, the influence of whole groups is used
(Liang and Zeger 1986). A model's p-value is twice the smaller of the two, and the p-values of all
models are adjusted by Holm's method. With an adjusted p-value below 0.05 a model is worse (or
better) than the winner; otherwise it is not distinguishable from it on these rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from scipy import stats

from arboleda._utils.numbers import number_format
from arboleda.diagnose import corrected_t_test, holm
from arboleda.facts.best_model import (
    ComparisonFacts,
    FoldsTest,
    RivalFacts,
    RivalResult,
    RowsTest,
)
from arboleda.reports.fact_messages import write_message
from arboleda.reports.wording import join_names, lower_label, spell_count
from arboleda.scoring.choice import StudyMetric
from arboleda.scoring.intervals import compute_influence
from arboleda.study.execution.prediction_store import Predictions
from arboleda.study.plan import Plan
from arboleda.study.results.holdout_facts import ReadPredictions
from arboleda.study.runner import Outcome

__all__ = ["compare_on_rows", "describe_comparison", "write_sentence"]

LEVEL = 0.95
# A relative difference of scores up to this is rounding error.
ROUNDING = 1e-12
# Models whose differences a sentence shows.
SHOWN = 3
_APPLIES = ("kfold", "repeated", "group")
_WHY_NOT = {
    "time": "The t test is not made: folds in time order learn from more and more rows.",
    "loo": "The t test is not made: every row is a fold of its own.",
    "bootstrap": "The t test is not made: bags overlap in what they are scored on.",
}

Floats = npt.NDArray[np.float64]


def describe_comparison(
    plan: Plan, ranked: Sequence[Outcome], read_predictions: ReadPredictions
) -> ComparisonFacts | None:
    """Return the ``comparison`` part of the facts; None with fewer than two scored models.

    Differences are in the metric's units, above 0 where the winner is better.

    Parameters
    ----------
    plan : Plan
    ranked : sequence of Outcome
        The best first.
    read_predictions : callable
        Reads a model's predictions for a fold or the test; None if they were not saved.
    """
    sound = [o for o in ranked if o.error is None and o.best is not None]
    if len(sound) < 2:
        return None
    winner, others = sound[0], sound[1:]
    by_folds = _on_folds(plan, winner, others)
    first = read_predictions(winner, None)
    by_rows = [_on_test_rows(plan, first, read_predictions(other, None)) for other in others]
    tests = list(zip(by_folds, by_rows, strict=True))
    rows = [
        RivalFacts(
            key=other.model.key,
            folds=folds,
            test=test,
            p_adjusted=p,
            result=_decide(folds, test, p),
        )
        for other, (folds, test), p in zip(others, tests, _adjust_p_values(tests), strict=True)
    ]
    kind = plan.settings.cv.kind
    names = {o.model.key: o.model.name for o in sound}
    return ComparisonFacts(
        against=winner.model.key,
        metric=plan.metric.key,
        level=LEVEL,
        rows=rows,
        not_distinguishable=[row.key for row in rows if row.result == "not_distinguishable"],
        folds_note=_WHY_NOT.get(kind) or write_message("folds", count=plan.n_folds),
        test_note=_test_note(plan, rows),
        sentence=write_sentence(names, winner.model.key, rows, plan.metric),
    )


def _on_folds(plan: Plan, winner: Outcome, others: Sequence[Outcome]) -> Sequence[FoldsTest | None]:
    folds = plan.split.folds
    if plan.settings.cv.kind not in _APPLIES or len(folds) < 2:
        return [None] * len(others)
    sign = 1.0 if plan.metric.greater_is_better else -1.0
    best, *rest = (
        np.array(o.candidates[o.best].scores(plan.metric.key), dtype=np.float64)
        for o in (winner, *others)
        if o.best is not None
    )
    differences = sign * (best - np.array(rest))
    differences[np.abs(differences) <= ROUNDING * np.abs(best)] = 0.0
    share = float(np.mean([len(score) / len(fit) for fit, score in folds]))
    mean, error, _, p_values = corrected_t_test(differences, share)
    reach = stats.t.ppf((1 + LEVEL) / 2, len(folds) - 1) * error
    return [
        FoldsTest(
            difference=float(mean[j]),
            standard_error=float(error[j]),
            low=float(mean[j] - reach[j]),
            high=float(mean[j] + reach[j]),
            p=float(p_values[j]),
        )
        for j in range(len(others))
    ]


def _on_test_rows(
    plan: Plan, first: Predictions | None, second: Predictions | None
) -> RowsTest | None:
    if first is None or second is None:
        return None
    split, metric = plan.split, plan.metric
    found = compare_on_rows(
        metric,
        plan.target.y[split.test],
        first,
        second,
        len(plan.target.labels),
        None if split.groups is None else split.groups[split.test],
        plan.costs,
    )
    return None if found is None else RowsTest(**found)


def compare_on_rows(
    metric: StudyMetric,
    y: npt.NDArray[Any],
    first: Predictions,
    second: Predictions,
    n_classes: int,
    groups: npt.NDArray[np.int64] | None = None,
    costs: Floats | None = None,
) -> dict[str, Any] | None:
    """Compare two models by their predictions for the same rows.

    Parameters
    ----------
    metric : StudyMetric
    y : ndarray of shape (n,)
        Numbers of the true classes, or values.
    first, second : Predictions
    n_classes : int
        0 in a regression.
    groups : ndarray of shape (n,), optional
        The group of each row, if rows of one group are not independent.
    costs : ndarray of shape (n_classes, n_classes), optional
        By true and predicted class, for the metric "cost" alone.

    Returns
    -------
    found : dict or None
        ``difference``, above 0 if the first is better, its interval ``low``, ``high``, ``p`` and
        ``method``; None if the metric is undefined or there is only one group.
    """
    one = compute_influence(metric, y, first.predicted, first.score, n_classes, costs)
    two = compute_influence(metric, y, second.predicted, second.score, n_classes, costs)
    if one is None or two is None or len(y) < 2:
        return None
    sign = 1.0 if metric.greater_is_better else -1.0
    difference = sign * (one[0] - two[0])
    if abs(difference) <= ROUNDING * abs(one[0]):
        difference = 0.0
    parts: Floats = one[1] - two[1]
    if groups is not None:
        of_row = np.unique(groups, return_inverse=True)[1]
        parts = np.asarray(np.bincount(of_row, weights=parts), dtype=np.float64)
        if len(parts) < 2:
            return None
    error = float(np.sqrt(np.sum(parts**2))) / len(y)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(parts) - 1)) * error
    if metric.key == "accuracy" and groups is None:
        p, method = _mcnemar(first.predicted == y, second.predicted == y), "mcnemar"
    else:
        p, method = _t_test(difference, error, len(parts)), "influence"
    return {
        "difference": difference,
        "low": difference - reach,
        "high": difference + reach,
        "p": p,
        "method": method,
    }


def _mcnemar(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> float:
    """Test exactly whether each model is right on half of the rows that only one has right."""
    one, two = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return float(stats.binomtest(one, one + two).pvalue) if one + two else 1.0


def _t_test(difference: float, error: float, n_parts: int) -> float:
    if error == 0:
        return 1.0 if difference == 0 else 0.0
    return float(2 * stats.t.sf(abs(difference) / error, n_parts - 1))


def _adjust_p_values(
    tests: Sequence[tuple[FoldsTest | None, RowsTest | None]],
) -> list[float | None]:
    """Return each model's p-value, twice the smaller of two, adjusted for all models."""
    found = [[test.p for test in both if test is not None] for both in tests]
    combined = [min(1.0, len(p) * min(p)) for p in found if p]
    adjusted = iter(holm(np.array(combined)).tolist() if combined else [])
    return [next(adjusted) if p else None for p in found]


def _decide(folds: FoldsTest | None, rows: RowsTest | None, p: float | None) -> RivalResult | None:
    """Return the result of a comparison; the test with the smallest p-value decides the side."""
    if p is None:
        return None
    if p >= 1 - LEVEL:
        return "not_distinguishable"
    decisive = min((test for test in (folds, rows) if test is not None), key=lambda test: test.p)
    return "worse" if decisive.difference > 0 else "better"


def _test_note(plan: Plan, rows: Sequence[RivalFacts]) -> str:
    groups = plan.split.groups
    if groups is not None and len(np.unique(groups[plan.split.test])) == 1:
        return write_message("one_group", column=plan.settings.groups or "")
    if not any(row.test for row in rows):
        return "The test rows are not compared: what the models said of them was not kept."
    code = "mcnemar" if plan.metric.key == "accuracy" else "influence"
    if groups is not None:
        code = "influence_groups"
    return write_message(code, rows=len(plan.split.test))


def write_sentence(
    names: Mapping[str, str], winner: str, rows: Sequence[RivalFacts], metric: StudyMetric
) -> str:
    """Describe the results of all models, with the intervals of the differences.

    Parameters
    ----------
    names : mapping of str to str
        Names of the models by key.
    winner : str
        Key of the best model.
    rows : sequence of RivalFacts
    metric : StudyMetric
    """
    best, n = names[winner], len(rows)
    by_result = {v: [r for r in rows if r.result == v] for v in (*get_args(RivalResult), None)}
    if len(by_result[None]) == n:
        return f"These rows do not show whether other models differ from {best}."
    n_worse, n_better = len(by_result["worse"]), len(by_result["better"])
    if n_worse == n:
        few = {1: "the other model is worse", 2: "both other models are worse"}
        return (
            f"On these rows {best} is better than every other model: "
            f"{few.get(n, f'all {spell_count(n)} others are worse')}."
        )
    rest = f"; {_counted(n_worse)} worse" if n_worse else ""
    rest += f"; {_counted(n_better)} better" if n_better else ""
    corrected = f"corrected for {spell_count(n)} comparisons" if n > 1 else "one comparison"
    equals = by_result["not_distinguishable"]
    if not equals:
        return f"Compared with {best}{rest.replace(';', ':', 1)} ({corrected})."
    part = "test" if all(row.test for row in equals[:SHOWN]) else "folds"
    shown = [f"{names[row.key]}{_interval(getattr(row, part), metric)}" for row in equals[:SHOWN]]
    others = [names[row.key] for row in equals[SHOWN:]]
    where = {"test": "test rows", "folds": "folds"}[part]
    return (
        f"Not distinguishable from {best} on these rows: "
        f"{join_names([*shown, *others], SHOWN + 1)}{rest} ({corrected}). A difference in "
        f"{lower_label(metric.label)} on the {where} is above 0 if {best} is better."
    )


def _interval(test: FoldsTest | RowsTest | None, metric: StudyMetric) -> str:
    """Return the difference and its interval in brackets; empty without a test."""
    if test is None:
        return ""
    values = (test.difference, test.low, test.high)
    write = number_format(values, metric.range[1] == 1)
    difference, low, high = map(write, values)
    level = f"{100 * LEVEL:g}\N{NO-BREAK SPACE}%"
    return f" (difference {difference}, {level} interval {low} to {high})"


def _counted(number: int) -> str:
    return f"{spell_count(number)} other {'model is' if number == 1 else 'models are'}"
