"""Support vector machines: exact where that is affordable, else named as approximations."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine, make_classification
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from arboleda.catalogue import Setting, kernels, select_models
from arboleda.catalogue.model import apply_approximation
from arboleda.study import Study
from arboleda.study.config.options import make_settings
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table


def machine_of(setting: Setting) -> Any:
    model = next(m for m in select_models("binary", ["svm"]) if m.key == "svm")
    return model.build(setting, {"C": 5.0, "gamma": "auto"})


def test_the_svm_is_exact_where_affordable() -> None:
    """A fit of 33,000 rows of 11 columns is taken to last about 24 seconds."""
    incomes = Setting(n_rows=33_004, n_classes=2, seed=3, n_columns=11, max_exact_seconds=120.0)
    assert type(machine_of(incomes)) is SVC
    assert type(machine_of(replace(incomes, n_rows=5_000, max_exact_seconds=0.0))) is SVC
    mapped, linear = machine_of(replace(incomes, max_exact_seconds=10.0))
    assert (mapped.n_components, mapped.gamma) == (2_000, None)
    assert type(linear) is LinearSVC
    many = Setting(n_rows=56_000, n_classes=10, seed=3, n_columns=784, max_exact_seconds=120.0)
    assert machine_of(many)[0].n_components == 2_000


def test_an_approximation_is_named_and_stores_rows_times_points() -> None:
    svm = next(m for m in select_models("binary", ["svm"]) if m.key == "svm")
    few, many = (
        Setting(n, 2, seed=0, n_columns=50, max_exact_seconds=30.0) for n in (9_000, 60_000)
    )
    assert apply_approximation(svm, few) is svm
    found = apply_approximation(svm, many)
    assert found.name == "Support vector machine (approximation by 2,000 points)"
    assert found.max_rows == 30_000
    assert "by a Nystroem map of 2,000 components" in str(found.note(many))


@pytest.mark.parametrize(("budget", "exact"), [(None, True), ("5m", True), ("20s", False)])
def test_a_time_budget_decides_what_is_affordable(budget: str | None, exact: bool) -> None:
    x, y = make_classification(n_samples=9_000, random_state=0)
    table = read_table(pd.DataFrame(x, columns=[f"x{j}" for j in range(20)]).assign(y=y))
    plan = make_plan(table, "y", make_settings(models="svm", time_budget=budget))
    (model,) = plan.models
    job = plan.test_job(model, plan.candidates(model)[0])
    assert ("approximation" not in model.name) == exact
    # What was scored by one is not taken for the other's when a study goes on.
    assert job.entry == ("test" if exact else "test by 2000 points")
    assert isinstance(job.pipeline[-1].estimator, SVC) == exact  # beside its calibration


def test_an_approximation_is_reported_and_not_mixed_with_the_exact_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"target": "target", "output_dir": tmp_path, "models": "svm", "cv": 3}
    options["metric"] = "accuracy"
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "EXACT_ROWS", 50)
        patch.setattr(kernels, "SVM_POINTS", 6)
        patch.setattr("arboleda.study.problem._exact_seconds", lambda *_: 0.0)
        coarse = Study("wine", **options).run()
    name = "Support vector machine (approximation by 6 points)"
    assert coarse.facts["models"][0]["name"] == name
    for file in ("leaderboard.csv", "report.html"):
        assert name in (tmp_path / file).read_text()
    (found,) = Study("wine", **options).run().facts["models"]
    assert (found["name"], found["note"]) == ("Support vector machine", None)
    machine = SVC(C=found["candidates"][found["best"]]["params"]["C"])
    exact = make_pipeline(
        StandardScaler(), CalibratedClassifierCV(machine, method="sigmoid", cv=3, ensemble=False)
    )
    x, y = load_wine(return_X_y=True)
    train = train_test_split(np.arange(178), test_size=0.2, stratify=y, random_state=0)[0]
    train = np.sort(train)
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(train, y[train])
    expected = [
        exact.fit(x[train[a]], y[train[a]]).score(x[train[b]], y[train[b]]) for a, b in folds
    ]
    assert found["cv"]["fold_scores"] == pytest.approx(expected)
