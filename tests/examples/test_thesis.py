"""The thesis's studies: tables are prepared as described, and the page shows the results."""

import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.study import Study

FOLDER = Path(__file__).parents[2] / "examples" / "thesis"


@pytest.fixture(scope="module", autouse=True)
def beside_each_other() -> Iterator[None]:
    """The examples import each other by name, as where they are run."""
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))
    for name in set(sys.modules) - before:
        if (
            getattr(sys.modules[name], "__file__", None)
            and FOLDER in Path(str(sys.modules[name].__file__)).parents
        ):
            del sys.modules[name]


@pytest.fixture
def preparation() -> ModuleType:
    import preparation

    return preparation


def adults() -> pd.DataFrame:
    rows = [
        (39, "Private", 77516, "Bachelors", 13, "Never-married", "United-States", "<=50K"),
        (39, "Private", 77516, "Bachelors", 13, "Never-married", "United-States", "<=50K"),
        (50, None, 83311, "HS-grad", 9, "Married-civ-spouse", "United-States", ">50K"),
        (38, "?", 83311, "HS-grad", 9, "Married-AF-spouse", "United-States", ">50K"),
        (28, "State-gov", 1, "Prof-school", 15, "Widowed", "United-States", ">50K"),
        (28, "State-gov", 1, "Assoc-voc", 11, "Divorced", "United-States", "<=50K"),
        (31, "Private", 1, "7th-8th", 4, "Married-AF-spouse", "Mexico", "<=50K"),
        (31, "Private", 1, "10th", 6, "Married-spouse-absent", "United-States", "<=50K"),
    ]
    names = "age workclass fnlwgt education educational-num marital-status native-country income"
    return pd.DataFrame(rows, columns=names.split())


def test_adult_is_prepared_like_the_thesis(preparation: ModuleType) -> None:
    found = preparation.prepared_adult(adults(), check=False)
    assert list(found) == ["age", "workclass", "education", "marital-status", "income"]
    assert found["education"].tolist() == ["Bachelors", "Masters", "CommunityCollege", "dropout"]
    assert found["marital-status"].tolist() == ["NotMarried", "Widowed", "Separated", "NotMarried"]
    assert found.index.tolist() == [0, 1, 2, 3]


def test_another_edition_of_a_table_is_refused(preparation: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"^6 rows without missing values, where there are 45,222"):
        preparation.prepared_adult(adults())
    strange = adults().replace("HS-grad", "Kindergarten").fillna("Private")
    with pytest.raises(ValueError, match="'education' holds 'Kindergarten', which the thesis has"):
        preparation.prepared_adult(strange, check=False)


def test_digits_are_binarized(preparation: ModuleType) -> None:
    frame = pd.DataFrame({"pixel0": [0, 3, 255], "pixel1": [0, 0, 1], "digit": [0, 5, 9]})
    found = preparation.prepared_digits(frame, check=False)
    assert found.to_numpy().tolist() == [[0, 0, 0], [1, 0, 5], [1, 1, 9]]


def test_the_split_uses_seed_one(preparation: ModuleType) -> None:
    from sklearn.model_selection import train_test_split

    frame = pd.DataFrame({"x": range(50)})
    train, test = preparation.split(frame)
    expected = train_test_split(np.arange(50), test_size=0.2, random_state=1)
    assert set(train["x"]) == set(expected[0])
    assert test["x"].tolist() == sorted(expected[1])


def test_printed_numbers_agree_with_each_other() -> None:
    from published import PROBLEMS

    from arboleda.catalogue import select_models

    for problem, task in zip(
        PROBLEMS.values(), ("binary", "multiclass", "regression"), strict=True
    ):
        known = {model.key for model in select_models(task, ["all"])} | {"single_stacking"}
        assert set(problem.thesis) | set(problem.levels) | set(problem.order) <= known
        assert not problem.order or set(problem.order) == set(problem.thesis)
    for row in PROBLEMS["p3"].thesis.values():
        # One of its square roots differs in a digit from the printed one.
        assert row["rmse"] ** 2 == pytest.approx(row["mse"], rel=0.003)


def cars(folder: Path) -> Path:
    draw = np.random.default_rng(0)
    year = draw.integers(2005, 2021, 90)
    model = draw.choice([" Golf", " Polo", " Up"], 90)
    price = 1_000 * (year - 2000) + 2_000 * (model == " Golf") + draw.normal(0, 300, 90)
    frame = pd.DataFrame({"model": model, "year": year, "price": price.round().astype(int)})
    frame.to_csv(folder / "vw.csv.gz", index=False)
    return folder


def test_a_study_is_compared_with_the_thesis_on_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import rerun

    monkeypatch.setattr(rerun, "Study", functools.partial(Study, models=("cart", "linear")))
    data, out = cars(tmp_path), tmp_path / "study"
    words = ["--data", str(data), "--out", str(out), "--rows", "90", "--jobs", "1"]
    page = rerun.main("p3", words)
    assert "72 rows to learn from, 18 to test" in capsys.readouterr().out
    text = page.read_text()
    for printed in ("Table 3.5", "Figure 3.3", "2,059", "2,605", "2,114", "projected", "RMSE"):
        assert printed in text
    assert "minutes" in text.split("<nav")[0]
    again = rerun.main("p3", words).read_text().split("<nav")[0]
    assert "went on where it had stopped" in again
    assert "minutes" not in again


def test_the_page_does_not_reuse_css_classes_of_the_report() -> None:
    report = FOLDER.parents[1] / "src" / "arboleda" / "reports" / "templates" / "page.css"
    own, theirs = (
        set(re.findall(r"\.([a-z][\w-]*)", path.read_text()))
        for path in (FOLDER / "beside.css", report)
    )
    assert own
    assert not own & theirs


@pytest.mark.parametrize(
    ("key", "params"),
    [
        ("cart", {"max_depth": 3, "max_leaf_nodes": None, "min_samples_leaf": 5}),
        ("random_forest", {"max_features": "sqrt", "min_samples_leaf": 1, "n_estimators": 5}),
        ("bagging", {"max_features": 0.5, "min_samples_leaf": 3, "n_estimators": 5}),
        ("adaboost", {"max_depth": 1, "learning_rate": 1.0, "n_estimators": 5}),
        ("gradient_boosting", {"growth": "symmetric", "max_leaf_nodes": None, "max_iter": 5}),
    ],
)
def test_models_of_the_same_name_use_our_candidates(key: str, params: dict[str, Any]) -> None:
    from namesakes import namesake
    from sklearn.datasets import load_iris

    model = namesake(key, params, is_classes=True)
    assert type(model).__module__.startswith("sklearn.")
    assert model.fit(*load_iris(return_X_y=True)).score(*load_iris(return_X_y=True)) > 0.9
    assert namesake("logistic", {"C": 1.0}, is_classes=True) is None
