"""Classes too many for the memory are refused in one sentence before it is allocated."""

import subprocess
import sys

import numpy as np
import pytest

from arboleda import RandomForestClassifier
from arboleda._engine import parallel as memory

# A process that may have 6 GiB: what is not estimated beforehand is refused by the system.
_CODE = """
import resource
import warnings
import numpy as np
import arboleda
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
X, y = np.arange(100_000.0)[:, None], np.arange(100_000)
model = {model}
try:
    model.fit(X, y)
    model.{method}(X)
except (MemoryError, ValueError) as error:
    print(type(error).__name__, error)
"""

_MEMBER = "('a', arboleda.DecisionTreeClassifier(max_leaf_nodes=3))"
_VOTING = f"arboleda.VotingClassifier([{_MEMBER}], voting='soft')"


@pytest.mark.parametrize(
    ("model", "method"),
    [
        ("arboleda.DecisionTreeClassifier()", "predict"),
        ("arboleda.RandomForestClassifier(3)", "predict"),
        ("arboleda.RandomForestClassifier(3, max_leaf_nodes=3)", "predict_proba"),
        ("arboleda.ExtraTreesClassifier(3, max_leaf_nodes=3)", "predict"),
        ("arboleda.HistGradientBoostingClassifier(max_iter=1, early_stopping=False)", "predict"),
        ("arboleda.GradientBoostingClassifier(n_estimators=1)", "predict"),
        ("arboleda.AdaBoostClassifier(n_estimators=2)", "predict"),
        ("arboleda.BaggingClassifier(n_estimators=2)", "predict"),
        (_VOTING,
         "predict_proba"),
    ],
)  # fmt: skip
def test_a_hundred_thousand_classes_are_refused(model: str, method: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(model=model, method=method)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "bad_alloc" not in done.stdout
    # In GiB, with the number of classes; NumPy's own message names the shape of its array.
    assert "GiB" in done.stdout
    assert "100,000 classes" in done.stdout or "100000" in done.stdout
    assert done.stdout.count("\n") == 1


def test_memory_is_estimated_before_it_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.arange(40.0)[:, np.newaxis]
    forest = RandomForestClassifier(3, random_state=0).fit(X, np.arange(40) % 4)
    monkeypatch.setattr(memory, "get_usable_memory", lambda: 40 * 4 * 8 - 1)
    with pytest.raises(
        MemoryError, match="predicting requires .* 40 rows x 4 classes, .* fewer rows"
    ):
        forest.predict_proba(X)
    monkeypatch.setattr(memory, "get_usable_memory", lambda: 40 * 4 * 8)
    assert forest.predict_proba(X).shape == (40, 4)


def test_unexpected_memory_errors_are_one_sentence() -> None:
    code = """
import resource
import numpy as np
from arboleda import RandomForestRegressor
X = np.random.default_rng(0).random((200_000, 20))
model = RandomForestRegressor(400, n_jobs=1, max_depth=2)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), used + (1 << 20)))
try:
    model.fit(X, X[:, 0])
except MemoryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "bad_alloc" not in done.stdout
    assert "memory" in done.stdout or "allocate" in done.stdout
