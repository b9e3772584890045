"""What `BoostingClassifier` and `BoostingRegressor` chose, and why."""

from __future__ import annotations

import math
import textwrap
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda._utils.errors import ModelFormatError
from arboleda._utils.frames import axes_or_new
from arboleda._utils.results import Result
from arboleda._utils.simple_plots import draw_intervals

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from arboleda.persist.fields import Sections


BY_RULE = "by rule"  # the reason of values that no row decided on


@dataclass(frozen=True)
class Choice:
    """One parameter, or one change that was tried.

    Attributes
    ----------
    name : str
        The parameter, or the change as it is written in code.
    value : int, float, bool, str or None
        The value of the parameter. Of a change that was tried: whether it was kept.
    reason : str
    difference, error : float or None
        Of a change that was tried: the difference of the losses of the same held-out rows with and
        without it, below 0 if it is better, and its standard error. If a change was given up before
        the end of its fit, the difference is that after as many rounds, and the error None.
    """

    name: str
    value: int | float | bool | str | None
    reason: str
    difference: float | None = None
    error: float | None = None


@dataclass(frozen=True, repr=False)
class BoostingReport(Result):
    """What a fit chose, and its loss on held-out rows.

    Attributes
    ----------
    choices : tuple of Choice
        In the order in which they were made; a later change has the last word.
    loss : str
        Name of the loss that the choices are compared by.
    n_members, n_rounds : int
        Number of models in the mean, and of their rounds together.
    cv_loss : float
        Weighted mean of the losses of the training rows, each predicted by a member that was not
        fitted on it; of squared errors the half, of several targets the sum. NaN if no row was held
        out, or for a loss that has no value for a single row (Huber's, custom ones). Rounds and
        changes were chosen by the same rows, which makes it a little too small.
    cv_loss_error : float
        Its standard error over rows.
    """

    choices: tuple[Choice, ...]
    loss: str
    n_members: int
    n_rounds: int
    cv_loss: float
    cv_loss_error: float

    @property
    def tried(self) -> list[Choice]:
        """The changes that were tried on held-out rows."""
        return [choice for choice in self.choices if choice.difference is not None]

    def _summarize(self) -> dict[str, Any]:
        return {
            "members": self.n_members,
            "rounds": self.n_rounds,
            "loss": self.loss,
            "cv_loss": self.cv_loss,
            "kept": [choice.name for choice in self.tried if choice.value],
        }

    def __str__(self) -> str:
        lines = [f"{self.n_members} members, {self.n_rounds} rounds in all"]
        if not math.isnan(self.cv_loss):
            error = f"{self.cv_loss:.5g} (standard error {self.cv_loss_error:.2g})"
            lines.append(f"{self.loss} on held-out rows: {error}")
        by_rule = [choice for choice in self.choices if choice.reason == BY_RULE]
        values = ", ".join(f"{choice.name}={choice.value!r}" for choice in by_rule)
        if values:
            lines += ["", *textwrap.wrap(f"{BY_RULE}: {values}", 88, subsequent_indent="  ")]
        for choice in self.choices:
            if choice.difference is not None:
                result = "kept" if choice.value else "dropped"
                lines += ["", f"{choice.name}: {result}", f"  {choice.reason}"]
            elif choice.reason != BY_RULE:
                lines += ["", f"{choice.name}: {choice.value}", f"  {choice.reason}"]
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return the choices as a pandas data frame, one row each."""
        import pandas as pd

        columns = ["name", "value", "reason", "difference", "error"]
        rows = [[getattr(choice, name) for name in columns] for choice in self.choices]
        return pd.DataFrame(rows, columns=columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot how each change moved the loss of held-out rows, with one standard error.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        tried = self.tried
        if not tried:
            ax = axes_or_new(ax)
            ax.set_axis_off()
            ax.text(0.5, 0.5, "no change was tried", ha="center", transform=ax.transAxes)
            return ax
        names = [f"{each.name} ({'kept' if each.value else 'dropped'})" for each in tried]
        middles = np.array([each.difference for each in tried], dtype=np.float64)
        reach = np.array([each.error for each in tried], dtype=np.float64)
        ends = (list(middles - reach), list(middles + reach))
        label = f"difference of {self.loss} on held-out rows"
        ax = draw_intervals(ax, names, list(middles), ends, label)
        ax.axvline(0.0, color="grey", lw=0.8)
        return ax


class ReportField:
    """Field of model files for a report."""

    def encode(self, name: str, value: BoostingReport, sections: Sections) -> dict[str, Any]:
        """Return the report as plain data; numbers that are not finite as None."""
        return {
            "choices": [[_to_json(part) for part in astuple(choice)] for choice in value.choices],
            "loss": value.loss,
            "n_members": value.n_members,
            "n_rounds": value.n_rounds,
            "cv_loss": _to_json(value.cv_loss),
            "cv_loss_error": _to_json(value.cv_loss_error),
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> BoostingReport:
        """Check and return the report."""
        match stored:
            case {
                "choices": list(choices),
                "loss": str(loss),
                "n_members": int(n_members),
                "n_rounds": int(n_rounds),
                "cv_loss": float() | None as cv_loss,
                "cv_loss_error": float() | None as cv_loss_error,
                **rest,
            } if (
                not rest
                and all(map(_is_choice, choices))
                and type(n_members) is type(n_rounds) is int
                and min(n_members, n_rounds) >= 0
            ):
                return BoostingReport(
                    tuple(Choice(*choice) for choice in choices),
                    loss,
                    n_members,
                    n_rounds,
                    math.nan if cv_loss is None else cv_loss,
                    math.nan if cv_loss_error is None else cv_loss_error,
                )
        raise ModelFormatError(f"{name} is not a report of boosting")


def _to_json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _is_choice(stored: Any) -> bool:
    """Whether stored data are the attributes of a choice."""
    match stored:
        case [str(), value, str(), float() | None, float() | None]:
            return value is None or type(value) in {int, float, bool, str}
    return False
