"""Python functions as metrics of a study: loading, checks, identity, workers, and pages."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import max_error

from arboleda.scoring.choice import choose_metric
from arboleda.scoring.intervals import bootstrap_interval, compute_influence
from arboleda.scoring.scores import Predictions
from arboleda.scoring.user_function import load_function
from arboleda.study import MetricFunction, Study, StudyError, compare, explain
from arboleda.study.config.options import config_text, make_settings
from arboleda.study.results.comparison import LEVEL, compare_on_rows

SHOP = """
import numpy as np
from rates import RATE

def profit(y_true, y_pred):
    return float(np.mean((y_pred == "versicolor") * np.where(y_true == "versicolor", RATE, -1)))

profit.greater_is_better = True

def trust(y_true, y_pred):
    return float(np.mean(y_pred[y_true == "setosa", 0]))

trust.greater_is_better = True
trust.needs = "probabilities"

def plain(y_true, y_pred):
    return 1.0

def constant(y_true, y_pred):
    return float(np.mean(y_pred == 1))

constant.greater_is_better = True

def fails(y_true, y_pred):
    raise RuntimeError("closed today")

fails.greater_is_better = False
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with metrics and a module that they import."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "rates", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "rates.py").write_text("RATE = 5\n")
    return tmp_path


def run_iris(folder: Path, **options: Any) -> Any:
    options = {"models": "lda", "n_jobs": 1} | options
    return Study("iris", target="target", output_dir=folder, **options).run()


def test_a_study_chooses_by_a_function_of_the_current_folder(shop: Path) -> None:
    result = run_iris(shop / "study", metric="shop:profit")
    facts = result.facts
    assert (facts["study"]["metric"], facts["study"]["metric_label"]) == ("shop:profit", "profit")
    assert facts["study"]["settings"]["metric"] == "shop:profit"
    best = facts["models"][0]
    assert best["test"]["interval"]["low"] < best["test"]["metrics"]["shop:profit"]
    assert best["test"]["interval"]["metric"] == "shop:profit"
    assert facts["importance"]["metric"] == "shop:profit"
    assert max(column["value"] for column in facts["importance"]["columns"]) > 0
    assert 'metric = "shop:profit"' in (shop / "study" / "study.toml").read_text()
    assert "test_shop:profit" in (shop / "study" / "leaderboard.csv").read_text()
    assert "profit" in result.report.read_text("utf-8")
    # A changed function is another study; an unchanged one resumes.
    run_iris(shop / "study", metric="shop:profit")
    (shop / "shop.py").write_text(SHOP.replace("-1))", "-2))"))
    with pytest.raises(StudyError, match="not the same: metric function"):
        run_iris(shop / "study", metric="shop:profit")
    # Reading the folder runs none of its author's code.
    (shop / "shop.py").write_text("raise SystemExit('run')")
    assert Study.load(shop / "study").best_model_.predict is not None
    assert explain(shop / "study").facts["importance"]["metric"] == "accuracy"
    shutil.copytree(shop / "study", shop / "copy")
    compared = compare([shop / "study", shop / "copy"]).facts
    assert "profit is a Python function" in json.dumps(compared)


def test_workers_receive_the_function(shop: Path) -> None:
    """They have neither the current folder's module nor a function of this test."""
    kept = load_function("shop:profit")
    program = (
        "import pickle, sys; import numpy as np; metric = pickle.load(sys.stdin.buffer); "
        "print(metric(np.array([1, 0]), np.array([1, 1]), None, ('setosa', 'versicolor')))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(kept),
        capture_output=True,
        check=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert float(found.stdout) == 2.0


def test_a_function_of_probabilities_skips_models_without(shop: Path) -> None:
    # In the other presets, support vector machines are calibrated.
    options = {"models": "lda,svm", "search": "random:1", "preset": "thesis"}
    result = run_iris(shop / "study", metric="shop:trust", **options)
    by_key = {model["key"]: model for model in result.facts["models"]}
    assert by_key["lda"]["test"]["metrics"]["shop:trust"] > 0.5
    assert "gives no probabilities, which shop:trust needs" in by_key["svm"]["error"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shop:plain", "does not declare its direction; write plain.greater_is_better = True"),
        ("shop:none", "The module shop has no function none; it has profit, trust, plain"),
        ("shop:fails", r"The metric shop:fails raises RuntimeError \(closed today\)"),
        ("shop:constant", "same value, 0, for correct and for constant predictions; the classes "),
        ("broken:f", r"The module broken of the metric broken:f cannot be loaded \(SyntaxError"),
        ("needy:f", "needs nowhere_at_all, which is not installed"),
    ],
)
def test_a_function_that_cannot_be_used_gets_a_sentence(
    shop: Path, name: str, message: str
) -> None:
    (shop / "broken.py").write_text("def f(:")
    (shop / "needy.py").write_text("import nowhere_at_all")
    with pytest.raises(StudyError, match=message):
        run_iris(shop / "study", metric=name)
    assert not (shop / "study").exists()


def test_functions_are_passed_in_python(tmp_path: Path) -> None:
    def error_of_most(y_true: Any, y_pred: Any) -> float:
        return float(np.quantile(np.abs(y_true - y_pred), 0.9))

    error_of_most.greater_is_better = False  # type: ignore[attr-defined]
    result = Study(
        "diabetes", target="target", metric=error_of_most, models="linear,mean", n_jobs=1,
        output_dir=tmp_path / "study",
    ).run()  # fmt: skip
    key = f"{__name__}:error_of_most"
    assert result.facts["study"]["metric"] == key
    assert not result.facts["study"]["greater_is_better"]
    scores = [model["cv"]["mean"] for model in result.facts["models"][:1]]
    assert 50 < scores[0] < 120
    assert make_settings(metric=MetricFunction(max_error, greater_is_better=False)) is not None


def test_closures_differ_in_the_identity() -> None:
    def make(rate: float) -> MetricFunction:
        def loss(y_true: Any, y_pred: Any) -> float:
            return rate * float(np.mean(np.abs(y_true - y_pred)))

        return MetricFunction(loss, greater_is_better=False)

    assert make(2.0).source_sha256 == make(2.0).source_sha256 != make(3.0).source_sha256


@pytest.mark.parametrize("wrong", [3, [1]])
def test_other_values_are_refused(wrong: Any) -> None:
    with pytest.raises(StudyError, match="is not a name or a function; choose one such as"):
        make_settings(metric=wrong)


def test_a_scorer_is_refused() -> None:
    from sklearn.metrics import get_scorer

    with pytest.raises(StudyError, match="is a scorer of scikit-learn; pass its function"):
        make_settings(metric=get_scorer("accuracy"))


RNG = np.random.default_rng(4)


def median_error(y_true: Any, y_pred: Any) -> float:
    return float(np.mean(np.abs(y_true - y_pred)))


def test_intervals_and_differences_of_a_function_match_those_of_the_metric() -> None:
    y, first, second = RNG.normal(size=(3, 800))
    own = choose_metric(MetricFunction(median_error, greater_is_better=False), "regression")
    known = choose_metric("mae", "regression")
    options: dict[str, Any] = {"n_classes": 0, "seed": 0}
    assert bootstrap_interval(own, y, first, None, **options) == pytest.approx(
        bootstrap_interval(known, y, first, None, **options)
    )
    found = [
        compare_on_rows(metric, y, Predictions(first, None), Predictions(second, None), 0)
        for metric in (own, known)
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].difference == pytest.approx(found[1].difference)
    ends = [each.compute_interval(LEVEL) for each in found if each is not None]
    width = [high - low for low, high in ends]
    assert width[0] == pytest.approx(width[1], rel=0.3)


def test_undefined_draws_are_skipped() -> None:
    def ratio(y_true: Any, y_pred: Any) -> float:
        if y_true.sum() == 0:
            raise ValueError("no event")
        return float(y_pred.sum() / y_true.sum())

    metric = choose_metric(MetricFunction(ratio, greater_is_better=True), "binary", ("0", "1"))
    y = np.zeros(30, dtype=np.int64)
    y[:2] = 1
    low, high = bootstrap_interval(metric, y, y, None, n_classes=2, seed=0)
    assert (low, high) == (1.0, 1.0)
    assert compute_influence(metric, np.zeros(9, dtype=np.int64), y[:9], None, 2) is None


def test_numbers_stay_numbers() -> None:
    seen: list[Any] = []

    def see(y_true: Any, y_pred: Any) -> float:
        seen.append(y_true.tolist())
        return 0.0

    metric = MetricFunction(see, greater_is_better=True)
    codes = np.array([0, 1])
    for labels in (("0", "1"), ("1.5", "2"), ("false", "true"), ("no", "yes"), ("01", "1")):
        metric(codes, codes, None, labels)
    assert seen == [[0, 1], [1.5, 2.0], [False, True], ["no", "yes"], ["01", "1"]]


def test_the_configuration_names_the_function(shop: Path) -> None:
    text = config_text("iris", "target", make_settings(metric="shop:profit"))
    assert 'metric = "shop:profit"' in text
