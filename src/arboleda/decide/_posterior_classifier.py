"""Base class of decision rules on the posteriors of a classifier, with optional calibration."""

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
from sklearn.utils import Tags, indexable
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import copy_input_tags
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._utils.number_types import is_integer
from arboleda._utils.sparse import check_sparse
from arboleda.combine import (
    MemberTraining,
    Named,
    check_held_out_weights,
    folds_of,
    params_of_members,
    places_of,
    predictions_by_fold,
    read_classes,
    read_weights,
)

__all__ = ["Calibration", "HeldOut", "PosteriorClassifier"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]
Calibration = Literal["sigmoid", "isotonic", "temperature"]


@dataclass(frozen=True)
class HeldOut:
    """Out-of-fold posteriors.

    Attributes
    ----------
    posteriors : ndarray of shape (n_rows, n_classes)
    rows : ndarray
        Indices of the rows in the table.
    true : ndarray
        Class indices of the rows.
    weight : ndarray
        Weights of the rows.
    """

    posteriors: Floats
    rows: Numbers
    true: Numbers
    weight: Floats


class PosteriorClassifier(NamesOtherParameters, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of classifiers that apply a decision rule to the posteriors of another one."""

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
        """Fit the model to all rows; with `held_out`, return its out-of-fold posteriors too."""
        check_sparse(X)
        self._check_estimator(held_out)
        classes, true = read_classes(y)
        check_consistent_length(X, true)
        if not len(true):
            raise ValueError("X has 0 sample(s): at least one row is required")
        if self.calibration is not None and len(classes) < 2:
            raise ValueError(
                f"y holds one class, {classes.tolist()[0]!r}: calibration needs rows of two classes"
            )
        weight = _check_weights(params.get("sample_weight"), true)
        model_params = self._route_params(params)
        model = self._make_model()
        posteriors = None
        if held_out:
            posteriors = self._fit_held_out(model, X, classes, true, weight, model_params)
        self.estimator_ = clone(model).fit(X, classes[true], **model_params)
        self.classes_ = classes
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return posteriors

    def _check_estimator(self, held_out: bool) -> None:
        kind = type(self.estimator).__name__
        if not is_classifier(self.estimator):
            raise ValueError(f"estimator is a {kind}, which is not a classifier")
        if self.calibration is None and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"estimator is a {kind} without predict_proba, but decisions need probabilities: "
                "set calibration='sigmoid' (or 'isotonic', 'temperature'), which estimates them"
            )
        is_custom_cv = not (self.cv is None or is_integer(self.cv))
        if held_out and self.calibration and is_custom_cv and not hasattr(self.cv, "split"):
            raise ValueError(
                "cv lists rows of the table, but calibration also needs folds inside each fold: "
                "give a number of folds or a splitter"
            )

    def _make_model(self) -> Any:
        if self.calibration is None:
            return self.estimator
        return CalibratedClassifierCV(
            self.estimator, method=self.calibration, cv=self.cv, n_jobs=self.n_jobs
        )

    def _route_params(self, params: dict[str, Any]) -> dict[str, Any]:
        routed = params_of_members(self, [("estimator", self.estimator)], params)["estimator"]
        weight = params.get("sample_weight")
        if self.calibration is None or weight is None:
            return routed
        if get_config()["enable_metadata_routing"]:
            # CalibratedClassifierCV uses the weights itself, and routes them to the model.
            routed = {**params, **routed}
        return {**routed, "sample_weight": weight}

    def _fit_held_out(
        self,
        model: Any,
        X: Any,
        classes: Array,
        true: Numbers,
        weight: Floats,
        model_params: dict[str, Any],
    ) -> HeldOut:
        """Return the out-of-fold posteriors; the mean if a row is in several test folds."""
        if isinstance(model, FrozenEstimator):
            check_held_out_weights(weight)
            posteriors = _predict_posteriors(model, X, classes)
            return HeldOut(posteriors, np.arange(len(true)), true, weight)
        folds = folds_of(self.cv, X, true, None, classes=True)
        name = type(self.estimator).__name__
        training = MemberTraining(
            indexable(X)[0], classes[true], None, {name: model_params}, self.n_jobs
        )

        def predict(member: Named, rows: Any, _: Array | None) -> Floats:
            return _predict_posteriors(member[1], rows, classes)

        posteriors = np.zeros((len(folds.rows), len(classes)))
        for _, split, fold_posteriors in predictions_by_fold(
            [(name, model)], training, folds, predict
        ):
            posteriors[folds.places(split)] += fold_posteriors
        posteriors /= folds.times[:, np.newaxis]
        check_held_out_weights(weight[folds.rows])
        return HeldOut(posteriors, folds.rows, true[folds.rows], weight[folds.rows])

    def _compute_posteriors(self, X: Any) -> Floats:
        check_is_fitted(self)
        check_sparse(X)
        return _predict_posteriors(self.estimator_, X, self.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probabilities of the classes, calibrated if ``calibration`` is set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        return self._compute_posteriors(X)

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
            logarithms: Floats = np.log(self._compute_posteriors(X))
        return logarithms

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of this estimator and of the model.

        Returns
        -------
        routing : MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router: MetadataRouter = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.estimator, ("sparse", "allow_nan", "categorical", "string"))
        return tags


def _check_weights(sample_weight: Any, true: Numbers) -> Floats:
    """Check and return the weights of the rows; all 1 if `sample_weight` is None."""
    if sample_weight is not None:
        given = np.asarray(sample_weight)
        if given.dtype.kind in "biuf" and given.ndim == 1:
            wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
            if wrong.size:
                raise ValueError(
                    f"sample_weight is {given[wrong[0]]} in row {wrong[0]}: weights must be finite "
                    "and non-negative; 0 excludes a row"
                )
            if not given.any():
                raise ValueError(
                    "sample_weight is zero for every row: at least one must be positive"
                )
    return read_weights(sample_weight, true)


def _predict_posteriors(model: Any, X: Any, classes: Array) -> Floats:
    """Return the probabilities of all classes; 0 for those that the model was not fitted on.

    Raises
    ------
    ValueError
        If the model was fitted on other classes, or a probability is not finite.
    """
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    model_classes = np.asarray(model.classes_)
    if not np.isfinite(probabilities).all():
        row = int(np.argwhere(~np.isfinite(probabilities))[0][0])
        raise ValueError(
            f"{type(model).__name__} returned the probabilities {probabilities[row].tolist()} for "
            f"row {row}, which must be finite: check this row, or use another model"
        )
    if np.array_equal(model_classes, classes):
        return probabilities
    posteriors = np.zeros((len(probabilities), len(classes)))
    posteriors[:, places_of(type(model).__name__, model_classes, classes)] = probabilities
    return posteriors
