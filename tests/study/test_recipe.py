"""A study's recipe: rows that are dropped, values that are merged, columns that are left out."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda import datasets
from arboleda.cli import main
from arboleda.study import Study, StudyError
from arboleda.study.config.options import make_settings
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table
from arboleda.tables.recipe import Recipe, apply_recipe, parse_condition, parse_merges
from arboleda.tables.table import Column, StudyTable

pytestmark = pytest.mark.usefixtures("undrawn")

ROOT = Path(__file__).parents[2]
TABLE = pd.DataFrame(
    {
        "age": [17.0, 30.0, np.nan, 45.0, 60.0, 60.0],
        "home town": [" Rome", "Oslo", "Oslo", None, "L'Aquila", "L'Aquila"],
        "income": ["<=50K", ">50K", ">50K", "<=50K", ">50K", ">50K"],
        "member": [True, False, True, None, True, True],
        "since": pd.to_datetime(
            ["2020-01-01", "2021-06-01", None, "2022-01-01", "2022-01-01", "2022-01-01"]
        ),
    }
)


def values_of(column: Column) -> list[Any]:
    """The values as a person reads them, None where missing."""
    if column.kind != "string":
        return [None if np.isnan(x) else x for x in column.values]
    return [None if np.isnan(x) else column.levels[int(x)] for x in column.values]


def rows_of(table: StudyTable) -> list[tuple[Any, ...]]:
    return list(zip(*(values_of(column) for column in table.columns), strict=True))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age >= 30", [1, 3, 4, 5]),
        ("age<30", [0]),
        ("age != 60", [0, 1, 3]),  # nothing is known of a missing value
        ("age == 60 and member == true", [4, 5]),
        ("age < 20 or age > 50", [0, 4, 5]),
        ("age > 50 or age < 20 and member == false", [4, 5]),  # and binds first
        ("age in 17, 45", [0, 3]),
        ("age not in [17, 45]", [1, 4, 5]),
        ("home town == Rome", [0]),  # blanks around a value do not count
        ("home town in ('Oslo', L'Aquila)", [1, 2, 4, 5]),
        ("'home town' != Oslo", [0, 4, 5]),
        ("home town is missing", [3]),
        ("age is not missing", [0, 1, 3, 4, 5]),
        ("income == '>50K'", [1, 2, 4, 5]),
        ("since >= 2021-06-01", [1, 3, 4, 5]),
        ("since < '2021-06-01 00:00'", [0]),
        ("member != true", [1]),
    ],
)
def test_rows_are_filtered_by_a_condition(text: str, rows: list[int]) -> None:
    found = parse_condition(text).evaluate(read_table(TABLE))
    assert np.flatnonzero(found).tolist() == rows


def test_conditions_agree_with_pandas() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"a": draw.integers(0, 9, 500), "b": draw.choice(list("xyz"), 500)})
    table = read_table(frame)
    for text in ("a > 3 and b == 'x'", "a <= 2 or b in ['y', 'z'] and a == 7", "a != 4"):
        expected = frame.eval(text).to_numpy()
        assert parse_condition(text).evaluate(table).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty part is not a comparison"),
        ("age", "the part 'age' is not a comparison; write it as in 'age >= 17'"),
        ("age = 3", "has a single '='; write '=='"),
        ("age == 3 and", "an empty part is not a comparison"),
        ("home town == Trinidad and Tobago", "the part 'Tobago' is not a comparison"),
        ("income == >50K", "has the sign '>' in a value; put the value in quotes"),
        ("== 3", "names no column before '=='"),
        ("age ==", "lacks a value after '=='"),
        ("age in 3,", "lacks a value after 'in'"),
        ("age is missing now", "has text after 'is missing'"),
        ("home town == 'Rome", "has an unclosed quote; add the closing '"),
        ("home town == 'Rome' x", "or mixes quoted and unquoted text"),
        ("__import__('os').system('true')", "is not a comparison"),
    ],
)
def test_invalid_conditions_are_refused(text: str, message: str) -> None:
    with pytest.raises(StudyError) as error:
        parse_condition(text)
    assert message in str(error.value)
    assert str(error.value).startswith("The condition ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ages > 3", "has no column 'ages'; did you mean 'age'?"),
        ("age > old", "The column 'age' holds numbers, and 'old' is not a number"),
        ("age > nan", "The column 'age' holds numbers, and 'nan' is not a number"),
        ("home town == rom", "The column 'home town' has no value 'rom'; did you mean 'Rome'?"),
        (
            "home town != Tokyo",
            "has no value 'Tokyo'; its values are 'Rome', \"L'Aquila\", 'Oslo'.",
        ),
        ("home town > Oslo", "The column 'home town' holds texts, which have no order, so '>'"),
        ("member == maybe", "The column 'member' holds truth values, and 'maybe' is not one"),
        (
            "since > soon",
            "The column 'since' holds dates, and 'soon' is not a date; write one such as 2024-",
        ),
    ],
)
def test_conditions_that_do_not_match_the_table_are_refused(text: str, message: str) -> None:
    with pytest.raises(StudyError) as error:
        parse_condition(text).evaluate(read_table(TABLE))
    assert message in str(error.value)


def test_texts_and_numbers_are_merged() -> None:
    merges = parse_merges(["home town: Rome, L'Aquila -> Italy", "age: 45, 60 -> 50; 17 -> 18"])
    assert merges["age"] == {"50": ("45", "60"), "18": ("17",)}
    found = apply_recipe(read_table(TABLE), Recipe(merge=merges)).table
    assert values_of(found.columns[0]) == [18.0, 30.0, None, 50.0, 50.0, 50.0]
    assert values_of(found.columns[1]) == ["Italy", "Oslo", "Oslo", None, "Italy", "Italy"]
    assert found.columns[1].levels == ("Italy", "Oslo")


def test_names_and_values_can_be_quoted() -> None:
    text = "'a: b': 'x, y', \"it's\" -> 'p -> q'; z -> 'p -> q'"
    assert parse_merges([text]) == {"a: b": {"p -> q": ("x, y", "it's", "z")}}


@pytest.mark.parametrize(
    ("merge", "message"),
    [
        ("age", "names no column before a ':'"),
        ("age:", "names no values"),
        ("age: 3", "needs exactly one '->' in '3'"),
        ("age: 3, -> 4", "lacks a value beside '->' or ','"),
        ("age: 3 ->", "lacks a value beside '->' or ','"),
        ("age: 3 -> 4; 3 -> 5", "The value '3' of 'age' cannot be merged into both '4' and '5'"),
        (
            "a: x -> y; y -> z",
            "Nothing can be merged into the value 'y' of 'a', which is itself merged into 'z'",
        ),
        ('{"a": ', "are not JSON"),
        ({"a": {"x": "y"}}, "The merges {'a': {'x': 'y'}} cannot be read"),
        ({"a": ["x"]}, "The merges {'a': ['x']} cannot be read"),
    ],
)
def test_invalid_merges_are_refused(merge: Any, message: str) -> None:
    with pytest.raises(StudyError) as error:
        make_settings(merge=merge)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("merge", "message"),
    [
        ("home town: Oslo, Room -> other", "has no value 'Room'; did you mean 'Rome'?"),
        ("age: 17 -> young", "The column 'age' holds numbers, and 'young' is not a number"),
        ("age: 18 -> 20", "The column 'age' has no value 18"),
        (
            "age: 17 -> 30.0; 30 -> 45",
            "Nothing can be merged into the value 30 of 'age', which is itself merged into 45",
        ),
        ("member: true -> false", "The column 'member' holds truth values, which cannot be merged"),
        ("since: 2020-01-01 -> 2021-01-01", "The column 'since' holds dates, which cannot"),
        ("towns: Oslo -> x", "has no column 'towns'"),
    ],
)
def test_merges_that_do_not_match_the_table_are_refused(merge: str, message: str) -> None:
    settings = make_settings(merge=merge)
    with pytest.raises(StudyError) as error:
        apply_recipe(read_table(TABLE), settings.recipe)
    assert message in str(error.value)


@pytest.mark.parametrize("merge", ["a: x, y -> z", ["a: x -> z", "a: y -> z"], {"a": {"z": "xy"}}])
def test_equivalent_merges_are_equal(merge: Any) -> None:
    if isinstance(merge, dict):
        merge = {"a": {"z": list("xy")}}
    expected = make_settings(merge='{"a": {"z": ["x", "y"]}}')
    assert make_settings(merge=merge) == expected
    assert expected.to_dict()["merge"] == {"a": {"z": ["x", "y"]}}


def test_steps_run_in_the_documented_order() -> None:
    recipe = make_settings(
        drop="since,member",
        merge="home town: L'Aquila -> Rome",
        where=["age > 20", "home town == L'Aquila"],
        drop_duplicates=True,
        drop_missing=True,
    ).recipe
    found = apply_recipe(read_table(TABLE), recipe)
    assert rows_of(found.table) == [(60.0, "Rome", ">50K")]
    assert [(s.kind, s.rows_before, s.rows_after) for s in found.steps] == [
        ("drop_missing", 6, 4),
        ("drop_duplicates", 4, 3),
        ("where", 3, 2),
        ("where", 2, 1),
        ("merge", 1, 1),
        ("drop", 1, 1),
    ]
    # Levels that no row shows any more are gone.
    assert found.table.column("home town").levels == ("Rome",)


def test_duplicates_are_dropped_within_each_table() -> None:
    twice = pd.concat([TABLE.iloc[[0, 4, 5]], TABLE.iloc[[4, 5, 0]]])
    found = apply_recipe(read_table(twice), Recipe(drop_duplicates=True), n_first=3)
    assert (found.table.n_rows, found.n_first) == (4, 2)


def test_an_empty_recipe_returns_the_same_table() -> None:
    table = read_table(TABLE)
    assert apply_recipe(table, Recipe()).table is table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": "age > 100"}, "No row of table is left after --where 'age > 100'"),
        ({"drop": [*list(TABLE)[:2], "incom"]}, "no column 'incom'; did you mean 'income'?"),
    ],
)
def test_a_recipe_that_leaves_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        apply_recipe(read_table(TABLE), make_settings(**options).recipe)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"drop": "rich"}, "--target"),
        ({"drop": "city", "groups": "city"}, "--groups"),
        ({"drop": "age", "time": "age"}, "--time"),
        ({"drop": "age", "score_by": "age"}, "--score-by"),
    ],
)
def test_a_required_column_cannot_be_dropped(
    mixed: pd.DataFrame, options: dict[str, Any], flag: str
) -> None:
    with pytest.raises(StudyError, match=f"cannot be dropped, as {flag} names it"):
        make_plan(read_table(mixed), "rich", make_settings(**options))


RECIPE: dict[str, Any] = {
    "where": ["age is missing or age >= 20"],
    "merge": {"city": {"north": ["Oslo", "Bern"], "other": ["Lima"]}},
    "drop_duplicates": True,
    "drop": ["comment", "wealth"],
}


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    path = tmp_path_factory.mktemp("raw") / "mixed.csv"
    pd.concat([mixed, mixed.iloc[:5]]).to_csv(path, index=False)
    return path


def prepared_by_hand(mixed: pd.DataFrame) -> pd.DataFrame:
    frame = mixed[mixed["age"].isna() | (mixed["age"] >= 20)]
    city = frame["city"].replace({"Oslo": "north", "Bern": "north", "Lima": "other"})
    return frame.assign(city=city).drop(columns=["comment", "wealth"])


def test_a_study_of_a_raw_table_matches_that_of_the_prepared_one(
    tmp_path: Path, raw: Path, mixed: pd.DataFrame
) -> None:
    by_hand = prepared_by_hand(mixed)
    by_hand.to_csv(tmp_path / "by_hand.csv", index=False)
    options: dict[str, Any] = {"target": "rich", "models": "cart,lda", "cv": 3, "random_state": 1}
    found = Study(raw, output_dir=tmp_path / "one", **options, **RECIPE).run()
    other = Study(tmp_path / "by_hand.csv", output_dir=tmp_path / "two", **options).run()
    n = len(by_hand)
    recipe = found.facts["data"]["recipe"]
    assert (recipe["n_rows"], found.facts["data"]["n_rows"]) == (165, n)
    assert found.facts["data"]["rows_dropped"] == 165 - n
    assert [(s["kind"], s["rows_before"], s["rows_after"]) for s in recipe["steps"]] == [
        ("drop_duplicates", 165, 160),
        ("where", 160, n),
        ("merge", n, n),
        ("drop", n, n),
    ]
    for part in ("columns", "n_columns", "n_missing_cells", "n_duplicate_rows"):
        assert found.facts["data"][part] == other.facts["data"][part]
    assert found.facts["split"] == other.facts["split"]
    scores = [[m["cv"]["fold_scores"] for m in each.facts["models"]] for each in (found, other)]
    assert scores[0] == scores[1]
    # Tables with the raw values are merged as the study's was; no row of them is dropped.
    study = Study.load(tmp_path / "one")
    x = study.layout.encode(mixed).x
    assert len(x) == len(mixed)
    loaded = Study.load(tmp_path / "two")
    city = mixed["city"].replace({"Oslo": "north", "Bern": "north", "Lima": "other"})
    expected = loaded.best_model_.predict(mixed.assign(city=city))
    assert study.best_model_.predict(mixed).tolist() == expected.tolist()
    # The rows that are kept are merged already; that changes nothing.
    rows = study.test_rows()
    known = study.layout.levels[study.layout.names.index("city")]
    assert set(rows.X["city"].to_pylist()) <= {*known, None}
    kept = study.best_model_.predict(rows.X)
    again = loaded.best_model_.predict(loaded.test_rows().X)
    assert kept.tolist() == again.tolist()


def test_predict_accepts_the_raw_table(
    tmp_path: Path, raw: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    words = ["study", str(raw), "--target", "rich", "--models", "cart", "--out", str(out)]
    words += ["--where", "age is missing or age >= 20", "--where", "id != 100"]
    words += ["--merge", "city: Oslo, Bern -> north", "--merge", "id: 101, 102 -> 103"]
    words += ["--drop", "comment,wealth", "--drop-duplicates", "--no-drop-missing"]
    assert run(*words) == 0
    printed = capsys.readouterr().out
    facts = json.loads((out / "results.json").read_text())
    n = facts["data"]["n_rows"]
    assert f"{n} of 165 rows stay after the preparation of the table: without duplicates" in printed
    assert run("predict", str(out), str(raw), "-o", str(tmp_path / "p.csv")) == 0
    message = capsys.readouterr()
    # Neither the dropped columns nor the values that were merged are strange to the study.
    assert "Not used" not in message.err
    assert "did not have" not in message.err
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + 165


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_another_recipe_makes_another_study(tmp_path: Path, raw: Path) -> None:
    options: dict[str, Any] = {"target": "rich", "models": "lda", "output_dir": tmp_path}
    Study(raw, **options, **RECIPE).run()
    again = Study.from_config(tmp_path / "study.toml").run()  # goes on with the same one
    assert again.facts["study"]["settings"]["merge"] == RECIPE["merge"]
    assert again.facts["study"]["settings"]["where"] == RECIPE["where"]
    for other in (RECIPE | {"where": ["age > 30"]}, {}):
        with pytest.raises(StudyError, match=r"holds another study \(not the same: recipe.*\)"):
            Study(raw, **options, **other).run()


def test_an_external_test_is_prepared_alike(tmp_path: Path, raw: Path, mixed: pd.DataFrame) -> None:
    later = pd.concat([mixed.iloc[:60], mixed.iloc[:3]])
    later.to_csv(tmp_path / "later.csv", index=False)
    settings = make_settings(**RECIPE, test=tmp_path / "later.csv")
    plan = make_plan(read_table(raw), "rich", settings)
    assert len(plan.split.test) == len(prepared_by_hand(mixed.iloc[:60]))
    assert len(plan.split.train) == len(prepared_by_hand(mixed))
    assert plan.steps[0].rows_before == 165 + 63
    later.iloc[:2].assign(age=[3, 50]).to_csv(tmp_path / "later.csv", index=False)
    with pytest.raises(StudyError, match=r"leaves 1 of 2 rows of the test table later.csv"):
        make_plan(read_table(raw), "rich", settings)


def test_incomes_prepared_by_a_file_match_the_script() -> None:
    """The example's study.toml prepares the table as the example's script does."""
    path = shared_data("adult/adult.csv.gz")
    examples = ROOT / "examples" / "thesis"
    sys.path.insert(0, str(examples))
    try:
        from preparation import prepared_adult, split
    finally:
        sys.path.remove(str(examples))
        sys.modules.pop("preparation", None)
    frame = datasets.load("adult", path.parents[1]).frame
    options = tomllib.loads((examples / "p1.toml").read_text())
    table, target = options.pop("table"), options.pop("target")
    assert table == path.name
    plan = make_plan(read_table(path), target, make_settings(**options))
    assert [(s.kind, s.rows_after) for s in plan.steps[:3]] == [
        ("drop_missing", 45_222),
        ("drop_duplicates", 45_175),
        ("where", 41_256),
    ]
    expected = prepared_adult(frame)
    assert list(expected) == [column.name for column in plan.table.columns]
    for column in plan.table.columns:
        assert values_of(column) == expected[column.name].tolist()
    sizes = tuple(map(len, split(expected)))
    assert (len(plan.split.train), len(plan.split.test)) == sizes == (33_004, 8_252)
