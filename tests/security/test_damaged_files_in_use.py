"""Damaged files of every kind of model are refused, or give a model that can be used.

A file is damaged as bytes, which its checksums detect, and with checksums that fit the damage: in a
value of the header, in a number of a section, in any bytes. The model that such a file gives, if it
gives one, predicts, is explained and exported; each gives a result or an error in words.
"""

import json
import random
import struct
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from tests.golden.test_golden import FILES, as_native_table
from tests.persist.twin import FileTwin
from tests.security.test_hostile_imports import damaged_bytes, damaged_json

import arboleda as ab
from arboleda.explain import shap_values

MUTATIONS = 12  # of each model and kind; the slow test makes more


def _numbers(n: int = 90) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, 4)).round(2)
    X[:, 3] = draw.integers(0, 5, n)
    y = X[:, 0] - 2 * X[:, 1] * (X[:, 2] > 0) + (X[:, 3] == 3)
    X[draw.random(X.shape) < 0.1] = np.nan
    return X, y


@cache
def small_models() -> dict[str, Any]:
    """Models of kinds that no golden file is of."""
    X, y = _numbers()
    labels = np.digitize(y, [-0.7, 0.9])
    seed: dict[str, Any] = {"random_state": 0}
    categories: dict[str, Any] = {"categorical_features": [3], **seed}
    classifiers = {
        "forest": ab.RandomForestClassifier(3, max_depth=4, **categories),
        "predict_hard_votes": ab.ExtraTreesClassifier(3, max_depth=4, voting="hard", **seed),
        "bagging": ab.BaggingClassifier(n_estimators=3, **seed),
        "subspace": ab.RandomSubspaceClassifier(n_estimators=3, **seed),
        "switching": ab.ClassSwitchingClassifier(n_estimators=3, **seed),
        "real_votes": ab.AdaBoostClassifier(n_estimators=4, algorithm="real", **seed),
        "selection": ab.EnsembleSelectionClassifier(
            [("a", ab.DecisionTreeClassifier(max_depth=2)), ("b", ab.DecisionTreeClassifier())],
            **seed,
        ),
    }
    regressors = {
        "values": ab.ExtraTreesRegressor(3, max_depth=4, **categories),
        "medians": ab.RandomForestRegressor(2, criterion="absolute_error", max_depth=3, **seed),
        "subspace_values": ab.RandomSubspaceRegressor(n_estimators=3, **seed),
        "R2": ab.AdaBoostRegressor(n_estimators=3, **seed),
        "mean": ab.VotingRegressor([("a", ab.DecisionTreeRegressor(max_depth=3))], weights=[2.0]),
    }
    return {name: m.fit(X, labels) for name, m in classifiers.items()} | {
        name: m.fit(X, y) for name, m in regressors.items()
    }


GOLDEN = {path.stem: path for path in FILES if path.parent.name == ab.__version__}
SMALL = [
    "forest", "predict_hard_votes", "bagging", "subspace", "switching", "real_votes", "selection",
    "values", "medians", "subspace_values", "R2", "mean",
]  # fmt: skip
NAMES = [*GOLDEN, *SMALL]


def sound(name: str, path: Path) -> tuple[FileTwin, Any]:
    """A file, and rows for its model: some of any size, some with nothing."""
    if name in GOLDEN:
        content = GOLDEN[name].read_bytes()
        table = as_native_table(json.loads(GOLDEN[name].with_suffix(".json").read_text())["table"])[
            :40
        ]
    else:
        small_models()[name].save(path)
        content = path.read_bytes()
        table = _numbers(40)[0]
    table[::5, 0] = 1e300
    table[1::5, 1] = -5e-324
    table[::7] = None
    return FileTwin.read(content), table


def damaged_number(content: bytes, numbers: random.Random) -> bytes:
    """One number is another that is near it, or that is hard."""
    found = bytearray(content)
    form = numbers.choice("dqiIHB")
    size = struct.calcsize(form)
    if len(found) < size:
        return content
    at = numbers.randrange(len(found) // size) * size
    if form == "d":
        hard = [np.nan, np.inf, -np.inf, -1.0, 0.0, -0.0, 1e308, -1e308, 5e-324, 0.5]
        struct.pack_into("<d", found, at, numbers.choice(hard))
        return bytes(found)
    bits = 8 * size
    old = int.from_bytes(found[at : at + size], "little")
    changed = numbers.choice([old + 1, old - 1, 0, 1, 2**bits - 1, 2 ** (bits - 1), 2 * old])
    found[at : at + size] = (changed % 2**bits).to_bytes(size, "little")
    return bytes(found)


def mended(file: FileTwin, numbers: random.Random) -> bytes:
    """The file with damage in one part, and checksums and lengths that fit it."""
    at = numbers.randrange(-1, len(file.sections))
    if at < 0:
        damage = damaged_json if numbers.random() < 0.8 else damaged_bytes
        return replace(file, header=damage(file.header, numbers)).write()
    sections = list(file.sections)
    kind, content = sections[at]
    damage = damaged_number if numbers.random() < 0.8 else damaged_bytes
    sections[at] = kind, damage(content, numbers)
    return replace(file, sections=sections).write()


def in_words(error: Exception, begin: str = "") -> None:
    assert len(str(error)) > len(begin) + 10
    assert str(error).startswith(begin)


def use(model: Any, table: Any) -> None:
    """Predict, row by row too, explain and export."""
    has_predictor = hasattr(model, "predictor")  # combinations have no such method
    acts = (
        lambda: model.predict(table),
        lambda: model.predict_proba(table) if is_classifier(model) else None,
        lambda: model.predictor().predict(table[0].tolist()) if has_predictor else None,
        lambda: shap_values(model, table[:4]),
        lambda: ab.to_c(model),
        lambda: ab.to_onnx(model),
        lambda: repr(model),
    )
    for act in acts:
        try:
            act()
        except (TypeError, ValueError) as error:
            in_words(error)


def try_file(path: Path, content: bytes, table: Any) -> bool:
    """Whether the file was read; a model that was is used."""
    path.write_bytes(content)
    try:
        model = ab.load(path)
    except ab.ModelFormatError as error:
        in_words(error, f"{path}: ")
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an array has no names
        use(model, table)
    return True


def damage(name: str, path: Path, n: int) -> int:
    """How many files with fitting checksums were read."""
    file, table = sound(name, path)
    content = file.write()
    assert try_file(path, content, table)
    n_read = 0
    for seed in range(n):
        numbers = random.Random(seed)
        harmed = damaged_bytes(content, numbers)
        assert try_file(path, harmed, table) == (harmed == content)
        n_read += try_file(path, mended(file, numbers), table)
    return n_read


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    assert damage(name, tmp_path / "model.arboleda", MUTATIONS) < MUTATIONS
