"""A model that misbehaves on request; a worker must load little to unpickle it."""

import os
import signal
import time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

MB = 1_000_000


class Odd(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Perform the given act while fitting, then predict the first class."""

    def __init__(self, act: str = "nothing") -> None:
        self.act = act

    def fit(self, X: Any, y: Any) -> "Odd":
        if self.act == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.act == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.act == "leave":
            os._exit(3)
        if self.act == "sleep":
            time.sleep(60)
        if self.act == "eat":
            np.ones(300 * MB)
        if self.act == "error":
            raise ValueError("no")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])
