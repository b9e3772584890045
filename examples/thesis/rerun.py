"""Repeat one of the thesis's studies: load, prepare and split the table, study it, compare."""

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
    """Run the study of a problem, "p1", "p2" or "p3", and write its page next to the report.

    Parameters
    ----------
    key : str
    arguments : list of str, optional
        Command-line arguments; by default those of the process.

    Returns
    -------
    page : Path
    """
    problem = PROBLEMS[key]
    options = _parse_arguments(problem.title, arguments)
    table = datasets.load(problem.table, options.data).frame
    if options.rows is not None:
        table = table.sample(min(options.rows, len(table)), random_state=0).sort_index()
    train, test = split(PREPARED[key](table, check=options.rows is None))
    print(f"{problem.title}: {len(train):,} rows to learn from, {len(test):,} to test")
    out = options.out or Path("studies") / f"thesis-{key}"
    is_whole = not (out / "ledger.sqlite").exists()
    started, used = time.perf_counter(), _cpu_seconds()
    result = Study(
        train,
        target=problem.target,
        test=test,
        metric=problem.metric,
        preset="thesis",
        random_state=1,
        n_jobs=options.jobs,
        output_dir=out,
    ).run(progress=True)
    took = None
    # A resumed study has taken more time than this process measured.
    if is_whole:
        took = {"wall_s": time.perf_counter() - started, "cpu_s": _cpu_seconds() - used}
    others = None
    if not options.no_namesakes:
        cpu_s = None if took is None else took["cpu_s"]
        others = namesakes.timed(result.facts, train, problem.target, cpu_s)
    page = result.folder / "beside.html"
    page.write_text(render_beside(beside_facts(problem, result.facts, took, others)), "utf-8")
    print(f"Report: {result.report}\nBeside the thesis: {page}")
    return page


def _parse_arguments(title: str, arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"{title}, as in the thesis.")
    parser.add_argument("--data", type=Path, help="folder of the tables [downloaded]")
    parser.add_argument("--out", type=Path, help="folder for the study [studies/thesis-..]")
    parser.add_argument("--rows", type=int, help="quick version: number of rows, drawn at random")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes [2]")
    parser.add_argument(
        "--no-namesakes", action="store_true", help="do not time scikit-learn's models"
    )
    return parser.parse_args(arguments)


def _cpu_seconds() -> float:
    """Return the processor seconds of this process and its finished child processes."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, both))
