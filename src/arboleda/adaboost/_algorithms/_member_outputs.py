"""Predictions of members of any kind, as votes with one column per class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import Floats


def predict_hard_votes(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Return the one-hot encoded predictions, of shape (n_rows, n_classes)."""
    predicted = np.asarray(member.predict(X))
    votes: Floats = (predicted[:, np.newaxis] == labels).astype(np.float64)
    return votes


def predict_class_shares(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Return class probabilities; 0 for classes that the member was not fitted on."""
    known = np.asarray(member.predict_proba(X), dtype=np.float64)
    if known.shape[1] == len(labels):
        return known
    shares = np.zeros((len(known), len(labels)))
    shares[:, np.searchsorted(labels, member.classes_)] = known
    return shares


def predict_plausibilities(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Return class probabilities, or hard votes if the member has no ``predict_proba``."""
    has_shares = hasattr(member, "predict_proba")
    return (predict_class_shares if has_shares else predict_hard_votes)(member, X, labels)


def predict_values(member: Any, X: Any) -> Floats:
    """Return the predictions of a regressor as a flat array."""
    values: Floats = np.asarray(member.predict(X), dtype=np.float64).reshape(-1)
    return values
