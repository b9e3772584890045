"""Facts on the tests of models of times to an event and of rankings, from their predictions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.survival_times import SurvivalTimes
from arboleda.facts.timed import (
    CalibrationAtTime,
    CalibrationGroup,
    CurveGroups,
    QueryFacts,
    RankingFacts,
    SurvivalCurve,
    SurvivalFacts,
)
from arboleda.metrics import d_calibration
from arboleda.reports.fact_messages import write_message
from arboleda.scoring.kaplan_meier import LEVEL, compute_log_rank_p, estimate_survival
from arboleda.scoring.measures import ScoredOutputs
from arboleda.scoring.ranking import compute_by_query
from arboleda.scoring.scores import Predictions
from arboleda.scoring.survival import SurvivalScale, compute_areas, compute_brier_losses
from arboleda.study.plan import Plan
from arboleda.study.splitting import find_subgroups
from arboleda.tables.features import Role
from arboleda.tables.target import format_class
from arboleda.tables.timed_target import read_target_times

__all__ = ["describe_ranking", "describe_survival", "find_leading_category"]

# Points of a drawn curve, times below it at which rows at risk are counted, groups by a column.
CURVE_POINTS, RISK_TIMES, MOST_GROUPS = 200, 6, 6
# Quartiles of the events at which calibration is shown, and rows of each of its groups.
CALIBRATED_AT, ROWS_PER_GROUP, MOST_CALIBRATED = (0.25, 0.5, 0.75), 20, 10
# Ranks of the curve of NDCG@k, ranks of that of single queries, and worst queries.
MOST_RANKS, QUERY_RANKS, WORST = 20, 10, 10
BINS = 20  # of the NDCG of queries

Floats = npt.NDArray[np.float64]


def describe_survival(
    plan: Plan, predictions: Predictions, baseline: Predictions | None, column: str | None
) -> SurvivalFacts | None:
    """Return the facts on one model; None if its curves were not saved.

    Parameters
    ----------
    plan : Plan
    predictions : Predictions
        For the test rows: risks and survival curves.
    baseline : Predictions or None
        Those of the curve of all rows.
    column : str or None
        A column of categories whose groups are drawn, too.
    """
    curves = predictions.score
    if curves is None:
        return None
    rows = read_target_times(plan.target.y[plan.split.test])
    train = read_target_times(plan.target.y[plan.split.train])
    scale = SurvivalScale.of(train, plan.target.times)
    areas = compute_areas(rows, curves, scale)
    brier = compute_brier_losses(rows, curves, scale).mean(axis=0)
    plain = None
    if baseline is not None and baseline.score is not None:
        plain = compute_brier_losses(rows, baseline.score, scale).mean(axis=0).tolist()
    groups = [_group_by_risk(rows, predictions.predicted)]
    if column is not None:
        groups.append(_group_by_column(plan, rows, column))
    return SurvivalFacts(
        n_events=int(rows.event.sum()),
        level=LEVEL,
        times=list(plan.target.times),
        brier=brier.tolist(),
        auc=[None if np.isnan(area) else float(area) for area in areas],
        baseline_brier=plain,
        groups=[group for group in groups if group is not None],
        calibration=_describe_calibration(rows, curves, scale.times, train),
        d_calibration_p=_test_calibration(rows, curves, scale.times),
    )


def find_leading_category(
    roles: Mapping[str, Role], importance: Mapping[str, Any] | None
) -> str | None:
    """Return the most important column if it is of categories."""
    columns = (importance or {"columns": []})["columns"]
    if not columns or columns[0]["value"] <= 0:
        return None
    name = str(columns[0]["name"])
    role = roles.get(name)
    return name if role is not None and role.kind in ("categorical", "boolean") else None


def _group_by_risk(rows: SurvivalTimes, risk: Floats) -> CurveGroups | None:
    """Draw thirds by the predicted risk; fewer groups with equal risks, and none with one."""
    cuts = np.unique(np.quantile(risk, [1 / 3, 2 / 3]))
    place = np.searchsorted(cuts, risk, side="left")
    present = np.unique(place)
    if len(present) == 1:
        return None
    labels = ("low", "high") if len(present) == 2 else ("low", "medium", "high")
    parts = [
        (write_message(f"risk_{label}"), np.flatnonzero(place == k))
        for label, k in zip(labels, present, strict=True)
    ]
    return _draw_groups(rows, None, parts)


def _group_by_column(plan: Plan, rows: SurvivalTimes, column: str) -> CurveGroups | None:
    found = find_subgroups(plan.table.column(column), plan.split.test)
    parts = sorted(found.items(), key=lambda part: -len(part[1]))[:MOST_GROUPS]
    return _draw_groups(rows, column, parts) if len(parts) > 1 else None


def _draw_groups(
    rows: SurvivalTimes, column: str | None, parts: Sequence[tuple[str, npt.NDArray[np.int64]]]
) -> CurveGroups:
    risk_times = np.linspace(0.0, _round_down(float(rows.time.max())), RISK_TIMES)
    groups = [rows.take(places) for _, places in parts]
    return CurveGroups(
        column=column,
        risk_times=risk_times.tolist(),
        curves=[
            _draw_curve(label, group, risk_times)
            for (label, _), group in zip(parts, groups, strict=True)
        ],
        p=compute_log_rank_p(groups),
    )


def _round_down(value: float) -> float:
    """Return a multiple of 5 of a power of ten that is not above a value, if it is near it."""
    step = 10.0 ** np.floor(np.log10(value)) / 2.0 if value > 0 else 1.0
    return float(max(step * np.floor(value / step), step))


def _draw_curve(label: str, rows: SurvivalTimes, risk_times: Floats) -> SurvivalCurve:
    found = estimate_survival(rows)
    steps = np.flatnonzero(np.diff(found.survival, prepend=1.0) < 0)
    steps = np.unique(np.append(steps, len(found.time) - 1))
    if len(steps) > CURVE_POINTS - 1:
        steps = steps[np.unique(np.linspace(0, len(steps) - 1, CURVE_POINTS - 1).astype(int))]
    return SurvivalCurve(
        label=label,
        n=len(rows),
        n_events=int(rows.event.sum()),
        time=[0.0, *found.time[steps].tolist()],
        survival=[1.0, *found.survival[steps].tolist()],
        low=[1.0, *found.low[steps].tolist()],
        high=[1.0, *found.high[steps].tolist()],
        at_risk=[found.count_at_risk(time) for time in risk_times.tolist()],
        median=found.median,
    )


def _describe_calibration(
    rows: SurvivalTimes, curves: Floats, times: Floats, train: SurvivalTimes
) -> list[CalibrationAtTime]:
    """Compare predictions with Kaplan-Meier estimates of rows of similar predictions."""
    wanted = np.quantile(train.time[train.event], CALIBRATED_AT)
    places = np.unique([int(np.abs(times - time).argmin()) for time in wanted])
    n_groups = int(np.clip(len(rows) // ROWS_PER_GROUP, 2, MOST_CALIBRATED))
    found = []
    for place in places.tolist():
        predicted = curves[:, place]
        cuts = np.unique(np.quantile(predicted, np.arange(1, n_groups) / n_groups))
        group = np.searchsorted(cuts, predicted, side="left")
        parts = []
        for k in np.unique(group):
            observed = estimate_survival(rows.take(group == k)).find(float(times[place]))
            mean = float(predicted[group == k].mean())
            parts.append(
                CalibrationGroup(
                    n=int(np.sum(group == k)),
                    predicted=mean,
                    observed=observed[0],
                    low=observed[1],
                    high=observed[2],
                )
            )
        found.append(CalibrationAtTime(time=float(times[place]), groups=parts))
    return found


def _test_calibration(rows: SurvivalTimes, curves: Floats, times: Floats) -> float:
    """Return the p-value of D-calibration; rows after the last time count as censored at it."""
    cut = SurvivalTimes(rows.event & (rows.time <= times[-1]), np.minimum(rows.time, times[-1]))
    padded_times = np.append(0.0, times)
    padded = np.column_stack([np.ones(len(rows)), curves])
    own = np.array(
        [np.interp(t, padded_times, row) for t, row in zip(cut.time, padded, strict=True)]
    )
    return d_calibration(cut, own).p_value


def describe_ranking(
    plan: Plan, predictions: Predictions, baseline: Predictions | None
) -> RankingFacts | None:
    """Return the facts on one model; None if no query of the test has a relevant row."""
    y = plan.target.y[plan.split.test]
    outputs = ScoredOutputs(y, predictions.predicted, None, 0)
    values, at = compute_by_query(outputs, f"ndcg:{QUERY_RANKS}")
    known = np.flatnonzero(~np.isnan(values))
    if not known.size:
        return None
    ranks = list(range(1, MOST_RANKS + 1))
    plain = None
    if baseline is not None:
        plain = _trace_ranks(ScoredOutputs(y, baseline.predicted, None, 0), ranks)
    worst = known[np.argsort(values[known], kind="stable")][:WORST]
    counts, edges = np.histogram(values[known], bins=BINS, range=(0.0, 1.0))
    return RankingFacts.model_validate(
        {
            "n_queries": len(values),
            "n_without_relevant": len(values) - len(known),
            "ranks": ranks,
            "ndcg": _trace_ranks(outputs, ranks),
            "baseline_ndcg": plain,
            "at": QUERY_RANKS,
            "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
            "worst": [
                _describe_query(plan, predictions.predicted, np.flatnonzero(at == k), values[k])
                for k in worst
            ],
        }
    )


def _trace_ranks(outputs: ScoredOutputs, ranks: Sequence[int]) -> list[float]:
    return [float(np.nanmean(compute_by_query(outputs, f"ndcg:{k}")[0])) for k in ranks]


def _describe_query(
    plan: Plan, scores: Floats, places: npt.NDArray[np.intp], value: float
) -> QueryFacts:
    rows = plan.split.test[places]
    relevance, own = plan.target.y["relevance"][rows], scores[places]
    best = own[relevance == relevance.max()].max()
    assert plan.target.second is not None
    column = plan.table.column(plan.target.second)
    return QueryFacts(
        query=format_class(column, float(column.values[rows[0]])),
        n=len(rows),
        n_relevant=int(np.sum(relevance > 0)),
        ndcg=float(value),
        best_rank=int(np.sum(own > best)) + 1,
    )
