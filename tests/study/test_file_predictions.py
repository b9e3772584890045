"""Files predicted by any fitted model, part by part."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import arboleda as ab
from arboleda.study import StudyError, parts_of_tables


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_of_tables, "LARGE", 1)
    monkeypatch.setattr(parts_of_tables, "_CHARACTERS", 300)


def table(path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90).round(3), "town": rng.integers(0, 5, 90)})
    frame["town"] = frame["town"].astype(str)  # looks like numbers
    frame["more"] = "unused"
    frame.to_csv(path, index=False)
    return frame


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_model_of_ours(tmp_path: Path, ending: str) -> None:
    frame = table(tmp_path / "rows.csv")
    X, y = frame[["town", "x"]], np.where(frame["x"] > 0, "yes", "no")
    model = ab.RandomForestClassifier(5, categorical_features="from_dtype", random_state=0).fit(
        X, y
    )
    out = tmp_path / f"out.{ending}"
    assert ab.predict_file(model, tmp_path / "rows.csv", out) == 90
    found = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    assert (found["probability of yes"] == model.predict_proba(X)[:, 1]).all()


def test_other_models_and_columns_without_names(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")[["x"]]
    model = LinearRegression().fit(frame, frame["x"] * 2)
    ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.parquet")
    found = pd.read_parquet(tmp_path / "out.parquet")["prediction"]
    np.testing.assert_allclose(found, model.predict(frame))
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    plain = ab.DecisionTreeRegressor().fit(frame.to_numpy(), frame["x"])
    assert ab.predict_file(plain, tmp_path / "numbers.csv", tmp_path / "out.csv") == 90


def test_several_numbers_a_row_have_no_room(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")[["x"]]
    quantiles = ab.HistGradientBoostingRegressor(
        loss="quantile", quantile=[0.1, 0.9], max_iter=2
    ).fit(frame, frame["x"])
    both = np.column_stack([frame["x"] > 0, frame["x"] > 1]).astype(int)
    for model in (quantiles, ab.DecisionTreeClassifier().fit(frame, both)):
        with pytest.raises(StudyError, match="gives 2 numbers a row; a file has room for one"):
            ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_texts_where_numbers_belong(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")
    model = ab.DecisionTreeRegressor().fit(np.zeros((3, 3)), [1.0, 2.0, 3.0])
    with pytest.raises(StudyError, match="The column 'more' does not hold numbers"):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.csv")
    numbers = frame[["x", "town", "x"]].set_axis(["x", "town", "again"], axis=1)
    numbers.loc[:40, "again"] = np.nan  # whole parts without a number
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    assert ab.predict_file(model, tmp_path / "numbers.csv", tmp_path / "out.csv") == 90


def test_what_cannot_be_done(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")[["x"]].rename(columns={"x": "age"})
    model = ab.DecisionTreeRegressor().fit(frame, frame["age"])
    with pytest.raises(StudyError, match="lacks the column 'age'"):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(StudyError, match=r"must end in .csv or .parquet"):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.txt")
    with pytest.raises(StudyError):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "rows.csv")
