"""Rounds of searches: every search proposes, all that is proposed is done in one pass.

What the ledger lacks is done and stored; everything is read from it. A search is a function of the
scores it is told, so that a study which goes on repeats its rounds from the start, at once.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from arboleda.study.execution.budget import Budget
from arboleda.study.execution.executor import Execution
from arboleda.study.execution.job import Job
from arboleda.study.plan import Plan
from arboleda.study.search import Trial
from arboleda.study.search.model_search import Tuning

__all__ = ["tune"]


def tune(plan: Plan, tunings: Sequence[Tuning], work: Execution, *, has_begun: bool = False) -> int:
    """Do rounds until no search proposes what there is time for; gives their number.

    Parameters
    ----------
    plan : Plan
    tunings : sequence of Tuning
        They are played to their ends.
    work : Execution
    has_begun : bool, default=False
        Whether there were rounds before these.
    """
    n_rounds = 0
    while active := [tuning for tuning in tunings if tuning.batch is not None]:
        _release_tests(active, work)
        trials = [(t, trial) for t in active if t.batch is not None for trial in t.batch.trials]
        jobs = [job if job.is_look else work.answering(job) for job in _round(trials, work)]
        # Files of candidates that lost are dropped; those of the chosen one are seen to later.
        missing = [job for job in jobs if not work.is_scored(job)]
        to_come = plan.n_folds * sum(t.batch.to_come for t in active if t.batch is not None)
        if n_rounds or has_begun:
            work.watcher.more(missing, to_come)
        else:
            work.watcher.begin(plan, missing, len(jobs) - len(missing), to_come)
        work.recall(job for job in jobs if work.is_scored(job))
        work.do_folds(missing)
        n_rounds += 1
        went_on = [tuning.go_on(work.ledger) for tuning in active]
        if not any(went_on):
            break
    return n_rounds


def _release_tests(tunings: Sequence[Tuning], work: Execution) -> None:
    """Set nothing aside for the tests of models that were promised time and had none."""
    if work.budget is None:
        return
    for tuning in tunings:
        if not any(found.is_whole for found in tuning.candidates(work.ledger)):
            work.budget.release(tuning.model.key)


def _round(trials: Sequence[tuple[Tuning, Trial]], work: Execution) -> list[Job]:
    """The jobs of a round.

    One job of each model comes first, so that there is early something to see and to estimate the
    time left from; then model by model. With a time budget, first the first trial of each model,
    cheap ones before dear ones, then their second ones; trials that do not fit are left out.
    """
    if work.budget is None:
        jobs = [job for tuning, trial in trials for job in tuning.jobs(trial)]
        per_model = {job.model: job for job in reversed(jobs)}
        first = {id(job) for job in per_model.values()}
        return sorted(jobs, key=lambda job: id(job) not in first)
    budget, kept, promised = work.budget, [], 0.0
    for tuning, trial, jobs in _by_rank(trials, budget):
        missing = [job for job in jobs if not work.is_scored(job)]
        seconds = sum(budget.estimate(job) for job in missing) / budget.processes
        test = tuning.plan.test_job(tuning.model, trial.params)
        if not missing or promised + seconds <= budget.room_for(test):
            promised += seconds
            budget.keep_for(test)
            kept += jobs
    return kept


def _by_rank(
    trials: Sequence[tuple[Tuning, Trial]], budget: Budget
) -> Iterable[tuple[Tuning, Trial, list[Job]]]:
    """Trials with their jobs: the first of each model by their seconds, the second ones, ..."""
    seen: Counter[str] = Counter()
    ranks = []
    for tuning, trial in trials:
        jobs = tuning.jobs(trial)
        rank = (seen[tuning.model.key], sum(map(budget.estimate, jobs)))
        ranks.append((rank, tuning, trial, jobs))
        seen[tuning.model.key] += 1
    return [item[1:] for item in sorted(ranks, key=lambda item: item[0])]
