"""Number of rounds chosen by cross-validation, followed by a fit to all rows.

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
from arboleda.boosting._round_monitor import find_best_index
from arboleda.boosting._rows import Problem, Rows, kfold_splits

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._round_monitor import Callback

Floats = npt.NDArray[np.float64]


def fit_with_cv_rounds(
    model: Boosting,
    problem: Problem,
    n_folds: int,
    coded: BinnedDataset,
    callbacks: Sequence[Callback],
) -> None:
    """Boost on the rows outside each fold, then on all rows with the best mean number of rounds.

    The scores of a fold are weighted by the total weight of its rows. If a fold stopped before
    others, its last score is repeated. The history of the model is the mean over the folds.

    Raises
    ------
    ValueError
        If there are fewer rows than folds, or as many classes as rows.
    """
    rows = problem.rows
    n_rows = rows.numbers.size
    splits = []
    if n_rows >= n_folds:
        splits = kfold_splits(rows, n_folds, stratify=is_classifier(model), seed=model.seed_)
    if not splits:
        raise ValueError(
            f"validation_folds={n_folds} is too many for n_samples={n_rows} rows of positive "
            "weight: every fold needs a row, and every class must stay in the training rows. "
            "Lower validation_folds, give more rows, or set early_stopping=False"
        )
    histories, weights = [], []
    for train, validation in splits:
        member = copy.copy(model)
        member._fit_rounds(Problem(train, validation, problem.stopping), coded, None, callbacks)
        histories.append(member.history_)
        weights.append(_sum_weights(validation))
    history = _average_histories(histories, np.array(weights))
    has_scores = "validation_score" in history
    best = find_best_index(
        history["validation_score"] if has_scores else -history["validation_loss"]
    )
    final = copy.copy(model)
    # The engine fits at least one round.
    setattr(final, model._rounds_parameter, max(1, best))
    final._fit_rounds(Problem(rows, None, None), coded, None, ())
    model.ensemble_ = final.ensemble_.truncated(best)
    model.history_ = history


def _sum_weights(rows: Rows) -> float:
    return float(rows.numbers.size if rows.weights is None else rows.weights.sum())


def _average_histories(
    histories: Sequence[Mapping[str, Floats]], weights: Floats
) -> dict[str, Floats]:
    """Return the weighted mean of the histories of the folds, as long as the longest one."""
    shares = weights / weights.sum()
    longest = max(len(curve) for history in histories for curve in history.values())
    means = {}
    for name in histories[0]:
        curves = [history[name] for history in histories]
        padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
        means[name] = shares @ np.array(padded)
    return means
