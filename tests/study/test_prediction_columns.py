"""Intervals, sets and decisions about new rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.scoring.scores import Predictions
from arboleda.study import Study, StudyError
from arboleda.study.results.predict_file import predict
from arboleda.study.results.prediction_columns import fit_intervals, fit_sets

pytestmark = pytest.mark.usefixtures("undrawn")


def prices(n: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    size = draw.uniform(1, 10, n)
    age = draw.integers(0, 30, n)
    price = 20 * size - age + size * draw.normal(size=n)
    return pd.DataFrame({"size": size, "age": age, "price": price})


def fruits(n: int, seed: int, names: tuple[str, ...] = ("=fig", "lime", "plum")) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    kind = draw.integers(3, size=n)
    x = draw.normal(size=(n, 2)) + np.array([[0, 0], [1.5, 0], [0, 1.5]])[kind]
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "fruit": np.array(names)[kind]})


@pytest.fixture(scope="module")
def price_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("prices")
    Study(prices(1500, 0), target="price", models="linear", output_dir=out).run()
    return out


@pytest.fixture(scope="module")
def fruit_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fruits")
    costs = {"lime": {"=fig": 6, "plum": 6}}
    options = {"cost_matrix": costs, "reject_cost": 0.7}
    Study(fruits(600, 0), target="fruit", models="lda", output_dir=out, **options).run()
    return out


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_cover_their_share_of_new_values(
    price_study: Path, tmp_path: Path, coverage: float
) -> None:
    new = prices(4000, 1)
    predict(price_study, new, tmp_path / "out.csv", intervals=coverage)
    got = pd.read_csv(tmp_path / "out.csv")
    low, high = got[f"lower {100 * coverage:g} %"], got[f"upper {100 * coverage:g} %"]
    inside = (low <= new["price"]) & (new["price"] <= high)
    assert coverage - 0.035 < inside.mean() < coverage + 0.035
    assert np.allclose((low + high) / 2, got["prediction"])
    # What is large is missed by more, and so its intervals are wider.
    width = high - low
    assert width[got["prediction"] > 150].mean() > 1.5 * width[got["prediction"] < 50].mean()


def test_sets_cover_their_share_of_new_classes(fruit_study: Path, tmp_path: Path) -> None:
    new = fruits(4000, 1)
    predict(fruit_study, new, tmp_path / "out.parquet", intervals=0.9)
    got = pd.read_parquet(tmp_path / "out.parquet")
    inside = [
        fruit in prediction_set.split(" | ")
        for fruit, prediction_set in zip(new["fruit"], got["set 90 %"], strict=True)
    ]
    assert 0.865 < np.mean(inside) < 0.94
    assert all(
        p in prediction_set
        for p, prediction_set in zip(got["prediction"], got["set 90 %"], strict=True)
    )


def test_decisions_follow_the_costs_and_chows_rule(fruit_study: Path, tmp_path: Path) -> None:
    new = fruits(1500, 2)
    found = predict(fruit_study, new, tmp_path / "out.parquet")
    got = pd.read_parquet(tmp_path / "out.parquet")
    assert set(got["decision"]) == {"=fig", "lime", "plum", "rejected"}
    # To miss a lime is dear: it is decided for more often than predicted.
    decided = got[got["decision"] != "rejected"]
    assert (decided["decision"] == "lime").mean() > (decided["prediction"] == "lime").mean()
    assert any("least expected cost" in note for note in found.notes)
    dear = (new["fruit"] == "lime").to_numpy()

    def cost(decisions: pd.Series) -> float:
        wrong = np.where(decisions == new["fruit"], 0.0, np.where(dear, 6.0, 1.0))
        return float(np.where(decisions == "rejected", 0.7, wrong).mean())

    assert cost(got["decision"]) < 0.9 * cost(got["prediction"])


def test_a_spreadsheet_runs_no_formula_of_the_file(fruit_study: Path, tmp_path: Path) -> None:
    predict(fruit_study, fruits(80, 3), tmp_path / "out.csv", intervals=0.9)
    got = pd.read_csv(tmp_path / "out.csv", dtype=str)
    for name in ("prediction", "set 90 %", "decision"):
        assert not got[name].str.startswith(("=", "+", "-", "@", "\t", "\r")).any()
        assert got[name].str.startswith("'=fig").any()


@pytest.mark.parametrize(
    ("coverage", "message"),
    [
        (1.5, "must be a number between 0 and 1, such as 0.9, got 1.5"),
        (0, "must be a number between 0 and 1, such as 0.9, got 0"),
        (float("nan"), "must be a number between 0 and 1, such as 0.9, got nan"),
        ("0.9", "must be a number between 0 and 1, such as 0.9, got '0.9'"),
        (0.9999, "choose a lower"),
    ],
)
def test_unattainable_coverage_is_refused(
    price_study: Path, tmp_path: Path, coverage: Any, message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        predict(price_study, prices(5, 1), tmp_path / "out.csv", intervals=coverage)


def test_a_damaged_prediction_file_is_reported(price_study: Path, tmp_path: Path) -> None:
    file = price_study / "models" / "held_out.npy"
    content = file.read_bytes()
    file.write_bytes(content[:-8] + b"\x00" * 8)
    try:
        with pytest.raises(StudyError, match="held_out"):
            predict(price_study, prices(5, 1), tmp_path / "out.csv", intervals=0.9)
    finally:
        file.write_bytes(content)


def test_without_held_out_predictions_there_are_no_intervals(
    price_study: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("arboleda.study.artifacts.loaded.StudyResult.held_out", lambda self: None)
    with pytest.raises(StudyError, match="has no out-of-fold predictions"):
        predict(price_study, prices(5, 1), tmp_path / "out.csv", intervals=0.9)


def test_coverage_holds_over_many_draws() -> None:
    draw = np.random.default_rng(0)
    inside = []
    for _ in range(300):
        error = draw.normal(size=61)
        found = fit_intervals((error[:60], Predictions(np.zeros(60), None)), 0.8)
        low, high = found.of(np.zeros(1))
        inside.append(low[0] <= error[60] <= high[0])
    assert 0.74 < np.mean(inside) < 0.87


def test_sets_contain_the_predicted_class() -> None:
    p = np.array([[0.4, 0.35, 0.25], [0.9, 0.05, 0.05]])
    sets = fit_sets(np.full((30, 3), [0.9, 0.05, 0.05]), np.zeros(30, dtype=int), 0.9)
    assert sets.of(p, np.array([1, 0])).tolist() == [[False, True, False], [True, False, False]]


def test_equal_predictions_share_one_width() -> None:
    error = np.linspace(-1, 1, 2001)
    found = fit_intervals((3 + error, Predictions(np.full(2001, 3.0), None)), 0.5)
    assert found.cuts.size == 0
    assert found.reach == pytest.approx([0.5], abs=0.01)
