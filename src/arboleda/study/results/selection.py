r"""The winner's score, corrected for selection bias.

The best of many scores is best partly by luck: selected and scored on the same folds, a model looks
better than it is (Varma and Simon 2006; Cawley and Talbot 2010). With s_ck the score of candidate c
on fold k, and F(k) the folds that share no row with fold k,

    honest = mean over k of s_c(k)k,    c(k) = argmax over c of the mean of s_cj over j in F(k)

scores the selection on rows that it did not use: the outer loop of nested cross-validation, with
the scores of the folds in place of its inner loop. No model is refitted. A part of the bias
remains, because the models of the folds in F(k) were fitted to fold k; in simulations with random
labels it is less than a tenth. The correction of Tibshirani and Tibshirani (2009), the mean over k
of max_c s_ck - s_ck, needs no more fits, but overcorrects with many folds: in the same simulations
it is right with 5 folds, and with 10 it puts random labels far below chance. In repeated
cross-validation F(k) is the rest of the same repeat; in time order, the folds before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from arboleda._utils.numbers import confidence_level, integer, number_format, plain
from arboleda.diagnose import corrected_t_test
from arboleda.facts.best_model import (
    HonestScore,
    LeadFacts,
    SelectedScore,
    SelectionFacts,
)
from arboleda.facts.model import MetricInterval
from arboleda.reports.wording import lower_label
from arboleda.scoring.choice import StudyMetric
from arboleda.study.plan import Plan
from arboleda.study.runner import Outcome
from arboleda.study.search.model_search import CandidateResult

__all__ = ["HonestChoice", "describe_selection", "find_disjoint_folds", "select_honestly"]

LEVEL = 0.95
_METHOD = (
    "each fold scored by what the folds without its rows would have chosen; interval by the "
    "corrected resampled t distribution"
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HonestChoice:
    """The selection without each fold, and its score on that fold.

    Attributes
    ----------
    folds : ndarray of shape (n_scored,)
        The folds that could be scored.
    chosen : ndarray of shape (n_scored,)
        The candidate that the other folds select.
    scores : ndarray of shape (n_scored,)
        Its score on the fold.
    leads : ndarray of shape (n_scored,) or None
        Its lead on the fold over the candidate of another model that the other folds rank best;
        None with a single model.
    """

    folds: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]
    scores: Floats
    leads: Floats | None


def select_honestly(
    scores: Floats,
    models: npt.NDArray[np.int64],
    apart: Sequence[npt.NDArray[np.int64]],
    *,
    greater_is_better: bool,
) -> HonestChoice:
    """For every fold, select by the folds that share no row with it, and score on it.

    Parameters
    ----------
    scores : ndarray of shape (n_candidates, n_folds)
    models : ndarray of shape (n_candidates,)
        The model of each candidate.
    apart : sequence of ndarray
        For each fold, the folds to select by; a fold without any is not scored.
    greater_is_better : bool
    """
    signed = scores if greater_is_better else -scores
    folds = [k for k, others in enumerate(apart) if len(others)]
    chosen, leads = [], []
    several = len(np.unique(models)) > 1
    for k in folds:
        means = signed[:, apart[k]].mean(axis=1)
        first = int(means.argmax())
        chosen.append(first)
        if several:
            second = int(np.where(models == models[first], -np.inf, means).argmax())
            leads.append(signed[first, k] - signed[second, k])
    where = np.array(folds, dtype=np.int64)
    who = np.array(chosen, dtype=np.int64)
    return HonestChoice(where, who, scores[who, where], np.array(leads) if several else None)


def find_disjoint_folds(
    folds: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    *,
    n_rows: int,
    in_time: bool = False,
) -> list[npt.NDArray[np.int64]]:
    """For each fold, return the folds that share no scored row; in time order, earlier ones.

    Parameters
    ----------
    folds : sequence of (fit rows, scored rows)
    n_rows : int
        Rows of the table.
    in_time : bool
        Whether each fold comes after those before it.
    """
    found = []
    mark = np.zeros(n_rows, dtype=bool)
    for k, (_, score) in enumerate(folds):
        mark[score] = True
        others = range(k) if in_time else range(len(folds))
        apart = [j for j in others if j != k and not mark[folds[j][1]].any()]
        found.append(np.array(apart, dtype=np.int64))
        mark[score] = False
    return found


def describe_selection(plan: Plan, ranked: Sequence[Outcome]) -> SelectionFacts | None:
    """Return the ``selection`` part of the facts: the winner's score and the corrected one.

    Parameters
    ----------
    plan : Plan
    ranked : sequence of Outcome
        The best first.

    Returns
    -------
    facts : SelectionFacts or None
        None if every model failed.
    """
    sound = [o for o in ranked if o.error is None and o.best is not None]
    if not sound:
        return None
    metric, winner = plan.metric, sound[0]
    best = _best_of(winner)
    entries = [(m, c) for m, o in enumerate(sound) for c in o.candidates if c.status == "ok"]
    found = _choose_honestly(plan, entries)
    cv = _selected_score(best, metric.key)
    sign = 1.0 if metric.greater_is_better else -1.0
    honest = lead = None
    if found is not None:
        keys = [sound[m].model.key for m, _ in entries]
        honest = _honest_score(plan, found, [keys[c] for c in found.chosen])
        if found.leads is not None:
            second = _selected_score(_best_of(sound[1]), metric.key)
            lead = LeadFacts(
                over=sound[1].model.key,
                cv=sign * (cv.mean - second.mean),
                honest=float(found.leads.mean()),
            )
    facts = SelectionFacts(
        chosen=winner.model.key,
        metric=metric.key,
        n_models=len(sound),
        # Candidates that were stopped at low fidelity count, too.
        n_candidates=sum(c.status in ("ok", "stopped") for o in sound for c in o.candidates),
        cv=cv,
        honest=honest,
        why_not=_why_not(plan) if honest is None else None,
        optimism=None if honest is None else sign * (cv.mean - honest.mean),
        lead=lead,
        test=None if winner.test is None else winner.test["test"]["metrics"].get(metric.key),
        test_interval=None
        if winner.test is None
        else MetricInterval.model_validate(winner.test["test"]["interval"]),
        sentence="",
    )
    names = {o.model.key: o.model.name for o in sound}
    return facts.model_copy(update={"sentence": _sentence(facts, names, metric)})


def _best_of(outcome: Outcome) -> CandidateResult:
    assert outcome.best is not None
    return outcome.candidates[outcome.best]


def _selected_score(candidate: CandidateResult, metric: str) -> SelectedScore:
    mean = candidate.mean(metric)
    assert mean is not None
    scores = [score for score in candidate.scores(metric) if score is not None]
    sd = float(np.std(scores, ddof=1)) if len(scores) > 1 else None
    return SelectedScore(mean=mean, sd=sd)


def _choose_honestly(
    plan: Plan, entries: Sequence[tuple[int, CandidateResult]]
) -> HonestChoice | None:
    """Return the honest choice, or None if there are too few disjoint folds."""
    split = plan.split
    apart = find_disjoint_folds(split.held_out, n_rows=plan.table.n_rows, in_time=split.ordered)
    if split.bags or sum(len(others) > 0 for others in apart) < 2:
        return None
    scores = np.array([c.scores(plan.metric.key) for _, c in entries], dtype=np.float64)
    models = np.array([m for m, _ in entries])
    return select_honestly(scores, models, apart, greater_is_better=plan.metric.greater_is_better)


def _honest_score(plan: Plan, found: HonestChoice, keys: Sequence[str]) -> HonestScore:
    parts = [plan.split.held_out[k] for k in found.folds]
    share = float(np.mean([len(score) / len(fit) for fit, score in parts]))
    mean, error, _, _ = corrected_t_test(found.scores[np.newaxis], share)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(found.scores) - 1) * error[0])
    lowest, highest = plan.metric.range
    return HonestScore(
        mean=float(mean[0]),
        low=max(float(mean[0]) - reach, lowest),
        high=min(float(mean[0]) + reach, highest),
        level=LEVEL,
        folds=found.scores.tolist(),
        chosen=list(keys),
        method=_METHOD,
    )


def _why_not(plan: Plan) -> str:
    if len(plan.split.folds) < 2:
        return "the rows were scored as one fold, which leaves none to choose by"
    return "the folds share rows, so that none is left out of the choice by all others"


def _sentence(facts: SelectionFacts, names: Mapping[str, str], metric: StudyMetric) -> str:
    """Describe the winner's scores: the corrected and the test score, then the optimistic one."""
    write = number_format([facts.cv.mean], metric.range[1] == 1)
    name, honest, n = names[facts.chosen], facts.honest, facts.n_candidates
    scores = []
    if honest is not None and n > 1:
        score = _format_score(write, honest.mean, honest.low, honest.high, honest.level)
        scores.append(f"{score} in cross-validation corrected for the choice")
    if facts.test is not None and facts.test_interval is not None:
        interval = facts.test_interval
        score = _format_score(write, facts.test, interval.low, interval.high, interval.level)
        scores.append(f"{score} on the test rows")
    start = f"{name}: {lower_label(metric.label)} {' and '.join(scores)}." if scores else f"{name}."
    cv = f"Its cross-validated score, {write(facts.cv.mean)},"
    if n == 1:
        return f"{start} {cv} is not optimistic: the model was tried alone and in one setting."
    start = f"{start} {cv} is that of the best of {integer(n)} candidates"
    if honest is None:
        return f"{start} and optimistic; by how much these folds do not show: {facts.why_not}."
    luck = facts.optimism or 0.0
    # Equal scores leave a rest of rounding.
    if write(honest.mean) == write(facts.cv.mean):
        size = "; the correction did not change it."
    elif luck > 0:
        size = f" and optimistic, by about {plain(luck, 2)}."
    else:
        size = "; the correction did not make it worse."
    return f"{start}{size} {_describe_lead(facts.lead, names)}".rstrip()


def _format_score(
    write: Callable[[float | None], str],
    score: float,
    low: float | None,
    high: float | None,
    level: float,
) -> str:
    """Return a score with its interval, if there is one."""
    if low is None or high is None:
        return write(score)
    percentage = confidence_level(level)
    return f"{write(score)} ({percentage} interval {write(low)} to {write(high)})"


def _describe_lead(lead: LeadFacts | None, names: Mapping[str, str]) -> str:
    """Describe the lead over the second model on folds that were not used for the choice."""
    if lead is None:
        return ""
    over = names[lead.over]
    if lead.cv <= 0:
        return f"It has no lead over {over}."
    start = f"Its cross-validated lead over {over} is {plain(lead.cv, 2)}"
    if lead.honest <= 0:
        return f"{start}, of which nothing is left on folds that were not used for the choice."
    if lead.honest >= lead.cv:
        return f"{start}, and no smaller on folds that were not used for the choice."
    return f"{start}, and {plain(lead.honest, 2)} on folds that were not used for the choice."
