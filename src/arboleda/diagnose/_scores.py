"""Negated mean losses as scikit-learn scorers, for which greater is better."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._row_losses import Loss, compute_row_losses


class MinusMeanLoss:
    """A scorer of the negated mean loss; a class, because closures cannot be pickled."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        return -float(
            compute_row_losses(self._loss, np.asarray(y), np.asarray(model.predict(X))).mean()
        )
