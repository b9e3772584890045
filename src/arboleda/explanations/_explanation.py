"""Explanation of a study: from its folder to facts and one page."""

from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from threadpoolctl import threadpool_limits

from arboleda.explanations._load import load_row, load_subject
from arboleda.explanations._model_facts import make_model_facts
from arboleda.explanations._page import render_explanation
from arboleda.explanations._row_facts import make_row_facts
from arboleda.study.artifacts.text_files import FactsPage
from arboleda.study.errors import StudyError
from arboleda.study.execution.progress import Progress

__all__ = ["Explanation", "explain_study"]


@dataclass(frozen=True)
class Explanation(FactsPage):
    """Explanation of a model or a row: ``facts`` and the page rendered from them."""

    @property
    def default_path(self) -> Path:
        """Default path of the page, in the folder of the study."""
        folder = Path(self.facts["study"]["folder"])
        if self.facts["about"] == "row":
            return folder / f"explained-row-{self.facts['row']['number']}.html"
        return folder / "explained.html"

    def to_html(self) -> str:
        """Render the page as one self-contained HTML text."""
        return render_explanation(self.facts)


def explain_study(
    folder: str | Path, row: int | None = None, *, seed: int = 0, progress: bool = False
) -> Explanation:
    """Explain the best model of a study as a whole, or its prediction for one row.

    Parameters
    ----------
    folder : str or path
        The folder of the study.
    row : int, optional
        A row of the table of the study: the number of the data row, counted from 1 without the
        header. By default, the model as a whole is explained.
    seed : int, default=0
        Seed of the samples and of the randomized methods.
    progress : bool, default=False
        Show progress on standard error.

    Returns
    -------
    Explanation
        An object with ``facts`` (plain values, described by `facts.schema.json`) and
        ``save(path)``, which writes the page. The same study, row and seed give the same facts.

    Raises
    ------
    StudyError
        If the folder contains no finished study with its models, or the table has no such row.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     result = Study("iris", target="target", output_dir=folder, models="random_forest").run()
    ...     found = explain_study(folder, row=7)
    >>> found.facts["prediction"]["answer"]
    'setosa'
    """
    if not isinstance(seed, Integral) or not 0 <= seed < 2**32:
        raise StudyError(
            f"The seed {seed!r} is out of range; choose a whole number from 0 to {2**32 - 1}."
        )
    reporter = Progress(progress)
    # One thread: the result must not depend on the number of threads.
    with threadpool_limits(limits=1):
        with reporter.step("Reading the study"):
            subject = load_subject(Path(folder), int(seed))
        if row is None:
            return Explanation(make_model_facts(subject, reporter))
        return Explanation(make_row_facts(subject, load_row(subject, row), reporter))
