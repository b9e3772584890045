"""Whole studies by every scheme: facts by the schema, scores as scikit-learn gives them."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda.model_selection import bootstrap_error
from arboleda.study import Study, StudyError
from arboleda.tables.reading import read_table

SCHEMA = json.loads(files("arboleda.facts").joinpath("study.schema.json").read_text())
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def study(table: Any, target: str, **options: Any) -> dict[str, Any]:
        result = Study(table, target=target, output_dir=tmp_path / "study", **options).run()
        jsonschema.Draft202012Validator(SCHEMA).validate(result.facts)
        assert "Cross-validation" in result.report.read_text()
        return result.facts

    return study


def training_rows(folder: Path) -> Any:
    return Study.load(folder).training_rows()


def test_leave_one_out_is_supported(run: Run, tmp_path: Path) -> None:
    facts = run("iris", "target", models="lda", cv="loo", metric="accuracy")
    rows = training_rows(tmp_path / "study")
    x, y = load_iris(return_X_y=True)
    x, y = x[rows.numbers], y[rows.numbers]
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    predicted = cross_val_predict(model, x, y, cv=LeaveOneOut())
    cv = facts["models"][0]["cv"]
    assert cv["mean"] == pytest.approx(accuracy_score(y, predicted))
    assert (cv["sd"], len(cv["fold_scores"])) == (None, 1)
    assert facts["study"]["scheme"]["kind"] == "loo"


def test_leave_one_out_of_a_regression_is_supported(run: Run, tmp_path: Path) -> None:
    x, y = load_diabetes(return_X_y=True, as_frame=True)
    x, y = x[:40], y[:40]
    facts = run(x.assign(target=y), "target", models="linear", cv="loo")
    rows = training_rows(tmp_path / "study").numbers
    x, y = x.to_numpy()[rows], y.to_numpy()[rows]
    model = make_pipeline(StandardScaler(), LinearRegression())
    predicted = cross_val_predict(model, x, y, cv=LeaveOneOut())
    cv = facts["models"][0]["cv"]
    assert cv["mean"] == pytest.approx(root_mean_squared_error(y, predicted))


def test_the_bootstrap_is_supported(run: Run, tmp_path: Path) -> None:
    facts = run("iris", "target", models="lda", cv="bootstrap:30", metric="accuracy")
    rows = training_rows(tmp_path / "study").numbers
    x, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    expected = bootstrap_error(model, x[rows], y[rows], n_splits=30, random_state=0)
    cv = facts["models"][0]["cv"]
    assert 1 - cv["mean"] == pytest.approx(expected.plus_632, abs=0.003)
    assert len(cv["fold_scores"]) == facts["study"]["folds"] == 30
    assert cv["sd"] == pytest.approx(np.std(cv["fold_scores"], ddof=1))


def small(n: int = 160, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": draw.normal(size=n), "b": draw.choice(list("pqr"), n)})
    frame["who"] = draw.integers(0, 20, n)
    frame["y"] = np.where(frame["a"] + draw.normal(size=n) > 0, "good", "bad")
    return frame


def written(n: int, seed: int) -> pd.DataFrame:
    """A small table with truth values and prices in words and signs."""
    prices = [f"${1000 + 7 * i:,}" for i in range(n)]
    return small(n, seed).assign(ok=["yes", "no"] * (n // 2), price=prices)


def test_groups_and_times_are_supported(run: Run, tmp_path: Path) -> None:
    facts = run(small(), "y", models="most_frequent,lda", groups="who", cv="group:3")
    assert facts["study"]["scheme"] == {
        "name": "group:3",
        "kind": "group",
        "folds": 3,
        "repeats": 1,
        "test": "grouped",
    }
    assert facts["study"]["settings"]["groups"] == "who"
    # Rows of a group are not independent: the test is drawn and compared by groups.
    interval = facts["models"][0]["test"]["interval"]
    assert interval["method"] == "bootstrap of the groups of the test rows, 1000 draws"
    assert "each group's influence" in facts["comparison"]["test_note"]
    assert facts["comparison"]["rows"][0]["test"]["method"] == "influence"
    with pytest.raises(StudyError, match="another study .not the same: folds, groups, time"):
        run(small(), "y", models="lda", time="who", cv="time:3")


def test_the_earliest_rows_of_a_time_are_never_predicted(run: Run, tmp_path: Path) -> None:
    run(small(), "y", models="lda", time="a", cv="time:3")
    fold = training_rows(tmp_path / "study").fold
    assert set(fold) == {-2, 0, 1, 2}


def test_an_external_test_is_supported(run: Run, tmp_path: Path) -> None:
    table, test = small(), small(40, seed=1).assign(extra=1)
    test.loc[:9, "b"] = "new"
    test = test[["extra", "y", "who", "b", "a"]]
    table.to_csv(tmp_path / "train.csv", index=False)
    test.to_csv(tmp_path / "later.csv", index=False)
    facts = run(tmp_path / "train.csv", "y", models="cart", test=tmp_path / "later.csv")
    assert facts["study"]["scheme"]["test"] == "file"
    assert facts["study"]["settings"]["test"] == "later.csv"
    assert (facts["split"]["n_train"], facts["split"]["n_test"]) == (160, 40)
    assert facts["study"]["test_size"] == pytest.approx(0.2)
    notes = [note["text"] for note in facts["data"]["notes"]]
    assert "Columns of later.csv that train.csv lacks are not used: 'extra'." in notes
    study = Study.load(tmp_path / "study")
    predicted = study.best_model_.predict(test)
    assert facts["models"][0]["test"]["metrics"]["accuracy"] == pytest.approx(
        np.mean(predicted == test["y"])
    )
    assert study.training_rows().numbers.tolist() == list(range(160))
    assert "new" in study.test_rows().X["b"].to_pylist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="b"), "lacks the column 'b'"),
        (lambda f: f.assign(y="worse"), "class 'worse' of the target 'y' occurs in the test table"),
        (lambda f: f.assign(y=None), "'y' is missing in 20 rows of the test table"),
        (lambda f: f.assign(a="much"), "Column 'a' holds numbers in the study, but 'much'"),
        (
            lambda f: f.assign(ok="perhaps"),
            "Column 'ok' holds Booleans in the study, but 'perhaps' in data row 1 is not a Boolean",
        ),
        (
            lambda f: f.assign(price="1.000,50"),
            (
                "Column 'price' holds numbers (decimal mark “.”, thousands separated by “,”) in "
                "the study, but '1.000,50' in data row 1 is not such a number"
            ),
        ),
        (lambda f: f[:1], "has 1 row; it needs at least 2"),
        (lambda f: f.assign(a=np.inf), "holds the infinite value inf"),
        (lambda f: 3, "A int cannot be read as a table"),
        (lambda f: "none.csv", "There is no file none.csv"),
    ],
)
def test_invalid_tests_are_refused(
    run: Run, change: Callable[[pd.DataFrame], Any], message: str
) -> None:
    with pytest.raises(StudyError) as error:
        run(written(160, seed=0), "y", models="cart", test=change(written(20, seed=1)))
    assert message in str(error.value)


def test_the_same_external_test_makes_the_same_study(run: Run) -> None:
    table, test = small(), small(20, seed=1)
    run(table, "y", models="lda", test=test)
    again = run(table, "y", models="lda", test=test[["who", "y", "a", "b"]])
    assert again["split"]["n_test"] == 20
    with pytest.raises(StudyError, match="another study .not the same: test"):
        run(table, "y", models="lda", test=test[:19])
    assert read_table(table).n_rows == 160
