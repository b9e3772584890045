"""One table in random containers, columns and levels in random order: the same predictions."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import arrays_of, checked

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

_LABELS = st.one_of(st.none(), st.sampled_from(["", "a", "B", "é", "nan", "10", "9", "a b", "<x>"]))
_NUMBERS = st.one_of(st.none(), st.integers(-3, 3).map(float), st.sampled_from([0.5, 1e9]))


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Draw columns of labels and of numbers, each with something present."""
    n_rows = draw(st.integers(2, 25))
    data: dict[str, list[Any]] = {}
    for j, kind in enumerate(draw(st.lists(st.booleans(), min_size=1, max_size=4))):
        values = st.lists(_LABELS if kind else _NUMBERS, min_size=n_rows, max_size=n_rows)
        first: Any = "a" if kind else 1.0
        data[f"{'label' if kind else 'number'}{j}"] = [first, *draw(values)[1:]]
    return data


@st.composite
def contained(draw: st.DrawFn, data: dict[str, list[Any]]) -> Any:
    """Put the columns, in any order, into a frame of any library with types of any kind."""
    names = draw(st.permutations(sorted(data)))
    library = draw(st.sampled_from(["pandas", "polars", "arrow"]))
    columns = {name: _column(draw, library, name, data[name]) for name in names}
    if library == "arrow":
        return pa.table(columns)
    return pd.DataFrame(columns) if library == "pandas" else pl.DataFrame(columns)


def _column(draw: st.DrawFn, library: str, name: str, values: list[Any]) -> Any:
    if name.startswith("number"):
        if library == "pandas":
            return pd.Series(values, dtype=draw(st.sampled_from(["float64", "Float64", "object"])))
        return pl.Series(values, dtype=pl.Float64) if library == "polars" else pa.array(values)
    levels = {"zz", *(value for value in values if value is not None)}
    order = draw(st.permutations(sorted(levels)))
    plain = draw(st.booleans())
    if library == "pandas":
        return pd.Series(values) if plain else pd.Categorical(values, categories=order)
    if library == "polars":
        kinds = [pl.String, pl.Categorical, pl.Enum(order)]
        return pl.Series(values, dtype=draw(st.sampled_from(kinds)))
    if plain:
        return pa.array(values, pa.string())
    indices = [None if value is None else order.index(value) for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(order))


@checked
@given(data=st.data())
def test_the_container_does_not_matter(data: st.DataObject) -> None:
    table = data.draw(tables())
    n_rows = len(next(iter(table.values())))
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)))
    make = data.draw(st.sampled_from([DecisionTreeClassifier, DecisionTreeRegressor]))
    first = data.draw(contained(table))
    model = make().fit(first, y)
    expected = model.predict(first)
    np.testing.assert_array_equal(model.predict(data.draw(contained(table))), expected)
    again = data.draw(contained(table))
    order = list(getattr(again, "column_names", getattr(again, "columns", ())))
    reordered = {name: table[name] for name in model.feature_names_in_}
    assert sorted(order) == sorted(reordered)
    same = make().fit(pl.DataFrame(again)[list(model.feature_names_in_)], y)
    assert same.schema_ == model.schema_
    assert arrays_of(same) == arrays_of(model)


@checked
@given(seed=st.integers(0, 10**6), n_levels=st.integers(2, 12))
def test_the_names_of_levels_do_not_matter(seed: int, n_levels: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, n_levels, 120)
    names = np.array([*(f"level {i}" for i in range(n_levels)), None], dtype=object)
    others = np.array([*rng.permutation(n_levels).astype(float), np.nan])
    size = rng.normal(size=120)
    # No two categories have the same mean, so that no two splits are equally good.
    y = rng.permutation(120) / 8 + rng.normal(size=n_levels + 1)[codes].round(3)
    model = DecisionTreeRegressor(min_samples_leaf=8).fit(
        pd.DataFrame({"c": names[codes], "size": size}), y
    )
    renamed = pd.DataFrame({"c": others[codes], "size": size})
    same = DecisionTreeRegressor(min_samples_leaf=8, categorical_features=["c"]).fit(renamed, y)
    np.testing.assert_array_equal(
        same.predict(renamed), model.predict(pd.DataFrame({"c": names[codes], "size": size}))
    )
