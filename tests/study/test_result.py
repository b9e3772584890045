"""The results of a study in Python and in a notebook, and studies of features and a target."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from arboleda.study import Study, StudyError, StudyResult
from arboleda.study.artifacts.index import read_index
from arboleda.study.execution.notebook_progress import NotebookWatcher
from arboleda.study.execution.progress import SilentWatcher, make_watcher
from arboleda.study.results.leaderboard import make_leaderboard_frame
from arboleda.tables.fitted_table import join_target

pytestmark = pytest.mark.usefixtures("undrawn")

X, y = load_iris(return_X_y=True, as_frame=True)
X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
SPECIES = y.map({0: "setosa", 1: "versicolor", 2: "virginica"}).rename("species")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("iris")
    return Study(output_dir=folder, models="lda,cart").fit(X, SPECIES)


def test_a_fitted_study_predicts(fitted: Study) -> None:
    result = fitted.result_
    assert isinstance(result, StudyResult)
    assert result.target == fitted.target == "species"
    expected = result.best_model_.predict(X)
    assert (fitted.predict(X) == expected).all()
    assert (result.predict(pl.DataFrame(X)) == expected).all()
    assert np.mean(expected == SPECIES) > 0.9
    p = fitted.predict_proba(X)
    assert p.shape == (150, 3)
    assert np.allclose(p.sum(axis=1), 1.0)
    assert np.allclose(p, result.predict_proba(X))
    assert fitted.best_model_ is result.best_model_


def test_a_loaded_study_is_the_same_kind_of_result(fitted: Study) -> None:
    result = fitted.result_
    loaded = Study.load(result.folder)
    assert type(loaded) is type(result)
    assert repr(loaded) == repr(result)
    assert loaded.keys == result.keys
    assert loaded.leaderboard.equals(result.leaderboard)
    assert loaded.report == result.report
    assert len(result.training_rows()) == 120


def test_the_leaderboard_is_a_frame(fitted: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    board, facts = fitted.leaderboard_, fitted.result_.facts
    assert isinstance(board, pd.DataFrame)
    assert board["key"].tolist() == [model["key"] for model in facts["models"]]
    assert board["rank"].tolist() == list(range(1, len(board) + 1))
    metric = facts["study"]["metric"]
    for row, model in zip(board.to_dict("records"), facts["models"], strict=True):
        assert row[f"cv_{metric}"] == model["cv"]["mean"]
        assert row[f"test_{metric}"] == model["test"]["metrics"][metric]
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = make_leaderboard_frame(facts)
    assert isinstance(table, pa.Table)
    assert table.column_names == board.columns.tolist()


def test_a_row_is_explained(fitted: Study) -> None:
    explanation = fitted.result_.explain(7)
    assert explanation.facts["row"]["number"] == 7
    assert explanation.facts["row"]["truth"] == SPECIES[6]


def test_a_result_has_a_short_repr(fitted: Study) -> None:
    text = repr(fitted.result_)
    assert text.startswith("StudyResult(")
    assert "target='species'" in text
    assert "\n" not in text
    assert len(text) < 400


def test_the_summary_for_a_notebook_is_small_and_escaped(fitted: Study) -> None:
    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: list[str] = []
            self.text = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.append(tag)

        def handle_data(self, data: str) -> None:
            self.text += data

    result = fitted.result_
    reader = Reader()
    reader.feed(result._repr_html_())
    assert "species" in reader.text
    assert result.facts["models"][0]["name"] in reader.text
    assert str(result.report) in reader.text
    attack = "<script>alert(1)</script>" * 40
    facts = result.facts | {"study": result.facts["study"] | {"target": attack, "table": attack}}
    facts["models"] = [model | {"name": attack} for model in facts["models"]] * 40
    reader = Reader()
    page = StudyResult(Path(attack), facts, read_index(result.folder))._repr_html_()
    reader.feed(page)
    assert "script" not in reader.tags
    assert len(page.encode()) <= 10_000


@pytest.mark.parametrize(
    ("features", "target", "name"),
    [
        (X, SPECIES, "species"),
        (pl.DataFrame(X), pl.Series("kind", SPECIES.tolist()), "kind"),
        (pl.DataFrame(X), pl.Series(SPECIES.tolist()), "target"),
        (pa.table(dict(X)), pa.chunked_array([SPECIES.tolist()]), "target"),
        (X.to_numpy(), SPECIES.to_numpy(), "target"),
        (X.to_numpy().tolist(), SPECIES.tolist(), "target"),
        (X, SPECIES.to_frame(), "species"),
        (X, SPECIES.to_numpy()[:, None], "target"),
    ],
)
def test_features_and_target_of_any_kind_are_joined(features: Any, target: Any, name: str) -> None:
    table, found = join_target(features, target)
    assert found == name
    assert table.column_names[-1] == name
    assert table[name].to_pylist() == SPECIES.tolist()
    assert table.column(0).to_pylist() == X.iloc[:, 0].tolist()


@pytest.mark.parametrize(
    ("features", "target", "message"),
    [
        (X, SPECIES[:9], "X has 150 rows and y 9"),
        (X.assign(species=1), SPECIES, "A column of X is named 'species'"),
        (csr_matrix(X), SPECIES, "no sparse matrix"),
        (X.to_numpy()[:, 0], SPECIES, "X has 1 dimensions"),
        (X, X, "y has 4 columns"),
    ],
)
def test_features_that_do_not_fit_are_refused(features: Any, target: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        join_target(features, target)


def test_an_array_is_fitted_and_predicted(tmp_path: Path) -> None:
    study = Study(output_dir=tmp_path, models="lda").fit(X.to_numpy(), y.to_numpy())
    assert study.target == "target"
    assert np.mean(study.predict(X.to_numpy()) == y) > 0.9
    assert study.best_model_.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]


def test_a_study_without_table_or_results_is_refused() -> None:
    with pytest.raises(StudyError, match=r"Study\(table, target=...\), or call fit\(X, y\)"):
        Study().run()
    with pytest.raises(NotFittedError, match=r"call run\(\), or fit\(X, y\)"):
        Study("iris", target="target").predict(X)
    assert not hasattr(Study(), "best_model_")


def test_progress_is_shown_in_terminals_and_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(make_watcher(None)) is SilentWatcher
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True, write=len))
    assert type(make_watcher(None)) is not SilentWatcher
    assert type(make_watcher(False)) is SilentWatcher


def test_a_notebook_has_one_line_that_is_updated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines: list[str] = []

    class Handle:
        def update(self, content: dict[str, str], raw: bool) -> None:
            assert raw
            lines.append(content["text/plain"])

    def display(content: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        assert not lines
        lines.append(content["text/plain"])
        return Handle()

    kernel = SimpleNamespace(kernel=object())
    module = SimpleNamespace(get_ipython=lambda: kernel)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr("arboleda.study.execution.notebook_progress._PAUSE", 0.0)
    assert type(make_watcher(None)) is NotebookWatcher
    Study(output_dir=tmp_path, models="lda,cart", n_jobs=1).fit(X, SPECIES)
    assert "2 models" in lines[0]
    assert any("best so far" in line and "Log-loss" in line for line in lines)
    assert lines[-1].startswith("done: ")
