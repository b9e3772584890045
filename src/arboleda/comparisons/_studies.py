"""Comparing studies: from their folders to facts and one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arboleda.comparisons._facts import make_facts
from arboleda.comparisons._page import render_comparison
from arboleda.study import LoadedStudy, Study, StudyError
from arboleda.study.artifacts.text_files import FactsPage
from arboleda.study.execution.step_progress import Progress

__all__ = ["ComparedStudies", "compare_studies"]


@dataclass(frozen=True)
class ComparedStudies(FactsPage):
    """What comparing studies finds: its ``facts``, and the page drawn from them."""

    @property
    def default_path(self) -> Path:
        """Where the page goes if no file is named: ``compared.html`` in this folder."""
        return Path("compared.html")

    def to_html(self) -> str:
        """Draw the page: one HTML text without any outside part."""
        return render_comparison(self.facts)


def compare_studies(folders: Sequence[str | Path], *, progress: bool = False) -> ComparedStudies:
    """Compare studies that were run before: what was asked, what came out, who is better.

    The best models of studies of one table are compared on the test rows that all of them set
    aside; models that studies of at least three tables share are ranked over the tables (Friedman's
    test and Nemenyi's; see `arboleda.diagnose.compare_over_data_sets`).

    Parameters
    ----------
    folders : sequence of str or path
        The studies' folders, at least two.
    progress : bool, default=False
        Show on standard error how it goes on.

    Returns
    -------
    ComparedStudies
        Its ``facts``, plain values that `facts.schema.json` describes, and ``save(path)`` for the
        page.

    Raises
    ------
    StudyError
        If there are fewer than two, one is named twice, or one cannot be read or has no model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     for models in ("lda", "cart"):
    ...         _ = Study("iris", target="target", models=models, out=f"{folder}/{models}").run()
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
        raise StudyError(f"The study {twice} is named twice; name each of them once.")
    told = Progress(progress)
    with told.step("Reading the studies"):
        studies = [_load(path) for path in paths]
    with told.step("Comparing them"):
        return ComparedStudies(make_facts(paths, studies))


def _load(folder: str) -> LoadedStudy:
    study = Study.load(folder)
    facts: dict[str, Any] = study.facts
    if not facts["models"] or facts["models"][0]["status"] != "ok":
        raise StudyError(
            f"Every model of the study in {folder} failed; there is nothing to compare."
        )
    return study
