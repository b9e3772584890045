"""Rounds that folds decide on: every row judges, and every row is learned from.

Stone (1974), "Cross-validatory choice and assessment of statistical predictions".
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from arboleda._engine.fit import BinnedDataset
from arboleda.boosting._rows import Problem, Rows, kfold_splits
from arboleda.boosting._watch import place_of_best

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._watch import Callback

Floats = npt.NDArray[np.float64]


def fit_with_cv_rounds(
    model: Boosting,
    problem: Problem,
    n_folds: int,
    coded: BinnedDataset,
    callbacks: Sequence[Callback],
) -> None:
    """Boost on the rows outside each fold, and then on all with the rounds best in the mean.

    A fold's scores count by the weight of its rows; where it stopped before others it is taken to
    go on as it ended. The model's history is the mean of the folds'.

    Raises
    ------
    ValueError
        If there are fewer rows than folds, or as many classes as rows.
    """
    rows = problem.rows
    n_rows = rows.numbers.size
    parts = []
    if n_rows >= n_folds:
        parts = kfold_splits(rows, n_folds, stratify=is_classifier(model), seed=model.seed_)
    if not parts:
        raise ValueError(
            f"validation_folds={n_folds} cannot be dealt out of n_samples={n_rows} rows of "
            "positive weight such that every class stays to learn from: lower it, give more rows, "
            "or set early_stopping=False"
        )
    histories, weights = [], []
    for learn, judge in parts:
        member = copy.copy(model)
        member._grow(Problem(learn, judge, problem.stopping), coded, None, callbacks)
        histories.append(member.history_)
        weights.append(_weight(judge))
    history = _mean(histories, np.array(weights))
    judged = "validation_score" in history
    best = place_of_best(history["validation_score"] if judged else -history["validation_loss"])
    whole = copy.copy(model)
    # The engine makes one round at least.
    setattr(whole, model._rounds_parameter, max(1, best))
    whole._grow(Problem(rows, None, None), coded, None, ())
    model.ensemble_ = whole.ensemble_.truncated(best)
    model.history_ = history


def _weight(rows: Rows) -> float:
    return float(rows.numbers.size if rows.weights is None else rows.weights.sum())


def _mean(histories: Sequence[Mapping[str, Floats]], weights: Floats) -> dict[str, Floats]:
    """The weighted mean of what the folds recorded, as long as the longest."""
    shares = weights / weights.sum()
    longest = max(len(seen) for history in histories for seen in history.values())
    found = {}
    for name in histories[0]:
        curves = [history[name] for history in histories]
        as_long = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
        found[name] = shares @ np.array(as_long)
    return found
