"""A study read back: its models predict what they predicted, on tables of any kind."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor

from arboleda.study import Study, StudyError, StudyResult
from arboleda.study.artifacts.files import write_file
from arboleda.study.config.settings import Settings
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table


def make_model_facts(result: StudyResult, key: str) -> dict[str, Any]:
    return next(m for m in result.facts["models"] if m["key"] == key)


def test_every_saved_model_reproduces_its_test_predictions(
    mixed: pd.DataFrame, mixed_result: StudyResult
) -> None:
    study = Study.load(mixed_result.folder)
    assert study.facts == mixed_result.facts
    assert study.class_names == ("no", "yes")
    assert list(study.keys) == [m["key"] for m in mixed_result.facts["models"]]
    assert study.best_key == study.keys[0]
    assert study.best_model_ is study.model(study.best_key)
    test = study.test_rows()
    assert (test.y == mixed["rich"].to_numpy()[test.numbers]).all()
    for key in study.keys:
        model = study.model(key)
        assert is_classifier(model)
        found = make_model_facts(mixed_result, key)["test"]
        predicted = model.predict(mixed.iloc[test.numbers])
        assert np.mean(predicted == test.y) == pytest.approx(found["metrics"]["accuracy"], abs=0)
        if hasattr(model, "predict_proba"):
            p = model.predict_proba(test.X)
            assert p.shape == (len(test), 2)
            p_true = p[np.arange(len(test)), test.codes]
            loss = -np.mean(np.log(np.clip(p_true, np.finfo(float).eps, 1)))
            assert loss == pytest.approx(found["metrics"]["log_loss"], rel=1e-9)


def test_a_regression_is_saved(diabetes_result: StudyResult) -> None:
    study = Study.load(diabetes_result.folder)
    assert study.class_names == ()
    test, training = study.test_rows(), study.training_rows()
    for key in study.keys:
        model = study.model(key)
        assert is_regressor(model)
        rmse = np.sqrt(np.mean((model.predict(test.X) - test.y) ** 2))
        found = make_model_facts(diabetes_result, key)["test"]["metrics"]["rmse"]
        assert rmse == pytest.approx(found, rel=1e-12)
    assert len(training) + len(test) == 442
    assert sorted({*training.numbers, *test.numbers}) == list(range(442))


def test_rows_match_the_split(mixed: pd.DataFrame, mixed_result: StudyResult) -> None:
    study = Study.load(mixed_result.folder)
    plan = make_plan(read_table(mixed), "rich", Settings())
    training, test = study.training_rows(), study.test_rows()
    assert (training.numbers == plan.split.train).all()
    assert (test.numbers == plan.split.test).all()
    assert set(test.fold) == {-1}
    for k, (_, score) in enumerate(plan.split.folds):
        assert (training.numbers[training.fold == k] == score).all()
    for rows in (training, test):
        features = study.encode(rows.X)
        np.testing.assert_array_equal(features.x, plan.features.x[rows.numbers])
        assert features.names == plan.features.names == study.layout.names
        assert features.categorical == plan.features.categorical
        assert features.binary == plan.features.binary
        assert rows.n_rows == len(rows)


def test_tables_of_any_type_and_order_are_predicted(
    mixed: pd.DataFrame, mixed_result: StudyResult
) -> None:
    model = Study.load(mixed_result.folder).best_model_
    expected = model.predict(mixed)
    shuffled = mixed[sorted(mixed.columns, reverse=True)]
    text = mixed.assign(age=mixed["age"].map(lambda a: "?" if np.isnan(a) else str(a)))
    tables = [
        shuffled,
        mixed.drop(columns=["rich", "id", "same", "comment"]),
        mixed.assign(city=mixed["city"].astype("category"), since=mixed["since"].astype(str)),
        text,
        mixed.assign(member=mixed["member"].astype(int), extra=1),
        pl.from_pandas(mixed),
        pa.Table.from_pandas(mixed),
    ]
    for table in tables:
        assert (model.predict(table) == expected).all()
    assert list(model.feature_names_in_) == ["age", "city", "wealth", "since", "member"]
    assert model.n_features_in_ == 5


def test_rows_predicted_one_at_a_time_match(mixed: pd.DataFrame, mixed_result: StudyResult) -> None:
    model = Study.load(mixed_result.folder).model("random_forest")
    whole = model.predict_proba(mixed[:12])
    parts = [model.predict_proba(mixed[i : i + 1]) for i in range(12)]
    np.testing.assert_array_equal(np.vstack(parts), whole)


def test_unseen_and_missing_values_are_predicted(
    mixed: pd.DataFrame, mixed_result: StudyResult
) -> None:
    study = Study.load(mixed_result.folder)
    table = mixed[:2].assign(city=["Paris", None], age=None, since=pd.NaT, member=None)
    features = study.encode(table)
    city = features.names.index("city")
    assert features.x[:, city].tolist() == [4.0, -1.0]
    others = [j for j, name in enumerate(features.names) if name not in ("city", "wealth")]
    assert np.isnan(features.x[:, others]).all()
    for key in study.keys:
        assert set(study.model(key).predict(table)) <= {"no", "yes"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": "old"}, r"'age' holds numbers .* 'old' in data row 1 is not a number"),
        ({"age": np.inf}, "'age' holds the infinite value inf"),
        ({"age": pd.Timestamp("2020-01-01")}, "'age' holds numbers .* a date in data row 1"),
        ({"member": 0.5}, r"'member' holds Booleans .* '0.5' in data row 1"),
        ({"member": "perhaps"}, r"'member' holds Booleans .* 'perhaps' in data row 1"),
        ({"since": 3.0}, r"'since' holds dates .* '3' in data row 1"),
        ({"since": "soon"}, r"'since' holds dates .* 'soon' in data row 1"),
        ({"city": pd.Timestamp("2020-01-01")}, "'city' holds text .* such as 'Bern'"),
    ],
)
def test_values_of_another_type_are_refused(
    mixed: pd.DataFrame, mixed_result: StudyResult, change: dict[str, Any], message: str
) -> None:
    model = Study.load(mixed_result.folder).model("cart")
    with pytest.raises(ValueError, match=message):
        model.predict(mixed[:3].assign(**change))


def test_missing_columns_and_invalid_tables_are_refused(
    mixed: pd.DataFrame, mixed_result: StudyResult
) -> None:
    model = Study.load(mixed_result.folder).model("cart")
    with pytest.raises(StudyError, match="lacks the columns 'city', 'member', which the models"):
        model.predict(mixed.drop(columns=["city", "member"]))
    with pytest.raises(StudyError, match="lacks the column 'age', which"):
        model.predict(mixed.rename(columns={"age": "Age"}))
    with pytest.raises(StudyError, match="ndarray cannot be read as a table"):
        model.predict(mixed[["age", "wealth"]].to_numpy())
    with pytest.raises(StudyError, match="no rows"):
        model.predict(mixed[:0])


def test_a_model_can_be_refitted(mixed: pd.DataFrame, mixed_result: StudyResult) -> None:
    study = Study.load(mixed_result.folder)
    model = study.model("cart")
    training = study.training_rows()
    again = clone(model).fit(training.X, training.y)
    assert (again.predict_proba(mixed) == model.predict_proba(mixed)).all()
    assert list(again.classes_) == list(model.classes_)


def test_classes_have_the_targets_type(tmp_path: Path, mixed: pd.DataFrame) -> None:
    grades = mixed.assign(grade=np.arange(len(mixed)) % 3 + 5, half=np.arange(len(mixed)) % 2 / 2)
    for target, classes in (
        ("grade", [5, 6, 7]),
        ("half", [0.0, 0.5]),
        ("member", [False, True]),
    ):
        out = tmp_path / target
        Study(grades, target=target, output_dir=out, models="most_frequent").run()
        model = Study.load(out).best_model_
        assert model.classes_.tolist() == classes
        assert model.classes_.dtype == np.array(classes).dtype
        assert set(model.predict(grades).tolist()) <= set(classes)


def test_a_lost_file_is_written_again(tmp_path: Path, mixed: pd.DataFrame) -> None:
    study = Study(mixed, target="rich", output_dir=tmp_path, models="cart,naive_bayes")
    facts = study.run().facts
    before = Study.load(tmp_path).model("cart").predict_proba(mixed)
    (tmp_path / "models" / "cart.arboleda").unlink()
    (tmp_path / "models" / ".cart.skops.0123.tmp").write_bytes(b"what a killed study left")
    with pytest.raises(StudyError, match=r"cart.arboleda cannot be used .*run the study's command"):
        Study.load(tmp_path).model("cart")
    again = study.run().facts
    assert not list((tmp_path / "models").glob(".*"))
    assert again["models"][0]["test"] == facts["models"][0]["test"]
    assert (Study.load(tmp_path).model("cart").predict_proba(mixed) == before).all()


def test_a_model_that_cannot_be_saved_is_reported_and_saved_later(
    tmp_path: Path, mixed: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, name: str, content: bytes) -> dict[str, Any]:
        if name == "cart.skops" or name == "rows.parquet":
            raise OSError(28, "No space left on device")
        return write_file(folder, name, content)

    monkeypatch.setattr("arboleda.study.artifacts.model_files.write_file", full)
    monkeypatch.setattr("arboleda.study.artifacts.rows.write_file", full)
    study = Study(mixed, target="rich", output_dir=tmp_path, models="cart,naive_bayes")
    result = study.run()
    cart = make_model_facts(result, "cart")
    assert cart["not_kept"] == "OSError: No space left on device"
    assert cart["test"] is not None
    assert make_model_facts(result, "naive_bayes")["not_kept"] is None
    assert "No space left on device" in result.report.read_text()
    assert not list((tmp_path / "models").glob("cart*"))
    loaded = Study.load(tmp_path)
    assert loaded.keys == ("naive_bayes",)
    with pytest.raises(StudyError, match="cart was not saved .*No space left"):
        loaded.model("cart")
    with pytest.raises(StudyError, match="rows were not saved .*No space left"):
        loaded.test_rows()
    monkeypatch.undo()
    assert make_model_facts(study.run(), "cart")["not_kept"] is None
    assert {"cart", "naive_bayes"} <= set(Study.load(tmp_path).keys)


def test_a_file_leaves_half_of_the_disk_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shutil import disk_usage

    usage = disk_usage(tmp_path)._replace(free=1_999_999)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    assert write_file(tmp_path / "models", "a", b"x" * 999_999)["bytes"] == 999_999
    with pytest.raises(OSError, match="its 1.0 MB are more than half of the 2.0 MB left"):
        write_file(tmp_path / "models", "b", b"x" * 1_000_000)
    assert [p.name for p in (tmp_path / "models").iterdir()] == ["a"]


def test_a_large_table_is_stored_as_a_random_sample(
    tmp_path: Path, mixed: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.study.artifacts.rows.MAX_SAVED_CELLS", 6 * 50)
    Study(mixed, target="rich", output_dir=tmp_path, models="most_frequent").run()
    study = Study.load(tmp_path)
    training, test = study.training_rows(), study.test_rows()
    assert (len(training), training.n_rows, len(test), test.n_rows) == (25, 128, 25, 32)
    for rows in (training, test):
        assert (np.diff(rows.numbers) > 0).all()
        assert (rows.y == mixed["rich"].to_numpy()[rows.numbers]).all()
        ages = rows.X["age"].to_numpy(zero_copy_only=False)
        np.testing.assert_array_equal(ages, mixed["age"].to_numpy()[rows.numbers])


def test_another_version_of_scikit_learn_is_reported(
    mixed_result: StudyResult, tmp_path: Path
) -> None:
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(mixed_result.folder, folder)
    index = folder / "models" / "index.json"
    entries = json.loads(index.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Study.load(folder)
    index.write_text(json.dumps({**entries, "scikit-learn": "1.6.0"}))
    with pytest.warns(UserWarning, match=r"fitted with scikit-learn 1.6.0, and this is"):
        Study.load(folder)
