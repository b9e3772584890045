"""Run searches in rounds: in each round all searches propose trials, which run in one pass.

Jobs missing from the ledger are run and stored; all results are read from the ledger. A search is a
function of the scores it receives, so a resumed study replays its rounds from the start instantly.
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
    """Run rounds until the searches end or no proposed trial fits in the time; return their number.

    Parameters
    ----------
    plan : Plan
    searches : sequence of ModelSearch
        They are advanced to their ends.
    executor : Executor
    has_begun : bool, default=False
        Whether there were rounds before these.
    """
    n_rounds = 0
    while active := [model_search for model_search in searches if model_search.batch is not None]:
        _release_tests(active, executor)
        trials = [(t, trial) for t in active if t.batch is not None for trial in t.batch.trials]
        jobs = [
            job if job.is_low_fidelity else executor.scored_job(job)
            for job in _round(trials, executor)
        ]
        # Files of rejected candidates are removed; those of the chosen one are restored later.
        missing = [job for job in jobs if not executor.is_scored(job)]
        to_come = plan.n_folds * sum(t.batch.to_come for t in active if t.batch is not None)
        if n_rounds or has_begun:
            executor.watcher.more(missing, to_come)
        else:
            executor.watcher.begin(plan, missing, len(jobs) - len(missing), to_come)
        executor.record_stored(job for job in jobs if executor.is_scored(job))
        executor.run_folds(missing)
        n_rounds += 1
        advanced = [model_search.advance(executor.ledger) for model_search in active]
        if not any(advanced):
            break
    return n_rounds


def _release_tests(searches: Sequence[ModelSearch], executor: Executor) -> None:
    """Release the time reserved for tests of models without a complete candidate."""
    if executor.budget is None:
        return
    for model_search in searches:
        if not any(found.is_whole for found in model_search.candidates(executor.ledger)):
            executor.budget.release(model_search.model.key)


def _round(trials: Sequence[tuple[ModelSearch, Trial]], executor: Executor) -> list[Job]:
    """Return the jobs of a round.

    One job of each model comes first, for early results and estimates of the time left; then model
    by model. With a time budget, the first trial of each model comes first, cheap ones before
    expensive ones, then the second trials; trials that do not fit in the time are skipped.
    """
    if executor.budget is None:
        jobs = [job for model_search, trial in trials for job in model_search.jobs(trial)]
        per_model = {job.model: job for job in reversed(jobs)}
        first = {id(job) for job in per_model.values()}
        return sorted(jobs, key=lambda job: id(job) not in first)
    budget, kept, reserved = executor.budget, [], 0.0
    for model_search, trial, jobs in _by_rank(trials, budget):
        missing = [job for job in jobs if not executor.is_scored(job)]
        seconds = sum(budget.estimate(job) for job in missing) / budget.processes
        test = model_search.plan.test_job(model_search.model, trial.params)
        if not missing or reserved + seconds <= budget.room_for(test):
            reserved += seconds
            budget.reserve_for_test(test)
            kept += jobs
    return kept


def _by_rank(
    trials: Sequence[tuple[ModelSearch, Trial]], budget: Budget
) -> Iterable[tuple[ModelSearch, Trial, list[Job]]]:
    """Sort trials with their jobs: the first of each model by seconds, then the second ones, ..."""
    seen: Counter[str] = Counter()
    ranks = []
    for model_search, trial in trials:
        jobs = model_search.jobs(trial)
        rank = (seen[model_search.model.key], sum(map(budget.estimate, jobs)))
        ranks.append((rank, model_search, trial, jobs))
        seen[model_search.model.key] += 1
    return [item[1:] for item in sorted(ranks, key=lambda item: item[0])]
