"""Parse the name of a search strategy."""

import re

from arboleda.study.errors import StudyError
from arboleda.study.search.drawn import Random, Tpe
from arboleda.study.search.grid import Grid
from arboleda.study.search.halving import Halving
from arboleda.study.search.trial import SearchStrategy

__all__ = ["named_search"]

# Default number of trials per model.
TRIALS = 30
# A larger number is a typing error: nobody waits for that many trials.
MAX_TRIALS = 10_000
_PATTERN = re.compile(r"(grid|halving)|(random|tpe)(?::(\d+))?", re.I | re.A)


def named_search(text: str) -> SearchStrategy:
    """Return the search strategy of a name.

    Parameters
    ----------
    text : str
        ``grid``, ``halving``, ``random:N`` or ``tpe:N`` (N trials per model); the number may be
        omitted.

    Returns
    -------
    SearchStrategy

    Raises
    ------
    StudyError
        If there is no such search, or its number of trials is out of range.

    Examples
    --------
    >>> named_search("tpe")
    Tpe(trials=30)
    """
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        raise StudyError(
            f"There is no search {text[:60]!r}; choose grid, halving, random:{TRIALS} or "
            f"tpe:{TRIALS}."
        )
    whole, drawn, digits = match.groups()
    if whole:
        return Grid() if whole.lower() == "grid" else Halving()
    digits = digits or str(TRIALS)
    if len(digits) > 6 or not 1 <= int(digits) <= MAX_TRIALS:
        raise StudyError(
            f"The search {text[:60]!r} draws {digits[:20]} candidates; choose from 1 to "
            f"{MAX_TRIALS:,}."
        )
    return (Random if drawn.lower() == "random" else Tpe)(int(digits))
