"""Exploration of a table: from the table to facts and one page."""

import platform
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

import arboleda
from arboleda._utils.errors import StudyError
from arboleda._utils.number_types import is_integer
from arboleda.analysis.exploration.exploration import Exploration
from arboleda.analysis.exploration.explored_table import (
    ExploredTable,
    ExploredTarget,
    make_explored_table,
)
from arboleda.analysis.exploration.problems import (
    describe_duplicates,
    describe_missing,
    find_cautions,
)
from arboleda.analysis.exploration.relations import (
    describe_profiles,
    describe_relations,
    describe_target_relations,
)
from arboleda.analysis.exploration.structure import (
    describe_clusters,
    describe_components,
    describe_isomap,
    describe_outliers,
    describe_scaling,
    describe_tsne,
    make_cloud,
)
from arboleda.facts.exploration import (
    SCHEMA_VERSION,
    ClassSize,
    ExplorationFacts,
    ExploredTableFacts,
    ExploredTargetFacts,
    LibraryVersions,
    ProfileFacts,
    TargetRelationsFacts,
)
from arboleda.facts.study import ColumnFacts
from arboleda.reports.fact_messages import collect_messages
from arboleda.study.artifacts.files import check_language
from arboleda.study.config.options import read_size
from arboleda.study.execution.progress import Progress
from arboleda.tables.describe import describe_column
from arboleda.tables.reading import read_table

__all__ = ["SCHEMA_VERSION", "explore", "make_facts"]


def explore(
    table: Any,
    target: str | None = None,
    *,
    seed: int = 0,
    progress: bool = False,
    max_table_size: str | int | None = None,
    lang: str = "en",
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
    lang : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    Exploration
        An object with ``facts`` (plain values, described by `exploration.schema.json`) and
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
    if not is_integer(seed) or not 0 <= seed < 2**32:
        raise StudyError(
            f"The seed {seed!r} is out of range; choose a whole number from 0 to {2**32 - 1}."
        )
    check_language(lang)
    limit = read_size("max_table_size", max_table_size)
    reporter = Progress(progress)
    with reporter.step("Reading the table"):
        read = read_table(table, max_table_size=limit)
    # Column names of a data frame may be numbers; here they are text.
    subject = make_explored_table(read, None if target is None else str(target), int(seed))
    reporter.print_line(f"{read.name}: {read.n_rows:,} rows, {len(read.columns):,} columns")
    # One thread: the result must not depend on the number of threads.
    with threadpool_limits(limits=1):
        facts = make_facts(subject, reporter)
    facts["messages"] = collect_messages(facts)
    return Exploration(facts, lang)


def make_facts(subject: ExploredTable, progress: Progress) -> dict[str, Any]:
    """Compute the facts of an exploration; the same table and seed give the same facts.

    Parts that cannot be computed for the table are None.
    """
    table, goal = subject.table, subject.goal
    with progress.step("Describing the columns"):
        columns = [describe_column(c, subject.roles[c.name]) for c in table.columns]
    with progress.step("Looking for missing values and equal rows"):
        missing = describe_missing(subject)
        duplicates = describe_duplicates(subject)
    with progress.step("Computing relations of columns"):
        relations = describe_relations(subject)
        with_target = None if goal is None else describe_target_relations(subject, goal)
        profiles = _make_profiles(subject, with_target)
        cautions = find_cautions(subject, relations, with_target)
    structure = _make_structure(subject, progress)
    with progress.step("Growing a forest to find outliers"):
        outliers = describe_outliers(subject)
    facts = ExplorationFacts(
        schema_version=SCHEMA_VERSION,
        arboleda_version=arboleda.__version__,
        table=ExploredTableFacts(
            name=table.name,
            stem=table.stem,
            sha256=table.sha256,
            n_rows=table.n_rows,
            n_columns=len(table.columns),
            n_missing_cells=sum(c["n_missing"] for c in columns),
        ),
        seed=subject.seed,
        target=None if goal is None else _describe_target(goal),
        columns=[ColumnFacts.model_validate(column) for column in columns],
        cautions=cautions,
        missing=missing,
        duplicates=duplicates,
        relations=relations,
        target_relations=with_target,
        profiles=profiles,
        **structure,
        outliers=outliers,
        environment=LibraryVersions(
            python=platform.python_version(),
            arboleda=arboleda.__version__,
            numpy=np.__version__,
            scikit_learn=sklearn.__version__,
        ),
    )
    return facts.model_dump(mode="json", exclude_unset=True)


def _make_profiles(
    subject: ExploredTable, with_target: TargetRelationsFacts | None
) -> list[ProfileFacts] | None:
    if subject.goal is None or with_target is None:
        return None
    ranked_names = [column.name for column in with_target.columns]
    return describe_profiles(subject, subject.goal, ranked_names)


def _make_structure(subject: ExploredTable, progress: Progress) -> dict[str, Any]:
    """Compute components, clusters and maps; ``no_structure`` is the reason if there are none."""
    with progress.step("Finding principal components"):
        cloud = make_cloud(subject)
    if isinstance(cloud, str):
        parts = ("components", "clusters", "tsne", "isomap", "mds")
        return {**dict.fromkeys(parts), "no_structure": cloud}
    with progress.step("Clustering by k-means and Gaussian mixtures"):
        clusters = describe_clusters(cloud)
    with progress.step("Drawing maps by t-SNE, Isomap and multidimensional scaling"):
        tsne, isomap = describe_tsne(cloud), describe_isomap(cloud)
        mds = describe_scaling(cloud)
    return {
        "components": describe_components(cloud),
        "clusters": clusters,
        "tsne": tsne,
        "isomap": isomap,
        "mds": mds,
        "no_structure": None,
    }


def _describe_target(goal: ExploredTarget) -> ExploredTargetFacts:
    known = goal.y[goal.known]
    classes = None
    if goal.labels:
        counts = np.bincount(known.astype(np.int64), minlength=len(goal.labels))
        classes = [
            ClassSize(label=label, n_rows=int(n))
            for label, n in zip(goal.labels, counts, strict=True)
        ]
    return ExploredTargetFacts(
        name=goal.name,
        task=goal.task,
        why=goal.why,
        n_known=len(known),
        positive_class=goal.positive,
        classes=classes,
    )
