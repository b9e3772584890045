"""What each member of an ensemble says of rows: of forests and bagging, ours or scikit-learn's."""

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
from arboleda.explain._conformal import Floats, rows_of, without_steps
from arboleda.forest._forest_model import ForestModel

__all__ = ["MemberAnswers", "left_out_by"]

# Rows on which the mean of the members is compared with the ensemble's answer.
_COMPARED = 100


class MemberAnswers:
    """Members of a fitted regressor, and a table.

    Parameters
    ----------
    estimator : estimator
        A fitted ensemble, or a pipeline that ends in one.
    X : table

    Raises
    ------
    ValueError
        If it has no members.
    """

    def __init__(self, estimator: Any, X: Any) -> None:
        check_is_fitted(estimator)
        self.ensemble, self._X = without_steps(estimator, X)
        self.members: Sequence[Any] = getattr(self.ensemble, "estimators_", ())
        if not len(self.members):
            raise ValueError(
                f"{type(self.ensemble).__name__} has no members to ask: give a forest or bagging"
            )
        self.n_rows = self._X.shape[0]

    def check_mean(self) -> None:
        """Refuse an ensemble that predicts another thing than the mean of its members.

        Raises
        ------
        ValueError
            If the first rows show it.
        """
        if (
            isinstance(self.ensemble, WeightedEnsemble)
            and self.ensemble._members.weights is not None
        ):
            raise ValueError(
                f"the members of this {type(self.ensemble).__name__} have weights "
                f"(weights={self.ensemble.weights!r}), and their plain mean is needed here: fit "
                "with weights='uniform'"
            )
        part = rows_of(self._X, slice(min(_COMPARED, self.n_rows)))
        told = np.asarray(self.ensemble.predict(part))
        total = np.zeros(part.shape[0])
        for number in range(len(self.members)):
            answer = self._answer(number, part)
            if answer.shape != total.shape:
                break
            total += answer / len(self.members)
        else:
            size = max(float(np.abs(told).max()), float(np.abs(total).max()))
            if told.shape == total.shape and np.allclose(told, total, rtol=1e-6, atol=1e-9 * size):
                return
        raise ValueError(
            f"{type(self.ensemble).__name__} does not predict the mean of the predictions of its "
            "members: give a forest or bagging, whose members are regressors of one target"
        )

    def _answer(self, number: int, X: Any) -> Floats:
        member = self.members[number]
        columns = getattr(self.ensemble, "estimators_features_", None)
        if columns is not None:
            own = np.asarray(columns[number])
            if not np.array_equal(own, np.arange(self.ensemble.n_features_in_)):
                X = columns_of(X, own)
        if not hasattr(member, "feature_names_in_"):
            X = _without_names(X)
        return np.asarray(member.predict(X), dtype=np.float64)

    def each(self) -> Iterator[Floats]:
        """Predictions of one member after the other, each of shape (n_rows,)."""
        for number in range(len(self.members)):
            yield self._answer(number, self._X)

    def spread(self) -> Floats:
        """Standard deviation of the members' predictions of each row."""
        mean, squares = np.zeros(self.n_rows), np.zeros(self.n_rows)
        with np.errstate(over="ignore", under="ignore"):
            for number, values in enumerate(self.each()):
                before = values - mean
                mean += before / (number + 1)
                squares += before * (values - mean)
        if not np.isfinite(squares).all():
            raise ValueError(
                "the members' answers differ so much that their variance is beyond float64: "
                "multiply y by a constant, such as 1 / abs(y).max(), and fit again"
            )
        spread: Floats = np.sqrt(squares / len(self.members))
        return spread


def _without_names(X: Any) -> Any:
    """Members fitted on arrays are asked about arrays."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame) else X


def left_out_by(ensemble: Any, n_rows: int) -> npt.NDArray[np.bool_]:
    """Whether each member (row of the result) left out each training row.

    Raises
    ------
    ValueError
        If this is not known, the ensemble learned from another number of rows, or its members left
        none out.
    """
    samples = getattr(ensemble, "estimators_samples_", None)
    if samples is None:
        raise ValueError(
            f"{type(ensemble).__name__} does not tell which rows its members learned from "
            "(estimators_samples_): give a forest or bagging, or use method='cv+'"
        )
    if not _has_drawn_from(ensemble, n_rows):
        raise ValueError(
            f"training has {n_rows} rows, but {type(ensemble).__name__} was fitted on another "
            "number: give its training rows, in their order"
        )
    left_out = np.ones((len(samples), n_rows), dtype=bool)
    for number, rows in enumerate(samples):
        drawn = np.asarray(rows)
        if drawn.dtype == bool:
            drawn = np.flatnonzero(drawn)
        if drawn.size and drawn.max() >= n_rows:
            raise ValueError(
                f"member {number} of {type(ensemble).__name__} learned from row {drawn.max()}, but "
                f"training has {n_rows} rows: give its training rows, in their order"
            )
        left_out[number, drawn] = False
    if not left_out.any():
        raise ValueError(
            "the members saw all rows, so there is none to judge them by: fit with bootstrap=True, "
            "or use method='cv+'"
        )
    return left_out


def _has_drawn_from(ensemble: Any, n_rows: int) -> bool:
    """Whether the members learned from so many rows, where the ensemble knows."""
    if isinstance(ensemble, ForestModel):
        return ensemble._bags is None or ensemble._bags.n_rows == n_rows
    if isinstance(ensemble, Bagging):
        return ensemble._members.have_drawn_from(n_rows)
    return bool(getattr(ensemble, "_n_samples", n_rows) == n_rows)
