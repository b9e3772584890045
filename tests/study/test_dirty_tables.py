"""Tables written as people write them lose no column, and predict as well as clean ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.study import Study, StudyError, predict
from arboleda.study.plan import Plan

N_ROWS, N_SPLITS = 1_200, 4


def compute_error(table: Any, target: str, **options: Any) -> tuple[float, Plan]:
    """Return the test error of a short boosting on the features that a study makes of a table."""
    plan = Study(table, target=target, **options).make_plan()
    x, y = plan.features.x, plan.target.y
    kind = HistGradientBoostingClassifier if plan.target.labels else HistGradientBoostingRegressor
    categorical = list(plan.features.categorical) or None
    model = kind(max_iter=60, categorical_features=categorical, random_state=0)
    train, test = plan.split.train, plan.split.test
    predicted = model.fit(x[train], y[train]).predict(x[test])
    if plan.target.labels:
        return float(np.mean(predicted != y[test])), plan
    return float(np.sqrt(np.mean((predicted - y[test]) ** 2))), plan


def check(dirty: pd.DataFrame, clean: pd.DataFrame, target: str, tmp_path: Path) -> Plan:
    """Check that no column is lost, and that the error is within 2 % of the clean table's."""
    path = tmp_path / "dirty.csv"
    dirty.to_csv(path, index=False)
    # Several splits, as another order of the columns alone changes an error by a few percent.
    errors = [compute_error(path, target, random_state=s)[0] for s in range(N_SPLITS)]
    expected = [compute_error(clean, target, random_state=s)[0] for s in range(N_SPLITS)]
    plan = Study(path, target=target).make_plan()
    lost = [name for name, role in plan.roles.items() if role.role == "left_out"]
    assert lost == []
    assert np.mean(errors) <= 1.02 * np.mean(expected)
    return plan


def write_money(values: pd.Series, sign: str = "$") -> pd.Series:
    return values.map(lambda v: v if pd.isna(v) else f"{sign}{v:,.0f}")


def write_european(values: pd.Series) -> pd.Series:
    def write(value: float) -> Any:
        return f"{value:,.2f}".translate(str.maketrans(",.", ".,")) if value == value else value

    return values.map(write)


def test_used_cars(tmp_path: Path) -> None:
    clean = pd.read_csv(shared_data("uk_used_cars/vw.csv.gz")).sample(N_ROWS, random_state=0)
    dirty = clean.assign(
        price=write_money(clean["price"], "£"),
        mileage=clean["mileage"].map("{:,} miles".format),
        tax=write_money(clean["tax"], "£"),
        mpg=clean["mpg"].map("{} mpg".format),
        engineSize=clean["engineSize"].map("{} l".format),
    )
    check(dirty, clean, "price", tmp_path)


def test_housing(tmp_path: Path) -> None:
    clean = pd.read_csv(shared_data("california_housing/housing.csv.gz"))
    clean = clean.sample(N_ROWS, random_state=0)
    dirty = clean.assign(
        median_income=write_money(clean["median_income"] * 10_000),
        population=clean["population"].map("{:,.0f}".format),
        total_rooms=clean["total_rooms"].map("{:,.0f}".format),
        median_house_value=write_money(clean["median_house_value"]),
        longitude=clean["longitude"].map(lambda v: f"\u2212{-v}°"),
    )
    check(dirty, clean, "median_house_value", tmp_path)


def test_incomes(tmp_path: Path) -> None:
    clean = pd.read_csv(shared_data("adult/adult.csv.gz")).sample(2 * N_ROWS, random_state=0)
    gain = next(name for name in clean if "gain" in name)
    hours = next(name for name in clean if "hours" in name)
    dirty = clean.assign(
        age=clean["age"].map("{} years".format),
        **{gain: write_money(clean[gain]), hours: clean[hours].map("{} h".format)},
    )
    check(dirty, clean, "income", tmp_path)


def test_heart_disease(tmp_path: Path) -> None:
    clean = pd.read_csv(shared_data("saheart/SAheart.data")).drop(columns="row.names")
    dirty = clean.assign(
        tobacco=write_european(clean["tobacco"]),
        ldl=write_european(clean["ldl"]),
        adiposity=clean["adiposity"].map("{:.2f} %".format),
        famhist=clean["famhist"].map({"Present": "yes", "Absent": "No"}),
        age=clean["age"].map("{} yrs".format),
    )
    check(dirty, clean, "chd", tmp_path)


def test_survival_of_heart_attacks(tmp_path: Path) -> None:
    clean = pd.read_csv(shared_data("survival/whas500.csv"))
    numbers = clean.select_dtypes("number")
    target = next(name for name in numbers if name.lower() in ("los", "lenfol", "len_fol"))
    numbers = numbers.drop(columns=[c for c in numbers if c.lower() in ("id", "rownames")])
    ages = next(name for name in numbers if "age" in name.lower())
    dirty = numbers.assign(
        **{
            ages: numbers[ages].map("{} years".format),
            target: numbers[target].map("{} days".format),
        }
    )
    _, plan = compute_error(numbers, target)
    kept = [name for name, role in plan.roles.items() if role.role != "left_out"]
    check(dirty[kept], numbers[kept], target, tmp_path)


def make_frame() -> tuple[np.random.Generator, pd.DataFrame]:
    draw = np.random.default_rng(3)
    noise = draw.normal(size=N_ROWS)
    return draw, pd.DataFrame({"x": draw.normal(size=N_ROWS).round(3), "y": noise})


def test_dates_with_the_day_first(tmp_path: Path) -> None:
    draw, clean = make_frame()
    clean["when"] = pd.Timestamp("2018-01-01") + pd.to_timedelta(
        draw.integers(0, 2 * 10**6, N_ROWS), unit="min"
    )
    clean["y"] += clean["x"] + clean["when"].dt.month + (clean["when"].dt.hour > 12) * 3
    dirty = clean.assign(when=clean["when"].dt.strftime("%d/%m/%Y %H:%M"))
    plan = check(dirty, clean, "y", tmp_path)
    np.testing.assert_array_equal(plan.features.x, Study(clean, target="y").make_plan().features.x)


def test_titles_inside_names(tmp_path: Path) -> None:
    draw, clean = make_frame()
    clean["title"] = draw.choice(["Mr", "Mrs", "Miss", "Dr"], N_ROWS, p=[0.5, 0.2, 0.2, 0.1])
    clean["y"] += clean["x"] + 5 * clean["title"].map({"Mr": 0, "Mrs": 1, "Miss": 2, "Dr": 3})
    family = [f"Fam{i}" for i in draw.permutation(N_ROWS)]
    dirty = clean.drop(columns="title").assign(
        name=[
            f"{f}, {t}. G{i}" for i, (f, t) in enumerate(zip(family, clean["title"], strict=True))
        ]
    )
    check(dirty, clean, "y", tmp_path)


def test_lists_of_items(tmp_path: Path) -> None:
    draw, clean = make_frame()
    items = ["war", "love", "crime", "space", "music"]
    flags = draw.random((N_ROWS, 5)) < 0.4
    for item, flag in zip(items, flags.T, strict=True):
        clean[item] = flag
    clean["y"] += clean["x"] + flags @ np.arange(5)
    listed = ["; ".join(i for i, has in zip(items, row, strict=True) if has) for row in flags]
    check(clean[["x", "y"]].assign(genres=listed), clean, "y", tmp_path)


def test_numbers_with_a_few_words(tmp_path: Path) -> None:
    draw, clean = make_frame()
    size = draw.normal(50, 10, N_ROWS).round(1)
    state = draw.choice(["", "unknown", "not measured"], N_ROWS, p=[0.7, 0.2, 0.1])
    clean["size"] = np.where(state == "", size, np.nan)
    clean["state"] = state
    clean["y"] += clean["x"] + np.where(state == "", size / 5, (state == "unknown") * 7)
    dirty = clean.drop(columns=["state", "size"]).assign(
        size=[word or f"{value} cm" for word, value in zip(state, size, strict=True)]
    )
    check(dirty, clean, "y", tmp_path)


def test_codes_with_leading_zeros_of_many_levels(tmp_path: Path) -> None:
    draw, clean = make_frame()
    codes = draw.integers(0, 400, N_ROWS)
    effects = draw.normal(size=400) * 5
    clean["zip"] = [f"z{code:03}" for code in codes]
    clean["y"] += clean["x"] + effects[codes]
    dirty = clean.assign(zip=[f"{code:05}" for code in codes])
    plan = check(dirty, clean, "y", tmp_path)
    assert plan.roles["zip"].kind == "categorical"


def test_a_dirty_table_is_studied_and_predicted(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    n = 200
    price = draw.integers(500, 90_000, n)
    frame = pd.DataFrame(
        {
            "price": [f"${p:,}" for p in price],
            "weight": ["unknown" if i % 5 == 0 else f"{i % 90} kg" for i in range(n)],
            "sold": pd.date_range("2020-01-01", periods=n, freq="37h").strftime("%d/%m/%Y %H:%M"),
            "tags": ["a|b", "b", "c|a|b", "c"] * (n // 4),
            "used": ["Yes", "no"] * (n // 2),
            "name": [f"{'Mrs' if i % 3 else 'Mr'} K{i}" for i in range(n)],
            "zip": [f"{i % 40:05}" for i in range(n)],
            "rise": [f"{p / 1e4:.2f} %" for p in price],
        }
    )
    table, new = tmp_path / "table.csv", tmp_path / "new.csv"
    frame.to_csv(table, index=False)
    result = Study(table, target="rise", models="cart", output_dir=tmp_path / "out").run()
    columns = {column["name"]: column for column in result.facts["data"]["columns"]}
    assert {c["role"] for c in columns.values()} == {"feature", "target"}
    assert columns["price"]["parsing"]["share"] == 1.0
    assert columns["weight"]["parsing"]["unparsed"] == ["unknown"]
    assert columns["weight (words)"]["top"] == [["unknown", 40]]
    assert len(columns["sold"]["examples"]) == 3
    report = result.report.read_text()
    assert "$" in report
    assert "thousands separated by “,”" in report
    model = Study.load(tmp_path / "out").best_model_
    assert list(model.feature_names_in_) == [c for c in frame if c != "rise"]
    predicted = model.predict(frame)
    assert np.corrcoef(predicted, price)[0, 1] > 0.99
    # A file alone is read in the same way, even if its rows do not show the format.
    part = frame.iloc[[0, 5]].assign(price=["1,037", "9000"], sold=["01/02/2020", "3/4/2020 9:00"])
    part.to_csv(new, index=False)
    assert len(model.predict(new)) == 2
    # A word beside the numbers that the study does not know is an unseen category.
    frame.head(3).assign(weight=["7 kg", "lost", "unknown"]).to_csv(new, index=False)
    notes = predict(tmp_path / "out", new, tmp_path / "predicted.csv").notes
    assert [note for note in notes if "'weight (words)' holds values in 1 of 3 rows" in note]
    for name, text in (("price", "cheap"), ("sold", "12/31/2020"), ("used", "perhaps")):
        frame.head(3).assign(**{name: text}).to_csv(new, index=False)
        with pytest.raises(StudyError, match=f"'{name}' holds .* '{text}' in data row 1 is not"):
            predict(tmp_path / "out", new, tmp_path / "predicted.csv")
    saved = Study.load(tmp_path / "out").training_rows()
    np.testing.assert_array_equal(model.predict(saved.X), predicted[saved.numbers])
