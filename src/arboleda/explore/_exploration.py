"""Exploration of a table: from the table to facts and one page."""

import re
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from arboleda.explore._explored_table import make_explored_table
from arboleda.explore._facts import make_facts
from arboleda.explore._page import render_exploration
from arboleda.study.artifacts.text_files import FactsPage
from arboleda.study.config.options import read_size
from arboleda.study.data.reading import read_table
from arboleda.study.errors import StudyError
from arboleda.study.execution.progress import Progress

__all__ = ["Exploration", "explore"]


@dataclass(frozen=True)
class Exploration(FactsPage):
    """Result of exploring a table: ``facts`` and the page rendered from them."""

    @property
    def default_path(self) -> Path:
        """Default path of the page: ``<table>-explored.html`` in the current folder."""
        stem = re.sub(r"[^\w.-]+", "_", self.facts["table"]["stem"])[:80].strip("._")
        return Path(f"{stem or 'table'}-explored.html")

    def to_html(self) -> str:
        """Render the page as one self-contained HTML text."""
        return render_exploration(self.facts)


def explore(
    table: Any,
    target: str | None = None,
    *,
    seed: int = 0,
    progress: bool = False,
    max_table_size: str | int | None = None,
) -> Exploration:
    """Explore a table before modelling: columns, gaps, relations, structure, outliers.

    Parameters
    ----------
    table : str, path or frame
        A CSV file (any common separator, encoding and compression), a Parquet file, a bundled
        table of scikit-learn by name (``breast_cancer``, ``diabetes``, ``digits``, ``iris``,
        ``wine``), or a pandas, polars or Arrow table.
    target : str, optional
        The column to predict later; the page shows relations with it and colours maps by it.
    seed : int, default=0
        Seed of the samples and of the randomized methods.
    progress : bool, default=False
        Show progress on standard error.
    max_table_size : str or int, optional
        Maximum uncompressed size of the file, in bytes or as a text such as ``"2GB"``; by default,
        a quarter of the available memory.

    Returns
    -------
    Exploration
        An object with ``facts`` (plain values, described by `facts.schema.json`) and
        ``save(path)``, which writes the page. The same table and seed give the same facts.

    Raises
    ------
    StudyError
        If the table cannot be read, exceeds the limit or has no rows, or the target cannot be
        used.

    Examples
    --------
    >>> found = explore("iris", "target")
    >>> found.facts["duplicates"]["n_repeats"]
    1
    """
    if not isinstance(seed, Integral) or not 0 <= seed < 2**32:
        raise StudyError(
            f"The seed {seed!r} is out of range; choose a whole number from 0 to {2**32 - 1}."
        )
    limit = read_size("max_table_size", max_table_size)
    reporter = Progress(progress)
    with reporter.step("Reading the table"):
        read = read_table(table, max_table_size=limit)
    # Column names of a data frame may be numbers; here they are text.
    subject = make_explored_table(read, None if target is None else str(target), int(seed))
    reporter.say(f"{read.name}: {read.n_rows:,} rows, {len(read.columns):,} columns")
    # One thread: the result must not depend on the number of threads.
    with threadpool_limits(limits=1):
        return Exploration(make_facts(subject, reporter))
