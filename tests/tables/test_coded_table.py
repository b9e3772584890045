"""A table in a file: models fitted on it are those of the same rows in memory, byte for byte."""

from __future__ import annotations

import os
import pickle
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from arboleda import (
    CodedTable,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingRegressor,
)
from arboleda._engine import coded_rows
from arboleda._engine.coded_file import open_direct
from arboleda._utils.errors import ModelFormatError
from arboleda.model_selection import GridSearch


def make_frame(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Columns of every kind: many values, few, missing, constant, rare, categories."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n_rows, 3))
    rare = np.where(random.random(n_rows) < 0.03, random.integers(1, 5, n_rows), 0)
    with_missing = np.where(random.random(n_rows) < 0.1, np.nan, x[:, 1] ** 3)
    frame = pd.DataFrame(
        {
            "many": x[:, 0],
            "short": x[:, 1].astype(np.float32),
            "gaps": with_missing,
            "constant": 7,
            "count": random.poisson(3, n_rows),
            "rare": rare,
            "rarer": (random.random(n_rows) < 0.01).astype(float),
            "empty": np.nan,
            "flag": random.random(n_rows) < 0.5,
            "city": pd.Series(random.choice(["b", "a", "d", "c"], n_rows)).where(x[:, 2] < 1.5),
        }
    )
    signal = x[:, 0] + np.abs(x[:, 1]) + (frame["city"] == "a") + 0.1 * rare
    frame["y"] = signal + random.normal(scale=0.3, size=n_rows)
    frame["w"] = random.integers(1, 4, n_rows).astype(float)
    return frame


def write(frame: pd.DataFrame, path: Path, n_parts: int = 3, **options: Any) -> CodedTable:
    """Write a table from parts of different lengths."""
    places = np.linspace(0, len(frame), n_parts + 1).astype(int)
    parts = [frame.iloc[a:b] for a, b in pairwise(places)]
    return CodedTable.from_frames(
        parts, path=path, target="y", sample_weight="w", **{"n_jobs": 1, **options}
    )


def save(model: Any, path: Path) -> bytes:
    """Return the bytes of a model's file."""
    model.save(path)
    return path.read_bytes()


REGRESSORS = {
    "plain": {},
    "few bins": {"max_bins": 16},
    "level-wise": {"growth": "level_wise", "max_depth": 4},
    "unlimited": {"max_leaf_nodes": None, "max_depth": 6, "min_samples_leaf": 5},
    "symmetric": {"growth": "symmetric", "max_depth": 4},
    "columns drawn": {"colsample_bytree": 0.7, "max_features": 0.6},
    "rows drawn": {"subsample": 0.5},
    "constraints": {"monotonic_cst": {"many": 1}, "interaction_cst": [["many", "city"], ["short"]]},
    "quantile": {"loss": "quantile", "quantile": 0.8},
}


@pytest.mark.parametrize("is_swept", [False, True], ids=["in memory", "swept"])
@pytest.mark.parametrize("case", REGRESSORS)
def test_a_model_equals_the_one_of_the_rows_in_memory(
    case: str, is_swept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = make_frame(2500)
    X = frame.drop(columns=["y", "w"])
    parameters = {"max_iter": 4, "early_stopping": False, "random_state": 3, **REGRESSORS[case]}
    model = HistGradientBoostingRegressor(n_jobs=1, **parameters)
    expected = save(model.fit(X, frame["y"], frame["w"]), tmp_path / "model")
    values = model.predict(X)
    table = write(frame, tmp_path / "table", max_bins=parameters.get("max_bins", 255))
    monkeypatch.setattr(coded_rows, "available_memory", lambda: 1 if is_swept else 2**40)
    monkeypatch.setattr(coded_rows, "_WINDOW_BYTES", 4096)
    model.fit(table, table.y, table.sample_weight)
    assert save(model, tmp_path / "model") == expected
    np.testing.assert_array_equal(model.predict(table), values)


@pytest.mark.parametrize("memory", [1, 2**40], ids=["no memory", "all in the page cache"])
@pytest.mark.parametrize("is_direct", [True, False], ids=["direct", "mapped"])
def test_it_does_not_matter_how_sweeps_read_the_file(
    is_direct: bool, memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = make_frame(2500)
    model = HistGradientBoostingRegressor(
        max_iter=2, early_stopping=False, random_state=0, n_jobs=2
    )
    X = frame.drop(columns=["y", "w"])
    expected = save(model.fit(X, frame["y"], frame["w"]), tmp_path / "model")
    table = write(frame, tmp_path / "table")
    monkeypatch.setattr(coded_rows, "available_memory", lambda: memory)
    monkeypatch.setattr(coded_rows, "_SWEPT_SHARE", 0.0)
    monkeypatch.setattr(coded_rows, "_WINDOW_BYTES", 4096)
    if not is_direct:
        monkeypatch.setattr(coded_rows, "open_direct", lambda path, status: -1)
    model.fit(table, table.y, table.sample_weight)
    assert save(model, tmp_path / "model") == expected


@pytest.mark.skipif(sys.platform != "linux", reason="direct reads")
def test_a_read_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = write(make_frame(2000), tmp_path / "table")
    monkeypatch.setattr(coded_rows, "available_memory", lambda: 1)
    monkeypatch.setattr(
        coded_rows, "open_direct", lambda path, status: os.open(tmp_path, os.O_RDONLY)
    )
    model = HistGradientBoostingRegressor(max_iter=2, early_stopping=False)
    with pytest.raises(ModelFormatError, match="the file cannot be read"):
        model.fit(table, table.y)


@pytest.mark.skipif(sys.platform != "linux", reason="direct reads")
def test_direct_reads_are_of_the_file_that_is_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = make_frame(2000)
    table = write(frame, tmp_path / "table")
    status = table.path.stat()
    try:
        os.close(os.open(table.path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        pytest.skip("this file system has no direct reads")
    descriptor = open_direct(table.path, status)
    assert os.path.samestat(os.fstat(descriptor), status)
    os.close(descriptor)
    model = HistGradientBoostingRegressor(max_iter=2, early_stopping=False, random_state=0)
    expected = save(model.fit(table, table.y), tmp_path / "model")
    table = CodedTable(table.path)
    write(make_frame(2000, seed=1), table.path)  # another file in its place
    assert open_direct(table.path, status) == -1
    monkeypatch.setattr(coded_rows, "available_memory", lambda: 1)
    assert save(model.fit(table, table.y), tmp_path / "model") == expected


def test_the_number_of_threads_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write(make_frame(20_000), tmp_path / "table")
    monkeypatch.setattr(coded_rows, "available_memory", lambda: 1)
    parameters = {"max_iter": 2, "early_stopping": False, "random_state": 0}
    files = set()
    for n_jobs in (1, 2):
        again = write(make_frame(20_000), tmp_path / f"table{n_jobs}", n_jobs=n_jobs)
        assert (tmp_path / f"table{n_jobs}").read_bytes() == (tmp_path / "table").read_bytes()
        model = HistGradientBoostingRegressor(n_jobs=n_jobs, **parameters).fit(again, table.y)
        model.n_jobs = 1
        files.add(save(model, tmp_path / "model"))
    assert len(files) == 1


def test_classes_as_text_and_several_scores(tmp_path: Path) -> None:
    frame = make_frame(1500)
    frame["y"] = pd.cut(frame["y"], 3, labels=["low", "middle", "high"]).astype(str)
    X = frame.drop(columns=["y", "w"])
    model = HistGradientBoostingClassifier(max_iter=3, early_stopping=False, random_state=0)
    y = frame["y"].to_numpy(str)
    expected = save(model.fit(X, y, frame["w"]), tmp_path / "model")
    shares = model.predict_proba(X)
    table = write(frame, tmp_path / "table")
    model.fit(table, table.y, table.sample_weight)
    assert save(model, tmp_path / "model") == expected
    np.testing.assert_array_equal(model.predict_proba(table), shares)
    assert model.score(table, table.y) == model.score(X, frame["y"])


def test_the_parts_do_not_matter(tmp_path: Path) -> None:
    frame = make_frame(999)
    files = {save_bytes(write(frame, tmp_path / f"{n}", n_parts=n)) for n in (1, 2, 7)}
    assert len(files) == 1


def save_bytes(table: CodedTable) -> bytes:
    return Path(table._path).read_bytes()


def test_a_forest_equals_the_one_of_the_rows_in_memory(tmp_path: Path) -> None:
    frame = make_frame(1200)
    frame["y"] = frame["y"] > 0.5
    X = frame.drop(columns=["y", "w"])
    forest = RandomForestClassifier(8, max_bins=255, random_state=0, n_jobs=1)
    expected = save(forest.fit(X, frame["y"]), tmp_path / "model")
    table = write(frame, tmp_path / "table")
    assert save(forest.fit(table, table.y), tmp_path / "model") == expected
    with pytest.raises(ValueError, match="without max_bins.* has bins only: set max_bins=255"):
        RandomForestClassifier(2).fit(table, table.y)


def test_a_forest_predicts_where_no_threshold_lies_within_a_bin(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.tile(np.arange(20.0), 10)})
    frame["y"] = frame["x"] % 3 == 0
    X = frame[["x"]]
    forest = RandomForestClassifier(5, max_bins=255, random_state=0, n_jobs=1).fit(X, frame["y"])
    table = CodedTable.from_frames([frame], path=tmp_path / "exact", target="y")
    np.testing.assert_array_equal(forest.predict_proba(table), forest.predict_proba(X))
    coarse = CodedTable.from_frames([frame], path=tmp_path / "coarse", target="y", max_bins=4)
    with pytest.raises(ValueError, match="separates values of one bin of column 'x' at"):
        forest.predict(coarse)


def test_early_stopping_holds_rows_out(tmp_path: Path) -> None:
    frame = make_frame(3000)
    table = write(frame, tmp_path / "table")
    model = HistGradientBoostingRegressor(
        max_iter=200, early_stopping=True, n_iter_no_change=3, learning_rate=0.5, random_state=0
    )
    model.fit(table, table.y)
    assert 0 < model.n_iter_ < 200
    X = frame.drop(columns=["y", "w"])
    np.testing.assert_array_equal(model.predict(table), model.predict(X))
    other = write(make_frame(500, seed=1), tmp_path / "other")
    X_val = make_frame(500, seed=1).drop(columns=["y", "w"])
    assert model.fit(table, table.y, X_val=X_val, y_val=other.y).n_iter_ > 0
    with pytest.raises(ValueError, match="other bins than the training rows"):
        model.fit(table, table.y, X_val=other, y_val=other.y)


def test_properties_of_a_file(tmp_path: Path) -> None:
    frame = make_frame(50)
    table = write(frame, tmp_path / "table")
    assert table.shape == (50, 10)
    assert len(table) == 50
    assert table.columns == list(frame.columns[:10])
    assert table.max_bins == 255
    np.testing.assert_array_equal(table.y, frame["y"])
    np.testing.assert_array_equal(table.sample_weight, frame["w"])
    again = pickle.loads(pickle.dumps(CodedTable.open(tmp_path / "table")))
    np.testing.assert_array_equal(again.y, frame["y"])
    assert repr(again) == f"CodedTable({str(tmp_path / 'table')!r}, 50 rows, 10 columns)"
    bare = CodedTable.from_frames([frame], path=tmp_path / "bare")
    with pytest.raises(ValueError, match="has no target: write it with target="):
        _ = bare.y


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    frame = make_frame(400)
    X = frame.drop(columns=["y", "w"])
    model = HistGradientBoostingRegressor(max_iter=2, random_state=0).fit(X, frame["y"])
    turned = write(frame[frame.columns[::-1]], tmp_path / "turned")
    np.testing.assert_array_equal(model.predict(turned), model.predict(X))
    lacking = write(frame.drop(columns="many"), tmp_path / "lacking")
    with pytest.raises(ValueError, match="lacks 'many'"):
        model.predict(lacking)


def test_what_needs_values_refuses_codes(tmp_path: Path) -> None:
    frame = make_frame(400)
    table = write(frame, tmp_path / "table")
    model = HistGradientBoostingRegressor(max_iter=2).fit(table, table.y)
    with pytest.raises(ValueError, match="does not read a CodedTable, which has no values"):
        model.apply(table)
    with pytest.raises(ValueError, match="linear leaves need the values"):
        HistGradientBoostingRegressor(linear_leaves=True).fit(table, table.y)
    with pytest.raises(ValueError, match="replaces the 4 categories of column 'city' by stat"):
        HistGradientBoostingRegressor(category_encoding="ordered").fit(table, table.y)
    with pytest.raises(ValueError, match="column 'city' is categorical in .*, but not in categ"):
        HistGradientBoostingRegressor(categorical_features=None).fit(table, table.y)


def test_another_process_gets_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = write(make_frame(3000), Path("table"))
    sent = pickle.dumps(table)
    assert len(sent) < 500
    monkeypatch.chdir("/")
    again = pickle.loads(sent)
    assert again.path == tmp_path / "table"
    np.testing.assert_array_equal(again.y, table.y)
    assert pickle.dumps(again) == sent


def test_another_process_names_a_file_that_it_cannot_read(tmp_path: Path) -> None:
    def write_normal(seed: int) -> bytes:
        frame = pd.DataFrame({"x": np.random.default_rng(seed).normal(size=900)})
        return pickle.dumps(CodedTable.from_frames([frame], path=path))

    def check(fault: str) -> None:
        place = re.escape(str(path))
        message = rf"^Process \d+ on .* cannot read the coded table {place} \({fault}\); .*\.$"
        with pytest.raises(ValueError, match=message):
            HistGradientBoostingRegressor().fit(pickle.loads(sent), np.arange(900.0))

    path = tmp_path / "table"
    sent = write_normal(0)
    n_bytes = path.stat().st_size
    write_normal(1)  # the edges of the bins are other numbers
    assert path.stat().st_size == n_bytes
    check("another file is under this path")
    write(make_frame(50), path)
    check(r"another file is under this path, of [\d,]+ bytes instead of [\d,]+")
    path.write_bytes(b"")
    check("the file is empty")
    path.unlink()
    check("No such file or directory")


def test_its_rows_cannot_be_selected(tmp_path: Path) -> None:
    frame = make_frame(200)
    table = write(frame, tmp_path / "table")
    model = HistGradientBoostingRegressor(max_iter=1)
    for X in (table, pickle.loads(pickle.dumps(table))):
        with pytest.raises(ValueError, match="its rows cannot be selected, as folds and"):
            cross_val_score(model, X, table.y)
    with pytest.raises(TypeError, match="X is a CodedTable, whose rows cannot be selected as fo"):
        GridSearch(model, {"max_iter": [1, 2]}).fit(table, table.y)
    with pytest.raises(ValueError, match="its rows cannot be selected, as folds and samples"):
        StackingRegressor([("boosting", model)]).fit(table, table.y)
