"""The file matches its description: a second reader and writer agree to the byte."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.persist.models import MODELS, X
from tests.persist.twin import FileTwin, TreeTwin, array_content, crc32c, section
from tests.property.strategies import trees_of

from arboleda import _native, load
from arboleda._engine.model_file import read_model, write_model
from arboleda.persist._files import model_to_bytes


def test_the_checksum_is_crc_32c() -> None:
    assert crc32c(b"123456789") == 0xE3069283


@pytest.mark.parametrize("name", MODELS)
def test_the_twin_reads_and_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    data = model_to_bytes(model)
    twin = FileTwin.read(data)
    tree = twin.tree
    assert tree.write() == twin.sections[0][1]
    assert twin.write() == data
    assert tree.n_features == model.n_features_in_
    assert_array_equal(tree.arrays["right"], trees_of(model)[0]._native.right)
    assert twin.json["class"] == type(model).__name__
    (tmp_path / "model").write_bytes(twin.write())
    assert load(tmp_path / "model").get_params() == model.get_params()


def test_predictions_can_be_computed_from_the_description() -> None:
    model = MODELS["regressor"]()
    tree = FileTwin.read(model_to_bytes(model)).tree.arrays
    for row, expected in zip(X, model.predict(X), strict=True):
        node = 0
        while tree["right"][node] >= 0:
            x = row[tree["feature"][node]]
            left = tree["missing_left"][node] if np.isnan(x) else x <= tree["threshold"][node]
            node = node + 1 if left else tree["right"][node]
        assert tree["value"][node] == expected


def test_the_state_of_a_pickle_is_a_section() -> None:
    native = MODELS["classifier"]().tree_._native
    state = native.__getstate__()
    length = int.from_bytes(state[8:16], "little")
    content = state[16 : 16 + length]
    assert TreeTwin.read(content).write() == content
    assert section(b"TREE", content) == state


def test_arrays_of_any_shape_are_kept() -> None:
    arrays = {
        "a.b_1": np.array([[1.5, np.nan, -0.0], [np.inf, 5e-324, 1e308]]),
        "empty": np.zeros((3, 0)),
        "scalar": np.array(7),
        "z" * 64: np.array([-(2**63), 2**63 - 1]),
    }
    tree = MODELS["classifier"]().tree_
    data = write_model(b"{}", [tree, tree], arrays)
    header, trees, again, forests = read_model(data)
    assert forests == []
    assert header.rstrip() == b"{}"
    assert len(trees) == 2
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        assert_array_equal(again[name], array, strict=True)
        assert again[name].tobytes() == array.tobytes()
    twin = FileTwin.read(data)
    assert [content for kind, content in twin.sections if kind == b"ARRY"] == [
        array_content(name, array) for name, array in arrays.items()
    ]
    assert write_model(header, trees, again) == data


@pytest.mark.parametrize("name", ["", "A", "a b", "ñ", "x" * 65])
def test_names_of_arrays_are_simple(name: str) -> None:
    with pytest.raises(ValueError, match="needs a name"):
        write_model(b"{}", [], {name: np.zeros(1)})


@pytest.mark.parametrize("array", [np.zeros(2, np.float32), np.zeros(2, bool), np.array(["x"])])
def test_other_types_of_arrays_are_refused(array: np.ndarray) -> None:
    with pytest.raises((TypeError, RuntimeError)):
        _native.write_model(b"{}", [], [], [("x", array)])
