"""An exploration: from a table to facts and one page."""

import re
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from arboleda.explore._facts import make_facts
from arboleda.explore._page import render_exploration
from arboleda.explore._subject import make_subject
from arboleda.study.artifacts.text_files import FactsPage
from arboleda.study.config.options import read_size
from arboleda.study.data.reading import read_table
from arboleda.study.errors import StudyError
from arboleda.study.execution.step_progress import Progress

__all__ = ["Exploration", "explore"]


@dataclass(frozen=True)
class Exploration(FactsPage):
    """What exploring a table finds: its ``facts``, and the page drawn from them."""

    @property
    def default_path(self) -> Path:
        """Where the page goes if no file is named: ``<table>-explored.html`` in this folder."""
        stem = re.sub(r"[^\w.-]+", "_", self.facts["table"]["stem"])[:80].strip("._")
        return Path(f"{stem or 'table'}-explored.html")

    def to_html(self) -> str:
        """Draw the page: one HTML text without any outside part."""
        return render_exploration(self.facts)


def explore(
    table: Any,
    target: str | None = None,
    *,
    seed: int = 0,
    progress: bool = False,
    max_table_size: str | int | None = None,
) -> Exploration:
    """Look at a table before modelling: columns, gaps, relations, structure, odd rows.

    Parameters
    ----------
    table : str, path or frame
        A CSV file (any common separator, encoding and compression), a Parquet file, a bundled
        table of scikit-learn by name (``breast_cancer``, ``diabetes``, ``digits``, ``iris``,
        ``wine``), or a pandas, polars or Arrow table.
    target : str, optional
        The column to be predicted later; relations with it are shown, and maps are coloured by it.
    seed : int, default=0
        Seed of the samples and of the methods that draw numbers.
    progress : bool, default=False
        Show on standard error how it goes on.
    max_table_size : str or int, optional
        How large the table's file may be unpacked: bytes, or a text such as ``"2GB"``; by default a
        quarter of the memory that is available.

    Returns
    -------
    Exploration
        Its ``facts``, plain values that `facts.schema.json` describes, and ``save(path)`` for the
        page. The same table and seed give the same facts.

    Raises
    ------
    StudyError
        If the table cannot be read, is larger than the limit, has no rows, or the target cannot be
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
    told = Progress(progress)
    with told.step("Reading the table"):
        read = read_table(table, max_table_size=limit)
    # Columns of a frame may be named by numbers; here they are known as text.
    subject = make_subject(read, None if target is None else str(target), int(seed))
    told.print_line(f"{read.name}: {read.n_rows:,} rows, {len(read.columns):,} columns")
    # One thread, so that the bits do not depend on how many there are.
    with threadpool_limits(limits=1):
        return Exploration(make_facts(subject, told))
