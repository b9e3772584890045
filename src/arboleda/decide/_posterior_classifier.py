"""What decisions over a model share: its posteriors, calibrated if asked, also out of fold."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._sparse import check_sparse
from arboleda.combine._fits import Training, predictions_by_fold
from arboleda.combine._folds import folds_of
from arboleda.combine._members import Named, places_of
from arboleda.combine._routing import params_of_members
from arboleda.combine._target import check_held_out_weights, read_classes, read_weights

__all__ = ["Calibration", "HeldOut", "PosteriorClassifier"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]
Calibration = Literal["sigmoid", "isotonic", "temperature"]


@dataclass(frozen=True)
class HeldOut:
    """Posteriors of rows that the model did not learn from.

    Attributes
    ----------
    posteriors : ndarray of shape (n_rows, n_classes)
    rows : ndarray
        Which rows of the table.
    true : ndarray
        Numbers of their classes.
    weight : ndarray
        Their weights.
    """

    posteriors: Floats
    rows: Numbers
    true: Numbers
    weight: Floats


class PosteriorClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that decides by the posteriors of another one."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "calibration": [StrOptions({"sigmoid", "isotonic", "temperature"}), None],
        "cv": ["cv_object"],
        "n_jobs": [None, Integral],
    }

    estimator: Any
    calibration: Calibration | None
    cv: Any
    n_jobs: int | None
    estimator_: Any
    classes_: Array

    def _fit_posteriors(
        self, X: Any, y: Any, params: dict[str, Any], *, held_out: bool
    ) -> HeldOut | None:
        """Fit the model on all rows; if asked, return its posteriors out of fold too."""
        check_sparse(X)
        self._check_estimator(held_out)
        classes, true = read_classes(y)
        check_consistent_length(X, true)
        if not len(true):
            raise ValueError("X has 0 sample(s): there is nothing to learn from")
        if self.calibration is not None and len(classes) < 2:
            raise ValueError(
                f"y holds one class, {classes.tolist()[0]!r}: calibration needs rows of two"
            )
        weight = _checked_weights(params.get("sample_weight"), true)
        of_model = self._params_of_model(params)
        model = self._model()
        found = None
        if held_out:
            found = self._held_out(model, X, classes, true, weight, of_model)
        self.estimator_ = clone(model).fit(X, classes[true], **of_model)
        self.classes_ = classes
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return found

    def _check_estimator(self, held_out: bool) -> None:
        kind = type(self.estimator).__name__
        if not is_classifier(self.estimator):
            raise ValueError(f"estimator is a {kind}, which is no classifier")
        if self.calibration is None and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"estimator is a {kind} without predict_proba, and decisions need probabilities: "
                "give calibration='sigmoid' (or 'isotonic', 'temperature'), which learns them"
            )
        rows_given = not (self.cv is None or isinstance(self.cv, Integral))
        if held_out and self.calibration and rows_given and not hasattr(self.cv, "split"):
            raise ValueError(
                "cv lists rows of the table, but calibration also needs folds inside each fold: "
                "give a number of folds or a splitter"
            )

    def _model(self) -> Any:
        if self.calibration is None:
            return self.estimator
        return CalibratedClassifierCV(
            self.estimator, method=self.calibration, cv=self.cv, n_jobs=self.n_jobs
        )

    def _params_of_model(self, params: dict[str, Any]) -> dict[str, Any]:
        routed = params_of_members(self, [("estimator", self.estimator)], params)["estimator"]
        weight = params.get("sample_weight")
        if self.calibration is None or weight is None:
            return routed
        if get_config()["enable_metadata_routing"]:
            # CalibratedClassifierCV weighs its rows itself, and asks the model what it wants.
            routed = {**params, **routed}
        return {**routed, "sample_weight": weight}

    def _held_out(
        self,
        model: Any,
        X: Any,
        classes: Array,
        true: Numbers,
        weight: Floats,
        of_model: dict[str, Any],
    ) -> HeldOut:
        """Posteriors of each row by models that did not see it; the mean if there are several."""
        if isinstance(model, FrozenEstimator):
            check_held_out_weights(weight)
            said = _posteriors_of(model, X, classes)
            return HeldOut(said, np.arange(len(true)), true, weight)
        folds = folds_of(self.cv, X, true, None, classes=True)
        name = type(self.estimator).__name__
        training = Training(indexable(X)[0], classes[true], None, {name: of_model}, self.n_jobs)

        def ask(member: Named, rows: Any, _: Array | None) -> Floats:
            return _posteriors_of(member[1], rows, classes)

        posteriors = np.zeros((len(folds.rows), len(classes)))
        for _, split, said in predictions_by_fold([(name, model)], training, folds, ask):
            posteriors[folds.places(split)] += said
        posteriors /= folds.times[:, np.newaxis]
        check_held_out_weights(weight[folds.rows])
        return HeldOut(posteriors, folds.rows, true[folds.rows], weight[folds.rows])

    def _posteriors(self, X: Any) -> Floats:
        check_is_fitted(self)
        check_sparse(X)
        return _posteriors_of(self.estimator_, X, self.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Return the model's probabilities of the classes, calibrated if that was asked for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        return self._posteriors(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self._posteriors(X))
        return logarithms

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn which metadata goes to this estimator and which to the model.

        Returns
        -------
        routing : MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router: MetadataRouter = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        theirs = get_tags(self.estimator)
        tags.input_tags.sparse = theirs.input_tags.sparse
        tags.input_tags.allow_nan = theirs.input_tags.allow_nan
        tags.input_tags.categorical = theirs.input_tags.categorical
        tags.input_tags.string = theirs.input_tags.string
        return tags


def _checked_weights(sample_weight: Any, true: Numbers) -> Floats:
    """Weights of rows, all 1 if none are given; what is no weight is refused by its row."""
    if sample_weight is not None:
        given = np.asarray(sample_weight)
        if given.dtype.kind in "biuf" and given.ndim == 1:
            wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
            if wrong.size:
                raise ValueError(
                    f"sample_weight is {given[wrong[0]]} in row {wrong[0]}: weights are finite "
                    "and not negative; 0 leaves a row out"
                )
            if not given.any():
                raise ValueError("sample_weight is zero for every row: one must be positive")
    return read_weights(sample_weight, true)


def _posteriors_of(model: Any, X: Any, classes: Array) -> Floats:
    """Probabilities of all classes; one that the model has not seen has 0.

    Raises
    ------
    ValueError
        If it knows other classes, or its probabilities are no numbers.
    """
    said = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = np.asarray(model.classes_)
    if not np.isfinite(said).all():
        row = int(np.argwhere(~np.isfinite(said))[0][0])
        raise ValueError(
            f"{type(model).__name__} gives the probabilities {said[row].tolist()} to row {row}: no "
            "decision can be made of them; give it rows that it can judge, or another model"
        )
    if np.array_equal(known, classes):
        return said
    posteriors = np.zeros((len(said), len(classes)))
    posteriors[:, places_of(type(model).__name__, known, classes)] = said
    return posteriors
