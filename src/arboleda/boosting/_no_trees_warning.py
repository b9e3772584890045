"""A warning about early stopping that keeps no tree."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._rows import Problem

# Frames between this function and the caller of `fit`.
_STACK_LEVEL = 4


def warn_if_no_trees(model: Boosting, problem: Problem, *, own_rows: bool) -> None:
    """Warn if no round improved on the initial prediction.

    With few validation rows this often happens by chance.

    Parameters
    ----------
    model : Boosting
        A fitted model.
    problem : Problem
        The rows that it was fitted to.
    own_rows : bool
        Whether the validation rows were passed to `fit`.
    """
    if model.ensemble_.n_rounds > 0:
        return
    parameter = model._rounds_parameter
    has_switch = hasattr(model, "early_stopping")
    n_folds = model._n_validation_folds
    remedies = ["lower learning_rate"]
    if model._is_automatic:
        n_rows = problem.rows.numbers.size
        scored = (
            f"{n_rows:,} rows" if problem.validation is None else _describe_validation_rows(problem)
        )
        remedies = [f"set {parameter} to a number"]
    elif own_rows:
        scored = _describe_validation_rows(problem)
        remedies.insert(0, "give more rows as X_val and y_val")
    elif n_folds:
        scored = f"{n_folds} folds of {problem.rows.numbers.size:,} rows"
    elif problem.validation is None:
        scored = f"{problem.rows.numbers.size:,} training rows"
    else:
        scored = _describe_validation_rows(problem)
        remedies.insert(0, "raise validation_fraction")
        if has_switch:
            remedies.insert(1, "set validation_folds=5 (validates on all rows)")
    if not model._is_automatic:
        off = "early_stopping=False" if has_switch else "n_iter_no_change=None"
        remedies.append(f"set {off}")
    *others, last = remedies
    choice = f"{', '.join(others)}, or {last}" if others else last
    warnings.warn(
        "early stopping kept no tree, and the model returns its initial prediction: no round "
        f"was better on the {scored}. If the columns do predict the target, {choice}",
        stacklevel=_STACK_LEVEL,
    )


def _describe_validation_rows(problem: Problem) -> str:
    n_rows = problem.scored_rows.numbers.size
    return f"{n_rows:,} validation row{'' if n_rows == 1 else 's'}"
