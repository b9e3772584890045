"""Outputs of any fitted estimator, and of each member of an ensemble."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from arboleda._base.members import columns_of
from arboleda.bagging import Bagging, WeightedEnsemble
from arboleda.explain._conformal import take_rows, unwrap_pipeline
from arboleda.forest import ForestModel

__all__ = [
    "METHODS",
    "MemberPredictions",
    "OutputReader",
    "Outputs",
    "compute_oob_mask",
    "make_output_reader",
]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Method = Literal["predict_proba", "decision_function", "predict"]
Kind = Literal["probability", "decision", "vote", "value"]

METHODS: tuple[Method, ...] = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs of an estimator for some rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Finite outputs.
    names : tuple of str
        Names of the outputs: class labels as text; ``"value"`` for a single-target regressor,
        ``"value 0"`` and so on for several targets.
    kind : {"probability", "decision", "vote", "value"}
        Probabilities of all classes; margins (for two classes, only that of the second); 1 for the
        predicted class and 0 for the others; or predicted values.
    classes : ndarray of shape (n_outputs,) or None
        The class labels of the names; None for values.
    """

    values: Floats
    names: tuple[str, ...]
    kind: Kind
    classes: Array | None


@dataclass(frozen=True)
class OutputReader:
    """Reader of a fitted estimator's outputs, always by the same method.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    method : {"predict_proba", "decision_function", "predict"}
    classes : ndarray of shape (n_classes,) or None
        Class labels of a classifier; None for other estimators.
    """

    estimator: Any
    method: Method
    classes: Array | None

    def __call__(self, X: Any) -> Outputs:
        """Compute the estimator's outputs for the rows of a table.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_rows, n_features)
            Passed to the estimator unchanged, which checks the columns itself.

        Returns
        -------
        Outputs

        Raises
        ------
        ValueError
            If an output is not finite, or the outputs are not a table of numbers.
        """
        raw = getattr(self.estimator, self.method)(X)
        if self.classes is None:
            values = _as_table(raw, self.estimator)
            names = (
                ("value",)
                if values.shape[1] == 1
                else tuple(f"value {k}" for k in range(values.shape[1]))
            )
            kind: Kind = "decision" if self.method == "decision_function" else "value"
            return Outputs(_check_finite(values, self.estimator), names, kind, None)
        if self.method == "predict":
            shares = _one_hot(np.asarray(raw), self.classes, self.estimator)
            return Outputs(shares, _as_texts(self.classes), "vote", self.classes)
        values = _check_finite(_as_table(raw, self.estimator), self.estimator)
        kind = "probability" if self.method == "predict_proba" else "decision"
        classes = self.classes
        if kind == "decision" and values.shape[1] == 1:
            classes = classes[-1:]
        if values.shape[1] != len(classes):
            raise ValueError(
                f"{type(self.estimator).__name__}.{self.method} returns {values.shape[1]} numbers "
                f"per row for {len(classes)} classes: it must return one for each class of classes_"
            )
        return Outputs(values, _as_texts(classes), kind, classes)


def make_output_reader(estimator: Any, methods: Sequence[Method] = METHODS) -> OutputReader:
    """Make a reader of an estimator's outputs, by the first available method.

    Parameters
    ----------
    estimator : estimator
        Fitted: a single-target classifier, a regressor, or any estimator with one of the methods,
        such as an outlier detector.
    methods : sequence of {"predict_proba", "decision_function", "predict"}
        The first of them that the estimator has is used; for a regressor always ``predict``.

    Returns
    -------
    OutputReader

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is a class, is not an estimator, or has none of the methods.
    ValueError
        If it is a multi-target classifier.
    """
    name = type(estimator).__name__
    if inspect.isclass(estimator):
        raise TypeError(f"{estimator.__name__} is a class: give a fitted instance of it")
    if not hasattr(estimator, "fit"):
        raise TypeError(
            f"{estimator!r} is not an estimator, as it has no fit: give a fitted classifier or "
            "regressor"
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(f"this {name} is not fitted yet: call fit first") from error
    if _has_type(is_regressor, estimator):
        return OutputReader(estimator, "predict", None)
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        raise TypeError(
            f"{name} has no {' and no '.join(methods)}: give an estimator that has"
            f"{'' if len(methods) == 1 else ' one of them'}"
        )
    if not _has_type(is_classifier, estimator) and not hasattr(estimator, "classes_"):
        return OutputReader(estimator, method, None)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise TypeError(f"{name} is a classifier without classes_: give one that defines them")
    if isinstance(classes, list) and any(np.ndim(of_one) for of_one in classes):
        raise ValueError(
            f"{name} predicts {len(classes)} targets: explain a classifier of one target at a "
            "time, fitted on one column of y"
        )
    return OutputReader(estimator, method, np.asarray(classes))


def _has_type(check: Any, estimator: Any) -> bool:
    try:
        return bool(check(estimator))
    except AttributeError:  # an estimator without scikit-learn's tags
        return False


def _as_texts(classes: Array) -> tuple[str, ...]:
    return tuple(str(label) for label in classes.tolist())


def _as_table(raw: Any, estimator: Any) -> Floats:
    values = np.asarray(raw, dtype=np.float64)
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2:
        raise ValueError(
            f"{type(estimator).__name__} returns an array of shape {values.shape}, but one or more "
            "numbers per row are required"
        )
    return values


def _check_finite(values: Floats, estimator: Any) -> Floats:
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(
            f"{type(estimator).__name__} returns {values[row].tolist()} for row {row}, which "
            "cannot be explained: give rows with finite predictions"
        )
    return values


def _one_hot(labels: Array, classes: Array, estimator: Any) -> Floats:
    """Encode predicted labels as one-hot rows."""
    if labels.ndim == 2 and labels.shape[1] == 1:  # as CatBoost returns
        labels = labels[:, 0]
    shares: Floats = (labels[:, np.newaxis] == classes).astype(np.float64)
    unknown = np.flatnonzero(~shares.any(axis=1))
    if unknown.size:
        raise ValueError(
            f"{type(estimator).__name__} predicts {labels[unknown[0]]!r} for row {unknown[0]}, "
            f"which is not one of its classes {classes.tolist()}"
        )
    return shares


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
