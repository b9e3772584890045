"""Cautions: raised for planted defects, silent on tables without any."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda._locale import use_locale
from arboleda.reports.fact_messages import collect_messages, translate, use_messages
from arboleda.reports.translation import get_locale
from arboleda.study.config.options import make_settings
from arboleda.study.plan import make_plan
from arboleda.study.results import data_checks
from arboleda.study.results.data_checks import Caution, find_cautions
from arboleda.tables.reading import BUNDLED, read_table


def cautions_of(table: Any, target: str = "y", **options: Any) -> list[Caution]:
    return find_cautions(make_plan(read_table(table), target, make_settings(**options)))


def kinds(table: Any, target: str = "y", **options: Any) -> list[str]:
    return [caution.kind for caution in cautions_of(table, target, **options)]


def sound(n: int = 400, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({name: draw.normal(size=n) for name in "abc"})
    frame["level"] = draw.choice(list("pqrs"), n)
    frame["y"] = np.where(frame["a"] + draw.normal(size=n) > 0, "yes", "no")
    frame["z"] = 2 * frame["a"] + draw.normal(size=n)
    return frame


CLASSES, VALUES = sound().drop(columns="z"), sound().drop(columns="y")


def test_an_unremarkable_table_raises_no_caution() -> None:
    assert cautions_of(CLASSES) == []
    assert cautions_of(VALUES, "z") == []


@pytest.mark.parametrize("name", BUNDLED)
def test_the_bundled_tables_raise_no_caution(name: str) -> None:
    assert cautions_of(name, "target") == []


@pytest.mark.parametrize(
    ("change", "target", "columns"),
    [
        (lambda f: f.assign(later=(f["y"] == "yes") * 1.5), "y", ("later",)),
        (lambda f: f.assign(code=np.where(f["y"] == "yes", "A1", "B2")), "y", ("code",)),
        (lambda f: f.assign(paid=f["z"] * 1.21), "z", ("paid",)),
    ],
)
def test_a_copy_of_the_target_is_a_leak(change: Any, target: str, columns: tuple[str, ...]) -> None:
    table = change(CLASSES if target == "y" else pd.concat([VALUES, sound(4000, 1)[list(VALUES)]]))
    found = cautions_of(table, target)
    assert [c.columns for c in found if c.kind == "leak"] == [columns]
    assert "leave it out" in found[0].text


def test_a_strong_column_is_not_a_leak() -> None:
    table = CLASSES.assign(y=np.where(CLASSES["a"] + 0.15 * CLASSES["b"] > 0, "yes", "no"))
    assert kinds(table) == []


def test_duplicate_rows_are_found() -> None:
    table = pd.concat([CLASSES, CLASSES[:60]], ignore_index=True)
    (caution,) = cautions_of(table)
    assert caution.kind == "twins"
    assert "another target" not in caution.text


def test_rows_with_different_targets_are_not_copies() -> None:
    flipped = CLASSES[:60].assign(y=CLASSES["y"][:60].map({"yes": "no", "no": "yes"}))
    assert kinds(pd.concat([CLASSES, flipped], ignore_index=True)) == []
    (caution,) = cautions_of(pd.concat([CLASSES, CLASSES[:60], flipped], ignore_index=True))
    found = re.search(r"(\d+) more have the columns of a training row and another", caution.text)
    assert found is not None
    assert int(found[1]) > 0


def test_rows_that_differ_in_a_column_that_is_not_used_are_not_copies() -> None:
    copies = pd.concat([CLASSES, CLASSES[:60]], ignore_index=True)
    visits = copies.assign(visit=[f"visit {i}" for i in range(len(copies))])
    assert "twins" not in kinds(visits)
    assert "twins" not in kinds(visits, drop="visit")
    same = copies.assign(remark="none")
    assert "twins" in kinds(same, drop="remark")


def test_rows_equal_by_chance_are_not_duplicates() -> None:
    draw = np.random.default_rng(0)
    table = pd.DataFrame({name: draw.integers(0, 3, 400) for name in "abc"})
    assert kinds(table.assign(y=draw.choice(["p", "q"], 400))) == []


def test_a_test_file_that_repeats_training_rows_is_reported() -> None:
    test = pd.concat([sound(60, 1).drop(columns="z"), CLASSES[:1]])
    (caution,) = cautions_of(CLASSES, test=test)
    assert caution.text.startswith("1 of 61 test rows (1.6 %) equal a training row")
    assert kinds(CLASSES, test=test[:60]) == []


def test_copies_across_folds_are_found_without_the_test() -> None:
    test = sound(60, 1).drop(columns="z")
    copies = pd.concat([CLASSES, CLASSES[:40]], ignore_index=True)
    (caution,) = cautions_of(copies, test=test)
    assert caution.kind == "twins"
    found = re.match(r"(\d+) of 440 rows that the folds hold out", caution.text)
    assert found is not None
    # Both rows of a pair are held out once; one pair in five is held out together.
    assert 50 <= int(found[1]) <= 76
    assert "another target" not in caution.text
    both = cautions_of(copies, test=pd.concat([test, CLASSES[:1]]))
    assert [c.text.split()[2:4] for c in both] == [["61", "test"], ["440", "rows"]]
    held_together = copies.assign(case=[*range(400), *range(40)])
    assert "twins" not in kinds(held_together, groups="case")


def test_dates_suggest_a_time_split() -> None:
    draw = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 300, 400), "D")
    (caution,) = cautions_of(CLASSES.assign(when=when))
    assert (caution.kind, caution.columns) == ("time", ("when",))
    assert "--time 'when'" in caution.text
    assert kinds(CLASSES.assign(when=when), time="when") == []


@pytest.mark.parametrize("target", ["y", "z"])
def test_an_informative_row_order_is_found(target: str) -> None:
    table = sound(1200)
    drift = np.sin(np.arange(1200) / 60) * 3
    table["z"] = table["a"] + drift
    table["y"] = np.where(table["z"] > 0, "yes", "no")
    table = table.drop(columns={"y": "z", "z": "y"}[target])
    assert kinds(table, target) == ["order"]
    mixed = table.sample(frac=1, random_state=0)
    assert kinds(mixed, target) == []
    assert kinds(table.sort_values(target), target) == []


def test_repeated_cases_are_found() -> None:
    table = CLASSES.assign(patient_id=np.repeat(np.arange(80), 5))
    (caution,) = cautions_of(table)
    assert (caution.kind, caution.columns) == ("groups", ("patient_id",))
    assert kinds(table, groups="patient_id") == []
    found = cautions_of(
        table, groups="patient_id", test=sound(40, 1).assign(patient_id=[3, 200] * 20)
    )
    assert [c.text[:30] for c in found if c.kind == "groups"] == ["1 group of 'patient_id' has ro"]


@pytest.mark.parametrize("name", ["households", "width", "valid", "number_of_rooms", "fluid"])
def test_other_repeated_numbers_are_not_cases(name: str) -> None:
    assert kinds(CLASSES.assign(**{name: np.repeat(np.arange(80), 5)})) == []


def test_numeric_identifiers_are_found() -> None:
    account = np.random.default_rng(0).permutation(10**6)[:400]
    (caution,) = cautions_of(CLASSES.assign(account=account))
    assert (caution.kind, caution.columns) == ("identifier", ("account",))


def test_folds_without_a_class_are_reported() -> None:
    table = CLASSES.assign(y=["rare"] * 4 + ["p", "q"] * 198)
    found = kinds(table)
    assert found == ["fold", "few_tested"]
    table = CLASSES.assign(y=["p", "q"] * 50 + ["p"] * 100 + ["p", "q"] * 100, when=range(400))
    assert "fold" in kinds(table, time="when", cv="time:5")


def test_every_caution_has_a_spanish_text() -> None:
    draw = np.random.default_rng(0)
    table = CLASSES.assign(
        copy=CLASSES["y"].map({"yes": 1.0, "no": 0.0}),
        user=np.repeat(np.arange(80), 5),
        account=draw.permutation(10**6)[:400],
        when=pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 300, 400), "D"),
    )
    rare = CLASSES.assign(y=["rare"] * 4 + CLASSES["y"].tolist()[4:])
    found = [*cautions_of(table), *cautions_of(pd.concat([rare, rare[:60]]))]
    texts = {caution.kind: caution.text for caution in found}
    texts["paid"] = cautions_of(sound(4000)[list(VALUES)].assign(b=lambda f: -f["z"]), "z")[0].text
    assert len(texts) == 7
    with use_locale(get_locale("es")), use_messages(collect_messages(texts)):
        assert all(translate(text) != text for text in texts.values())


REAL = {
    "adult/adult.csv.gz": "income",
    "california_housing/housing.csv.gz": "median_house_value",
    "covertype_15k/train.csv.gz": "Cover_Type",
    "saheart/SAheart.data": "chd",
    "spambase/spam_esl.csv.gz": "spam",
    "ram_price/ram_price.csv": "price",
    "uk_used_cars/vw.csv.gz": "price",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", REAL)
def test_real_tables_raise_no_false_cautions(path: str) -> None:
    # Some do contain duplicate rows; that is reported, correctly.
    assert set(kinds(shared_data(path), REAL[path])) <= {"twins"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("letter_recognition/letter-recognition.data.gz", 0),
        ("kddcup99_10pct/kddcup.data_10_percent.gz", 41),
    ],
)
def test_real_tables_without_names_raise_no_false_cautions(path: str, target: int) -> None:
    table = pd.read_csv(shared_data(path), header=None, nrows=60_000)
    table.columns = [f"c{i}" for i in table.columns]
    table = table[table.groupby(f"c{target}")["c1"].transform("size") > 1]
    assert set(kinds(table, f"c{target}")) <= {"twins", "fold", "few_tested"}


def test_the_gain_of_the_row_order_is_at_most_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """From an R² of -0.2 to one of 0.9 is no gain of 1.10: the mean of the target has 0."""
    scores = iter([0.9, -0.2])
    monkeypatch.setattr(data_checks, "_score_holdout", lambda *_: next(scores))
    plan = make_plan(read_table(sound(1200).drop(columns="y")), "z", make_settings())
    assert data_checks._measure_position_gain(plan) == 0.9
