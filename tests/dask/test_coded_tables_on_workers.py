"""Workers read a coded table from its file: they get the path, and are named if they cannot."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest

import arboleda
import arboleda.dask
from arboleda import CodedTable, HistGradientBoostingClassifier, VotingClassifier
from arboleda._engine.coded_rows import CodedRows
from arboleda._utils.errors import ClusterError, TableError
from arboleda.dask.forests import PlacedTraining
from arboleda.model_selection import GridSearch
from arboleda.persist import model_to_bytes

N_ROWS = 5_000


def make_frame(seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])
    frame["w"] = random.integers(1, 4, N_ROWS).astype(float)
    return frame.assign(y=np.where(frame["a"] + frame["b"] > 0, "high", "low"))


def write(path: Path, frame: pd.DataFrame) -> CodedTable:
    return CodedTable.from_frames([frame], path=path, target="y", sample_weight="w", n_jobs=1)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodedTable:
    """A table whose path is relative to the folder of this process, which workers do not have."""
    monkeypatch.chdir(tmp_path)
    return write(Path("table.coded"), make_frame())


def make_forest(**options: Any) -> Any:
    where = arboleda.dask if "client" in options else arboleda
    return where.RandomForestClassifier(n_estimators=9, max_bins=255, random_state=0, **options)


opened: list[str] = []


def note_opens() -> None:
    """Note the files that are opened, on a worker."""
    opened.clear()
    open_rows: Callable[[Path], CodedRows] = CodedRows.open

    def open_noted(path: Path) -> CodedRows:
        opened.append(str(path))
        return open_rows(path)

    CodedRows.open = open_noted  # type: ignore[method-assign]


def read_opens() -> list[str]:
    return opened


def test_workers_of_a_forest_open_the_file_once(client: Any, table: CodedTable) -> None:
    client.run(os.chdir, "/")
    client.run(note_opens)
    here = make_forest().fit(table, table.y, table.sample_weight)
    there = make_forest(client=client).fit(table, table.y, table.sample_weight)
    assert model_to_bytes(there.to_local()) == model_to_bytes(here)
    frame = make_frame()
    values = make_forest().fit(frame[["a", "b", "c"]], frame["y"].to_numpy(str), frame["w"])
    assert model_to_bytes(values) == model_to_bytes(here)
    for files in client.run(read_opens).values():
        # Once before the tasks, as a check, and once for all of them.
        assert files == [str(table.path.absolute())] * 2


def test_only_the_path_is_sent(table: CodedTable) -> None:
    def count_bytes(X: Any, y: Any, sample_weight: Any) -> int:
        return len(pickle.dumps(PlacedTraining(make_forest(), X, y, sample_weight)))

    assert count_bytes(table, table.y, table.sample_weight) < 4_000
    others = table.y[::-1], table.sample_weight + 1
    assert count_bytes(table, *others) > N_ROWS * (4 + 8)  # other values are sent


def test_members_read_the_file_on_workers(client: Any, table: CodedTable) -> None:
    boosting = HistGradientBoostingClassifier(max_iter=2, early_stopping=False)
    model = VotingClassifier([("boosting", boosting)], voting="soft")
    here = model.fit(table, table.y).predict_proba(table)
    with client.as_current(), joblib.parallel_config("dask"):
        model.fit(table, table.y)
        np.testing.assert_array_equal(model.predict_proba(table), here)
        y = table.y
        table.path.unlink()
        fault = r"The worker tcp\S+ cannot read the coded table /\S+ \(No such file"
        with pytest.raises(TableError, match=fault):
            model.fit(table, y)


@pytest.mark.parametrize("change", ["gone", "replaced", "longer", "no table"])
def test_a_worker_without_the_file_is_named_before_any_work(
    change: str, client: Any, table: CodedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "scatter", None)
    monkeypatch.setattr(client, "submit", None)
    y = table.y
    if change == "gone":
        table.path.unlink()
        fault = "No such file or directory"
    elif change == "no table":
        # The open file keeps its content on the disk.
        table.path.with_suffix(".new").write_bytes(b"text" * 99)
        table.path.with_suffix(".new").replace(table.path)
        fault = "this is no coded table of arboleda"
    else:
        frame = make_frame(seed=1) if change == "replaced" else pd.concat([make_frame()] * 2)
        write(table.path, frame)
        fault = "another file is under this path.*"
    path = table.path.absolute()
    message = rf"^The worker tcp://\S+ cannot read the coded table {path} \({fault}\); .*\.$"
    with pytest.raises(ClusterError, match=message):
        make_forest(client=client).fit(table, y)


def test_a_worker_that_comes_later_is_named(
    client: Any, table: CodedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arboleda.dask.tasks, "check_coded_table", lambda client, X: None)
    y = table.y
    table.path.unlink()
    with pytest.raises(ClusterError, match="The worker tcp.* cannot read the coded table"):
        make_forest(client=client).fit(table, y)


def test_fits_that_divide_the_rows_refuse_it(client: Any, table: CodedTable) -> None:
    message = "is a CodedTable, whose rows cannot be divided among workers: pass the files"
    y = table.y
    for name in ("HistGradientBoostingClassifier", "BoostingClassifier"):
        with pytest.raises(TypeError, match=f"^X {message}"):
            getattr(arboleda.dask, name)(client=client).fit(table, y)
    ranker = arboleda.dask.HistGradientBoostingRanker(client=client)
    with pytest.raises(TypeError, match=f"^X {message}"):
        ranker.fit(table, np.arange(N_ROWS) % 3)
    boosting = arboleda.dask.HistGradientBoostingClassifier(client=client)
    with pytest.raises(TypeError, match=f"^X_val {message}"):
        boosting.fit(make_frame()[["a", "b", "c"]], y, X_val=table, y_val=y)
    search = GridSearch(HistGradientBoostingClassifier(), {"max_iter": [1, 2]}, client=client)
    with pytest.raises(TypeError, match="X is a CodedTable, whose rows cannot be selected"):
        search.fit(table, y)
