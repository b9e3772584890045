"""Damaged models that are read are used: each use gives a result or an error of ours, never more.

Models of other libraries that were saved by this one are damaged too, once as bytes of the file,
which its checksums detect, and once with checksums that fit the damage.
"""

import random
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.persist.twin import FileTwin
from tests.security.test_hostile_imports import (
    FOLDER,
    NAMES,
    damaged_bytes,
    damaged_json,
    damaged_text,
    read,
)

import arboleda as ab
from arboleda.explain import shap_values

MUTATIONS = 12  # of each model and kind; the slow test makes more
N_ROWS = 40  # rows of the table


def table_for(model: Any) -> Any:
    """Rows of numbers of any size, known and unknown categories, and gaps."""
    numbers = np.random.default_rng(0)
    levels = model.schema_.levels
    table = numbers.normal(size=(N_ROWS, len(levels))).astype(object)
    table[::5] *= 1e300
    table[1::5] *= 1e-310
    for column, known in enumerate(levels):
        if known is not None:
            table[:, column] = [known[i % len(known)] if known else None for i in range(N_ROWS)]
    table[::3] = None
    return table


def use(model: Any) -> None:
    """Predict, row by row too, explain and export."""
    table = table_for(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an array has no names
        raw = model._raw_scores(table)
        assert raw.shape == (N_ROWS, model.n_trees_per_iteration_)
        predicted = model.predict(table)
    predictor = model.predictor()
    for row, expected in zip(table[:4], predicted[:4], strict=True):
        found = np.asarray(predictor.predict(row.tolist()))
        assert found.tobytes() == np.asarray(expected).tobytes()
    for act in (_explained, ab.to_c, _as_onnx):
        try:
            act(model)
        except (TypeError, ValueError) as error:
            _check_message(error)


def _check_message(error: Exception, text: str = "") -> None:
    assert len(str(error)) > 10
    assert text in str(error)


def _explained(model: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        shap_values(model, table_for(model)[:6])


def _as_onnx(model: Any) -> None:
    pytest.importorskip("onnx")
    ab.to_onnx(model)


def try_import(name: str, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        model = read(name, path)
    except (ab.ModelFormatError, ValueError) as error:
        _check_message(error)
        return
    use(model)


def try_file(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        model = ab.load(path)
    except ab.ModelFormatError as error:
        _check_message(error, str(path))
        return
    use(model)


def with_fitting_checksums(file: FileTwin, numbers: random.Random) -> bytes:
    """Damage the header or a section of a file, with checksums that fit the damage."""
    at = numbers.randrange(len(file.sections) + 1)
    if at == len(file.sections):
        return replace(file, header=damaged_bytes(file.header, numbers)).write()
    sections = list(file.sections)
    kind, content = sections[at]
    sections[at] = kind, damaged_bytes(content, numbers)
    return replace(file, sections=sections).write()


KINDS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    ".json": damaged_json,
    ".txt": damaged_text,
    ".ubj": damaged_bytes,
}


def damage_imports(name: str, path: Path, n: int) -> None:
    content = (FOLDER / name).read_bytes()
    for damage in {damaged_bytes, KINDS[Path(name).suffix]}:
        for seed in range(n):
            try_import(name, path, damage(content, random.Random(seed)))


def damage_saved(name: str, path: Path, n: int) -> None:
    try:
        model = read(name, FOLDER / name)
    except ValueError as error:
        pytest.skip(f"categories are to be given: {error}")
    model.save(path)
    content = path.read_bytes()
    sound = FileTwin.read(content)
    for seed in range(n):
        numbers = random.Random(seed)
        try_file(path, damaged_bytes(content, numbers))
        try_file(path, with_fitting_checksums(sound, numbers))


@pytest.mark.parametrize("name", NAMES)
def test_damaged_imports_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    damage_imports(name, tmp_path / "model", MUTATIONS)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_of_imports_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    damage_saved(name, tmp_path / "model.arboleda", MUTATIONS)
