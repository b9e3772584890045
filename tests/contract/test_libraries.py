"""No frame library is required, and using one imports no other."""

import subprocess
import sys

import pytest

_ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pandas", "polars", "pyarrow"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import numpy as np
from scipy import sparse
from arboleda import DecisionTreeClassifier, DecisionTreeRegressor
X = np.arange(12.0).reshape(6, 2)
for table in (X, X.tolist(), sparse.csr_array(X), X.astype(object)):
    assert DecisionTreeRegressor().fit(table, X[:, 0]).predict(table).tolist() == X[:, 0].tolist()
labels = [["a", 1], ["b", 2], ["a", 3]]
model = DecisionTreeClassifier(categorical_features=[0]).fit(labels, ["x", "y", "x"])
assert model.predict(labels).tolist() == ["x", "y", "x"]
"""

_ALONE = """
import sys
import {library} as library
from arboleda import DecisionTreeClassifier
before = set(sys.modules)
table = {table}
model = DecisionTreeClassifier().fit(table, [0, 1, 0])
assert model.predict(table).tolist() == [0, 1, 0]
others = {{"pandas", "polars", "pyarrow"}} - before
assert not others & set(sys.modules), others & set(sys.modules)
"""


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_frame_library_is_needed() -> None:
    run(_ABSENT)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_one_library_does_not_import_another(library: str) -> None:
    data = "{'s': ['a', 'b', 'a'], 'n': [1, 2, None]}"
    make = "library.table" if library == "pyarrow" else "library.DataFrame"
    run(_ALONE.format(library=library, table=f"{make}({data})"))
