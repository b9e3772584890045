"""A warning about early stopping that goes back to a model without trees."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._rows import Problem

# Calls from here to the caller of `fit`.
_TO_THE_CALLER = 4


def warn_if_no_trees(model: Boosting, problem: Problem, *, own_rows: bool) -> None:
    """Warn if no round was better than the prediction that boosting starts from.

    Few validation rows often say so by chance, and then the model predicts a constant.

    Parameters
    ----------
    model : Boosting
        With the trees that were kept.
    problem : Problem
        What it was fitted to.
    own_rows : bool
        Whether the validation rows were given to `fit`.
    """
    if model.ensemble_.n_rounds > 0:
        return
    parameter = model._rounds_parameter
    has_switch = hasattr(model, "early_stopping")
    n_folds = model._n_judging_folds
    remedies = ["lower learning_rate"]
    if model._is_automatic:
        rows = problem.rows.numbers.size
        judges = f"{rows:,} rows" if problem.validation is None else _rows(problem)
        remedies = [f"set {parameter} to a number"]
    elif own_rows:
        judges = _rows(problem)
        remedies.insert(0, "give more rows as X_val and y_val")
    elif n_folds:
        judges = f"{n_folds} folds of {problem.rows.numbers.size:,} rows"
    elif problem.validation is None:
        judges = f"{problem.rows.numbers.size:,} training rows"
    else:
        judges = _rows(problem)
        remedies.insert(0, "raise validation_fraction")
        if has_switch:
            remedies.insert(1, "set validation_folds=5 (all rows judge)")
    if not model._is_automatic:
        off = "early_stopping=False" if has_switch else "n_iter_no_change=None"
        remedies.append(f"set {off}")
    *others, last = remedies
    choice = f"{', '.join(others)}, or {last}" if others else last
    warnings.warn(
        "early stopping kept no tree, so that the model predicts what boosting starts from: no "
        f"round was better on the {judges}. If the columns do predict the target, {choice}",
        stacklevel=_TO_THE_CALLER,
    )


def _rows(problem: Problem) -> str:
    rows = problem.judging.numbers.size
    return f"{rows:,} validation row{'' if rows == 1 else 's'}"
