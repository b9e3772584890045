"""Large tables: memory beside the data, and time in proportion to it.

Each fit runs in a process of its own, which reports the memory it took beside that of its data.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

# Makes X and y, fits, and prints bytes of X, most memory beside what there was before the fit, and
# seconds of processor time.
_PROGRAM = """
import json, pathlib, sys, time
import numpy as np
from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

def memory(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])

random = np.random.default_rng(0)
{make}
DecisionTreeRegressor().fit(np.zeros((2, 1)), [0.0, 1.0])
before = memory("VmRSS")
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
start = time.process_time()
model.fit(X, y)
seconds = time.process_time() - start
print(json.dumps(dict(
    data=X.nbytes, beside=memory("VmHWM") - before, seconds=seconds, leaves=model.get_n_leaves()
)))
"""


def measure(make: str) -> dict[str, Any]:
    """Run one fit of `make`, which makes X, y and the model."""
    program = _PROGRAM.format(make=make)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=1500
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ten_million_rows_take_at_most_two_and_a_half_times_their_data() -> None:
    found = measure(
        """
X = random.standard_normal((10_000_000, 10), dtype=np.float32)
y = X[:, 0].astype(np.float64)
model = DecisionTreeRegressor(max_depth=6, max_bins=255)
"""
    )
    assert found["data"] + found["beside"] <= 2.5 * found["data"], found
    assert found["leaves"] == 64


_LEVELS = """
n = {n_rows}
X = random.integers(0, {n_levels}, size=(n, 8)).astype(np.float64)
effect = random.normal(size={n_levels})
y = effect[X[:, 0].astype(int)] + random.normal(size=n)
model = DecisionTreeRegressor(categorical_features=range(8), max_depth=5, n_jobs=1)
"""


@pytest.mark.parametrize("n_levels", [1000, 65_535])
def test_a_million_rows_of_many_categories_are_fast(n_levels: int) -> None:
    """Twice the rows take little more than twice the time; memory is at most 3 times the data."""
    found = [
        measure(_LEVELS.format(n_rows=n, n_levels=n_levels)) for n in (250_000, 500_000, 1_000_000)
    ]
    assert found[-1]["seconds"] < 2.6**2 * found[0]["seconds"], found
    assert found[-1]["data"] + found[-1]["beside"] <= 3 * found[-1]["data"], found


def test_a_million_rows_of_distinct_numbers_are_binned_fast() -> None:
    """As many values as rows, in as few bins as requested; time grows with n log n."""
    make = """
X = random.normal(size=({n_rows}, 8))
y = X[:, 0] + random.normal(size={n_rows})
model = DecisionTreeRegressor(max_depth=5, max_bins={max_bins}, n_jobs=1)
"""
    for max_bins in (None, 255):
        found = [
            measure(make.format(n_rows=n, max_bins=max_bins)) for n in (250_000, 500_000, 1_000_000)
        ]
        assert found[-1]["seconds"] < 2.7**2 * found[0]["seconds"], found
        assert found[-1]["data"] + found[-1]["beside"] <= 3 * found[-1]["data"], found
