"""Files with one thing wrong: the error and its message."""

import gzip
import os
import pickle
import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from tests.persist.models import MODELS, X, as_native_table
from tests.persist.twin import FileTwin, array_content

import arboleda
from arboleda import ModelFormatError
from arboleda.persist import read_header
from arboleda.persist._files import model_from_bytes, model_to_bytes


@pytest.fixture(scope="module")
def good() -> FileTwin:
    """A sound file of a classifier."""
    return FileTwin.read(model_to_bytes(MODELS["texts"]()))


def refusal(data: bytes) -> str:
    with pytest.raises(ModelFormatError) as caught:
        model_from_bytes(data)
    return str(caught.value)


# What is changed in a valid file, and the message of the error.
CONTAINER: list[tuple[Callable[[FileTwin], FileTwin], str]] = [
    (lambda f: replace(f, version=0), "byte 8: the file is damaged: there is no format 0"),
    (
        lambda f: replace(f, version=2),
        "byte 8: the file has format 2, and this version of arboleda reads formats up to 1: ",
    ),
    (lambda f: replace(f, version=2**32 - 1), "byte 8: the file has format 4294967295, "),
    (lambda f: replace(f, n_sections=0), "here the file should end"),
    (
        lambda f: replace(f, n_sections=len(f.sections) + 1),
        "more should follow than the 0 bytes that do",
    ),
    (lambda f: replace(f, n_sections=2**32 - 1), "byte 12: the file is too short for its sections"),
    (lambda f: replace(f, length=2**63), "byte 16: the file is cut short: it should have 92233720"),
    (lambda f: replace(f, length=0), "byte 16: bytes follow the end of the file"),
    (lambda f: replace(f, header_length=2**64 - 8), "byte 24: the header is longer than the file"),
    (lambda f: replace(f, header_length=7), "byte 24: the header is longer than the file"),
    (lambda f: replace(f, header_length=0), "byte 32: the file is damaged: the header does not "),
    (lambda f: replace(f, end=b"DONE"), "here the file should end"),
    (lambda f: replace(f, after=b"\0" * 8), "the file is damaged: it does not have its checksum"),
    (lambda f: replace(f, sections=[]), "the header lists different trees or arrays"),
    (
        lambda f: replace(f, sections=[f.sections[0], *f.sections]),
        "the header lists different trees or arrays",
    ),
    (
        lambda f: replace(f, sections=[(b"CODE", b"")]),
        "here a tree, a forest or an array should begin",
    ),
    (
        lambda f: replace(f, sections=[(b"TREE", b"")]),
        "more should follow than the 0 bytes that do",
    ),
    (lambda f: replace(f, sections=[(b"TREE", b"\0" * 24)]), "impossible number of columns"),
    (
        lambda f: replace(f, sections=[*f.sections, (b"ARRY", array_content("x", np.zeros(2)))]),
        "the header lists different trees or arrays",
    ),
    (
        lambda f: replace(f, sections=[(b"ARRY", array_content("x", np.zeros(2))), *f.sections]),
        "do not follow each other in this order",
    ),
]


@pytest.mark.parametrize(("harm", "message"), CONTAINER)
def test_an_invalid_container_is_refused(
    good: FileTwin, harm: Callable[[FileTwin], FileTwin], message: str
) -> None:
    assert message in refusal(harm(good).write())


ARRAYS = [
    (struct.pack("<IIII", 3, 1, 0, 0), "an array has an unknown type of numbers"),
    (struct.pack("<IIII", 1, 1, 9, 0), "an array has too many dimensions"),
    (struct.pack("<IIII", 1, 1, 8, 0), "more should follow than the 0 bytes that do"),
    (struct.pack("<IIII", 1, 2**32 - 1, 0, 0), "more should follow than the 0 bytes that do"),
    (struct.pack("<IIII", 1, 0, 0, 0), "an array has an impossible name"),
    (struct.pack("<IIII", 1, 1, 0, 1) + b"x" + b"\0" * 15, "the space between two parts"),
    (struct.pack("<IIIIQ8s", 1, 1, 1, 0, 2**61, b"x"), "the shape of the array 'x' and its length"),
    (struct.pack("<IIIIQ8s", 1, 1, 1, 0, 2**64 - 1, b"x"), "the shape of the array 'x'"),
    (struct.pack("<IIIIQQ8s", 1, 1, 2, 0, 2**32, 2**32, b"x"), "the shape of the array 'x'"),
    (struct.pack("<IIIIQQ8s", 1, 1, 2, 0, 0, 2**63, b"x"), "the shape of the array 'x'"),
    (struct.pack("<IIIIQQ8s", 2, 1, 2, 0, 2**60, 0, b"x"), "the shape of the array 'x'"),
    (struct.pack("<IIIIQ8s", 1, 1, 1, 0, 1, b"X"), "an array has an impossible name"),
]


@pytest.mark.parametrize(("content", "message"), ARRAYS)
def test_an_invalid_array_is_refused(good: FileTwin, content: bytes, message: str) -> None:
    assert message in refusal(replace(good, sections=[(b"ARRY", content)]).write())


TREES: list[tuple[Any, str]] = [
    (("n_features", 2**31 - 1), "a tree has more columns than the file can be about"),
    (
        ("n_features", 3),
        "the tree was fitted on a different number of columns than the header lists",
    ),
    (("n_nodes", 2**31 - 1), "a tree's sizes and its length disagree"),
    (("n_outputs", 2**31 - 1), "a tree's sizes and its length disagree"),
    (("n_categories", 2**64 - 1), "a tree's sizes and its length disagree"),
    (("right", 0, 2**31 - 1), "a child of the tree is out of range"),
    (("right", 0, 0), "a child of the tree is out of range"),  # a loop
    (("right", 0, 1), "a child of the tree is out of range"),
    (("right", 0, 3), "a child of the tree is out of place"),  # two parents
    (("right", 0, -2), "a leaf of the tree has a child or a feature"),
    (("feature", 0, 4), "a feature of the tree is out of range"),
    (("feature", 0, -1), "a feature of the tree is out of range"),
    (("threshold", 0, np.nan), "a threshold of the tree is not a number"),
    (("missing_left", 0, 2), "a missing side of the tree is neither left nor right"),
    (("weight", 0, -1.0), "a weight of the tree is not a positive number"),
    (("impurity", 0, np.nan), "an impurity of the tree is not a number from 0 up"),
    (("n_node_samples", 0, 0), "a node of the tree has no rows"),
    (("value", 0, np.inf), "a value of the tree is not a finite number"),
]


@pytest.mark.parametrize(("harm", "message"), TREES, ids=str)
def test_an_invalid_tree_is_refused(good: FileTwin, harm: Any, message: str) -> None:
    name, *where, bad = harm
    if where:
        array = good.tree.arrays[name].copy()
        array[where[0]] = bad
        bad = array
    assert message in refusal(good.with_tree(**{name: bad}).write())


def test_a_categorical_split_on_a_numeric_column_is_refused(good: FileTwin) -> None:
    tree = good.tree.arrays
    threshold, start = tree["threshold"].copy(), np.ones(len(tree["right"]) + 1, int)
    threshold[0] = start[0] = 0
    bad = good.with_tree(threshold=threshold, category=np.array([2]), category_start=start)
    assert "splits on categories that its columns do not have" in refusal(bad.write())


def test_missing_values_in_unknown_columns_are_refused(good: FileTwin) -> None:
    for column in (4, -1, 2**62):
        content = array_content("missing_columns_", np.array([column]))
        bad = replace(good, sections=[good.sections[0], (b"ARRY", content)])
        assert "missing_columns_ contains columns that do not exist" in refusal(bad.write())


def _changed(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(header: dict[str, Any]) -> None:
        *outer, last = path.split("/")
        for key in outer:
            header = header[int(key) if isinstance(header, list) else key]
        if value is None and last.startswith("-"):
            del header[last[1:]]
        else:
            header[int(last) if isinstance(header, list) else last] = value  # type: ignore[index]

    return change


_DEEP: Any = 0
for _ in range(60):
    _DEEP = [_DEEP]

HEADERS = [
    ("format_version", 2, "the format versions of the header and the file differ"),
    ("format_version", True, "the header's format_version has the wrong type"),
    ("-class", None, "the entries of the header are not those"),
    ("more", 1, "the entries of the header are not those"),
    ("class", "os.system", "names a class that is unknown to this version"),
    ("class", "Study", "names a class that is unknown to this version"),
    ("class", "DecisionTreeRegressor", "has no parameter 'class_weight' in this version"),
    ("class", ["x"], "the header's class has the wrong type"),
    ("parameters", [], "the header's parameters has the wrong type"),
    ("parameters/__class__", 1, "has no parameter '__class__' in this version"),
    ("parameters/tree_", 1, "has no parameter 'tree_' in this version"),
    ("parameters/max_depth", -1, "The 'max_depth' parameter of DecisionTreeClassifier must be"),
    ("parameters/n_jobs", "x", "The 'n_jobs' parameter of DecisionTreeClassifier must be"),
    ("parameters/max_depth", {"eval": "1"}, "is not a value"),
    ("parameters/max_depth", {"float": "1"}, "is not a value"),
    ("parameters/max_depth", {"float": "inf", "x": 1}, "is not a value"),
    ("parameters/class_weight", {"dict": [[1]]}, "is not a pair of key and value"),
    ("parameters/class_weight", {"dict": [[[], 1]]}, "cannot be a key"),
    ("parameters/class_weight", {"dict": [[{"tuple": [[]]}, 1]]}, "cannot be a key"),
    ("parameters/class_weight", {"dict": [[1, 1], [1, 2]]}, "is duplicated"),
    ("parameters/class_weight", _DEEP, "nested too deeply"),
    ("trees", 2, "the header lists different trees or arrays"),
    ("arrays", ["x"], "the header lists different trees or arrays"),
    ("fitted/-tree_", None, "the header has the attributes"),
    ("fitted/__class__", "x", "the header has the attributes"),
    ("fitted/tree_", {"tree": 1}, "there is no tree 1"),
    ("fitted/tree_", {"tree": -1}, "there is no tree -1"),
    ("fitted/tree_", {"tree": True}, "tree_ is not a tree of the file"),
    ("fitted/tree_", None, "tree_ is not a tree of the file"),
    ("fitted/n_outputs_", -1, "n_outputs_ must be an integer >= 1"),
    ("fitted/n_outputs_", 1.0, "n_outputs_ must be an integer"),
    ("fitted/n_classes_", [3], "the numbers of targets of classes_ and n_outputs_ differ"),
    (
        "fitted/classes_",
        [{"dtype": "|i1", "values": [1]}] * 3,
        "the numbers of targets of classes_ and n_outputs_ differ",
    ),
    ("fitted/n_classes_", 4, "the numbers of classes of classes_ and n_classes_ differ"),
    ("fitted/classes_", "abc", "is not an array"),
    ("fitted/classes_/dtype", "<U999999999", "texts of 999999999 characters are longer"),
    ("fitted/classes_/dtype", "O", "is not a supported dtype"),
    ("fitted/classes_/dtype", "<V8", "is not a supported dtype"),
    ("fitted/classes_/dtype", "<i8", "an array of int64 has values of another type"),
    ("fitted/classes_/dtype", "|b1", "an array of bool has values of another type"),
    ("fitted/classes_/values", ["a"], "the numbers of classes of classes_ and n_classes_ differ"),
    ("fitted/classes_/values", ["a", "b", 1], "an array of texts has values of another type"),
    (
        "fitted/classes_",
        {"dtype": "|i1", "values": [1, 2, 300]},
        "a number is out of range for int8",
    ),
    (
        "fitted/classes_",
        {"dtype": "<M8[D]", "values": [1, 2, 2**63]},
        "a number is out of range for",
    ),
    (
        "fitted/classes_",
        {"dtype": "<f2", "values": [1, 2, 1e6]},
        "a number cannot be represented as float16",
    ),
    (
        "fitted/classes_",
        {"dtype": "<f8", "values": [1, 2, 10**400]},
        "a number is out of range for float64",
    ),
    (
        "fitted/classes_",
        {"dtype": "<f8", "values": [1, 2, "x"]},
        "an array of numbers has values of another type",
    ),
    ("fitted/classes_", {"dtype": "|O", "values": [1, 2, []]}, "is neither a number nor a text"),
    (
        "fitted/classes_",
        {"dtype": "|O", "values": [1, 2, {"dict": []}]},
        "is neither a number nor a text",
    ),
    ("columns", [], "the tree was fitted on a different number of columns"),
    ("columns/0", 5, "columns has an entry that is not a column"),
    ("columns/0/kind", "x", "is not a column of a schema"),
    ("columns/0/name", "x", "some columns have names and others do not"),
    ("columns/0/levels", ["x"], "is not a column of a schema"),
]


@pytest.mark.parametrize(("path", "value", "message"), HEADERS, ids=str)
def test_an_invalid_header_is_refused(good: FileTwin, path: str, value: Any, message: str) -> None:
    header = good.json
    _changed(path, value)(header)
    assert message in refusal(good.with_json(header).write())


TEXTS = [
    (b"", "the header is not JSON"),
    (b"[1]", "the header is not a JSON object"),
    (b"{} {}", "the header is not JSON"),
    (b"\xff{}", "the header is not UTF-8"),
    (b'{"format": 1, "format": 2}', "the header has a duplicate key"),
    (b'{"format": {"x": [{"y": 1, "y": 2}]}}', "the header has a duplicate key"),
    (b'{"format": NaN}', "the header contains NaN, which is not JSON"),
    (b'{"format": ' + b"[" * 100_000, "the header is nested too deeply"),
    (b'{"format": ' + b"9" * 5_000 + b"}", "the header is not JSON"),
    (b'{"format": "' + b"\0" * 8 + b'"}', "the header is not JSON"),
]


@pytest.mark.parametrize(("text", "message"), TEXTS, ids=[message for _, message in TEXTS])
def test_a_header_that_is_not_json_is_refused(good: FileTwin, text: bytes, message: str) -> None:
    assert message in refusal(replace(good, header=text).write())


def _pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps(MODELS["classifier"]()))


def _zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../outside", "x")
        archive.writestr("bomb", b"\0" * 10**7)


FOREIGN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "pickle": (_pickled, "a pickle or joblib file, which runs code when it is loaded"),
    "joblib": (lambda path: joblib.dump(MODELS["classifier"](), path), "a pickle or joblib file"),
    "joblib compressed": (lambda path: joblib.dump([1] * 99, path, compress=3), "zlib"),
    "zip": (_zipped, "a zip archive"),
    "gzip": (lambda path: path.write_bytes(gzip.compress(b"x")), "a gzip file: unpack it first"),
    "zlib": (lambda path: path.write_bytes(zlib.compress(b"x")), "compressed by zlib"),
    "numpy": (lambda path: np.save(path.open("wb"), np.zeros(3)), "a NumPy array"),
    "json": (lambda path: path.write_text('{"a": 1}'), "JSON text"),
    "text": (lambda path: path.write_text("Dear Sir"), "something else"),
    "empty": (lambda path: path.write_bytes(b""), "the file is empty"),
    "folder": (lambda path: path.mkdir(), "this is a folder, not a model file"),
    "pipe": (os.mkfifo, "this is a special file, not a model file"),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "a special file"),
    "terabyte": (lambda path: os.truncate(path.open("wb").name, 2**40), "something else"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_files_that_are_not_models_are_refused(name: str, tmp_path: Path) -> None:
    make, message = FOREIGN[name]
    path = tmp_path / "x.arboleda"
    make(path)
    before = sorted(tmp_path.iterdir())
    for read in (arboleda.load, read_header):
        with pytest.raises(ModelFormatError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert message in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_file_raises_file_not_found(tmp_path: Path) -> None:
    for read in (arboleda.load, read_header):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "send",
    [
        lambda data: data.replace(b"\r\n", b"\n"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: bytes(byte & 0x7F for byte in data),
        lambda data: data.decode("latin-1").encode(),
        lambda data: data.decode(errors="replace").encode(),
    ],
)
def test_a_file_transferred_as_text_is_recognized(
    good: FileTwin, send: Callable[[bytes], bytes]
) -> None:
    assert "sent as text and damaged by it: send it again as binary" in refusal(send(good.write()))


def test_a_long_file_takes_memory_of_its_length(tmp_path: Path, good: FileTwin) -> None:
    """A sparse file that claims to be sound: nothing is read once its sizes do not fit."""
    path = tmp_path / "model"
    path.write_bytes(good.write())
    os.truncate(path, 2**40)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFormatError, match="bytes follow the end"):
            arboleda.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


CORPUS = sorted((Path(__file__).resolve().parents[2] / "core/io/corpus").iterdir())


def test_files_found_by_the_fuzzer_are_read_or_refused() -> None:
    assert len(CORPUS) > 50
    for path in CORPUS:
        with pytest.raises(ModelFormatError):  # they do not have the header of an estimator
            model_from_bytes(path.read_bytes())


def _mutated(data: bytearray, numbers: random.Random) -> None:
    for _ in range(numbers.randint(1, 2)):
        at = numbers.randrange(len(data))
        kind = numbers.randrange(4)
        if kind == 0:
            data[at] ^= 1 << numbers.randrange(8)
        elif kind == 1:
            data[at] = numbers.randrange(256)
        elif kind == 2:
            del data[at : at + numbers.randint(1, 16)]
        else:
            data[at:at] = bytes(numbers.choices(range(256), k=numbers.randint(1, 16)))
        if not data:
            data[:] = b"\0"


@pytest.mark.parametrize("mended", [False, True], ids=["stale checksums", "new checksums"])
@pytest.mark.parametrize("name", ["texts", "names"])
def test_damaged_headers_load_to_a_model_or_are_refused(name: str, mended: bool) -> None:
    """The part that Python reads; the core's own test damages all the rest, a million times."""
    model = MODELS[name]()
    table = as_native_table(model)
    twin = FileTwin.read(model_to_bytes(model))
    expected = model.predict(table)
    numbers = random.Random(5)
    loaded = 0
    for _ in range(1000):
        header = bytearray(twin.header)
        _mutated(header, numbers)
        if header == twin.header:
            continue
        if mended:
            data = replace(twin, header=bytes(header)).write()
        else:
            whole = twin.write()
            data = whole[:32] + bytes(header) + whole[32 + len(twin.header) :]
        try:
            again = model_from_bytes(data)
        except ModelFormatError:
            continue
        loaded += 1
        repr(again)
        if list(again.schema_.names or []) == list(model.schema_.names or []):
            assert len(again.predict(table)) == len(expected)
    assert (loaded > 0) == mended
    assert len(X) == len(expected)
