"""Regression targets of trees and forests."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_y, column_or_1d

from arboleda.tree._tree_learner import Array, Floats, TreeLearner


class NumberTarget(RegressorMixin, TreeLearner):  # type: ignore[misc]
    """Mixin of regressors."""

    criterion: str

    def _encode_target(self, y: Array) -> Array:
        several = self._has_several_outputs(y)
        with np.errstate(over="ignore", invalid="ignore"):  # its check sums huge values
            y = _check_y(y, multi_output=several, y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: convert dates and durations to numbers"
            )
        targets: Floats = (y if several else column_or_1d(y, warn=True)).astype(np.float64)
        self.n_outputs_ = targets.shape[1] if several else 1
        if self.criterion == "poisson":
            _check_poisson_target(targets)
        return targets

    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        return sample_weight

    def _value_widths(self) -> tuple[int, ...]:
        return (1,) * self.n_outputs_

    def _decode_predictions(self, raw: Floats) -> Floats:
        return raw[:, 0] if self.n_outputs_ == 1 else raw

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


def _check_poisson_target(targets: Floats) -> None:
    """Raise an error for negative targets and outputs that are always 0."""
    negative = np.argwhere(targets < 0)
    if negative.size:
        row, *output = negative[0]
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression: y is "
            f"{targets[tuple(negative[0])]} in row {row}{_format_output(output)}; drop such rows "
            "or use another criterion"
        )
    zero = ~targets.any(axis=0)
    if zero.any():
        output = np.flatnonzero(zero)[: targets.ndim - 1]
        raise ValueError(
            "Sum of y is not positive which is necessary for Poisson regression: y is 0 in every "
            f"row{_format_output(output)}; use another criterion"
        )


def _format_output(output: Iterable[int]) -> str:
    return "".join(f" of output {k}" for k in output)
