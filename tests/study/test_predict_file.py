"""Files predicted by any fitted model, part by part."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import arboleda as ab
from arboleda.study import StudyError
from arboleda.tables import chunked_reader


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_reader, "LARGE", 1)
    monkeypatch.setattr(chunked_reader, "_CHARACTERS", 300)


def table(path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90).round(3), "town": rng.integers(0, 5, 90)})
    frame["town"] = frame["town"].astype(str)  # looks like numbers
    frame["more"] = "unused"
    frame.to_csv(path, index=False)
    return frame


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_our_models_predict_a_file(tmp_path: Path, ending: str) -> None:
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


def test_other_models_and_unnamed_columns_are_supported(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")[["x"]]
    model = LinearRegression().fit(frame, frame["x"] * 2)
    ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.parquet")
    found = pd.read_parquet(tmp_path / "out.parquet")["prediction"]
    np.testing.assert_allclose(found, model.predict(frame))
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    plain = ab.DecisionTreeRegressor().fit(frame.to_numpy(), frame["x"])
    assert ab.predict_file(plain, tmp_path / "numbers.csv", tmp_path / "out.csv") == 90


def test_several_outputs_per_row_are_refused(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")[["x"]]
    quantiles = ab.HistGradientBoostingRegressor(
        loss="quantile", quantile=[0.1, 0.9], max_iter=2
    ).fit(frame, frame["x"])
    both = np.column_stack([frame["x"] > 0, frame["x"] > 1]).astype(int)
    for model in (quantiles, ab.DecisionTreeClassifier().fit(frame, both)):
        with pytest.raises(StudyError, match="gives 2 numbers a row; a file has room for one"):
            ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_texts_in_numeric_columns_are_refused(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")
    model = ab.DecisionTreeRegressor().fit(np.zeros((3, 3)), [1.0, 2.0, 3.0])
    with pytest.raises(StudyError, match=r"'more' of rows.csv does not hold numbers.*'unused'"):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.csv")
    numbers = frame[["x", "town", "x"]].set_axis(["x", "town", "again"], axis=1)
    numbers.loc[:40, "again"] = np.nan  # whole parts without a number
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    assert ab.predict_file(model, tmp_path / "numbers.csv", tmp_path / "out.csv") == 90


def test_invalid_arguments_are_refused(tmp_path: Path) -> None:
    frame = table(tmp_path / "rows.csv")[["x"]].rename(columns={"x": "age"})
    model = ab.DecisionTreeRegressor().fit(frame, frame["age"])
    with pytest.raises(StudyError, match="lacks the column 'age'"):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(StudyError, match=r"must end in .csv or .parquet"):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "out.txt")
    with pytest.raises(StudyError):
        ab.predict_file(model, tmp_path / "rows.csv", tmp_path / "rows.csv")


def saved(write: Callable[[pd.DataFrame, Path], object], name: str) -> Any:
    return pytest.param(write, name, id=name)


def as_bytes(change: Callable[[bytes], bytes]) -> Callable[[pd.DataFrame, Path], object]:
    return lambda frame, path: path.write_bytes(change(frame.to_csv(index=False).encode()))


FORMS = [
    saved(as_bytes(lambda text: b"\xef\xbb\xbf" + text), "bom.csv"),
    saved(as_bytes(lambda text: text.replace(b"\n", b"\r\n")), "crlf.csv"),
    saved(as_bytes(gzip.compress), "packed.csv.gz"),
    saved(lambda f, path: f[["town", "more", "x"]].to_csv(path, index=False), "order.csv"),
    saved(lambda f, path: f.assign(other=1.5).to_csv(path, index=False), "additional.csv"),
    saved(lambda f, path: f.to_csv(path, index=False, sep=";", decimal=","), "comma.csv"),
    saved(lambda f, path: f.to_parquet(path), "rows.parquet"),
    saved(lambda f, path: f.head(1).to_csv(path, index=False), "one.csv"),
]


@pytest.mark.parametrize(("write", "name"), FORMS)
def test_any_table_format_is_predicted(
    tmp_path: Path, write: Callable[[pd.DataFrame, Path], object], name: str
) -> None:
    frame = table(tmp_path / "rows.csv")
    X = frame[["x", "town"]]
    model = ab.DecisionTreeRegressor(categorical_features="from_dtype").fit(X, frame["x"] * 3)
    write(frame, tmp_path / name)
    n_rows = ab.predict_file(model, tmp_path / name, tmp_path / "out.parquet")
    assert n_rows == (1 if name == "one.csv" else 90)
    found = pd.read_parquet(tmp_path / "out.parquet")["prediction"]
    assert found.tolist() == model.predict(X)[:n_rows].tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="x"), r"The table new.csv lacks the column 'x'"),
        (
            lambda f: f.assign(x=[*f["x"][:-1], "1_0"]),
            r"'x' of new.csv does not hold numbers, .* '1_0' in data row 90 is not one; c",
        ),
        (
            lambda f: f.assign(x="2020-01-02"),
            "Regressor cannot predict new.csv: column 'x' of X has dates or durations: convert",
        ),
        (
            lambda f: f.assign(x=[*f["x"][:-1], np.inf]),
            r"Regressor cannot predict new.csv after its first \d+ rows: .* 'x', row \d+ is inf",
        ),
        (lambda f: f.head(0), "has a header line but no rows"),
    ],
)
def test_errors_name_the_file(
    tmp_path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    frame = table(tmp_path / "rows.csv")
    model = ab.DecisionTreeRegressor().fit(frame[["x"]], frame["x"])
    change(frame).to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    out.write_text("old")
    with pytest.raises(StudyError, match=message) as error:
        ab.predict_file(model, tmp_path / "new.csv", out)
    assert len(str(error.value).splitlines()) == 1
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.csv", "out.csv", "rows.csv"]


def test_an_error_without_a_message_is_reported(tmp_path: Path) -> None:
    class Silent(LinearRegression):  # type: ignore[misc]
        def predict(self, X: Any) -> Any:
            raise ValueError

    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    model = Silent().fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(StudyError, match=r"The Silent cannot predict t.csv: it gives no reason"):
        ab.predict_file(model, tmp_path / "t.csv", tmp_path / "out.csv")
