"""An explanation: from a study's folder to facts and one page."""

from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from threadpoolctl import threadpool_limits

from arboleda.explanations._load import load_row, load_subject
from arboleda.explanations._model_facts import model_facts
from arboleda.explanations._page import render_explanation
from arboleda.explanations._row_facts import row_facts
from arboleda.study.artifacts.text_files import FactsPage
from arboleda.study.errors import StudyError
from arboleda.study.execution.step_progress import Progress

__all__ = ["Explanation", "explain_study"]


@dataclass(frozen=True)
class Explanation(FactsPage):
    """What explaining a model or a row finds: its ``facts``, and the page drawn from them."""

    @property
    def default_path(self) -> Path:
        """Where the page goes if no file is named: in the study's folder."""
        folder = Path(self.facts["study"]["folder"])
        if self.facts["about"] == "row":
            return folder / f"explained-row-{self.facts['row']['number']}.html"
        return folder / "explained.html"

    def to_html(self) -> str:
        """Draw the page: one HTML text without any outside part."""
        return render_explanation(self.facts)


def explain_study(
    folder: str | Path, row: int | None = None, *, seed: int = 0, progress: bool = False
) -> Explanation:
    """Explain the best model of a study as a whole, or what it says of one row.

    Parameters
    ----------
    folder : str or path
        The study's folder.
    row : int, optional
        A row of the study's table, counted from 1 as its data rows stand in the file (the header
        is not counted). Without it the model as a whole is explained.
    seed : int, default=0
        Seed of the samples and of the methods that draw numbers.
    progress : bool, default=False
        Show on standard error how it goes on.

    Returns
    -------
    Explanation
        Its ``facts``, plain values that `facts.schema.json` describes, and ``save(path)`` for the
        page. The same study, row and seed give the same facts.

    Raises
    ------
    StudyError
        If the folder holds no finished study with its models, or the table has no such row.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     result = Study("iris", target="target", out=folder, models="random_forest").run()
    ...     found = explain_study(folder, row=7)
    >>> found.facts["prediction"]["answer"]
    'setosa'
    """
    if not isinstance(seed, Integral) or not 0 <= seed < 2**32:
        raise StudyError(
            f"The seed {seed!r} is out of range; choose a whole number from 0 to {2**32 - 1}."
        )
    told = Progress(progress)
    # One thread, so that the bits do not depend on how many there are.
    with threadpool_limits(limits=1):
        with told.step("Reading the study"):
            subject = load_subject(Path(folder), int(seed))
        if row is None:
            return Explanation(model_facts(subject, told))
        return Explanation(row_facts(subject, load_row(subject, row), told))
