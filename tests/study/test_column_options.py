"""Users decide what columns are, which are used, and which class is positive."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arboleda.cli import main
from arboleda.study import OptionError, Study, StudyError
from arboleda.study.config.costs import cost_matrix
from arboleda.tables.column_plan import write_column_lines

N = 120
DRAW = np.random.default_rng(0)


def make_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "price": [f"${p:,}" for p in DRAW.integers(500, 90_000, N)],
            "plate": [f"K{i * 7}" for i in range(N)],
            "zip": DRAW.integers(1, 9, N),
            "tmp_a": 1.5 + DRAW.random(N),
            "tmp_b": DRAW.random(N),
            "y": ["no", "yes"] * (N // 2),
        }
    )


def test_a_type_is_the_users() -> None:
    plan = Study(
        make_frame(),
        target="y",
        types={"zip": "category", "plate": "text", "price": "identifier", "tmp_*": "number"},
    ).make_plan()
    assert plan.roles["zip"].kind == "categorical"
    assert plan.table.column("zip").levels[0] == "1"
    assert (plan.roles["plate"].kind, plan.roles["plate"].role) == ("text", "feature")
    assert plan.roles["price"].reason == "an identifier, as specified"
    assert plan.roles["tmp_a"].kind == "numeric"


def test_numbers_and_dates_are_read_where_few_values_are_such() -> None:
    frame = make_frame()
    frame["mixed"] = ["7", "8", "9", *(f"word{i % 40}" for i in range(N - 3))]
    frame["day"] = ["31/12/2020", *(f"x{i % 60}" for i in range(N - 1))]
    frame["stamp"] = 1_600_000_000 + np.arange(N)[::-1] * 999
    types = ["mixed=number", "day=date", "stamp=date"]
    table = Study(frame, target="y", types=types).make_plan().table
    assert table.column("mixed").values[:3].tolist() == [7, 8, 9]
    assert table.column("day").kind == table.column("stamp").kind == "datetime"
    with pytest.raises(StudyError, match="No value such as 'K0' of the column 'plate' can be read"):
        Study(frame, target="y", types="plate=date").make_plan()


def test_codes_keep_their_zeros_when_they_are_categories(tmp_path: Path) -> None:
    frame = make_frame()
    frame["code"] = [f"0{i % 5}" for i in range(N)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = Study(tmp_path / "t.csv", target="y", types="code=category").make_plan().table
    assert table.column("code").levels == ("00", "01", "02", "03", "04")


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("zip", "names no column"),
        ("zip=categry", "did you mean category?"),
        ("zip=xyz", "choose one of number, category, date"),
    ],
)
def test_an_unknown_type_is_an_error(types: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Study("iris", target="target", types=types)


def test_a_column_that_no_pattern_matches_is_an_error() -> None:
    for options in ({"types": "zap=text"}, {"keep": "zap"}, {"drop": "zap"}):
        with pytest.raises(StudyError, match="no column 'zap'; did you mean 'zip'"):
            Study(make_frame(), target="y", **options).make_plan()


def test_identifiers_are_left_out_unless_they_are_kept() -> None:
    plan = Study(make_frame(), target="y").make_plan()
    assert "identifier: nearly every value is different" in str(plan.roles["plate"].reason)
    kept = Study(make_frame(), target="y", keep="pl*").make_plan()
    assert kept.roles["plate"].role == "feature"
    assert "plate (length)" in kept.features.names


def test_patterns_drop_columns_with_the_words_beside_them() -> None:
    frame = make_frame()
    frame["tmp_c"] = [*map(str, range(N - 20)), *["unknown"] * 20]
    assert "tmp_c (words)" in [c.name for c in Study(frame, target="y").make_plan().table.columns]
    plan = Study(frame, target="y", drop="tmp_*").make_plan()
    assert [c.name for c in plan.table.columns] == ["price", "plate", "zip", "y"]
    with pytest.raises(StudyError, match="cannot be dropped, as --target names it"):
        Study(frame, target="tmp_a", drop="tmp_*").make_plan()


def test_rows_without_a_target_are_dropped() -> None:
    frame = make_frame()
    frame.loc[:9, "y"] = None
    with pytest.raises(StudyError, match="--drop-missing-target"):
        Study(frame, target="y").make_plan()
    plan = Study(frame, target="y", drop_missing_target=True).make_plan()
    assert plan.table.n_rows == N - 10
    assert [step.kind for step in plan.steps] == ["drop_missing_target"]


def test_the_positive_class_is_the_users() -> None:
    plan = Study(make_frame(), target="y", positive="no", cost_matrix=[[0, 5], [1, 0]]).make_plan()
    assert plan.target.positive == "no"
    assert plan.target.labels == ("yes", "no")
    assert plan.target.y[:2].tolist() == [1, 0]
    matrix = cost_matrix(plan.settings, plan.target)
    # Predicting yes for a true no costs 5, in whatever order the classes are.
    assert matrix is not None
    assert matrix.tolist() == [[0, 1], [5, 0]]
    with pytest.raises(StudyError, match="has no class 'maybe'; its classes are 'no' and 'yes'"):
        Study(make_frame(), target="y", positive="maybe").make_plan()


def test_a_study_with_a_positive_class_predicts_labels(tmp_path: Path) -> None:
    frame = make_frame()
    frame["z"] = [0.0, 1.0] * (N // 2)
    folder = tmp_path / "out"
    study = Study(frame, target="y", positive="no", models="cart", output_dir=folder)
    result = study.run()
    assert result.facts["study"]["positive_class"] == "no"
    assert "--positive no" in result.report.read_text()
    model = Study.load(folder).best_model_
    assert model.predict(frame).tolist() == frame["y"].tolist()
    assert "types = []" in (folder / "study.toml").read_text()


def test_merged_values_of_written_columns_are_merged_again(tmp_path: Path) -> None:
    frame = make_frame()
    frame["used"] = ["Yes", "no", "maybe"] * (N // 3)
    frame["cost"] = [f"${c},000" for c in np.arange(N) % 12 + 1]
    merges = ["used: maybe -> no", "cost: 12000 -> 11000"]
    folder = tmp_path / "out"
    Study(frame, target="y", merge=merges, models="cart", output_dir=folder).run()
    layout = Study.load(folder).layout
    features = layout.encode(frame)
    assert features.x[:3, features.names.index("used")].tolist() == [1, 0, 0]
    assert features.x[10:13, features.names.index("cost")].tolist() == [11_000, 11_000, 1_000]


def test_numbers_of_a_new_table_stay_numbers(tmp_path: Path) -> None:
    frame = make_frame()
    frame["date"] = np.arange(N) * 1e9
    folder = tmp_path / "out"
    Study(frame, target="y", models="cart", output_dir=folder).run()
    later = frame.assign(date=1_600_000_000)
    features = Study.load(folder).layout.encode(later)
    assert set(features.x[:, features.names.index("date")]) == {1.6e9}


def test_a_dry_run_shows_every_column_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make_frame().to_csv("t.csv", index=False)
    with pytest.raises(SystemExit) as stop:
        main(["study", "t.csv", "--target", "y", "--type", "zip=category", "--dry-run"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert "price  number    a number; from texts such as $" in shown
    assert "zip    category  a category; levels: 8" in shown
    assert "plate  text      left out (identifier" in shown
    assert "Nothing was fitted or written" in shown
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_long_plan_is_cut() -> None:
    frame = pd.DataFrame(DRAW.normal(size=(N, 60))).add_prefix("c").assign(y=["a", "b"] * (N // 2))
    plan = Study(frame, target="y").make_plan()
    lines = write_column_lines(plan.table.columns, plan.roles)
    assert len(lines) == 41
    assert "21 more columns; --dry-run" in lines[-1]


def test_a_separate_test_table_is_read_in_the_format_of_the_first(tmp_path: Path) -> None:
    frame = make_frame()
    frame["size"] = [f"{i % 50} kg" if i % 6 else "unknown" for i in range(N)]
    tested = frame.head(40).assign(price="1,037", size=["7", "unknown"] * 20)
    tested.to_csv(tmp_path / "test.csv", index=False)
    plan = Study(frame, target="y", test=tmp_path / "test.csv").make_plan()
    assert set(plan.table.column("price").values[N:]) == {1037.0}
    assert plan.table.column("size").values[N] == 7
    words = plan.table.column("size (words)")
    assert words.levels == ("unknown",)
    assert np.isnan(words.values[N])
    assert words.values[N + 1] == 0
