"""Redo one of the thesis's studies: fetch the table, prepare it, split it, study it, compare."""

import argparse
import resource
import time
from pathlib import Path

import namesakes
from beside import beside_facts, render_beside
from preparation import PREPARED, split
from published import PROBLEMS

from arboleda import Study, datasets

__all__ = ["main"]


def main(key: str, arguments: list[str] | None = None) -> Path:
    """Run the study of a problem, "p1", "p2" or "p3"; its page is written beside the report.

    Parameters
    ----------
    key : str
    arguments : list of str, optional
        The words of the command line; by default those of the process.

    Returns
    -------
    page : Path
    """
    problem = PROBLEMS[key]
    asked = _asked(problem.title, arguments)
    table = datasets.load(problem.table, asked.data).frame
    if asked.rows is not None:
        table = table.sample(min(asked.rows, len(table)), random_state=0).sort_index()
    train, test = split(PREPARED[key](table, check=asked.rows is None))
    print(f"{problem.title}: {len(train):,} rows to learn from, {len(test):,} to test")
    out = asked.out or Path("studies") / f"thesis-{key}"
    is_whole = not (out / "ledger.sqlite").exists()
    started, used = time.perf_counter(), _cpu_seconds()
    result = Study(
        train,
        target=problem.target,
        test=test,
        metric=problem.metric,
        preset="thesis",
        random_state=1,
        n_jobs=asked.jobs,
        output_dir=out,
    ).run(progress=True)
    took = None
    # A study that went on has taken more than this process saw.
    if is_whole:
        took = {"wall_s": time.perf_counter() - started, "cpu_s": _cpu_seconds() - used}
    others = None
    if not asked.no_namesakes:
        cpu_s = None if took is None else took["cpu_s"]
        others = namesakes.timed(result.facts, train, problem.target, cpu_s)
    page = result.folder / "beside.html"
    page.write_text(render_beside(beside_facts(problem, result.facts, took, others)), "utf-8")
    print(f"Report: {result.report}\nBeside the thesis: {page}")
    return page


def _asked(title: str, arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"{title}, as the thesis studies them.")
    parser.add_argument("--data", type=Path, help="folder of the tables [their public homes]")
    parser.add_argument("--out", type=Path, help="folder for the study [studies/thesis-..]")
    parser.add_argument("--rows", type=int, help="a quick look: only so many rows, drawn at random")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes [2]")
    parser.add_argument(
        "--no-namesakes", action="store_true", help="do not time scikit-learn's models"
    )
    return parser.parse_args(arguments)


def _cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, both))
