"""Rounds of searches: every search proposes, all that is proposed is done in one pass.

What the ledger lacks is done and stored; everything is read from it. A search is a function of the
scores it is told, so that a study which goes on repeats its rounds from the start, at once.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from arboleda.study.execution.budget import Budget
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job
from arboleda.study.plan import Plan
from arboleda.study.search import Trial
from arboleda.study.search.model_search import ModelSearch

__all__ = ["run_searches"]


def run_searches(
    plan: Plan, searches: Sequence[ModelSearch], executor: Executor, *, has_begun: bool = False
) -> int:
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
    while active := [model_search for model_search in searches if model_search.batch is not None]:
        _release_tests(active, executor)
        trials = [(t, trial) for t in active if t.batch is not None for trial in t.batch.trials]
        jobs = [
            job if job.is_low_fidelity else executor.scored_job(job) for job in _round(trials, executor)
        ]
        # Files of candidates that lost are dropped; those of the chosen one are seen to later.
        missing = [job for job in jobs if not executor.is_scored(job)]
        to_come = plan.n_folds * sum(t.batch.to_come for t in active if t.batch is not None)
        if n_rounds or has_begun:
            executor.watcher.more(missing, to_come)
        else:
            executor.watcher.begin(plan, missing, len(jobs) - len(missing), to_come)
        executor.record_stored(job for job in jobs if executor.is_scored(job))
        executor.run_folds(missing)
        n_rounds += 1
        went_on = [model_search.advance(executor.ledger) for model_search in active]
        if not any(went_on):
            break
    return n_rounds


def _release_tests(searches: Sequence[ModelSearch], executor: Executor) -> None:
    """Set nothing aside for the tests of models that were promised time and had none."""
    if executor.budget is None:
        return
    for model_search in searches:
        if not any(found.is_whole for found in model_search.candidates(executor.ledger)):
            executor.budget.release(model_search.model.key)


def _round(trials: Sequence[tuple[ModelSearch, Trial]], executor: Executor) -> list[Job]:
    """The jobs of a round.

    One job of each model comes first, so that there is early something to see and to estimate the
    time left from; then model by model. With a time budget, first the first trial of each model,
    cheap ones before dear ones, then their second ones; trials that do not fit are left out.
    """
    if executor.budget is None:
        jobs = [job for model_search, trial in trials for job in model_search.jobs(trial)]
        per_model = {job.model: job for job in reversed(jobs)}
        first = {id(job) for job in per_model.values()}
        return sorted(jobs, key=lambda job: id(job) not in first)
    budget, kept, promised = executor.budget, [], 0.0
    for model_search, trial, jobs in _by_rank(trials, budget):
        missing = [job for job in jobs if not executor.is_scored(job)]
        seconds = sum(budget.estimate(job) for job in missing) / budget.processes
        test = model_search.plan.test_job(model_search.model, trial.params)
        if not missing or promised + seconds <= budget.room_for(test):
            promised += seconds
            budget.reserve_for_test(test)
            kept += jobs
    return kept


def _by_rank(
    trials: Sequence[tuple[ModelSearch, Trial]], budget: Budget
) -> Iterable[tuple[ModelSearch, Trial, list[Job]]]:
    """Trials with their jobs: the first of each model by their seconds, the second ones, ..."""
    seen: Counter[str] = Counter()
    ranks = []
    for model_search, trial in trials:
        jobs = model_search.jobs(trial)
        rank = (seen[model_search.model.key], sum(map(budget.estimate, jobs)))
        ranks.append((rank, model_search, trial, jobs))
        seen[model_search.model.key] += 1
    return [item[1:] for item in sorted(ranks, key=lambda item: item[0])]
