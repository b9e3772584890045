"""What selectors of columns share: tables of any container, and frames that stay frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from arboleda._bridge.frames import as_frame
from arboleda._bridge.schema import Schema
from arboleda._bridge.table import fitted_order

__all__ = ["TableSelector"]

_IS_FRAME_OF: dict[str, Callable[[Any], bool]] = {
    "pandas": nw.dependencies.is_pandas_dataframe,
    "polars": nw.dependencies.is_polars_dataframe,
}


class TableSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Selection of columns by what `fit` kept in ``support_``."""

    n_features_in_: int
    schema_: Schema
    support_: npt.NDArray[np.bool_]

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected columns, in the order in which it has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A frame's columns are matched by name, in any order.

        Returns
        -------
        X_r : ndarray, sparse matrix or frame of shape (n_samples, n_selected_features)
            A frame stays a frame, so that columns keep their types; ``set_output`` asks for another
            container.

        Raises
        ------
        ValueError
            If the columns are not those of ``fit``.
        """
        check_is_fitted(self)
        frame = as_frame(X)
        if frame is None or self._needs_another_container(frame.to_native()):
            return super().transform(X)
        order = fitted_order(self, frame, self.schema_)
        chosen = self.get_support(indices=True).tolist()
        places = chosen if order is None else [order[j] for j in chosen]
        return frame[:, places].to_native()

    def _needs_another_container(self, native: Any) -> bool:
        if not self.support_.any():
            return True  # a frame of no column has no rows; an array has, and scikit-learn warns
        wanted = _get_output_config("transform", estimator=self)["dense"]
        return wanted != "default" and not _IS_FRAME_OF[wanted](native)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
