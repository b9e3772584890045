"""Comparison of studies: from their folders to facts and one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arboleda.comparisons._facts import make_facts
from arboleda.comparisons._page import render_comparison
from arboleda.study import LoadedStudy, Study, StudyError
from arboleda.study.artifacts.text_files import FactsPage
from arboleda.study.execution.progress import Progress

__all__ = ["ComparedStudies", "compare_studies"]


@dataclass(frozen=True)
class ComparedStudies(FactsPage):
    """Result of comparing studies: ``facts`` and the page rendered from them."""

    @property
    def default_path(self) -> Path:
        """Default path of the page: ``compared.html`` in the current folder."""
        return Path("compared.html")

    def to_html(self) -> str:
        """Render the page as one self-contained HTML text."""
        return render_comparison(self.facts)


def compare_studies(folders: Sequence[str | Path], *, progress: bool = False) -> ComparedStudies:
    """Compare finished studies: settings, leaderboards and best models.

    The best models of studies of one table are compared on their shared test rows; models shared
    by studies of at least three tables are ranked over the tables (Friedman's
    test and Nemenyi's; see `arboleda.diagnose.compare_over_data_sets`).

    Parameters
    ----------
    folders : sequence of str or path
        The folders of at least two studies.
    progress : bool, default=False
        Show progress on standard error.

    Returns
    -------
    ComparedStudies
        An object with ``facts`` (plain values, described by `facts.schema.json`) and
        ``save(path)``, which writes the page.

    Raises
    ------
    StudyError
        If there are fewer than two folders, a folder is given twice, or a study cannot be read or
        has no model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     for key in ("lda", "cart"):
    ...         _ = Study("iris", target="target", models=key, output_dir=f"{folder}/{key}").run()
    ...     found = compare_studies([f"{folder}/lda", f"{folder}/cart"])
    >>> found.facts["sentences"][:2]
    ['The two studies are of the same table.', 'They differ in models.']
    """
    if isinstance(folders, (str, Path)) or len(folders) < 2:
        raise StudyError("Comparing needs the folders of at least two studies.")
    paths = [str(folder) for folder in folders]
    places = [str(Path(path).resolve()) for path in paths]
    twice = next((path for path, at in zip(paths, places, strict=True) if places.count(at) > 1), "")
    if twice:
        raise StudyError(f"The study {twice} is given twice; give each folder once.")
    reporter = Progress(progress)
    with reporter.step("Reading the studies"):
        studies = [_load(path) for path in paths]
    with reporter.step("Comparing them"):
        return ComparedStudies(make_facts(paths, studies))


def _load(folder: str) -> LoadedStudy:
    study = Study.load(folder)
    facts: dict[str, Any] = study.facts
    if not facts["models"] or facts["models"][0]["status"] != "ok":
        raise StudyError(
            f"Every model of the study in {folder} failed; there is nothing to compare."
        )
    return study
