"""Preset best: models that are the means of their fold models, and their ensemble."""

import json
import re
import shutil
import sqlite3
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning

from arboleda.catalogue import select_models
from arboleda.catalogue.model import Setting, Size
from arboleda.catalogue.portfolio import EARLY_STOPPING_ROWS, PORTFOLIO
from arboleda.study import Study, StudyResult
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import check_key
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import HASH_DIGITS
from arboleda.study.execution.ledger import Ledger

from .conftest import without_timing

pytestmark = pytest.mark.usefixtures("undrawn")

SOME = "best_leafwise,best_linear,best_neighbours"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    out = tmp_path_factory.mktemp("portfolio")
    return Study(
        "iris", target="target", output_dir=out, preset="best", models=SOME, n_jobs=1
    ).run()


def facts_of(result: StudyResult, key: str) -> dict[str, Any]:
    return next(m for m in result.facts["models"] if m["key"] == key)


def test_the_preset_is_the_portfolio() -> None:
    for task in ("binary", "multiclass", "regression"):
        found = select_models(task, ("portfolio",))
        assert len(found) == len(PORTFOLIO) // 2
        assert all(model.bag for model in found)
    assert not any(model.bag for model in select_models("binary", ("all",)))


@pytest.mark.parametrize("n_rows", [100, EARLY_STOPPING_ROWS])
@pytest.mark.parametrize("model", PORTFOLIO, ids=lambda m: f"{m.key}-{m.task}")
def test_every_configuration_is_fitted(model: Any, n_rows: int) -> None:
    n_classes = 3 if model.task == "classification" else 0
    setting = Setting(n_rows=n_rows, n_classes=n_classes, seed=0)
    x, y = (load_iris if n_classes else load_diabetes)(return_X_y=True)
    for params in model.grid(setting):
        assert model.key.endswith(("linear", "svm")) or len(params) > 1
        estimator = model.make(setting, params)
        if model.engine == "arboleda":
            few = {"max_iter", "n_estimators"} & set(estimator.get_params())
            estimator.set_params(**dict.fromkeys(few, 5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the columns are not scaled here
            assert estimator.fit(x, y).score(x, y) > 0.0


@pytest.mark.parametrize(("n_rows", "folds"), [(100, 5), (5_000, 5), (50_000, 3), (90_000, None)])
def test_few_rows_use_two_ways_of_early_stopping(n_rows: int, folds: int | None) -> None:
    setting = Setting(n_rows=n_rows, n_classes=3, seed=0)
    (model,) = (m for m in PORTFOLIO if m.key == "best_leafwise" and m.task == "classification")
    first, *others = model.grid(setting)
    assert "validation_folds" not in first
    assert [params["validation_folds"] for params in others] == [folds] * (folds is not None)
    dear = [model.cost(Size(n_rows, 10, 3), params) for params in (first, *others)]
    assert dear == sorted(dear)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "larger"), [(16_000, 16, 1.0), (16_000, 784, 2.0), (48_000, 784, 3.0)]
)
def test_large_tables_use_a_larger_learning_rate(
    n_rows: int, n_columns: int, larger: float
) -> None:
    few = Setting(n_rows=1_000, n_classes=10, seed=0)
    many = Setting(n_rows=n_rows, n_classes=10, seed=0, n_columns=n_columns)
    steps = set()
    for model in select_models("multiclass", ("portfolio",)):
        before, after = (model.grid(setting)[0] for setting in (few, many))
        if "learning_rate" in after and not after["early_stopping"]:
            assert after == before  # dropped trees do not bear them
        elif "learning_rate" in after:
            steps.add(round(after["learning_rate"] / before["learning_rate"], 6))
            assert larger == 1.0 or after["l2_regularization"] >= 1.0
    assert steps == {larger}


def test_a_model_is_the_mean_of_its_fold_models(result: StudyResult) -> None:
    names = {path.name for path in (result.folder / MODELS).iterdir()}
    for fold in range(5):
        assert any(re.fullmatch(rf"best_linear_\w{{8}}_fold{fold}\.skops", n) for n in names)
    assert "best_linear.skops" not in names
    study = Study.load(result.folder)
    rows = study.test_rows()
    model = study.model("best_linear")
    x = model.layout.encode(rows.X).x
    (_, folds), *others = model.pipeline_["model"].members_
    assert not others
    twin = np.mean([fold.predict_proba(x) for fold in folds], axis=0)
    assert len(folds) == 5
    np.testing.assert_allclose(model.predict_proba(rows.X), twin)
    score = facts_of(result, "best_linear")["test"]["metrics"]["accuracy"]
    assert score == np.mean(twin.argmax(axis=1) == rows.codes)


def test_the_time_of_a_mean_is_that_of_its_fold_models(result: StudyResult) -> None:
    ledger = sqlite3.connect(result.folder / "ledger.sqlite")
    own = {}
    for key in SOME.split(","):
        facts = facts_of(result, key)
        params = json.dumps(facts["candidates"][facts["best"]]["params"], sort_keys=True)
        query = "select result from work where model=? and params=? and fold in (0, 1, 2, 3, 4)"
        folds = [json.loads(text) for (text,) in ledger.execute(query, (key, params))]
        assert len(folds) == 5
        fits = sum(fold["timing"]["fit_s"] for fold in folds)
        # And reading what the folds have kept.
        assert fits < facts["timing"]["fit_s"] < fits + 5
        own[key] = facts["timing"]["fit_s"]
    # It uses all of them.
    assert facts_of(result, "stacking")["timing"]["fit_s"] == pytest.approx(sum(own.values()))


def test_an_ensemble_of_means_reproduces_its_test_score(result: StudyResult) -> None:
    study = Study.load(result.folder)
    rows = study.test_rows()
    for key in ("greedy_selection", "stacking"):
        score = facts_of(result, key)["test"]["metrics"]["accuracy"]
        assert score == np.mean(study.model(key).predict(rows.X) == rows.y)


def test_models_of_losing_candidates_are_dropped(result: StudyResult) -> None:
    facts = facts_of(result, "best_leafwise")
    assert len(facts["candidates"]) == 2
    names = {path.name for path in (result.folder / MODELS).glob("best_leafwise*fold*")}
    assert len(names) == 5
    assert len({name.split("_fold")[0] for name in names}) == 1


def test_models_are_not_dropped_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One configuration's key may begin as another's: what is dropped would be fitted again."""
    done: list[tuple[str, str, str]] = []
    put = Ledger.put

    def counted(ledger: Any, model: str, params: Any, fold: str, result: Any) -> None:
        done.append((model, str(params), fold))
        put(ledger, model, params, fold, result)

    monkeypatch.setattr(Ledger, "put", counted)
    models = "best_linear,best_linear_leaves"
    Study(
        "iris", target="target", output_dir=tmp_path, preset="best", models=models, n_jobs=1
    ).run()
    assert {model for model, _, _ in done} >= {"best_linear", "best_linear_leaves"}
    assert len(done) == len(set(done))


def test_a_lost_model_of_a_fold_is_fitted_again(result: StudyResult) -> None:
    (lost,) = (result.folder / MODELS).glob("best_leafwise_*_fold2.arboleda")
    lost.unlink()
    again = Study(
        "iris", target="target", output_dir=result.folder, preset="best", models=SOME, n_jobs=1
    ).run()
    assert without_timing(again.facts) == without_timing(result.facts)
    assert lost.exists()


def test_lost_fold_models_without_time_are_not_failures(
    result: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "study"
    shutil.copytree(result.folder, out)
    for lost in (out / MODELS).glob("best_linear*"):
        lost.unlink()
    options: Any = {
        "target": "target",
        "preset": "best",
        "models": SOME,
        "n_jobs": 1,
        "output_dir": out,
    }
    with monkeypatch.context() as patch:
        patch.setattr(Executor, "run_folds", lambda self, jobs: None)
        Study("iris", **options).run()
    again = Study("iris", **options).run()
    assert facts_of(again, "best_linear")["status"] == "ok"
    assert facts_of(again, "best_linear")["test"] is not None


def test_the_longest_name_of_a_fold_is_a_valid_key() -> None:
    for model in PORTFOLIO:
        assert check_key(f"{model.key}_{'0' * HASH_DIGITS}_fold19_of_{2**20}_rows")


@pytest.mark.slow
def test_two_processes_give_the_same_facts(result: StudyResult, tmp_path: Path) -> None:
    other = Study(
        "iris", target="target", output_dir=tmp_path, preset="best", models=SOME, n_jobs=2
    ).run()
    assert without_timing(other.facts) == without_timing(result.facts)
