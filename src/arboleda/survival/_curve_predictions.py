"""Predictions of survival models as curves over time."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.parallel import check_output_size
from arboleda.survival._leaf_curves import MAX_BLOCK_CELLS
from arboleda.survival._step_function import StepFunction

Floats = npt.NDArray[np.float64]

# Takes rows and ascending times, and returns the curves of the rows at these times.
CurveEvaluator = Callable[[slice, Floats], Floats]


class CurvePredictions(ABC):
    """Mixin with the predictions of curves."""

    time_range_: Floats
    unique_times_: Floats

    @abstractmethod
    def _check_input(self, X: Any) -> Any:
        """Return the table of rows to predict."""

    @abstractmethod
    def _make_evaluator(self, table: Any, *, is_survival: bool) -> CurveEvaluator:
        """Return a function that computes survival curves, or cumulative hazards, of the rows."""

    def _ends_at_last_time(self) -> bool:
        """Return whether nothing is known after the last time of the training rows."""
        return True

    def predict_survival_function(
        self, X: Any, times: Any = None, *, return_array: bool = True
    ) -> Any:
        """Predict the probability of no event up to each time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        times : array-like of shape (n_times,), default=None
            Non-negative times; None: ``unique_times_``.
        return_array : bool, default=True
            False: return a `StepFunction` for each row, as scikit-survival does.

        Returns
        -------
        survival : ndarray of shape (n_samples, n_times), or array of StepFunction
            Never rising with time. NaN, with a warning, at times after the last one of the training
            rows, where nothing is known.

        Raises
        ------
        ValueError
            If a time is negative or not finite.
        """
        return self._predict_curves(X, times, return_array, is_survival=True)

    def predict_cumulative_hazard_function(
        self, X: Any, times: Any = None, *, return_array: bool = True
    ) -> Any:
        """Predict the cumulative hazard up to each time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        times : array-like of shape (n_times,), default=None
            Non-negative times; None: ``unique_times_``.
        return_array : bool, default=True
            False: return a `StepFunction` for each row, as scikit-survival does.

        Returns
        -------
        hazard : ndarray of shape (n_samples, n_times), or array of StepFunction
            Never falling with time. NaN, with a warning, at times after the last one of the
            training rows, where nothing is known.

        Raises
        ------
        ValueError
            If a time is negative or not finite.
        """
        return self._predict_curves(X, times, return_array, is_survival=False)

    def predict_quantile(self, X: Any, q: Any = 0.5) -> Floats:
        """Predict the time by which the event took place with a given probability.

        It is the first of ``unique_times_`` at which the predicted survival is at most 1 - q; the
        median by default.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        q : float, or array-like of shape (n_quantiles,), default=0.5
            Probabilities between 0 and 1.

        Returns
        -------
        time : ndarray of shape (n_samples,) or (n_samples, n_quantiles)
            Infinity where the survival does not fall that far within the times of the training
            rows.

        Raises
        ------
        ValueError
            If a probability is not between 0 and 1.
        """
        levels = read_levels(q)
        table = self._check_input(X)
        evaluate = self._make_evaluator(table, is_survival=True)
        known = np.append(self.unique_times_, np.inf)
        times = np.empty((table.n_rows, levels.size))
        step = max(1, MAX_BLOCK_CELLS // len(known))
        for first in range(0, table.n_rows, step):
            block = slice(first, first + step)
            survival = evaluate(block, self.unique_times_)
            for column, level in enumerate(levels.reshape(-1)):
                # The first time at which it is reached; one more if none.
                is_above = survival > (1.0 - level) * (1.0 + 1e-12)
                times[block, column] = known[is_above.sum(axis=1)]
        return times if levels.ndim else times[:, 0]

    def _predict_curves(self, X: Any, times: Any, return_array: bool, *, is_survival: bool) -> Any:
        table = self._check_input(X)
        if times is not None and not return_array:
            raise ValueError("return_array=False returns functions of any time: set times=None")
        wanted = self.unique_times_ if times is None else read_times(times)
        check_output_size(table.n_rows, len(wanted), task="predicting")
        distinct, at = np.unique(wanted, return_inverse=True)
        curves = self._make_evaluator(table, is_survival=is_survival)(slice(None), distinct)
        if self._ends_at_last_time():
            self._end_curves(distinct, curves)
        if times is not None:
            return curves[:, at.reshape(-1)]
        if return_array:
            return curves
        functions = np.empty(len(curves), dtype=object)
        start, end = float(is_survival), float(self.time_range_[1])
        for i, curve in enumerate(curves):
            functions[i] = StepFunction(self.unique_times_, curve, start, end)
        return functions

    def _end_curves(self, times: Floats, curves: Floats) -> None:
        """Set values after the last training time to NaN, with a warning."""
        last = float(self.time_range_[1])
        beyond = times > last
        if beyond.any():
            curves[:, beyond] = np.nan
            warnings.warn(
                f"times up to {times[-1]:g} are later than the last one of the training rows, "
                f"{last:g}: the curves end there, and are NaN afterwards",
                stacklevel=4,
            )


def read_levels(q: Any) -> npt.NDArray[np.float64]:
    """Check and return probabilities of quantiles, one or a list."""
    levels = np.asarray(q, dtype=np.float64)
    if levels.ndim > 1 or not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(f"q must be a number between 0 and 1, or a list of them, got {q!r}")
    return levels


def read_times(times: Any) -> npt.NDArray[np.float64]:
    values = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if values.ndim != 1 or not values.size:
        raise ValueError(f"times has the shape {values.shape}: give a list of times")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if wrong.size:
        raise ValueError(
            f"times[{wrong[0]}] is {values[wrong[0]]}: times must be finite and not negative"
        )
    return values
