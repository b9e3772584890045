"""Answers of members of any kind, as votes for classes that all of them number alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import Floats


def hard_votes(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """1 for the class that a classifier predicts, else 0; of shape (n_rows, n_classes)."""
    answer = np.asarray(member.predict(X))
    votes: Floats = (answer[:, np.newaxis] == labels).astype(np.float64)
    return votes


def class_shares(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Probabilities by a classifier; 0 for a class that its rows did not hold."""
    found = np.asarray(member.predict_proba(X), dtype=np.float64)
    if found.shape[1] == len(labels):
        return found
    shares = np.zeros((len(found), len(labels)))
    shares[:, np.searchsorted(labels, member.classes_)] = found
    return shares


def plausibilities(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Probabilities where a classifier has some, else 1 for the class that it predicts."""
    has_shares = hasattr(member, "predict_proba")
    return (class_shares if has_shares else hard_votes)(member, X, labels)


def numbers(member: Any, X: Any) -> Floats:
    """Values by a regressor."""
    found: Floats = np.asarray(member.predict(X), dtype=np.float64).reshape(-1)
    return found
