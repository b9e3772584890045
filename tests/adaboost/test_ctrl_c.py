"""Ctrl-C ends boosting at once, in the engine and in the loop over members of any type."""

import signal
import subprocess
import sys
import time

import pytest

_BOOST = """
import numpy as np
from sklearn.linear_model import Ridge
from arboleda import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier
X = np.random.default_rng(0).normal(size=(3000, 12))
y = (X[:, 0] + np.random.default_rng(1).normal(size=3000) > 0).astype(int)
member = DecisionTreeClassifier(max_depth={depth})
print("ready", flush=True)
{model}.fit(X, y)
"""


@pytest.mark.parametrize(
    ("model", "depth"),
    [
        ("AdaBoostClassifier(member, n_estimators=600_000, algorithm='discrete')", 1),
        ("AdaBoostClassifier(member, n_estimators=600_000, algorithm='real')", 3),
        ("AdaBoostRegressor(n_estimators=600_000, learning_rate=1e-9)", 1),
        ("AdaBoostRegressor(Ridge(), n_estimators=600_000, learning_rate=1e-9)", 1),
    ],
    ids=["stumps", "trees", "regression trees", "members of any kind"],
)
def test_ctrl_c_ends_boosting(model: str, depth: int) -> None:
    code = _BOOST.format(model=model, depth=depth)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(1.0)  # it boosts now
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in child.communicate(timeout=20)[1]
