"""Boosting of times to an event of rows on the workers of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda import survival as local
from arboleda._base.fitted import check_fitted
from arboleda.dask.boosting import BoostedByWorkers, describe_boosting
from arboleda.dask.predictions import is_lazy, predict_lazily

__all__ = ["HistGradientBoostingSurvival"]


class HistGradientBoostingSurvival(  # type: ignore[misc]
    BoostedByWorkers,
    local.HistGradientBoostingSurvival,
    plain=local.HistGradientBoostingSurvival,
):
    """Histogram-based gradient boosting for times to an event, of rows on the workers of Dask."""

    _about = describe_boosting(
        '[(True, float(i + 1)) for i in range(20)]\n>>> y = np.array(y, dtype="?, f8")',
        others="``y`` is a dask.dataframe of the event and the time, a dask.array with these two "
        "fields, delayed\nparts of either, or the names of two columns of the files; for "
        '``loss="aft"`` also intervals.',
    )

    def predict(self, X: Any) -> Any:  # type: ignore[override]  # has no initial scores
        """Predict the risk; see the plain class.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts

        Returns
        -------
        risk : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        return self._predict("predict", X, ())

    def predict_survival_function(
        self, X: Any, times: Any = None, *, return_array: bool = True
    ) -> Any:
        """Predict the probability of no event up to each time; see the plain class.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        times : array-like, default=None
        return_array : bool, default=True
            False is not supported for collections of Dask.

        Returns
        -------
        survival : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        return self._predict_curve("predict_survival_function", X, times, return_array)

    def predict_cumulative_hazard_function(
        self, X: Any, times: Any = None, *, return_array: bool = True
    ) -> Any:
        """Predict the cumulative hazard up to each time; see `predict_survival_function`.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        times : array-like, default=None
        return_array : bool, default=True

        Returns
        -------
        hazard : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        return self._predict_curve("predict_cumulative_hazard_function", X, times, return_array)

    def predict_quantile(self, X: Any, q: Any = 0.5) -> Any:
        """Predict the time by which the event took place with a given probability.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        q : float or array-like, default=0.5

        Returns
        -------
        time : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        if not is_lazy(X):
            return self._plain.predict_quantile(self, X, q)
        return self._predict_parts("predict_quantile", X, np.shape(q), {"q": q})

    def _predict_curve(self, method: str, X: Any, times: Any, return_array: bool) -> Any:
        """Call a method of the plain class, lazily for collections of Dask."""
        if not is_lazy(X):
            return getattr(self._plain, method)(self, X, times, return_array=return_array)
        if not return_array:
            raise ValueError(
                "return_array=False is not supported for collections of Dask: compute them, or "
                "give times"
            )
        check_fitted(self)
        wanted = self.unique_times_ if times is None else np.atleast_1d(times)
        return self._predict_parts(method, X, wanted.shape, {"times": times})

    def _predict_parts(
        self, method: str, X: Any, width: tuple[int, ...], arguments: dict[str, Any]
    ) -> Any:
        check_fitted(self)
        return predict_lazily(self.to_local(), method, X, width, np.dtype(np.float64), arguments)
