"""The type of a column, and whether it is a feature, are inferred from the training rows."""

import numpy as np
import pandas as pd
import pytest

from arboleda.study import StudyError
from arboleda.tables.date_parts import PARTS, split_dates
from arboleda.tables.features import Role, decide_roles, find_roles, make_features, share_values
from arboleda.tables.reading import read_table
from arboleda.tables.target import check_finite

N = 120
DRAW = np.random.default_rng(0)


def role_of(values: object, name: str = "c", train: object = None) -> Role:
    frame = pd.DataFrame({name: values, "other": DRAW.normal(size=N), "y": [0, 1] * (N // 2)})
    rows = np.arange(N) if train is None else np.asarray(train)
    return decide_roles(read_table(frame), "y", rows)[name]


@pytest.mark.parametrize(
    ("values", "kind", "reason"),
    [
        (DRAW.normal(size=N), "numeric", None),
        (DRAW.integers(0, 3, N), "numeric", None),
        (DRAW.permutation(N), "numeric", None),
        (DRAW.choice(["a", "b"], N), "categorical", None),
        ([True, False] * (N // 2), "boolean", None),
        (pd.date_range("2020", periods=N), "datetime", None),
        (["a"] * N, "categorical", "constant"),
        ([4.5] * N, "numeric", "constant"),
        ([4.5] * (N - 1) + [None], "numeric", None),
        ([None] * N, "numeric", "missing"),
        (np.arange(N) + 7, "numeric", "identifier"),
        ([f"k{i}" for i in range(N)], "text", "identifier"),
        ([f"word {i % 70}" for i in range(N)], "categorical", None),
        (["yes", "no"] * (N // 2), "boolean", None),
        (["a|b", "b", "a|c|b", "c"] * (N // 4), "list", None),
        ([f"{'mr' if i % 3 else 'mrs'} k{i}" for i in range(N)], "text", None),
    ],
)
def test_roles_are_inferred(values: object, kind: str, reason: str | None) -> None:
    role = role_of(values)
    assert role.kind == kind
    assert role.role == ("left_out" if reason else "feature")
    assert reason is None or reason in str(role.reason)


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "rowId", "row.names", "Index", "uuid"])
def test_an_identifier_is_recognized_by_name(name: str) -> None:
    values = DRAW.permutation(10**6)[:N]
    assert "identifier" in str(role_of(values, name).reason)
    assert role_of(values, "width").reason is None
    assert role_of(DRAW.integers(0, 9, N), name).reason is None


@pytest.mark.parametrize("name", ["valid", "humid", "paid", "grid"])
def test_words_that_end_like_identifiers_are_features(name: str) -> None:
    assert role_of(DRAW.permutation(10**6)[:N], name).reason is None


def test_roles_do_not_use_test_rows() -> None:
    train = np.arange(100)
    values = np.array(["a"] * 100 + [f"v{i}" for i in range(20)])
    assert role_of(values, train=train).reason == "constant: the same value in every training row"
    values = np.append(np.full(100, np.nan), np.ones(20))
    assert role_of(values, train=train).reason == "all values are missing in the training rows"
    values = np.append(np.arange(100) % 7, np.arange(20) * 1000)
    assert role_of(values, train=train).reason is None


def test_the_error_names_a_column_when_no_feature_is_left() -> None:
    frame = pd.DataFrame({"same": [1] * N, "y": [0, 1] * (N // 2)})
    with pytest.raises(StudyError, match=r"'same' is left out .constant"):
        decide_roles(read_table(frame), "y", np.arange(N))


def test_errors_name_infinite_values() -> None:
    frame = pd.DataFrame({"width": [1.0, -np.inf, np.inf] * 40, "y": [0, 1] * 60})
    table = read_table(frame)
    roles = decide_roles(table, "y", np.arange(N))
    with pytest.raises(StudyError, match="'width' holds the infinite value -inf in data row 2"):
        make_features(table, roles)
    check_finite(table.columns[1])


def test_dates_become_parts() -> None:
    when = pd.Series(pd.to_datetime(["1969-12-31 23:30", "2024-02-29 05:00", None]))
    seconds = read_table(pd.DataFrame({"d": when, "x": 1})).columns[0].values
    parts = split_dates(seconds, tuple(PARTS))
    for name in ("year", "month", "day", "weekday", "hour"):
        attribute = "day_of_week" if name == "weekday" else name
        expected = getattr(when.dt, attribute).to_numpy(dtype=float)
        np.testing.assert_array_equal(parts[name], expected, err_msg=name)
    np.testing.assert_allclose(parts["days"][1], 19782 + 5 / 24)
    assert all(np.isnan(part[2]) for part in parts.values())


def test_the_ends_of_a_cycle_are_near() -> None:
    dates = ["2023-01-01", "2023-12-31 23:59", "2024-07-02", "2023-04-02"]
    when = pd.to_datetime(dates, format="mixed")
    seconds = read_table(pd.DataFrame({"d": when, "x": 1})).columns[0].values
    parts = split_dates(seconds, tuple(PARTS))
    angles = 2 * np.pi * np.array([0, 364 + 1439 / 1440, 183 / 366 * 365, 91]) / 365
    np.testing.assert_allclose(parts["sine of the year"], np.sin(angles), atol=1e-12)
    np.testing.assert_allclose(parts["cosine of the year"], np.cos(angles), atol=1e-12)
    assert parts["weekday"].tolist() == [6, 6, 1, 6]
    np.testing.assert_allclose(parts["sine of the week"], np.sin(2 * np.pi * parts["weekday"] / 7))
    np.testing.assert_allclose(
        parts["cosine of the week"], np.cos(2 * np.pi * parts["weekday"] / 7)
    )
    np.testing.assert_allclose(parts["sine of the day"], [0, np.sin(-2 * np.pi / 1440), 0, 0])
    np.testing.assert_allclose(parts["cosine of the day"], [1, np.cos(2 * np.pi / 1440), 1, 1])


@pytest.mark.parametrize(
    ("dates", "parts"),
    [
        (["2020-01-05", "2020-01-05"], "days"),
        (["2020-01-05", "2020-01-12"], "days, day, sine of the year, cosine of the year"),
        (["2020-01-05 07:10", "2020-01-05 07:50"], None),
    ],
)
def test_parts_that_do_not_vary_in_the_training_rows_are_left_out(
    dates: list[str], parts: str | None
) -> None:
    when = pd.to_datetime([*dates, "2021-06-07 12:00"] * 40, format="mixed")
    train = np.flatnonzero(np.arange(N) % 3 < 2)
    table = read_table(pd.DataFrame({"d": when, "y": [0, 1] * 60}))
    roles = find_roles(table, "y", train, keep=["d"])
    cycles = "sine of the year, cosine of the year, sine of the day, cosine of the day"
    expected = parts or f"days, {cycles}"
    assert ", ".join(roles["d"].parts) == expected
    names = tuple(f"d ({part})" for part in expected.split(", "))
    assert make_features(table, roles).names == names


def test_the_matrix_holds_numbers_and_codes() -> None:
    frame = pd.DataFrame({"n": [1.5, None] * 60, "c": ["b", "a", None] * 40, "y": [0, 1] * 60})
    table = read_table(frame)
    features = make_features(table, decide_roles(table, "y", np.arange(N)))
    assert features.names == ("n", "c")
    assert (features.numeric, features.categorical) == ((0,), (1,))
    np.testing.assert_array_equal(features.x[:3, 0], [1.5, np.nan, 1.5])
    assert features.x[:3, 1].tolist() == [1, 0, -1]
    assert features.levels[1] == ("a", "b")


def test_columns_with_the_values_of_the_matrix_become_views_of_it() -> None:
    frame = pd.DataFrame(
        {
            "n": [1.5, None] * 60,
            "c": ["b", "a", None] * 40,
            "b": [True, False] * 60,
            "words": ["yes", "no", None] * 40,
            "day": pd.date_range("2020", periods=N, freq="10D"),
            "day (year)": DRAW.random(N),  # the part of the date has this name, too
            "y": [0, 1] * 60,
        }
    )
    table = read_table(frame)
    roles = decide_roles(table, "y", np.arange(N))
    features = make_features(table, roles)
    found = share_values(table, roles, features)
    views = [c.name for c in found.columns if np.shares_memory(c.values, features.x)]
    assert views == ["n", "b"]
    for column, given in zip(found.columns, table.columns, strict=True):
        np.testing.assert_array_equal(column.values, given.values)
