"""The preset "thesis": its models and grids, and candidates that use their own columns."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda.catalogue import Setting, select_models
from arboleda.study import Study
from arboleda.study.config.presets import PRESETS
from arboleda.study.config.settings import Settings
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table

pytestmark = pytest.mark.usefixtures("undrawn")

CLASSES = {
    "cart", "bagging", "random_forest", "adaboost", "gradient_boosting", "logistic", "naive_bayes",
    "lda", "neighbours", "svm", "network", "most_frequent",
}  # fmt: skip
NUMBERS = CLASSES - {"logistic", "naive_bayes", "lda", "most_frequent"} | {"linear", "mean"}


@pytest.mark.parametrize(
    ("table", "target", "keys"), [("wine", "target", CLASSES), ("diabetes", "target", NUMBERS)]
)
def test_the_preset_has_the_models_of_the_task(table: str, target: str, keys: set[str]) -> None:
    plan = make_plan(read_table(table), target, Settings(preset="thesis"))
    assert {model.key for model in plan.models} == keys == set(plan.wanted)


@pytest.mark.parametrize("n_rows", [400, 30_000, 56_000])
@pytest.mark.parametrize(
    ("task", "n_classes"), [("binary", 2), ("multiclass", 10), ("regression", 0)]
)
def test_every_candidate_of_its_grids_can_be_built(n_rows: int, task: str, n_classes: int) -> None:
    setting = Setting(n_rows, n_classes, seed=1)
    entries = {entry.model: entry for entry in PRESETS["thesis"].entries}
    tried = 0
    for model in select_models(task, ["all"]):
        grid = entries[model.key].grid if model.key in entries else None
        for params in grid(setting) if grid else []:
            assert isinstance(model.build(setting, params), BaseEstimator)
            assert model.get_style(params) in {"native", "filled", "scaled"}
            tried += 1
    assert tried > (15 if n_rows > 40_000 else 30)


@pytest.mark.parametrize("key", ["cart", "naive_bayes", "svm", "network", "lda", "adaboost"])
@pytest.mark.parametrize("n_classes", [0, 2, 5])
def test_candidates_for_many_rows_are_fitted(key: str, n_classes: int) -> None:
    task = "regression" if n_classes == 0 else "binary" if n_classes == 2 else "multiclass"
    setting = Setting(50_000, n_classes, seed=1)
    grid = next(entry.grid for entry in PRESETS["thesis"].entries if entry.model == key)
    x = np.random.default_rng(0).normal(size=(400, 4))
    y = x[:, 0] if n_classes == 0 else np.floor(np.arange(400) / 400 * n_classes).astype(int)
    assert grid is not None
    for model in select_models(task, ["all"]):
        for params in grid(setting) if model.key == key else []:
            assert model.build(setting, params).fit(x, y).predict(x).shape == y.shape


def test_candidates_can_use_unscaled_columns(tmp_path: Path) -> None:
    result = Study(
        "wine",
        target="target",
        output_dir=tmp_path,
        models="naive_bayes",
        preset="thesis",
        n_jobs=1,
    ).run()
    found = result.facts["models"][0]
    x, y = load_wine(return_X_y=True)
    train = np.sort(
        train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)[0]
    )
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train]))
    scores = {tuple(c["params"].values()): c["fold_scores"] for c in found["candidates"]}
    # A tenth of the widest column's variance drowns the other columns, unless all have the same.
    for columns, model in (
        ("filled", GaussianNB(var_smoothing=0.1)),
        ("scaled", make_pipeline(StandardScaler(), GaussianNB(var_smoothing=0.1))),
    ):
        assert scores[columns, 0.1] == pytest.approx(
            [model.fit(x[train[a]], y[train[a]]).score(x[train[b]], y[train[b]]) for a, b in folds]
        )
    assert np.mean(scores["filled", 0.1]) < np.mean(scores["scaled", 0.1])
    style = found["candidates"][found["best"]]["params"]["columns"]
    assert ("standardised" in found["preparation"]) == (style == "scaled")
    table = pd.DataFrame(x, columns=load_wine().feature_names)
    assert len(Study.load(tmp_path).best_model_.predict(table)) == len(y)
