"""Bayes' rule, and the classifiers that apply it."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._engine.columns import Schema
from arboleda._engine.table import check_table
from arboleda.learners._class_rows import (
    ClassRows,
    Units,
    complete_matrix,
    dense_table,
    read_class_rows,
)

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class BayesRuleClassifier(NamesOtherParameters, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base class of classifiers that apply Bayes' rule to the densities of the classes."""

    classes_: Array
    class_prior_: Floats
    n_features_in_: int
    schema_: Schema

    @abstractmethod
    def _log_joint(self, X: Any) -> Floats:
        """Return log P(k) + log p(x | k), up to a constant of the row, of shape (n, n_classes).

        Values are never NaN; minus infinity marks an impossible class. At least one class of each
        row must be possible.
        """

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest posterior probability; a tie goes to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        labels: Array = self.classes_[self._log_joint(X).argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Predict the posterior probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; each row sums to 1.
        """
        p: Floats = np.exp(self.predict_log_proba(X))
        return p

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the posterior probabilities; minus infinity for 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        joint = self._log_joint(X)
        joint -= joint.max(axis=1, keepdims=True)
        log_p: Floats = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
        return log_p


def compute_class_priors(priors: Any, class_weight: Floats, classes: Array) -> Floats:
    """Return the prior probability of each class: `priors`, or the shares of the weight.

    Parameters
    ----------
    priors : array-like of shape (n_classes,) or None
    class_weight : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    classes : ndarray of shape (n_classes,)
        Labels, for error messages.

    Returns
    -------
    priors : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If priors do not match the classes, are not probabilities, or are positive only for classes
        without training rows.
    """
    if priors is None:
        shares: Floats = class_weight / class_weight.sum()
        return shares
    given = np.array(priors, dtype=np.float64)
    if given.shape != classes.shape:
        raise ValueError(
            f"priors has the shape {given.shape}, but y has {classes.size} classes: give one "
            "number per class, in the order of the sorted labels"
        )
    for label, prior in zip(classes.tolist(), given.tolist(), strict=True):
        if not 0.0 <= prior <= 1.0:
            raise ValueError(
                f"priors gives the class {label!r} the probability {prior}: probabilities must be "
                "from 0 to 1"
            )
    if not np.isclose(given.sum(), 1.0):
        raise ValueError(f"priors must sum to 1, got the sum {given.sum():.6g}")
    if not given[class_weight > 0.0].any():
        raise ValueError(
            "priors are 0 for every class that has a row of positive weight: at least one of these "
            "classes needs a positive prior"
        )
    return given


def compute_log_priors(priors: Floats, class_weight: Floats) -> Floats:
    """Return the logarithms of the priors; minus infinity for classes without training rows."""
    with np.errstate(divide="ignore"):
        log_prior: Floats = np.log(np.where(class_weight > 0.0, priors, 0.0))
    return log_prior


class NumbersClassifier(BayesRuleClassifier, metaclass=ABCMeta):
    """Base class that checks rows and rescales them to units in which nothing overflows."""

    priors: Any
    _class_weight: Floats
    _units: Units

    def _enter_rows(
        self, X: Any, y: Any, sample_weight: Any, *, common: bool
    ) -> tuple[ClassRows, Floats]:
        """Check the arguments of `fit` and set the attributes that predictions need.

        Returns the rows, and their values in rescaled units of each column, or in a ``common`` unit
        of all columns.
        """
        rows = read_class_rows(self, X, y, sample_weight)
        self.classes_: Array = rows.classes
        self.class_prior_: Floats = compute_class_priors(
            self.priors, rows.class_weight, rows.classes
        )
        self._class_weight = rows.class_weight
        table = complete_matrix(self, rows.table, self.schema_)
        self._units = Units.of(table, common=common)
        return rows, self._units.enter(table)

    def _enter_new_rows(self, X: Any) -> Floats:
        """Check rows to predict, and return their values in the same units."""
        table = dense_table(self, check_table(self, X, reset=False))
        return self._units.enter(complete_matrix(self, table, self.schema_))
