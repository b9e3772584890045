"""Cross-validation schemes: their names and parameters."""

import re
from dataclasses import dataclass
from typing import Literal

from arboleda._utils.errors import OptionError

__all__ = ["Kind", "Scheme", "parse_scheme"]

Kind = Literal["kfold", "repeated", "group", "time", "loo", "bootstrap"]

# Default numbers of folds and bags.
FOLDS, BAGS = 5, 50
# A larger number is a typing error: nobody waits for that many fits.
MAX_FOLDS, MAX_REPEATS, MAX_BAGS = 100, 100, 1000
_PATTERN = re.compile(r"(?:(\d+)(?:x(\d+))?|(group|time|bootstrap)(?::(\d+))?|(loo))", re.I | re.A)


@dataclass(frozen=True)
class Scheme:
    """How the training rows are split to compare candidates.

    Attributes
    ----------
    kind : {"kfold", "repeated", "group", "time", "loo", "bootstrap"}
        Random folds, stratified by class; the same repeated; folds that keep the rows of a group
        together; expanding windows of time, each scored on the next one; leave-one-out; bootstrap
        bags (.632+).
    folds : int
        Number of parts: folds, windows or bags; 1 for ``loo``, whose rows are scored together.
    repeats : int
        Number of repeats with new random folds.
    """

    kind: Kind = "kfold"
    folds: int = FOLDS
    repeats: int = 1

    @property
    def text(self) -> str:
        """The scheme's name: ``5``, ``5x3``, ``group:5``, ``loo``, ``bootstrap:50``."""
        if self.kind == "kfold":
            return str(self.folds)
        if self.kind == "repeated":
            return f"{self.folds}x{self.repeats}"
        return self.kind if self.kind == "loo" else f"{self.kind}:{self.folds}"


def parse_scheme(text: str) -> Scheme:
    """Parse the name of a cross-validation scheme.

    Parameters
    ----------
    text : str
        ``5``, ``5x3``, ``group:5``, ``time:5``, ``loo`` or ``bootstrap:50``; the number after a
        colon may be omitted.

    Returns
    -------
    Scheme

    Raises
    ------
    OptionError
        If there is no such scheme, or its number of folds or bags is out of range.

    Examples
    --------
    >>> parse_scheme("5x3")
    Scheme(kind='repeated', folds=5, repeats=3)
    """
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        raise OptionError(
            f"There is no cross-validation {text[:60]!r}; choose a number of folds such as 5, "
            "repeated folds such as 5x3, group:5, time:5, loo or bootstrap:50."
        )
    number, repeats, word, parts, loo = match.groups()
    if loo:
        return Scheme("loo", 1)
    if word and word.lower() == "bootstrap":
        return Scheme("bootstrap", _within(text, parts or str(BAGS), 10, MAX_BAGS, "bags"))
    if word:
        kind: Kind = "group" if word.lower() == "group" else "time"
        return Scheme(kind, _within(text, parts or str(FOLDS), 2, MAX_FOLDS, "folds"))
    folds = _within(text, number, 2, MAX_FOLDS, "folds")
    times = _within(text, repeats or "1", 1, MAX_REPEATS, "repetitions")
    return Scheme("kfold" if times == 1 else "repeated", folds, times)


def _within(text: str, digits: str, low: int, high: int, what: str) -> int:
    if len(digits) > 6 or not low <= int(digits) <= high:
        raise OptionError(
            f"The cross-validation {text[:60]!r} has {digits[:20]} {what}; choose from {low} to "
            f"{high}."
        )
    return int(digits)
