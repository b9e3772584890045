"""Predictions of each member of an ensemble: forests and bagging, of arboleda or scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from arboleda.bagging._bagging import Bagging
from arboleda.bagging._tables import columns_of
from arboleda.bagging._weighted_ensemble import WeightedEnsemble
from arboleda.explain._conformal import Floats, take_rows, unwrap_pipeline
from arboleda.forest._forest_model import ForestModel

__all__ = ["MemberPredictions", "compute_oob_mask"]

# Number of rows on which the mean of the members is compared with the ensemble's prediction.
_COMPARED = 100


class MemberPredictions:
    """Predictions of the members of a fitted regressor on a table.

    Parameters
    ----------
    estimator : estimator
        A fitted ensemble, or a pipeline that ends in one.
    X : table

    Raises
    ------
    ValueError
        If the estimator has no members.
    """

    def __init__(self, estimator: Any, X: Any) -> None:
        check_is_fitted(estimator)
        self.ensemble, self._X = unwrap_pipeline(estimator, X)
        self.members: Sequence[Any] = getattr(self.ensemble, "estimators_", ())
        if not len(self.members):
            raise ValueError(
                f"{type(self.ensemble).__name__} has no members: give a forest or bagging"
            )
        self.n_rows = self._X.shape[0]

    def check_mean(self) -> None:
        """Check that the ensemble predicts the mean of its members.

        Raises
        ------
        ValueError
            If its predictions for the first rows differ from that mean.
        """
        if (
            isinstance(self.ensemble, WeightedEnsemble)
            and self.ensemble._members.weights is not None
        ):
            raise ValueError(
                f"the members of this {type(self.ensemble).__name__} are weighted "
                f"(weights={self.ensemble.weights!r}), but an unweighted mean is required: fit "
                "with weights='uniform'"
            )
        part = take_rows(self._X, slice(min(_COMPARED, self.n_rows)))
        predicted = np.asarray(self.ensemble.predict(part))
        total = np.zeros(part.shape[0])
        for number in range(len(self.members)):
            prediction = self._predict_member(number, part)
            if prediction.shape != total.shape:
                break
            total += prediction / len(self.members)
        else:
            size = max(float(np.abs(predicted).max()), float(np.abs(total).max()))
            if predicted.shape == total.shape and np.allclose(
                predicted, total, rtol=1e-6, atol=1e-9 * size
            ):
                return
        raise ValueError(
            f"{type(self.ensemble).__name__} does not predict the mean of its members' "
            "predictions: give a forest or bagging of single-target regressors"
        )

    def _predict_member(self, number: int, X: Any) -> Floats:
        member = self.members[number]
        columns = getattr(self.ensemble, "estimators_features_", None)
        if columns is not None:
            own = np.asarray(columns[number])
            if not np.array_equal(own, np.arange(self.ensemble.n_features_in_)):
                X = columns_of(X, own)
        if not hasattr(member, "feature_names_in_"):
            X = _drop_names(X)
        return np.asarray(member.predict(X), dtype=np.float64)

    def iter_predictions(self) -> Iterator[Floats]:
        """Yield the predictions of each member, of shape (n_rows,)."""
        for number in range(len(self.members)):
            yield self._predict_member(number, self._X)

    def compute_spread(self) -> Floats:
        """Compute the standard deviation of the members' predictions for each row."""
        mean, squares = np.zeros(self.n_rows), np.zeros(self.n_rows)
        with np.errstate(over="ignore", under="ignore"):
            for number, values in enumerate(self.iter_predictions()):
                before = values - mean
                mean += before / (number + 1)
                squares += before * (values - mean)
        if not np.isfinite(squares).all():
            raise ValueError(
                "the variance of the members' predictions overflows float64: multiply y by a "
                "constant, such as 1 / abs(y).max(), and fit again"
            )
        spread: Floats = np.sqrt(squares / len(self.members))
        return spread


def _drop_names(X: Any) -> Any:
    """Convert a frame to an array, for members fitted on arrays."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame) else X


def compute_oob_mask(ensemble: Any, n_rows: int) -> npt.NDArray[np.bool_]:
    """Return whether each training row (column) is out of bag for each member (row).

    Raises
    ------
    ValueError
        If this is unknown, the ensemble was fitted on another number of rows, or no row is out of
        bag.
    """
    samples = getattr(ensemble, "estimators_samples_", None)
    if samples is None:
        raise ValueError(
            f"{type(ensemble).__name__} does not store the rows that its members were fitted on "
            "(estimators_samples_): give a forest or bagging, or use method='cv+'"
        )
    if not _has_drawn_from(ensemble, n_rows):
        raise ValueError(
            f"training has {n_rows} rows, but {type(ensemble).__name__} was fitted on a different "
            "number of rows: give its training rows in their original order"
        )
    left_out = np.ones((len(samples), n_rows), dtype=bool)
    for number, rows in enumerate(samples):
        drawn = np.asarray(rows)
        if drawn.dtype == bool:
            drawn = np.flatnonzero(drawn)
        if drawn.size and drawn.max() >= n_rows:
            raise ValueError(
                f"member {number} of {type(ensemble).__name__} was fitted on row {drawn.max()}, "
                f"but training has {n_rows} rows: give its training rows in their original order"
            )
        left_out[number, drawn] = False
    if not left_out.any():
        raise ValueError(
            "every member was fitted on all rows, so no row is out of bag: fit with "
            "bootstrap=True, or use method='cv+'"
        )
    return left_out


def _has_drawn_from(ensemble: Any, n_rows: int) -> bool:
    """Return whether the members were fitted on ``n_rows`` rows, if the ensemble stores this."""
    if isinstance(ensemble, ForestModel):
        return ensemble._bags is None or ensemble._bags.n_rows == n_rows
    if isinstance(ensemble, Bagging):
        return ensemble._members.have_drawn_from(n_rows)
    return bool(getattr(ensemble, "_n_samples", n_rows) == n_rows)
