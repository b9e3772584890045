"""Additive models: curves that sum to the raw score."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from arboleda import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

mpl.use("agg")
RANDOM = np.random.default_rng(0)
N = 800
FRAME = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, size=N).astype(float),
        "income": RANDOM.gamma(2.0, 10.0, size=N),
        "town": pd.Categorical(np.array(["north", "south", "west"])[RANDOM.integers(0, 3, N)]),
    }
)
FRAME.loc[::9, "income"] = np.nan
FRAME.loc[::11, "town"] = None
SCORE = (
    np.sin(FRAME["age"] / 10)
    + np.log1p(FRAME["income"].fillna(50))
    + 2.0 * (FRAME["town"] == "west")
).to_numpy()
CLASSES = np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.7]))

MODELS = {
    "stumps": (HistGradientBoostingRegressor(max_leaf_nodes=2, max_iter=80), SCORE),
    "no interactions": (
        HistGradientBoostingClassifier(interaction_cst="no_interactions", max_iter=20), CLASSES,
    ),
    "counts": (
        HistGradientBoostingRegressor(loss="poisson", max_depth=1, max_iter=50), np.exp(SCORE),
    ),
    "exact": (GradientBoostingRegressor(max_depth=1), SCORE),
}  # fmt: skip


def raw(model: Any, X: Any) -> Any:
    return model._raw_scores(X)


@pytest.mark.parametrize("name", MODELS)
def test_curves_sum_to_the_raw_score(name: str) -> None:
    model, y = MODELS[name]
    shapes = model.fit(FRAME, y).shape_functions()
    probe = FRAME.copy()
    probe.loc[::5, "age"] = np.nan
    probe["income"] *= 1.01
    total = np.tile(shapes.intercept, (N, 1))
    for shape in shapes:
        total += shape.at(probe[shape.name]).reshape(N, -1)
    np.testing.assert_allclose(total, raw(model, probe), atol=1e-9)
    assert [shape.name for shape in shapes] == ["age", "income", "town"]
    assert shapes["town"].levels == ("north", "south", "west")
    # Every function is 0 on average over the training rows.
    for shape in shapes:
        assert np.abs(np.mean(shape.at(FRAME[shape.name]), axis=0)).max() < 1e-9


def test_shape_functions_give_frames_and_plots() -> None:
    model, y = MODELS["stumps"]
    shapes = model.fit(FRAME, y).shape_functions()
    frame = shapes.to_frame()
    assert list(frame.columns) == ["column", "output", "above", "up_to", "level", "value"]
    assert len(frame) == sum(len(shape.values) + 1 for shape in shapes)
    west = frame[(frame["column"] == "town") & (frame["level"] == "west")]["value"].item()
    assert west == shapes["town"].at(["west"])[0]
    axes = shapes.plot()
    assert sorted(axis.get_xlabel() for axis in axes) == ["age", "income", "town"]
    assert axes[0].get_xlabel() == max(shapes, key=lambda shape: shape.spread).name
    axis = shapes["age"].plot(axes[1])
    assert axis is axes[1]


def test_models_with_interactions_are_refused() -> None:
    model = HistGradientBoostingRegressor(max_iter=5).fit(FRAME, SCORE)
    with pytest.raises(
        ValueError,
        match=r"tree 0 splits on both columns '\w+' and '\w+', and the model is not a sum",
    ):
        model.shape_functions()
