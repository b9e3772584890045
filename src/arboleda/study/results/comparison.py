"""Which models are not significantly worse than the winner on the folds and the test rows.

Each model is tested twice against the winner. On the folds, whose training rows overlap, by the
corrected resampled t test (Nadeau and Bengio 2003; see `arboleda.diagnose.compare`). On the test
rows, which no selection has used, by a paired test (see `arboleda.scoring.paired_tests`).

The intervals of all these differences hold at once with 95 % confidence (Bonferroni; Dunn 1961). A
model is worse (or better) than the winner if one of its two intervals excludes 0; otherwise it is
not distinguishable from it on these rows. A model's p-value is the smaller of its two, times the
number of tests: it is below 0.05 if and only if one of the intervals excludes 0.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from arboleda._utils.numbers import confidence_level, number_format
from arboleda.diagnose import corrected_t_test
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
from arboleda.scoring.paired_tests import (
    LEVEL,
    ROUNDING,
    PairedTest,
    TTest,
    adjust_level,
    adjust_p_value,
    compare_on_rows,
)
from arboleda.scoring.scores import Predictions
from arboleda.study.plan import Plan
from arboleda.study.results.holdout_facts import ReadPredictions
from arboleda.study.runner import Outcome

__all__ = ["describe_comparison", "describe_rivals", "write_sentence"]

# Models whose differences a sentence shows.
SHOWN = 3
_APPLIES = ("kfold", "repeated", "group")
_WHY_NOT = {
    "time": "The t test is not made: folds in time order learn from more and more rows.",
    "loo": "The t test is not made: every row is a fold of its own.",
    "bootstrap": "The t test is not made: bags overlap in what they are scored on.",
}

# The tests of a model on the folds and on the test rows; None where one does not apply.
BothTests = tuple[TTest | None, PairedTest | None]


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
    rows = describe_rivals(
        [other.model.key for other in others], list(zip(by_folds, by_rows, strict=True))
    )
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


def _on_folds(plan: Plan, winner: Outcome, others: Sequence[Outcome]) -> Sequence[TTest | None]:
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
    mean, error, _, _ = corrected_t_test(differences, share)
    return [
        TTest(difference, standard_error, len(folds))
        for difference, standard_error in zip(mean.tolist(), error.tolist(), strict=True)
    ]


def _on_test_rows(
    plan: Plan, first: Predictions | None, second: Predictions | None
) -> PairedTest | None:
    if first is None or second is None:
        return None
    split = plan.split
    return compare_on_rows(
        plan.metric,
        plan.target.y[split.test],
        first,
        second,
        len(plan.target.labels),
        None if split.groups is None else split.groups[split.test],
        plan.costs,
    )


def describe_rivals(keys: Sequence[str], tests: Sequence[BothTests]) -> list[RivalFacts]:
    """Return the tests of all models, with simultaneous intervals, and what they decide.

    Parameters
    ----------
    keys : sequence of str
        Keys of the models.
    tests : sequence of (TTest or None, TTest, McNemarTest or None)
        Each model's tests on the folds and on the test rows.
    """
    n_tests = sum(test is not None for both in tests for test in both)
    return [_describe_rival(key, *both, n_tests) for key, both in zip(keys, tests, strict=True)]


def _describe_rival(
    key: str, on_folds: TTest | None, on_rows: PairedTest | None, n_tests: int
) -> RivalFacts:
    level, folds, rows = adjust_level(n_tests), None, None
    if on_folds is not None:
        low, high = on_folds.compute_interval(level)
        folds = FoldsTest(
            difference=on_folds.difference,
            standard_error=on_folds.standard_error,
            low=low,
            high=high,
            p=on_folds.p,
        )
    if on_rows is not None:
        low, high = on_rows.compute_interval(level)
        rows = RowsTest(
            difference=on_rows.difference,
            low=low,
            high=high,
            p=on_rows.p,
            method=on_rows.method,
        )
    p_values = [test.p for test in (folds, rows) if test is not None]
    return RivalFacts(
        key=key,
        folds=folds,
        test=rows,
        p_adjusted=adjust_p_value(min(p_values), n_tests) if p_values else None,
        result=_decide(folds, rows),
    )


def _decide(folds: FoldsTest | None, rows: RowsTest | None) -> RivalResult | None:
    """Return the result of a comparison; of two clear differences, the clearer one decides."""
    given = [test for test in (folds, rows) if test is not None]
    if not given:
        return None
    clear = [test for test in given if not test.low <= 0 <= test.high]
    if not clear:
        return "not_distinguishable"
    decisive = min(clear, key=lambda test: test.p)
    return "worse" if decisive.difference > 0 else "better"


def _test_note(plan: Plan, rows: Sequence[RivalFacts]) -> str:
    groups = plan.split.groups
    if groups is not None and len(np.unique(groups[plan.split.test])) == 1:
        return write_message("one_group", column=plan.settings.split_groups or "")
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
    level = confidence_level(LEVEL)
    return f" (difference {difference}, simultaneous {level} interval {low} to {high})"


def _counted(number: int) -> str:
    return f"{spell_count(number)} other {'model is' if number == 1 else 'models are'}"
