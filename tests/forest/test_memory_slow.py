"""A thousand full trees on 50,000 rows take the memory stated in the guide; a fit, little more."""

import json
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

# Bytes of the forest, most memory during the fit beside what there was before it, and leaves.
_PROGRAM = """
import json, pathlib
import numpy as np
from arboleda import RandomForestClassifier, RandomForestRegressor

def memory(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])

random = np.random.default_rng(0)
X = random.random((50_000, 10), dtype=np.float32)
noise = random.normal(size=50_000)
y = {target}
{model}.fit(X[:200], y[:200])
forest = {model}
before = memory("VmRSS")
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
forest.fit(X, y)
print(json.dumps(dict(
    forest=forest.forest_.n_bytes,
    beside=memory("VmHWM") - before,
    leaves=sum(tree.get_n_leaves() for tree in forest.estimators_[:10]) / 10,
)))
"""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("model", "target", "leaves", "gigabytes"),
    [
        # Every other row of a bag is a leaf of its own: 50,000 (1 - 1/e) of them.
        ("RandomForestRegressor(1000, max_features=3)", "X[:, 0] + noise", 31_600, 1.7),
        ("RandomForestClassifier(1000)", "X[:, 0] + 0.3 * noise > 0.5", 6_700, 0.45),
    ],
    ids=["numbers", "classes"],
)
def test_a_thousand_full_trees_fit_in_memory(
    model: str, target: str, leaves: int, gigabytes: float
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(model=model, target=target)],
        capture_output=True,
        text=True,
        check=True,
        timeout=1700,
    )
    found = json.loads(done.stdout)
    assert found["leaves"] == pytest.approx(leaves, rel=0.05)
    assert found["forest"] < gigabytes * 1e9
    assert found["beside"] < 1.1 * found["forest"] + 100e6
